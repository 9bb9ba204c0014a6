//! The tiers of x86.

use super::Tier;
use crate::table::Table;

/// What both tiers have, each with its own instructions: the plain loop for any pair, and float16 by the conversion
/// instructions, which do with NaN what the specification says.
macro_rules! common_kernels {
    (
        features: $features:literal,
        lanes: $lanes:literal,
        float16: $load16:ident $store16:ident,
        float32: $load32:ident $store32:ident,
        widen: $widen:ident,
        narrow: $narrow:ident,
    ) => {
        /// # Safety
        ///
        /// As [`KernelFn`].
        #[target_feature(enable = $features)]
        unsafe fn cast<S: Format, D: Format, const SATURATE: bool>(src: *const u8, dst: *mut u8, n: usize) {
            // SAFETY: as the caller's.
            unsafe { scalar::cast_each::<S, D, SATURATE>(src, dst, n) }
        }

        /// # Safety
        ///
        /// As [`KernelFn`].
        #[target_feature(enable = $features)]
        unsafe fn f16_to_f32(src: *const u8, dst: *mut u8, n: usize) {
            let whole = n - n % $lanes;
            for i in (0..whole).step_by($lanes) {
                // SAFETY: the elements `i .. i + lanes` are among the caller's `n`; these loads and stores need no alignment.
                unsafe { $store32(dst.add(4 * i).cast(), $widen($load16(src.add(2 * i).cast()))) };
            }
            // SAFETY: as the caller's, for the elements behind the whole vectors.
            unsafe { cast::<f16, f32, true>(src.add(2 * whole), dst.add(4 * whole), n - whole) }
        }

        /// # Safety
        ///
        /// As [`KernelFn`].
        #[target_feature(enable = $features)]
        unsafe fn f32_to_f16(src: *const u8, dst: *mut u8, n: usize) {
            let whole = n - n % $lanes;
            for i in (0..whole).step_by($lanes) {
                // SAFETY: as in `f16_to_f32`. The rounding is the instruction's own, not that of the control register.
                unsafe {
                    let codes = $narrow::<_MM_FROUND_TO_NEAREST_INT>($load32(src.add(4 * i).cast()));
                    $store16(dst.add(2 * i).cast(), codes);
                }
            }
            // SAFETY: as the caller's, for the elements behind the whole vectors.
            unsafe { cast::<f32, f16, true>(src.add(4 * whole), dst.add(2 * whole), n - whole) }
        }

        const fn direct<S: Format, D: Format, const FINE: u8>(_saturate: bool) -> Option<KernelFn> {
            match (S::DTYPE, D::DTYPE) {
                (DType::Float16, DType::Float32) => Some(f16_to_f32),
                (DType::Float32, DType::Float16) => Some(f32_to_f16),
                _ => None,
            }
        }
    };
}

mod avx2;
mod avx512;
mod fine;

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
