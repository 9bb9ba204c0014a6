//! The tier of 64-bit Arm.

mod fine;
pub(super) mod neon;
mod packing;
mod swap;
mod turn;

pulp::simd_type!({
    /// Proves the tier `neon`.
    pub(super) struct Neon {
        pub neon: f!("neon"),
    }

    /// Proves, in addition to [`Neon`], that kernels may use the conversion to bfloat16.
    pub(super) struct Bf16 {
        pub bf16: f!("bf16"),
    }

    /// Proves, in addition to [`Neon`], that kernels may use arithmetic of float16.
    pub(super) struct Fp16 {
        pub fp16: f!("fp16"),
    }
});
