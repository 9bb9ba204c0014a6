//! Crates that cast slices.

use crate::PeerCast;
use half::{bf16, f16, slice::HalfFloatSliceExt};
use lanecast::DType;

/// Elements that every bit pattern is one of.
trait Plain: Copy {}
impl Plain for u8 {}
impl Plain for f16 {}
impl Plain for bf16 {}
impl Plain for f32 {}
impl Plain for f64 {}

fn elements<T: Plain>(bytes: &[u8]) -> &[T] {
    // SAFETY: `align_to` gives aligned elements; `Plain` says that any bytes are some.
    let (head, middle, tail) = unsafe { bytes.align_to() };
    assert!(head.is_empty() && tail.is_empty(), "whole, aligned elements");
    middle
}

fn elements_mut<T: Plain>(bytes: &mut [u8]) -> &mut [T] {
    // SAFETY: as in `elements`.
    let (head, middle, tail) = unsafe { bytes.align_to_mut() };
    assert!(head.is_empty() && tail.is_empty(), "whole, aligned elements");
    middle
}

/// The slice methods of `half`.
pub fn half(from: DType, to: DType, src: &[u8]) -> Option<PeerCast<'_>> {
    use DType::{BFloat16, Float16, Float32, Float64};
    Some(match (from, to) {
        (Float16, Float32) => Box::new(|dst, _| elements::<f16>(src).convert_to_f32_slice(elements_mut(dst))),
        (Float16, Float64) => Box::new(|dst, _| elements::<f16>(src).convert_to_f64_slice(elements_mut(dst))),
        (BFloat16, Float32) => {
            Box::new(|dst, _| elements::<bf16>(src).convert_to_f32_slice(elements_mut(dst)))
        }
        (BFloat16, Float64) => {
            Box::new(|dst, _| elements::<bf16>(src).convert_to_f64_slice(elements_mut(dst)))
        }
        (Float32, Float16) => {
            Box::new(|dst, _| elements_mut::<f16>(dst).convert_from_f32_slice(elements(src)))
        }
        (Float64, Float16) => {
            Box::new(|dst, _| elements_mut::<f16>(dst).convert_from_f64_slice(elements(src)))
        }
        (Float32, BFloat16) => {
            Box::new(|dst, _| elements_mut::<bf16>(dst).convert_from_f32_slice(elements(src)))
        }
        (Float64, BFloat16) => {
            Box::new(|dst, _| elements_mut::<bf16>(dst).convert_from_f64_slice(elements(src)))
        }
        _ => return None,
    })
}

/// The scalar methods of `float8` in a loop.
pub fn float8(from: DType, to: DType, src: &[u8]) -> Option<PeerCast<'_>> {
    use DType::{Float8E4M3FN, Float8E5M2, Float16, Float32, Float64};
    use float8::{F8E4M3, F8E5M2};
    macro_rules! each {
        ($from:ident $to:ident $cast:expr) => {
            Box::new(|dst: &mut [u8], _| {
                for (dst, src) in elements_mut::<$to>(dst).iter_mut().zip(elements::<$from>(src)) {
                    *dst = $cast(*src);
                }
            })
        };
    }
    Some(match (from, to) {
        (Float32, Float8E4M3FN) => each!(f32 u8 |x| F8E4M3::from_f32(x).to_bits()),
        (Float64, Float8E4M3FN) => each!(f64 u8 |x| F8E4M3::from_f64(x).to_bits()),
        (Float32, Float8E5M2) => each!(f32 u8 |x| F8E5M2::from_f32(x).to_bits()),
        (Float64, Float8E5M2) => each!(f64 u8 |x| F8E5M2::from_f64(x).to_bits()),
        (Float8E4M3FN, Float16) => each!(u8 f16 |x| F8E4M3::from_bits(x).to_f16()),
        (Float8E4M3FN, Float32) => each!(u8 f32 |x| F8E4M3::from_bits(x).to_f32()),
        (Float8E4M3FN, Float64) => each!(u8 f64 |x| F8E4M3::from_bits(x).to_f64()),
        (Float8E5M2, Float16) => each!(u8 f16 |x| F8E5M2::from_bits(x).to_f16()),
        (Float8E5M2, Float32) => each!(u8 f32 |x| F8E5M2::from_bits(x).to_f32()),
        (Float8E5M2, Float64) => each!(u8 f64 |x| F8E5M2::from_bits(x).to_f64()),
        _ => return None,
    })
}

/// The element types of `numkong` that its `cast` takes.
macro_rules! numkong_types {
    ($callback:ident $($rest:tt)*) => {
        $callback! { $($rest)* [
            Int8 i8, Int16 i16, Int32 i32, Int64 i64, UInt8 u8, UInt16 u16, UInt32 u32, UInt64 u64, Float32 f32, Float64 f64,
            Float16 f16, BFloat16 bf16, Float8E4M3FN e4m3, Float8E5M2 e5m2, Float6E2M3FN e2m3, Float6E3M2FN e3m2,
            Complex64 f32c, Complex128 f64c,
        ] }
    };
}

/// `numkong::cast`.
pub fn numkong(from: DType, to: DType, src: &[u8]) -> Option<PeerCast<'_>> {
    use ::numkong::{CastDtype, bf16, e2m3, e3m2, e4m3, e5m2, f16, f32c, f64c};

    fn typed<'a, S: CastDtype, D: CastDtype>(src: &'a [u8]) -> PeerCast<'a> {
        Box::new(move |dst, n| {
            assert!(src.len() >= n * size_of::<S>() && dst.len() >= n * size_of::<D>(), "long enough");
            // SAFETY: `n` elements are there, aligned to a page; every bit pattern is an element of numkong's types, which
            // are numbers and wrappers of integers.
            let source = unsafe { std::slice::from_raw_parts(src.as_ptr().cast::<S>(), n) };
            // SAFETY: the same; the buffers are different ones.
            let target = unsafe { std::slice::from_raw_parts_mut(dst.as_mut_ptr().cast::<D>(), n) };
            assert!(::numkong::cast(source, target).is_some(), "the lengths are equal");
        })
    }
    macro_rules! to {
        ($from:ident $src:ident $to:ident [$($variant:ident $type:ident,)*]) => {
            match $to {
                $(DType::$variant => Some(typed::<$from, $type>($src)),)*
                _ => None,
            }
        };
    }
    macro_rules! from {
        ($from:ident $src:ident $to:ident [$($variant:ident $type:ident,)*]) => {
            match $from {
                $(DType::$variant => numkong_types! { to $type $src $to },)*
                _ => None,
            }
        };
    }
    numkong_types! { from from src to }
}
