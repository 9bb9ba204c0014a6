//! Plain loops of Rust's `as`, compiled for the features of a tier.
//!
//! Integers, `f32` and `f64` among each other; from bool as the integers 0 and 1, to bool by comparison with zero.

use crate::PeerCast;
use lanecast::DType;

/// `as` as a method.
trait As<D>: Copy {
    fn cast(self) -> D;
}

/// One byte, so that the conversion from and to it is not that of `u8`.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Truth(u8);

macro_rules! casts {
    ($($from:ident)*; $to:tt) => { $(casts! { @ $from $to })* };
    (@ $from:ident ($($to:ident)*)) => {
        $(impl As<$to> for $from {
            #[inline(always)]
            fn cast(self) -> $to {
                self as $to
            }
        })*
        impl As<Truth> for $from {
            #[inline(always)]
            fn cast(self) -> Truth {
                Truth(u8::from(self != 0 as $from))
            }
        }
        impl As<$from> for Truth {
            #[inline(always)]
            fn cast(self) -> $from {
                u8::from(self.0 != 0) as $from
            }
        }
    };
}
casts! { i8 i16 i32 i64 u8 u16 u32 u64 f32 f64; (i8 i16 i32 i64 u8 u16 u32 u64 f32 f64) }

/// One loop.
///
/// # Safety
///
/// `src` is readable and `dst` writable for `n` elements, both aligned, not overlapping; the CPU has the loop's features.
type Loop = unsafe fn(src: *const u8, dst: *mut u8, n: usize);

/// # Safety
///
/// As [`Loop`].
#[inline(always)]
unsafe fn each<S: As<D>, D>(src: *const u8, dst: *mut u8, n: usize) {
    // SAFETY: as the caller's; every bit pattern is an element of these types.
    let src = unsafe { std::slice::from_raw_parts(src.cast::<S>(), n) };
    // SAFETY: as the caller's.
    let dst = unsafe { std::slice::from_raw_parts_mut(dst.cast::<D>(), n) };
    for (dst, src) in dst.iter_mut().zip(src) {
        *dst = src.cast();
    }
}

/// The loops of one set of features and the peer's function that finds them.
macro_rules! tier {
    ($peer:ident $shell:ident $find:ident $row:ident $(#[$feature:meta])?) => {
        /// # Safety
        ///
        /// As [`Loop`].
        $(#[$feature])?
        unsafe fn $shell<S: As<D>, D>(src: *const u8, dst: *mut u8, n: usize) {
            // SAFETY: as the caller's.
            unsafe { each::<S, D>(src, dst, n) }
        }

        fn $row<S>(to: DType) -> Option<Loop>
        where
            S: As<i8> + As<i16> + As<i32> + As<i64> + As<u8> + As<u16> + As<u32> + As<u64> + As<f32> + As<f64>,
        {
            Some(match to {
                DType::Int8 => $shell::<S, i8>,
                DType::Int16 => $shell::<S, i16>,
                DType::Int32 => $shell::<S, i32>,
                DType::Int64 => $shell::<S, i64>,
                DType::UInt8 => $shell::<S, u8>,
                DType::UInt16 => $shell::<S, u16>,
                DType::UInt32 => $shell::<S, u32>,
                DType::UInt64 => $shell::<S, u64>,
                DType::Float32 => $shell::<S, f32>,
                DType::Float64 => $shell::<S, f64>,
                _ => return None,
            })
        }

        fn $find(from: DType, to: DType) -> Option<Loop> {
            macro_rules! from {
                ($type:ident) => {
                    if to == DType::Bool { Some($shell::<$type, Truth> as Loop) } else { $row::<$type>(to) }
                };
            }
            match from {
                DType::Bool => $row::<Truth>(to),
                DType::Int8 => from!(i8),
                DType::Int16 => from!(i16),
                DType::Int32 => from!(i32),
                DType::Int64 => from!(i64),
                DType::UInt8 => from!(u8),
                DType::UInt16 => from!(u16),
                DType::UInt32 => from!(u32),
                DType::UInt64 => from!(u64),
                DType::Float32 => from!(f32),
                DType::Float64 => from!(f64),
                _ => None,
            }
        }

        /// The loop of a pair.
        pub fn $peer(from: DType, to: DType, src: &[u8]) -> Option<PeerCast<'_>> {
            let body = $find(from, to)?;
            Some(Box::new(move |dst, n| {
                assert!(src.len() >= n * from.size() && dst.len() >= n * to.size(), "long enough");
                // SAFETY: both buffers hold `n` elements, begin at a page and are different ones; `main` offers the peers of
                // tiers that the CPU has.
                unsafe { body(src.as_ptr(), dst.as_mut_ptr(), n) }
            }))
        }
    };
}

#[cfg(target_arch = "x86_64")]
tier! { avx2 avx2_loop avx2_find avx2_row #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")] }
#[cfg(target_arch = "x86_64")]
tier! { avx512 avx512_loop avx512_find avx512_row
#[target_feature(
    enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt"
)] }
#[cfg(not(target_arch = "x86_64"))]
tier! { baseline baseline_loop baseline_find baseline_row }
