//! Casts of all dtypes that take a byte per element.
//!
//! Such a cast has 256 answers. A kernel looks 64 of them up at once, one byte of the results after the other, and unpacks the
//! bytes to the width of the target. The tables are data (`lut`), so that one body serves all pairs of the same kind of source
//! ([`planes`]) and the same shape of target ([`shapes`]), with the byte permutations of VBMI or without ([`isa`], [`lookup`]).
//! Integers of a whole byte are extended instead ([`widen`]). Packed elements are looked up and packed on the way ([`loads`],
//! [`WPacked`]).

mod isa;
mod loads;
mod lookup;
mod planes;
mod shapes;
mod widen;

use super::fine;
use crate::arch::native::intrinsics::*;
use crate::{
    data::Data,
    dtype::{DType, Flavor, Spec},
    format::Format,
    lut::{self, Lut, Saturating, Truncating, Words, Wrapping},
    table::{KernelFn, PACKED_FROM, PACKED_TO, has_overflow_rule},
};
use isa::{Isa, Vbmi};
use loads::{Bytes, Load, Packed};
use planes::{Direct, Exponent, Fnuz, Planes, Signed, Truth, Twos};
use shapes::{C64, C128, F32, F64, I32, I64, Part, Shape, W8, W16, WPacked, Whole, first};

/// The body of many pairs.
///
/// # Safety
///
/// As [`KernelFn`], and the CPU has the features that `Q` uses.
#[inline(always)]
unsafe fn run<I: Isa, L: Load, Q: Planes<E, P>, W: Shape<P>, const E: usize, const P: usize>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    lut: &Lut<E, P>,
) {
    // SAFETY: blocks of 64 elements that lie among the caller's `n`, and by masks those that are left. Blocks begin on whole
    // bytes of every width.
    unsafe {
        let planes = Q::load(lut);
        let (read, written) = (L::BITS as usize, W::BITS as usize);
        let mut i = 0;
        while n - i >= 64 {
            let bytes = L::codes::<I, W, P>(L::load(src.add(i / 8 * read)));
            W::emit(planes.of(bytes), Whole(dst.add(i / 8 * written)));
            i += 64;
        }
        if i < n {
            let left = first(((n - i) * read).div_ceil(8));
            let bytes = L::codes::<I, W, P>(_mm512_maskz_loadu_epi8(left, src.add(i / 8 * read).cast()));
            let sink = Part(dst.add(i / 8 * written), ((n - i) * written).div_ceil(8));
            W::emit(W::only(planes.of(bytes), n - i), sink);
        }
    }
}

/// One pair: brings its table to the body.
///
/// # Safety
///
/// As [`run`].
unsafe fn cast<T: Words, L: Load, I: Isa, Q: Planes<E, P>, W: Shape<P>, const E: usize, const P: usize>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    _: &Data,
) {
    // SAFETY: as the caller's.
    unsafe { I::run::<L, Q, W, E, P>(src, dst, n, lut::Of::<T, Q::Codes, E, P>::LUT) }
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
    Some(if FINE & fine::VBMI != 0 {
        looked_up::<S, D, Bytes, Vbmi>(saturate)
    } else {
        looked_up::<S, D, Bytes, isa::Words>(saturate)
    })
}

/// The kernel of a pair of which the `SIDES` are packed.
pub(super) const fn packed<S: Format, D: Format, const FINE: u8, const SIDES: u8>(
    saturate: bool,
) -> Option<KernelFn> {
    const fn of<S: Format, D: Format, I: Isa, const SIDES: u8>(saturate: bool) -> KernelFn {
        match (SIDES & PACKED_FROM, S::DTYPE.bits()) {
            (0, _) => packed_to::<S, D, Bytes, I>(saturate),
            (_, 2) if SIDES & PACKED_TO != 0 => packed_to::<S, D, Packed<2>, I>(saturate),
            (_, 4) if SIDES & PACKED_TO != 0 => packed_to::<S, D, Packed<4>, I>(saturate),
            _ if SIDES & PACKED_TO != 0 => packed_to::<S, D, Packed<6>, I>(saturate),
            (_, 2) => looked_up::<S, D, Packed<2>, I>(saturate),
            (_, 4) => looked_up::<S, D, Packed<4>, I>(saturate),
            _ => looked_up::<S, D, Packed<6>, I>(saturate),
        }
    }
    if S::DTYPE.size() != 1 {
        return None;
    }
    Some(if FINE & fine::VBMI != 0 {
        of::<S, D, Vbmi, SIDES>(saturate)
    } else {
        of::<S, D, isa::Words, SIDES>(saturate)
    })
}

