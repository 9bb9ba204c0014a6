//! Casts of all dtypes that take a byte per element.
//!
//! Such a cast has 256 answers. A kernel looks 64 of them up at once, one byte of the results after the other, and unpacks the
//! bytes to the width of the target. The tables are data (`lut`), so that one body serves all pairs of the same kind of source
//! ([`planes`]) and the same shape of target ([`shapes`]), with the byte permutations of VBMI or without ([`isa`], [`lookup`]).
//! Integers of a whole byte are extended instead ([`widen`]).

mod isa;
mod lookup;
mod planes;
mod shapes;
mod widen;

use super::fine;
use crate::{
    dtype::{DType, Flavor, Spec},
    format::Format,
    lut::{self, Lut},
    table::{KernelFn, has_overflow_rule},
};
#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;
use isa::{Isa, Vbmi, Words};
use planes::{Direct, Exponent, Fnuz, Planes, Signed, Truth, Twos};
use shapes::{C64, C128, F32, F64, I32, I64, Part, Shape, W8, W16, Whole, first};

/// The body of many pairs.
///
/// # Safety
///
/// As [`KernelFn`], and the CPU has the features that `Q` uses.
#[inline(always)]
unsafe fn run<Q: Planes<E, P>, W: Shape<P>, const E: usize, const P: usize>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    lut: &Lut<E, P>,
) {
    // SAFETY: blocks of 64 elements that lie among the caller's `n`, and by masks those that are left.
    unsafe {
        let planes = Q::load(lut);
        let mut i = 0;
        while n - i >= 64 {
            let bytes = W::order(_mm512_loadu_si512(src.add(i).cast()));
            W::emit(planes.of(bytes), Whole(dst.add(i * W::SIZE)));
            i += 64;
        }
        if i < n {
            let bytes = W::order(_mm512_maskz_loadu_epi8(first(n - i), src.add(i).cast()));
            W::emit(planes.of(bytes), Part(dst.add(i * W::SIZE), (n - i) * W::SIZE));
        }
    }
}

/// One pair: brings its table to the body.
///
/// # Safety
///
/// As [`run`].
unsafe fn cast<
    S: Format,
    D: Format,
    const SATURATE: bool,
    I: Isa,
    Q: Planes<E, P>,
    W: Shape<P>,
    const E: usize,
    const P: usize,
>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
) {
    // SAFETY: as the caller's.
    unsafe { I::run::<Q, W, E, P>(src, dst, n, lut::Of::<S, D, Q, SATURATE, E, P>::LUT) }
}

/// The kernel of a pair, if its source has one byte per element.
pub(super) const fn kernel<S: Format, D: Format, const FINE: u8>(saturate: bool) -> Option<KernelFn> {
    if S::DTYPE.size() != 1 {
        return None;
    }
    if let Some(extended) = extended::<S, D>(saturate) {
        return Some(extended);
    }
    let saturate = saturate || !has_overflow_rule(D::DTYPE);
    Some(match (FINE & fine::VBMI != 0, saturate) {
        (true, true) => looked_up::<S, D, Vbmi, true>(),
        (true, false) => looked_up::<S, D, Vbmi, false>(),
        (false, true) => looked_up::<S, D, Words, true>(),
        (false, false) => looked_up::<S, D, Words, false>(),
    })
}

/// The kernels that extend or narrow integers of a byte.
const fn extended<S: Format, D: Format>(saturate: bool) -> Option<KernelFn> {
    use widen::{CLAMPED, SIGNED, TRUTH, UNSIGNED, Wide, widen as run};
    const fn of<D: Format, W: Wide>(from: u8) -> KernelFn {
        assert!(W::SIZE == D::DTYPE.size());
        match from {
            SIGNED => run::<W, SIGNED>,
            CLAMPED => run::<W, CLAMPED>,
            UNSIGNED => run::<W, UNSIGNED>,
            _ => run::<W, TRUTH>,
        }
    }
    if lut::limits(S::DTYPE, D::DTYPE, saturate).is_some() {
        return Some(if saturate { narrow::<S, D, true> } else { narrow::<S, D, false> });
    }
    let loses_sign = saturate && matches!(D::DTYPE.spec(), Spec::Int { signed: false, .. });
    let from = match S::DTYPE {
        DType::Bool => TRUTH,
        DType::UInt8 => UNSIGNED,
        DType::Int8 if loses_sign => CLAMPED,
        DType::Int8 => SIGNED,
        _ => return None,
    };
    Some(match (D::DTYPE, D::DTYPE.spec()) {
        (_, Spec::Int { bits: 16, .. }) => of::<D, widen::I16>(from),
        (_, Spec::Int { bits: 32, .. }) => of::<D, widen::I32>(from),
        (_, Spec::Int { bits: 64, .. }) => of::<D, widen::I64>(from),
        (DType::Float32, _) => of::<D, widen::F32>(from),
        (DType::Float64, _) => of::<D, widen::F64>(from),
        (DType::Complex64, _) => of::<D, widen::C64>(from),
        (DType::Complex128, _) => of::<D, widen::C128>(from),
        (DType::Float16, _) if from == TRUTH => run::<widen::F16, TRUTH>,
        (DType::BFloat16, _) if from == TRUTH => run::<widen::BF16, TRUTH>,
        _ => return None,
    })
}

