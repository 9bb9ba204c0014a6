//! The tiers of x86.

use super::Tier;
use crate::table::Table;
pub(super) use stream::{last_cache, non_temporal};

/// Methods of [`Simd`](crate::vector::Simd) that map registers to a register.
macro_rules! operations {
    ($($name:ident($($arg:ident $(: $type:ty)?),*) = $body:expr;)*) => {$(
        #[inline(always)]
        unsafe fn $name($($arg: operations!(@ $($type)?)),*) -> Self::V {
            // SAFETY: the caller's promise: the CPU has the tier.
            unsafe { $body }
        }
    )*};
    (@) => { Self::V };
    (@ $type:ty) => { $type };
}

mod avx2;
mod avx512;
mod copy;
mod fine;
mod packing;
mod short;
mod stream;

pulp::simd_type!({
    /// Proves the tier `avx2`.
    pub(super) struct Avx2 {
        pub avx: f!("avx"),
        pub avx2: f!("avx2"),
        pub fma: f!("fma"),
        pub f16c: f!("f16c"),
        pub bmi1: f!("bmi1"),
        pub bmi2: f!("bmi2"),
        pub lzcnt: f!("lzcnt"),
        pub popcnt: f!("popcnt"),
    }

    /// Proves the tier `avx512`, beside [`Avx2`].
    pub(super) struct Avx512 {
        pub avx512f: f!("avx512f"),
        pub avx512bw: f!("avx512bw"),
        pub avx512vl: f!("avx512vl"),
        pub avx512dq: f!("avx512dq"),
    }

    /// Proves that kernels beside [`Avx512`] may permute bytes.
    pub(super) struct Vbmi {
        pub avx512vbmi: f!("avx512vbmi"),
    }

    /// Proves that kernels beside [`Avx512`] may use the conversion to bfloat16.
    pub(super) struct Bf16 {
        pub avx512bf16: f!("avx512bf16"),
    }
});

pub(super) fn detected(tier: Tier) -> Option<bool> {
    match tier {
        Tier::Avx2 => Some(Avx2::try_new().is_some()),
        Tier::Avx512 => Some(Avx2::try_new().is_some() && Avx512::try_new().is_some()),
        _ => None,
    }
}

/// The kernels of a tier that was detected.
pub(super) fn table(tier: Tier) -> Option<&'static Table> {
    match tier {
        Tier::Avx2 => Some(&avx2::TABLE),
        Tier::Avx512 => Some(&avx512::TABLES[fine::found() as usize]),
        _ => None,
    }
}

pub(super) fn features(tier: Tier) -> &'static [&'static str] {
    if tier == Tier::Avx512 { fine::NAMES[fine::found() as usize] } else { &[] }
}

pub(super) fn packing(_: Tier) -> &'static crate::format::packed::Packing {
    &packing::PACKING
}
