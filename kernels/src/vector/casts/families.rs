//! The kernels of a tier by dtype and family.

use super::{load::Loaded, target::*};
use crate::{
    dtype::{DType, Flavor, Spec},
    format::data::Data,
    vector::{
        Casts,
        kernel::{KernelFn, Steps},
        small::{
            FloatFamily, FnuzNanApart, FnuzNanAsOverflow, FourBits, FourOrSixBits, NanApart, NanAsOverflow,
            SixBits,
        },
        style::{Away, Common, Directed, Mode, Odd},
    },
};
use half::{bf16, f16};
use num_complex::Complex;

/// A tier with the kernels of these families.
pub(crate) trait Families: Casts {
    /// The kernel from a source to a family of targets: [`run`](super::run), compiled for the tier.
    ///
    /// # Safety
    ///
    /// As [`KernelFn`], and the CPU has the features of the token.
    unsafe fn run<S: Loaded, T: Target<Self>>(src: *const u8, dst: *mut u8, n: usize, data: &Data);
}

/// The kernel of a pair that [`covers`](super::covers) names under the common rules.
pub(crate) const fn common<V: Families>(
    from: DType,
    to: DType,
    saturate: bool,
    packed: bool,
) -> Option<KernelFn> {
    const fn of<V: Families, S: Loaded>(to: DType, saturate: bool, packed: bool) -> Option<KernelFn> {
        // An integer is never NaN, and an unsigned integer has no sign.
        let (integer, unsigned) = match S::DTYPE.spec() {
            Spec::Int { signed, .. } => (true, !signed),
            _ => (false, false),
        };
        Some(match (to.spec(), to.bits()) {
            (Spec::Bool, _) => V::run::<S, Bytes<Truth>>,
            (Spec::Int { .. }, 8) if !saturate => V::run::<S, Bytes<Wrapped<true, Common>>>,
            (Spec::Int { .. }, 2) if !saturate && packed => V::run::<S, Packed<Wrapped<false, Common>, 2>>,
            (Spec::Int { .. }, 4) if !saturate && packed => V::run::<S, Packed<Wrapped<false, Common>, 4>>,
            (Spec::Int { .. }, 2 | 4) if !saturate => V::run::<S, Bytes<Wrapped<false, Common>>>,
            (Spec::Int { signed: false, .. }, 2) if packed => V::run::<S, Packed<Unsigned<Common>, 2>>,
            (Spec::Int { signed: false, .. }, 4) if packed => V::run::<S, Packed<Unsigned<Common>, 4>>,
            (Spec::Int { signed: false, .. }, 2 | 4 | 8) => V::run::<S, Bytes<Unsigned<Common>>>,
            (Spec::Int { .. }, 2) if packed => V::run::<S, Packed<Signed<false, Common>, 2>>,
            (Spec::Int { .. }, 4) if packed => V::run::<S, Packed<Signed<false, Common>, 4>>,
            (Spec::Int { .. }, 2 | 4) => V::run::<S, Bytes<Signed<false, Common>>>,
            (Spec::Int { .. }, 8) => V::run::<S, Bytes<Signed<true, Common>>>,
            (Spec::Float(_), 32) => V::run::<S, F32>,
            (Spec::Float(f), 16) if f.exponent_bits == 8 => V::run::<S, BF16<Common>>,
            (Spec::Float(_), 16) => V::run::<S, F16<Common>>,
            (Spec::Float(_), 4) if packed => V::run::<S, Packed<Float<FourBits, Common>, 4>>,
            (Spec::Float(_), 6) if packed => V::run::<S, Packed<Float<SixBits, Common>, 6>>,
            (Spec::Float(_), 4 | 6) => V::run::<S, Bytes<Float<FourOrSixBits, Common>>>,
            (Spec::Float(f), 8) => match f.flavor {
                Flavor::Exponent if saturate => V::run::<S, Bytes<Exponent<true>>>,
                // A separate body takes less time; for sources of 8 bytes it does not, because loading dominates.
                Flavor::Exponent if S::DTYPE.size() < 8 => V::run::<S, Bytes<Exponent<false>>>,
                Flavor::Exponent => V::run::<S, Bytes<Powers>>,
                _ if unsigned => V::run::<S, Bytes<Float<NanApart, Common>>>,
                Flavor::Fnuz if saturate || integer => V::run::<S, Bytes<Float<FnuzNanApart, Common>>>,
                Flavor::Fnuz => V::run::<S, Bytes<Float<FnuzNanAsOverflow, Common>>>,
                Flavor::Fn if !saturate && !integer => V::run::<S, Bytes<Float<NanAsOverflow, Common>>>,
                _ => V::run::<S, Bytes<Float<NanApart, Common>>>,
            },
            _ => return None,
        })
    }
    match from {
        DType::Int16 => of::<V, i16>(to, saturate, packed),
        DType::UInt16 => of::<V, u16>(to, saturate, packed),
        DType::Int32 => of::<V, i32>(to, saturate, packed),
        DType::UInt32 => of::<V, u32>(to, saturate, packed),
        DType::Int64 => of::<V, i64>(to, saturate, packed),
        DType::UInt64 => of::<V, u64>(to, saturate, packed),
        DType::Float16 => of::<V, f16>(to, saturate, packed),
        DType::BFloat16 => of::<V, bf16>(to, saturate, packed),
        DType::Float32 => of::<V, f32>(to, saturate, packed),
        DType::Float64 => of::<V, f64>(to, saturate, packed),
        _ => None,
    }
}

