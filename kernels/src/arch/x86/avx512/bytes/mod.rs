//! Casts of all dtypes that take a byte per element.
//!
//! Such a cast has 256 answers. A kernel looks 64 of them up at once, one byte of the results after the other, and unpacks the
//! bytes to the width of the target. The tables are data (`lut`), so that one body serves all pairs of the same kind of source
//! ([`planes`]) and the same shape of target ([`shapes`]), with the byte permutations of VBMI or without ([`lookup`]).
//! Integers of a whole byte are extended instead ([`widen`]).

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
use lookup::{Permuted, Shuffled};
use planes::{Direct, Exponent, Fnuz, Planes, Signed, Truth, Twos, Window};
use shapes::{C64, C128, F32, F64, I32, I64, Part, Shape, W8, W16, Whole, first};

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

/// The bodies, each with a cast per pair in front of it that brings the table.
macro_rules! bodies {
    ($features:literal, $body:ident, $cast:ident) => {
        /// # Safety
        ///
        /// As [`run`].
        #[target_feature(
            enable = "avx,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl,avx512dq"
        )]
        #[target_feature(enable = $features)]
        #[inline(never)]
        unsafe fn $body<Q: Planes<E, P>, W: Shape<P>, const E: usize, const P: usize>(
            src: *const u8,
            dst: *mut u8,
            n: usize,
            lut: &Lut<E, P>,
        ) {
            // SAFETY: as the caller's.
            unsafe { run::<Q, W, E, P>(src, dst, n, lut) }
        }

        /// # Safety
        ///
        /// As [`run`].
        unsafe fn $cast<
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
            // SAFETY: as the caller's.
            unsafe { $body::<Q, W, E, P>(src, dst, n, lut::Of::<S, D, Q, SATURATE, E, P>::LUT) }
        }
    };
}
bodies!("avx512vbmi", body_vbmi, cast_vbmi);
bodies!("avx512f", body, cast);

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
        (true, true) => looked_up_vbmi::<S, D, true>(),
        (true, false) => looked_up_vbmi::<S, D, false>(),
        (false, true) => looked_up::<S, D, true>(),
        (false, false) => looked_up::<S, D, false>(),
    })
}

