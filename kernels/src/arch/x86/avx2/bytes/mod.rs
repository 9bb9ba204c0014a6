//! Casts of all dtypes that take a byte per element.
//!
//! Such a cast has 256 answers. A kernel looks 32 of them up at once, one byte of the results after the other, and unpacks the
//! bytes to the width of the target. The tables are data (`lut`), so that one body serves all pairs of the same kind of source
//! ([`planes`]) and the same shape of target ([`shapes`]). Integers of a whole byte are extended instead ([`widen`]).

mod lookup;
mod planes;
mod shapes;
mod widen;

use crate::{
    dtype::{DType, Flavor, Spec},
    format::Format,
    lut::{self, Lut},
    table::{KernelFn, has_overflow_rule},
    vector::padded,
};
#[cfg(target_arch = "x86")]
use core::arch::x86::*;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;
use planes::{Direct, Exponent, Fnuz, Planes, Signed, Truth};
use shapes::{C64, C128, F32, F64, I32, I64, Shape, W8, W16};

/// Elements of a block.
const BLOCK: usize = 32;

/// The body of many pairs; `whole` is it with a table.
///
/// # Safety
///
/// As [`KernelFn`].
#[target_feature(enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
#[inline(never)]
unsafe fn run<Q: Planes<E, P>, W: Shape<P>, const E: usize, const P: usize>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    lut: &Lut<E, P>,
    whole: KernelFn,
) {
    // SAFETY: blocks that lie among the caller's `n` elements, the last one over some of the one before.
    unsafe {
        let mut i = 0;
        loop {
            if n - i < BLOCK {
                if i == n {
                    return;
                }
                if i == 0 {
                    return padded(whole, BLOCK, (1, W::SIZE), src, dst, n);
                }
                i = n - BLOCK;
            }
            let bytes = W::order(_mm256_loadu_si256(src.add(i).cast()));
            W::emit(Q::of(lut, bytes), dst.add(i * W::SIZE));
            i += BLOCK;
        }
    }
}

/// One pair: brings its table to the body.
///
/// # Safety
///
/// As [`KernelFn`].
unsafe fn cast<
    S: Format,
    D: Format,
    const SATURATE: bool,
    Q: Planes<E, P>,
    W: Shape<P>,
    const E: usize,
    const P: usize,
>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
) {
    let lut = lut::Of::<S, D, Q, SATURATE, E, P>::LUT;
    // SAFETY: as the caller's.
    unsafe { run::<Q, W, E, P>(src, dst, n, lut, cast::<S, D, SATURATE, Q, W, E, P>) }
}

/// The kernel of a pair, if its source has one byte per element.
pub(super) const fn kernel<S: Format, D: Format>(saturate: bool) -> Option<KernelFn> {
    if S::DTYPE.size() != 1 {
        return None;
    }
    if let Some(extended) = extended::<S, D>(saturate) {
        return Some(extended);
    }
    Some(if saturate || !has_overflow_rule(D::DTYPE) {
        looked_up::<S, D, true>()
    } else {
        looked_up::<S, D, false>()
    })
}

/// The kernels that extend or narrow integers of a byte.
const fn extended<S: Format, D: Format>(saturate: bool) -> Option<KernelFn> {
    use widen::{CLAMPED, Powers, SIGNED, TRUTH, UNSIGNED, Wide, widen as run};
    const fn of<W: Wide>(from: u8) -> KernelFn {
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
        DType::Float8E8M0FNU => {
            return match D::DTYPE {
                DType::Int64 | DType::UInt64 if !saturate => Some(run::<Powers<{ shapes::WRAP }>, UNSIGNED>),
                DType::Int64 => Some(run::<Powers<{ shapes::SIGNED }>, UNSIGNED>),
                DType::UInt64 => Some(run::<Powers<{ shapes::UNSIGNED }>, UNSIGNED>),
                _ => None,
            };
        }
        _ => return None,
    };
    Some(match (D::DTYPE, D::DTYPE.spec()) {
        (_, Spec::Int { bits: 16, .. }) => of::<widen::I16>(from),
        (_, Spec::Int { bits: 32, .. }) => of::<widen::I32>(from),
        (_, Spec::Int { .. }) => of::<widen::I64>(from),
        (DType::Float16, _) => of::<widen::F16>(from),
        (DType::BFloat16, _) => of::<widen::BF16>(from),
        (DType::Float32, _) => of::<widen::F32>(from),
        (DType::Float64, _) => of::<widen::F64>(from),
        (DType::Complex64, _) => of::<widen::C64>(from),
        (DType::Complex128, _) => of::<widen::C128>(from),
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
            widen::narrow::<true>(src, dst, n, limits, narrow::<S, D, SATURATE>)
        } else {
            widen::narrow::<false>(src, dst, n, limits, narrow::<S, D, SATURATE>)
        }
    }
}

