//! Which families there are: the kernels of a tier by dtype.

/// Makes, from a tier's `$run<S: Format, T: Target<_>>`, `$plain::<S>(to, saturate, packed)`: the kernel of a pair that `covers` names
/// under common rules.
macro_rules! define_families {
    ($run:ident, $plain:ident) => {
        pub(in crate::arch) const fn $plain<S: Format>(
            to: DType,
            saturate: bool,
            packed: bool,
        ) -> Option<KernelFn> {
            use crate::vector::{
                small::{
                    FnuzNanApart, FnuzNanAsOverflow, FourBits, FourOrSixBits, NanApart, NanAsOverflow,
                    SixBits,
                },
                style::Common,
                target::*,
            };
            // An integer is no NaN, and an unsigned one has no sign.
            let (integer, unsigned) = match S::DTYPE.spec() {
                Spec::Int { signed, .. } => (true, !signed),
                _ => (false, false),
            };
            Some(match (to.spec(), to.bits()) {
                (Spec::Bool, _) => $run::<S, Bytes<Truth>>,
                (Spec::Int { .. }, 8) if !saturate => $run::<S, Bytes<Wrapped<true, Common>>>,
                (Spec::Int { .. }, 2) if !saturate && packed => $run::<S, Packed<Wrapped<false, Common>, 2>>,
                (Spec::Int { .. }, 4) if !saturate && packed => $run::<S, Packed<Wrapped<false, Common>, 4>>,
                (Spec::Int { .. }, 2 | 4) if !saturate => $run::<S, Bytes<Wrapped<false, Common>>>,
                (Spec::Int { signed: false, .. }, 2) if packed => $run::<S, Packed<Unsigned<Common>, 2>>,
                (Spec::Int { signed: false, .. }, 4) if packed => $run::<S, Packed<Unsigned<Common>, 4>>,
                (Spec::Int { signed: false, .. }, 2 | 4 | 8) => $run::<S, Bytes<Unsigned<Common>>>,
                (Spec::Int { .. }, 2) if packed => $run::<S, Packed<Signed<false, Common>, 2>>,
                (Spec::Int { .. }, 4) if packed => $run::<S, Packed<Signed<false, Common>, 4>>,
                (Spec::Int { .. }, 2 | 4) => $run::<S, Bytes<Signed<false, Common>>>,
                (Spec::Int { .. }, 8) => $run::<S, Bytes<Signed<true, Common>>>,
                (Spec::Float(_), 32) => $run::<S, F32>,
                (Spec::Float(f), 16) if f.exponent_bits == 8 => $run::<S, BF16<Common>>,
                (Spec::Float(_), 16) => $run::<S, F16<Common>>,
                (Spec::Float(_), 4) if packed => $run::<S, Packed<Float<FourBits, Common>, 4>>,
                (Spec::Float(_), 6) if packed => $run::<S, Packed<Float<SixBits, Common>, 6>>,
                (Spec::Float(_), 4 | 6) => $run::<S, Bytes<Float<FourOrSixBits, Common>>>,
                (Spec::Float(f), 8) => match f.flavor {
                    Flavor::Exponent if saturate => $run::<S, Bytes<Exponent<true>>>,
                    // A body of its own takes less time; sources of 8 bytes have enough to do as it is.
                    Flavor::Exponent if S::DTYPE.size() < 8 => $run::<S, Bytes<Exponent<false>>>,
                    Flavor::Exponent => $run::<S, Bytes<Powers>>,
                    _ if unsigned => $run::<S, Bytes<Float<NanApart, Common>>>,
                    Flavor::Fnuz if saturate || integer => $run::<S, Bytes<Float<FnuzNanApart, Common>>>,
                    Flavor::Fnuz => $run::<S, Bytes<Float<FnuzNanAsOverflow, Common>>>,
                    Flavor::Fn if !saturate && !integer => $run::<S, Bytes<Float<NanAsOverflow, Common>>>,
                    _ => $run::<S, Bytes<Float<NanApart, Common>>>,
                },
                _ => return None,
            })
        }
    };
}
pub(crate) use define_families;