/// The kernels of a float to integers of up to 8 bits under other roundings than the common one,
/// `[in the direction, ties away][wrapping, saturating to signed, to unsigned]`.
pub(crate) const fn to_bytes<V: Families, S: Loaded>() -> [[KernelFn; 3]; 2] {
    const fn overflows<V: Families, S: Loaded, R: ToInt<V>>() -> [KernelFn; 3] {
        [
            V::run::<S, Bytes<Wrapped<false, R>>>,
            V::run::<S, Bytes<Signed<false, R>>>,
            V::run::<S, Bytes<Unsigned<R>>>,
        ]
    }
    [overflows::<V, S, Directed>(), overflows::<V, S, Away>()]
}

/// The kernel to a family of small floats in a mode.
pub(crate) fn small_in_mode<V: Families, S: Loaded, F: FloatFamily>(mode: Mode) -> KernelFn {
    mode.pick([
        V::run::<S, Bytes<Float<F, Common>>>,
        V::run::<S, Bytes<Float<F, Directed>>>,
        V::run::<S, Bytes<Float<F, Away>>>,
        V::run::<S, Bytes<Float<F, Odd>>>,
    ])
}

/// The kernel of a pair in a mode: from `H` for targets of 16 bits and float32, from `B` for targets of a byte. Sources without a kernel of their
/// own take two steps: to float32, rounded to odd, and from there to the target. Rounding to odd keeps the second rounding single (`hub`), in
/// every direction. `None` if the pair is not one of these kernels.
pub(crate) fn in_mode<H: Families, B: Families>(from: DType, to: DType, mode: Mode) -> Option<Steps> {
    fn of<H: Families, B: Families, S: Loaded>(to: DType, mode: Mode) -> Option<KernelFn> {
        let f = match to.spec() {
            Spec::Float(f) => f,
            _ => return None,
        };
        Some(match (f.bits(), f.flavor) {
            (16, _) if f.exponent_bits == 8 => mode.pick([
                H::run::<S, BF16<Common>>,
                H::run::<S, BF16<Directed>>,
                H::run::<S, BF16<Away>>,
                H::run::<S, BF16<Odd>>,
            ]),
            (16, _) => mode.pick([
                H::run::<S, F16<Common>>,
                H::run::<S, F16<Directed>>,
                H::run::<S, F16<Away>>,
                H::run::<S, F16<Odd>>,
            ]),
            (8, Flavor::Exponent) => B::run::<S, Bytes<Powers>>,
            (8, Flavor::Fnuz) => small_in_mode::<B, S, FnuzNanApart>(mode),
            (8, _) => small_in_mode::<B, S, NanApart>(mode),
            (4 | 6, _) => small_in_mode::<B, S, FourOrSixBits>(mode),
            _ => return None,
        })
    }
    match from {
        DType::Float32 => return Some(Steps { first: of::<H, B, f32>(to, mode)?, second: None }),
        DType::Float16 => return Some(Steps { first: of::<H, B, f16>(to, mode)?, second: None }),
        DType::BFloat16 => return Some(Steps { first: of::<H, B, bf16>(to, mode)?, second: None }),
        _ => {}
    }
    // True for targets with the exponents of float32.
    let odd = to.float_spec().is_some_and(|f| f.exponent_bits == 8);
    let first: KernelFn = match from {
        DType::Int16 => H::run::<i16, F32Odd<false>>,
        DType::UInt16 => H::run::<u16, F32Odd<false>>,
        DType::Int32 if odd => H::run::<i32, F32Odd<true>>,
        DType::Int32 => H::run::<i32, F32Odd<false>>,
        DType::UInt32 if odd => H::run::<u32, F32Odd<true>>,
        DType::UInt32 => H::run::<u32, F32Odd<false>>,
        DType::Int64 => H::run::<i64, F32Odd<true>>,
        DType::UInt64 => H::run::<u64, F32Odd<true>>,
        DType::Float64 => H::run::<f64, F32Odd<true>>,
        DType::Complex128 => H::run::<Complex<f64>, F32Odd<true>>,
        _ => return None,
    };
    Some(Steps { first, second: Some(of::<H, B, f32>(to, mode)?) })
}