/// The kernels that extend or narrow integers of a byte.
const fn extended<S: Format, D: Format>(saturate: bool) -> Option<KernelFn> {
    use widen::{CLAMPED, SIGNED, TRUTH, UNSIGNED, Wide, widen as run};
    const fn of<W: Wide>(from: u8) -> KernelFn {
        match from {
            SIGNED => run::<W, SIGNED>,
            CLAMPED => run::<W, CLAMPED>,
            UNSIGNED => run::<W, UNSIGNED>,
            _ => run::<W, TRUTH>,
        }
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
        (_, Spec::Bool | Spec::Int { bits: ..=8, .. }) => {
            if saturate {
                narrowed::<S, D, true>
            } else {
                narrowed::<S, D, false>
            }
        }
        (_, Spec::Int { bits: 16, .. }) => of::<widen::I16>(from),
        (_, Spec::Int { bits: 32, .. }) => of::<widen::I32>(from),
        (_, Spec::Int { .. }) => of::<widen::I64>(from),
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
unsafe fn narrowed<S: Format, D: Format, const SATURATE: bool>(src: *const u8, dst: *mut u8, n: usize) {
    let limits = const { lut::limits(S::DTYPE, D::DTYPE, SATURATE) };
    // SAFETY: as the caller's.
    unsafe {
        if const { matches!(S::DTYPE, DType::Int8) && !matches!(D::DTYPE, DType::Bool) } {
            widen::narrow::<true>(src, dst, n, limits)
        } else {
            widen::narrow::<false>(src, dst, n, limits)
        }
    }
}

/// Which bodies serve a pair, by the tables that there are.
macro_rules! choose {
    ($name:ident, $cast:ident, $t64:ty, $t128:ty, $t256:ty) => {
        const fn $name<S: Format, D: Format, const SATURATE: bool>() -> KernelFn {
            /// By the shape of the target.
            const fn to<S: Format, D: Format, const SATURATE: bool, Q: Planes<E, 2>, const E: usize>()
            -> KernelFn {
                use shapes::{SIGNED, UNSIGNED, WRAP};
                match (D::DTYPE.spec(), D::DTYPE) {
                    (_, DType::Float32) => $cast::<S, D, SATURATE, Q, F32, E, 2>,
                    (_, DType::Float64) => $cast::<S, D, SATURATE, Q, F64, E, 2>,
                    (_, DType::Complex64) => $cast::<S, D, SATURATE, Q, C64, E, 2>,
                    (_, DType::Complex128) => $cast::<S, D, SATURATE, Q, C128, E, 2>,
                    (Spec::Int { bits: 32, .. }, _) if !SATURATE => {
                        $cast::<S, D, SATURATE, Q, I32<WRAP>, E, 2>
                    }
                    (Spec::Int { bits: 64, .. }, _) if !SATURATE => {
                        $cast::<S, D, SATURATE, Q, I64<WRAP>, E, 2>
                    }
                    (_, DType::Int32) => $cast::<S, D, SATURATE, Q, I32<SIGNED>, E, 2>,
                    (_, DType::UInt32) => $cast::<S, D, SATURATE, Q, I32<UNSIGNED>, E, 2>,
                    (_, DType::Int64) => $cast::<S, D, SATURATE, Q, I64<SIGNED>, E, 2>,
                    (_, DType::UInt64) => $cast::<S, D, SATURATE, Q, I64<UNSIGNED>, E, 2>,
                    _ => $cast::<S, D, SATURATE, Q, W16, E, 2>,
                }
            }
            let wide_float = D::DTYPE.size() > 1 && !matches!(D::DTYPE.spec(), Spec::Int { .. });
            let (from, narrow) = (S::DTYPE, D::DTYPE.size() == 1);
            let float = match from.spec() {
                Spec::Float(f) if f.bits() == 8 => Some(f.flavor),
                _ => None,
            };
            match (from, float) {
                (DType::Bool, _) if narrow => $cast::<S, D, SATURATE, Truth<$t64, 1>, W8, 64, 1>,
                (DType::Bool, _) => to::<S, D, SATURATE, Truth<$t64, 2>, 64>(),
                (DType::Int8, _) if !narrow => to::<S, D, SATURATE, Twos<$t128, 2>, 128>(),
                (DType::Int8 | DType::UInt8, _) if narrow => {
                    $cast::<S, D, SATURATE, Direct<$t256, 1>, W8, 256, 1>
                }
                (DType::UInt8, _) => to::<S, D, SATURATE, Direct<$t256, 2>, 256>(),
                (_, None) if narrow => $cast::<S, D, SATURATE, Direct<$t64, 1>, W8, 64, 1>,
                (_, None) => to::<S, D, SATURATE, Direct<$t64, 2>, 64>(),
                (_, Some(_)) if narrow => $cast::<S, D, SATURATE, Direct<$t256, 1>, W8, 256, 1>,
                (_, Some(Flavor::Exponent)) => match D::DTYPE {
                    DType::BFloat16 | DType::Float32 | DType::Complex64 => {
                        to::<S, D, SATURATE, Exponent, 0>()
                    }
                    DType::Float64 | DType::Complex128 => to::<S, D, SATURATE, Direct<$t256, 2>, 256>(),
                    _ => to::<S, D, SATURATE, Window<$t128, 2>, 128>(),
                },
                // Signs of integers of two bytes are no single bits.
                (_, Some(_)) if D::DTYPE.size() == 2 && !wide_float => {
                    to::<S, D, SATURATE, Direct<$t256, 2>, 256>()
                }
                (_, Some(Flavor::Fnuz)) => to::<S, D, SATURATE, Fnuz<$t128, 2>, 128>(),
                _ => to::<S, D, SATURATE, Signed<$t128, 2>, 128>(),
            }
        }
    };
}
choose!(looked_up_vbmi, cast_vbmi, Permuted<1>, Permuted<2>, Permuted<4>);
choose!(looked_up, cast, Shuffled<4>, Shuffled<8>, Shuffled<16>);
