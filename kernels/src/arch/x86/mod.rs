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
