//! The tiers of x86.

use crate::{
    dtype::{DType, Spec},
    format::typed,
    vector::Work,
};

/// Defines, from one list of features, the token that proves them and the macro that compiles a function for them and for the features of
/// `$below`. So no function needs a feature that its tier has not proved.
macro_rules! define_features {
    ($dollar:tt $(#[$doc:meta])* $token:ident, $function:ident $(beside $below:ident)?: $($field:ident = $feature:tt)*) => {
        pulp::simd_type!({
            $(#[$doc])*
            pub(super) struct $token {
                $(pub $field: f!($feature),)*
            }
        });
        macro_rules! $function {
            ($dollar($dollar item:tt)*) => {
                define_features!(@ $($below)? {
                    $(#[target_feature(enable = $feature)])*
                    $dollar($dollar item)*
                });
            };
        }
    };
    (@ { $($item:tt)* }) => { $($item)* };
    (@ $below:ident { $($item:tt)* }) => { $below! { $($item)* } };
}
define_features! {
    $ /// Proves the tier `avx2`.
    Avx2, avx2_fn:
    avx = "avx" avx2 = "avx2" fma = "fma" f16c = "f16c" bmi1 = "bmi1" bmi2 = "bmi2" lzcnt = "lzcnt" popcnt = "popcnt"
}
define_features! {
    $ /// Proves the tier `avx512`, in addition to [`Avx2`].
    Avx512, avx512_fn beside avx2_fn:
    avx512f = "avx512f" avx512bw = "avx512bw" avx512vl = "avx512vl" avx512dq = "avx512dq"
}
define_features! {
    $ /// Proves, in addition to [`Avx512`], that kernels may permute bytes.
    Vbmi, vbmi_fn beside avx512_fn:
    avx512vbmi = "avx512vbmi"
}
define_features! {
    $ /// Proves, in addition to [`Avx512`], that kernels may use the conversion to bfloat16.
    Bf16, bf16_fn beside avx512_fn:
    avx512bf16 = "avx512bf16"
}

/// Methods of [`Simd`](crate::vector::Simd) that map registers to a register.
macro_rules! operations {
    ($($name:ident($($arg:ident $(: $type:ty)?),*) = $body:expr;)*) => {$(
        #[inline(always)]
        fn $name(self, $($arg: operations!(@ $($type)?)),*) -> Self::V {
            // SAFETY: the token proves the instructions.
            unsafe { $body }
        }
    )*};
    (@) => { Self::V };
    (@ $type:ty) => { $type };
}

/// What happens to values out of range of an integer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// They wrap, or there are none.
    Wrap,
    /// They become the nearest end of the range of signed integers.
    Signed,
    /// They become the nearest end of the range of unsigned integers.
    Unsigned,
}

impl Overflow {
    /// The overflow of a target. It is not used for floats.
    const fn of(to: DType, saturate: bool) -> Overflow {
        match to.spec() {
            _ if !saturate => Overflow::Wrap,
            Spec::Int { signed: true, .. } => Overflow::Signed,
            _ => Overflow::Unsigned,
        }
    }
}

typed! {
    /// An [`Overflow`] as a parameter of kernels.
    trait Overflows { OVERFLOW: Overflow }
    Wrap = Overflow::Wrap;
    ClampSigned = Overflow::Signed;
    ClampUnsigned = Overflow::Unsigned;
}

/// Defines `pick`, which finds the kernel of a pair among the `run::<S, D, SATURATE, R>` of a tier. Only kernels that the tier's table names are
/// compiled.
macro_rules! define_pick {
    () => {
        /// The kernel from `S` to one of the targets here.
        const fn pick<S: Source>(to: DType, saturate: bool) -> Option<KernelFn> {
            let [wrap, clamp]: [KernelFn; 2] = match to {
                DType::Int2 | DType::Int4 => pair::<S, Int8<false, true>, Int8<true, true>>(),
                DType::UInt2 | DType::UInt4 => pair::<S, Int8<false, true>, Int8<false, true>>(),
                DType::Int8 => pair::<S, Int8<false, true>, Int8<true, false>>(),
                DType::UInt8 => pair::<S, Int8<false, true>, Int8<false, false>>(),
                DType::Int16 => pair::<S, Int16<false>, Int16<true>>(),
                DType::UInt16 => pair::<S, Int16<false>, Int16<false>>(),
                DType::Int32 => pair::<S, Int32<false>, Int32<true>>(),
                DType::UInt32 => pair::<S, Int32<false>, Int32<false>>(),
                DType::Int64 => pair::<S, Int64<false>, Int64<true>>(),
                DType::UInt64 => pair::<S, Int64<false>, Int64<false>>(),
                DType::Float32 => [run::<S, Real<f32>, true, Common>; 2],
                DType::Float64 => [run::<S, Real<f64>, true, Common>; 2],
                DType::Complex64 => [run::<S, Complex<f32>, true, Common>; 2],
                DType::Complex128 => [run::<S, Complex<f64>, true, Common>; 2],
                _ => return None,
            };
            Some(if saturate { clamp } else { wrap })
        }

        /// The kernel that wraps and the kernel that saturates.
        const fn pair<S: Source, Wrap: Target, Clamp: Target>() -> [KernelFn; 2] {
            [run::<S, Wrap, false, Common>, run::<S, Clamp, true, Common>]
        }
    };
}

/// Defines `rounded`, which finds the kernel of a pair under other rounding than the common one. `$source` are the floats; `$wide` loads them
/// into lanes that become integers of 64 bits; `$bytes` are the kernels to integers of up to 8 bits, `[in the direction, ties away]`.
macro_rules! define_rounded {
    ($($source:ty, $wide:ty, $bytes:expr;)*) => {
        /// From a float to integers: `[8, 8 with ties away, 16, 32, 64 bits][wrapping, saturating to signed, to unsigned]`.
        type ToIntegers = [[KernelFn; 3]; 5];
        /// From an integer or float to a float: `[directed, ties away, to odd]`.
        type ToFloat = [KernelFn; 3];

        const fn overflows<S: Source, Signed: Target, Unsigned: Target>() -> [KernelFn; 3] {
            [
                run::<S, Unsigned, false, Directed>,
                run::<S, Signed, true, Directed>,
                run::<S, Unsigned, true, Directed>,
            ]
        }

        /// The kernels of `run` to integers of up to 8 bits: the same for directions and for ties away.
        const fn to_bytes<S: Source>() -> [[KernelFn; 3]; 2] {
            [overflows::<S, Int8<true, true>, Int8<false, true>>(); 2]
        }

        const fn to_integers<S: Source, Wide: Source>(bytes: [[KernelFn; 3]; 2]) -> ToIntegers {
            [
                bytes[0],
                bytes[1],
                overflows::<S, Int16<true>, Int16<false>>(),
                overflows::<S, Int32<true>, Int32<false>>(),
                overflows::<Wide, Int64<true>, Int64<false>>(),
            ]
        }

        const fn to_float<S: Source, D: Target>() -> ToFloat {
            [run::<S, D, true, Directed>, run::<S, D, true, Away>, run::<S, D, true, Odd>]
        }


        /// The kernel of a pair of byte storage under other rules than the common ones, if the pair is one of these.
        pub(super) fn rounded(from: DType, to: DType, rules: &Rules) -> Option<Rounded> {
            let direction = match rules.rounding {
                Rounding::NearestEven => Direction::NearestEven,
                Rounding::NearestAway if to.float_spec().is_some() && from.float_spec().is_some() => {
                    Direction::NearestEven
                }
                Rounding::NearestAway | Rounding::TowardZero | Rounding::ToOdd => Direction::TowardZero,
                Rounding::Floor => Direction::Down,
                Rounding::Ceil => Direction::Up,
            };
            if let Spec::Int { bits, signed } = to.spec() {
                static KERNELS: [ToIntegers; 4] = [$(to_integers::<$source, $wide>($bytes)),*];
                let from = match from {
                    DType::Float16 => 0,
                    DType::BFloat16 => 1,
                    DType::Float32 => 2,
                    DType::Float64 => 3,
                    _ => return None,
                };
                if rules.rounding == Rounding::ToOdd {
                    return None;
                }
                let overflow = if rules.saturate { 2 - signed as usize } else { 0 };
                let width = match bits {
                    ..=8 => (rules.rounding == Rounding::NearestAway) as usize,
                    _ => (bits / 8).trailing_zeros() as usize + 1,
                };
                return Some(Rounded { run: KERNELS[from][width][overflow], direction, second: None });
            }
            let kernels: &ToFloat = match (from, to) {
                (DType::Float64, DType::Float32) => const { &to_float::<f64, Real<f32>>() },
                (DType::Float64, DType::Complex64) => const { &to_float::<f64, Complex<f32>>() },
                (DType::Complex128, DType::Complex64) => {
                    const {
                        &[
                            parts::<f64, Real<f32>, Directed>,
                            parts::<f64, Real<f32>, Away>,
                            parts::<f64, Real<f32>, Odd>,
                        ]
                    }
                }
                (DType::Int32, DType::Float32) => const { &to_float::<i32, Real<f32>>() },
                (DType::Int32, DType::Complex64) => const { &to_float::<i32, Complex<f32>>() },
                (DType::UInt32, DType::Float32) => const { &to_float::<u32, Real<f32>>() },
                (DType::UInt32, DType::Complex64) => const { &to_float::<u32, Complex<f32>>() },
                (DType::Int64, DType::Float32) => const { &to_float::<i64, Real<f32>>() },
                (DType::Int64, DType::Complex64) => const { &to_float::<i64, Complex<f32>>() },
                (DType::Int64, DType::Float64) => const { &to_float::<i64, Real<f64>>() },
                (DType::Int64, DType::Complex128) => const { &to_float::<i64, Complex<f64>>() },
                (DType::UInt64, DType::Float32) => const { &to_float::<u64, Real<f32>>() },
                (DType::UInt64, DType::Complex64) => const { &to_float::<u64, Complex<f32>>() },
                (DType::UInt64, DType::Float64) => const { &to_float::<u64, Real<f64>>() },
                (DType::UInt64, DType::Complex128) => const { &to_float::<u64, Complex<f64>>() },
                _ => return None,
            };
            let way = match rules.rounding {
                Rounding::NearestAway => 1,
                Rounding::ToOdd => 2,
                _ => 0,
            };
            Some(Rounded { run: kernels[way], direction, second: None })
        }
    };
}

pub(super) mod avx2;
#[cfg(feature = "avx512")]
pub(super) mod avx512;
mod copy;
#[cfg(not(miri))]
mod env;
mod fine;
mod intrinsics;
#[cfg(any(miri, test))]
mod miri;
#[cfg(all(packs_by_clamps, not(miri)))]
mod pack;
mod packing;
mod short;
mod stream;
mod swap;
#[cfg(all(test, miri))]
mod tests;
mod turn;

#[cfg(miri)]
use intrinsics as env;

avx2_fn! {
    fn work_avx2<W: Work>(src: &W::Source, dst: &mut W::Destination) -> W::Output {
        W::run(src, dst)
    }
}

/// Does work with the vectors of AVX2.
///
/// # Safety
///
/// A vector tier can run here.
#[inline]
pub(super) unsafe fn run_work<W: Work>(src: &W::Source, dst: &mut W::Destination) -> W::Output {
    // SAFETY: both vector tiers have the features of AVX2.
    unsafe { work_avx2::<W>(src, dst) }
}