/// The body of a packed target, by the kind of the source.
const fn packed_to<S: Format, D: Format, L: Load, I: Isa>(saturate: bool) -> KernelFn {
    const fn of<S: Format, D: Format, L: Load, I: Isa, Q: Planes<E, 1>, const E: usize>(
        saturate: bool,
    ) -> KernelFn {
        match D::DTYPE.bits() {
            2 => short::<S, D, L, I, Q, WPacked<2>, E, 1>(saturate),
            4 => short::<S, D, L, I, Q, WPacked<4>, E, 1>(saturate),
            _ => short::<S, D, L, I, Q, WPacked<6>, E, 1>(saturate),
        }
    }
    match (S::DTYPE, S::DTYPE.bits()) {
        (DType::Bool, _) => of::<S, D, L, I, Truth<I::T64, 1>, 64>(saturate),
        (_, ..=6) => of::<S, D, L, I, Direct<I::T64, 1>, 64>(saturate),
        _ => of::<S, D, L, I, Direct<I::T256, 1>, 256>(saturate),
    }
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
unsafe fn narrow<S: Format, D: Format, const SATURATE: bool>(
    src: *const u8,
    dst: *mut u8,
    n: usize,
    _: &Data,
) {
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
const fn looked_up<S: Format, D: Format, L: Load, I: Isa>(saturate: bool) -> KernelFn {
    let (from, narrow) = (S::DTYPE, D::DTYPE.size() == 1);
    let flavor = match from.spec() {
        Spec::Float(f) if f.bits() == 8 => Some(f.flavor),
        _ => None,
    };
    match (from, flavor) {
        (DType::Bool, _) if narrow => short::<S, D, L, I, Truth<I::T64, 1>, W8, 64, 1>(saturate),
        (DType::Bool, _) => wide::<S, D, L, I, Truth<I::T64, 2>, 64>(saturate),
        (DType::Int8 | DType::UInt8, _) | (_, Some(_)) if narrow => {
            short::<S, D, L, I, Direct<I::T256, 1>, W8, 256, 1>(saturate)
        }
        (DType::Int8, _) => wide::<S, D, L, I, Twos<I::T128, 2>, 128>(saturate),
        (DType::UInt8, _) => wide::<S, D, L, I, Direct<I::T256, 2>, 256>(saturate),
        // At most 6 bits.
        (_, None) if narrow => short::<S, D, L, I, Direct<I::T64, 1>, W8, 64, 1>(saturate),
        (_, None) => wide::<S, D, L, I, Direct<I::T64, 2>, 64>(saturate),
        (_, Some(Flavor::Exponent)) => match D::DTYPE {
            DType::BFloat16 | DType::Float32 | DType::Complex64 => wide::<S, D, L, I, Exponent, 0>(saturate),
            _ => wide::<S, D, L, I, Direct<I::T256, 2>, 256>(saturate),
        },
        // The sign of an integer of two bytes is no single bit.
        (_, Some(_)) if matches!(D::DTYPE.spec(), Spec::Int { bits: 16, .. }) => {
            wide::<S, D, L, I, Direct<I::T256, 2>, 256>(saturate)
        }
        (_, Some(Flavor::Fnuz)) => wide::<S, D, L, I, Fnuz<I::T128, 2>, 128>(saturate),
        _ => wide::<S, D, L, I, Signed<I::T128, 2>, 128>(saturate),
    }
}

/// Targets of which the words are the results.
const fn short<
    S: Format,
    D: Format,
    L: Load,
    I: Isa,
    Q: Planes<E, P>,
    W: Shape<P>,
    const E: usize,
    const P: usize,
>(
    saturate: bool,
) -> KernelFn {
    if saturate {
        cast::<Saturating<S, D>, L, I, Q, W, E, P>
    } else {
        cast::<Wrapping<S, D>, L, I, Q, W, E, P>
    }
}

/// Targets of more than a byte. Many need the same words.
const fn wide<S: Format, D: Format, L: Load, I: Isa, Q: Planes<E, 2>, const E: usize>(
    saturate: bool,
) -> KernelFn {
    use shapes::{SIGNED, UNSIGNED, WRAP};
    match (D::DTYPE, D::DTYPE.size()) {
        (DType::BFloat16, _) => cast::<Saturating<S, f32>, L, I, Q, W16, E, 2>,
        (DType::Float32, _) => cast::<Saturating<S, f32>, L, I, Q, F32, E, 2>,
        (DType::Complex64, _) => cast::<Saturating<S, f32>, L, I, Q, C64, E, 2>,
        (DType::Float64, _) => cast::<Saturating<S, f64>, L, I, Q, F64, E, 2>,
        (DType::Complex128, _) => cast::<Saturating<S, f64>, L, I, Q, C128, E, 2>,
        (_, 2) => short::<S, D, L, I, Q, W16, E, 2>(saturate),
        (_, 4) if !saturate => cast::<Truncating<S, 32, false>, L, I, Q, I32<WRAP>, E, 2>,
        (DType::Int32, _) => cast::<Truncating<S, 32, true>, L, I, Q, I32<SIGNED>, E, 2>,
        (DType::UInt32, _) => cast::<Truncating<S, 32, true>, L, I, Q, I32<UNSIGNED>, E, 2>,
        _ if !saturate => cast::<Truncating<S, 64, false>, L, I, Q, I64<WRAP>, E, 2>,
        (DType::Int64, _) => cast::<Truncating<S, 64, true>, L, I, Q, I64<SIGNED>, E, 2>,
        _ => cast::<Truncating<S, 64, true>, L, I, Q, I64<UNSIGNED>, E, 2>,
    }
}