/// Makes, from a tier's `$run<S: Format, T: Target<_>>`, `$integers::<S>()`: the kernels of a float to integers of up to 8 bits under roundings
/// that are not the common one, `[in the direction, ties away][wrapping, saturating to signed, to unsigned]`.
macro_rules! define_integers {
    ($run:ident, $integers:ident) => {
        const fn $integers<S: Format>() -> [[KernelFn; 3]; 2] {
            use crate::vector::{
                style::{Away, Directed},
                target::*,
            };
            macro_rules! overflows {
                ($style:ident) => {
                    [
                        $run::<S, Bytes<Wrapped<false, $style>>>,
                        $run::<S, Bytes<Signed<false, $style>>>,
                        $run::<S, Bytes<Unsigned<$style>>>,
                    ]
                };
            }
            [overflows!(Directed), overflows!(Away)]
        }
    };
}
pub(crate) use define_integers;

/// Makes, from a tier's `$halves<S: Format, T: Target<_>>` for targets of 16 bits and float32 and `$bytes` for those of a byte,
/// `$styled(from, to, mode)`: the kernel of a pair in a style, or for sources that have none of their own, those of both steps: to
/// float32, rounded to odd, and from there to the target. Rounding to odd keeps the second rounding single (`hub`), in every direction.
macro_rules! define_styles {
    ($halves:ident, $bytes:ident, $styled:ident) => {
        /// `None` if the pair is not one of these kernels.
        pub(in crate::arch) fn $styled(
            from: DType,
            to: DType,
            mode: $crate::vector::style::Mode,
        ) -> Option<Steps> {
            use crate::vector::{
                small::{FnuzNanApart, FourOrSixBits, NanApart},
                style::{Away, Common, Directed, Odd},
                target::*,
            };
            macro_rules! styles {
                ($S:ty, $style:ident) => {
                    [
                        $halves::<$S, F16<$style>>,
                        $halves::<$S, BF16<$style>>,
                        $bytes::<$S, Bytes<Float<NanApart, $style>>>,
                        $bytes::<$S, Bytes<Float<FnuzNanApart, $style>>>,
                        $bytes::<$S, Bytes<Float<FourOrSixBits, $style>>>,
                        $bytes::<$S, Bytes<Powers>>,
                    ]
                };
                ($S:ty) => {
                    [styles!($S, Common), styles!($S, Directed), styles!($S, Away), styles!($S, Odd)]
                };
            }
            /// `[source][style][family]`
            static STYLED: [[[KernelFn; 6]; 4]; 3] = [styles!(f32), styles!(half::f16), styles!(half::bf16)];
            let family = match to.spec() {
                Spec::Float(f) => match (f.bits(), f.flavor) {
                    (16, _) => (f.exponent_bits == 8) as usize,
                    (8, Flavor::Exponent) => 5,
                    (8, Flavor::Fnuz) => 3,
                    (8, _) => 2,
                    (4 | 6, _) => 4,
                    _ => return None,
                },
                _ => return None,
            };
            // The families with the exponents of float32.
            let odd = family == 1 || family == 5;
            let of = |source: usize| STYLED[source][mode as usize][family];
            let first: KernelFn = match from {
                DType::Float32 => return Some(Steps { first: of(0), second: None }),
                DType::Float16 => return Some(Steps { first: of(1), second: None }),
                DType::BFloat16 => return Some(Steps { first: of(2), second: None }),
                DType::Int16 => $halves::<i16, F32Odd<false>>,
                DType::UInt16 => $halves::<u16, F32Odd<false>>,
                DType::Int32 if odd => $halves::<i32, F32Odd<true>>,
                DType::Int32 => $halves::<i32, F32Odd<false>>,
                DType::UInt32 if odd => $halves::<u32, F32Odd<true>>,
                DType::UInt32 => $halves::<u32, F32Odd<false>>,
                DType::Int64 => $halves::<i64, F32Odd<true>>,
                DType::UInt64 => $halves::<u64, F32Odd<true>>,
                DType::Float64 => $halves::<f64, F32Odd<true>>,
                DType::Complex128 => $halves::<num_complex::Complex<f64>, F32Odd<true>>,
                _ => return None,
            };
            Some(Steps { first, second: Some(of(0)) })
        }
    };
}
pub(crate) use define_styles;