/// The body that serves a pair, by the kind of the source and the shape of the target.
const fn looked_up<S: Format, D: Format, const SATURATE: bool>() -> KernelFn {
    let (from, narrow) = (S::DTYPE, D::DTYPE.size() == 1);
    let wide_float = !narrow && !matches!(D::DTYPE.spec(), Spec::Int { .. });
    let flavor = match from.spec() {
        Spec::Float(f) => Some(f.flavor),
        _ => None,
    };
    match (from, from.bits(), flavor) {
        // All wider targets have been extended.
        (DType::Bool, ..) => cast::<S, D, SATURATE, Truth, W8, 16, 1>,
        (_, ..=4, _) if narrow => cast::<S, D, SATURATE, Direct, W8, 16, 1>,
        (_, ..=6, _) if narrow => cast::<S, D, SATURATE, Direct, W8, 64, 1>,
        _ if narrow => cast::<S, D, SATURATE, Direct, W8, 256, 1>,
        (_, ..=4, _) => wide::<S, D, SATURATE, Direct, 16>(),
        (_, ..=6, _) => wide::<S, D, SATURATE, Direct, 64>(),
        (_, _, Some(Flavor::Exponent)) => match D::DTYPE {
            DType::BFloat16 | DType::Float32 | DType::Complex64 => wide::<S, D, SATURATE, Exponent, 0>(),
            _ => wide::<S, D, SATURATE, Direct, 256>(),
        },
        // The sign of an integer of two bytes is no single bit.
        _ if D::DTYPE.size() == 2 && !wide_float => wide::<S, D, SATURATE, Direct, 256>(),
        (_, _, Some(Flavor::Fnuz)) => wide::<S, D, SATURATE, Fnuz, 128>(),
        _ => wide::<S, D, SATURATE, Signed, 128>(),
    }
}

/// The body that serves a target of more than a byte.
const fn wide<S: Format, D: Format, const SATURATE: bool, Q: Planes<E, 2>, const E: usize>() -> KernelFn {
    use shapes::{SIGNED, UNSIGNED, WRAP};
    match (D::DTYPE, D::DTYPE.size()) {
        (DType::Float32, _) => cast::<S, D, SATURATE, Q, F32, E, 2>,
        (DType::Float64, _) => cast::<S, D, SATURATE, Q, F64, E, 2>,
        (DType::Complex64, _) => cast::<S, D, SATURATE, Q, C64, E, 2>,
        (DType::Complex128, _) => cast::<S, D, SATURATE, Q, C128, E, 2>,
        (_, 4) if !SATURATE => cast::<S, D, SATURATE, Q, I32<WRAP>, E, 2>,
        (_, 8) if !SATURATE => cast::<S, D, SATURATE, Q, I64<WRAP>, E, 2>,
        (DType::Int32, _) => cast::<S, D, SATURATE, Q, I32<SIGNED>, E, 2>,
        (DType::UInt32, _) => cast::<S, D, SATURATE, Q, I32<UNSIGNED>, E, 2>,
        (DType::Int64, _) => cast::<S, D, SATURATE, Q, I64<SIGNED>, E, 2>,
        (DType::UInt64, _) => cast::<S, D, SATURATE, Q, I64<UNSIGNED>, E, 2>,
        _ => cast::<S, D, SATURATE, Q, W16, E, 2>,
    }
}