/// # Safety
///
/// As [`KernelFn`].
unsafe fn narrow<S: Format, D: Format, const SATURATE: bool>(src: *const u8, dst: *mut u8, n: usize) {
    let limits = const {
        match lut::limits(S::DTYPE, D::DTYPE, SATURATE) {
            Some(limits) => limits,
            None => panic!("not a pair of `narrow`"),
        }
    };
    // SAFETY: as the caller's.
    unsafe {
        if limits.signed {
            widen::narrow::<true>(src, dst, n, limits)
        } else {
            widen::narrow::<false>(src, dst, n, limits)
        }
    }
}

/// The body that serves a pair, by the kind of the source and the shape of the target.
const fn looked_up<S: Format, D: Format, I: Isa, const SATURATE: bool>() -> KernelFn {
    let (from, narrow) = (S::DTYPE, D::DTYPE.size() == 1);
    let wide_float = !narrow && !matches!(D::DTYPE.spec(), Spec::Int { .. });
    let float8 = match from.spec() {
        Spec::Float(f) if f.bits() == 8 => Some(f.flavor),
        _ => None,
    };
    match (from, float8) {
        (DType::Bool, _) if narrow => cast::<S, D, SATURATE, I, Truth<I::T64, 1>, W8, 64, 1>,
        (DType::Bool, _) => wide::<S, D, SATURATE, I, Truth<I::T64, 2>, 64>(),
        (DType::Int8 | DType::UInt8, _) | (_, Some(_)) if narrow => {
            cast::<S, D, SATURATE, I, Direct<I::T256, 1>, W8, 256, 1>
        }
        (DType::Int8, _) => wide::<S, D, SATURATE, I, Twos<I::T128, 2>, 128>(),
        (DType::UInt8, _) => wide::<S, D, SATURATE, I, Direct<I::T256, 2>, 256>(),
        // At most 6 bits.
        (_, None) if narrow => cast::<S, D, SATURATE, I, Direct<I::T64, 1>, W8, 64, 1>,
        (_, None) => wide::<S, D, SATURATE, I, Direct<I::T64, 2>, 64>(),
        (_, Some(Flavor::Exponent)) => match D::DTYPE {
            DType::BFloat16 | DType::Float32 | DType::Complex64 => wide::<S, D, SATURATE, I, Exponent, 0>(),
            _ => wide::<S, D, SATURATE, I, Direct<I::T256, 2>, 256>(),
        },
        // The sign of an integer of two bytes is no single bit.
        (_, Some(_)) if D::DTYPE.size() == 2 && !wide_float => {
            wide::<S, D, SATURATE, I, Direct<I::T256, 2>, 256>()
        }
        (_, Some(Flavor::Fnuz)) => wide::<S, D, SATURATE, I, Fnuz<I::T128, 2>, 128>(),
        _ => wide::<S, D, SATURATE, I, Signed<I::T128, 2>, 128>(),
    }
}

/// The body that serves a target of more than a byte. Many targets need the same words.
const fn wide<S: Format, D: Format, const SATURATE: bool, I: Isa, Q: Planes<E, 2>, const E: usize>()
-> KernelFn {
    use shapes::{SIGNED, UNSIGNED, WRAP};
    match (D::DTYPE, D::DTYPE.size()) {
        (DType::Float32, _) => cast::<S, D, SATURATE, I, Q, F32, E, 2>,
        (DType::Float64, _) => cast::<S, D, SATURATE, I, Q, F64, E, 2>,
        (DType::BFloat16, _) => cast::<S, f32, SATURATE, I, Q, W16, E, 2>,
        (DType::Complex64, _) => cast::<S, f32, SATURATE, I, Q, C64, E, 2>,
        (DType::Complex128, _) => cast::<S, f64, SATURATE, I, Q, C128, E, 2>,
        (_, 4) if !SATURATE => cast::<S, i32, SATURATE, I, Q, I32<WRAP>, E, 2>,
        (DType::Int32, _) => cast::<S, i32, SATURATE, I, Q, I32<SIGNED>, E, 2>,
        (DType::UInt32, _) => cast::<S, i32, SATURATE, I, Q, I32<UNSIGNED>, E, 2>,
        (_, 8) if !SATURATE => cast::<S, i64, SATURATE, I, Q, I64<WRAP>, E, 2>,
        (DType::Int64, _) => cast::<S, i64, SATURATE, I, Q, I64<SIGNED>, E, 2>,
        (DType::UInt64, _) => cast::<S, i64, SATURATE, I, Q, I64<UNSIGNED>, E, 2>,
        _ => cast::<S, D, SATURATE, I, Q, W16, E, 2>,
    }
}
