//! The tiers of x86.

use super::Tier;
use crate::{
    exact::Rules,
    storage::BufferType,
    table::{Rounded, Table},
};
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

/// Makes `pick`, which finds the kernel of a pair among the `run::<S, D, SATURATE>` of a tier. Only those that the table of the
/// tier names are compiled.
macro_rules! define_pick {
    () => {
        /// The kernel from `S` to one of the targets here.
        const fn pick<S: Source>(to: DType, saturate: bool) -> Option<KernelFn> {
            let [wrap, clamp]: [KernelFn; 2] = match to {
                DType::Int2 => [run::<S, Int8<2, false>, false>, run::<S, Int8<2, true>, true>],
                DType::UInt2 => [run::<S, Int8<2, false>, false>, run::<S, Int8<2, false>, true>],
                DType::Int4 => [run::<S, Int8<4, false>, false>, run::<S, Int8<4, true>, true>],
                DType::UInt4 => [run::<S, Int8<4, false>, false>, run::<S, Int8<4, false>, true>],
                DType::Int8 => [run::<S, Int8<8, false>, false>, run::<S, Int8<8, true>, true>],
                DType::UInt8 => [run::<S, Int8<8, false>, false>, run::<S, Int8<8, false>, true>],
                DType::Int16 => [run::<S, Int16<false>, false>, run::<S, Int16<true>, true>],
                DType::UInt16 => [run::<S, Int16<false>, false>, run::<S, Int16<false>, true>],
                DType::Int32 => [run::<S, Int32<false>, false>, run::<S, Int32<true>, true>],
                DType::UInt32 => [run::<S, Int32<false>, false>, run::<S, Int32<false>, true>],
                DType::Int64 => [run::<S, Int64<false>, false>, run::<S, Int64<true>, true>],
                DType::UInt64 => [run::<S, Int64<false>, false>, run::<S, Int64<false>, true>],
                DType::Float32 => [run::<S, Real<f32>, true>; 2],
                DType::Float64 => [run::<S, Real<f64>, true>; 2],
                DType::Complex64 => [run::<S, Complex<f32>, true>; 2],
                DType::Complex128 => [run::<S, Complex<f64>, true>; 2],
                _ => return None,
            };
            Some(if saturate { clamp } else { wrap })
        }
    };
}

mod avx2;
mod avx512;
mod copy;
#[cfg(all(test, miri))]
mod ends;
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
mod turn;

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
    if tier == Tier::Avx512 { fine::names(fine::found()) } else { &[] }
}

/// The loops that look for what is lost on a tier that was detected.
pub(super) fn loops(tier: Tier, shape: crate::loss::Shape) -> crate::loss::Loops {
    let loops = avx2::loops(shape);
    // Blocks are counted only if something was lost: there, a second set of loops is not worth its machine code.
    if tier == Tier::Avx512 {
        crate::loss::Loops { count: loops.count, ..avx512::loops(shape) }
    } else {
        loops
    }
}

/// The kernel of a pair under rules that are not the common ones, on a tier that was detected.
pub(super) fn rounded(tier: Tier, from: BufferType, to: BufferType, rules: &Rules) -> Option<Rounded> {
    match tier {
        Tier::Avx2 => avx2::rounded(from, to, rules),
        Tier::Avx512 => avx512::rounded(from, to, rules),
        _ => None,
    }
}

pub(super) fn packing(_: Tier) -> &'static crate::format::packed::Packing {
    &packing::PACKING
}

/// The swaps of a tier that was detected.
pub(super) fn swaps(tier: Tier) -> &'static crate::order::Swaps {
    if tier == Tier::Avx512 { &swap::AVX512 } else { &swap::AVX2 }
}

pub(super) fn transpose(_: Tier) -> &'static crate::strided::Transpose {
    &turn::TRANSPOSE
}
