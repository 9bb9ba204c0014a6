//! Which kernels the floating-point environment of the host may change.

use crate::{
    arch::Tier,
    dtype::{DType, Spec},
    vector::words,
};

/// Whether the pair's kernel on one of these tiers has instructions that obey the floating-point environment. Those that have none
/// are called without looking at it, which takes longer than a short cast. `tests/fpenv.rs` of the root crate tries them all.
pub(crate) const fn obeys_environment(tiers: &[Tier], from: DType, to: DType) -> bool {
    let mut i = 0;
    while i < tiers.len() {
        if obeys(tiers[i], from, to) {
            return true;
        }
        i += 1;
    }
    false
}

const fn obeys(tier: Tier, from: DType, to: DType) -> bool {
    const fn whole(dtype: DType) -> bool {
        matches!(dtype.spec(), Spec::Bool | Spec::Int { .. })
    }
    const fn parts(dtype: DType) -> u32 {
        match dtype.spec() {
            Spec::Float(f) | Spec::Complex(f) => f.bits(),
            _ => 0,
        }
    }
    /// 16-bit floats in lanes of their own width, and what the conversions of AVX-512 do alone.
    const fn quiet(from: DType, to: DType) -> bool {
        match to {
            DType::Float16 => true,
            DType::Float32 | DType::BFloat16 => matches!(from, DType::Float16),
            _ => match to.spec() {
                Spec::Int { bits: ..=8, .. } => true,
                _ => words::shape(from, to, true).is_some() && words::shape(from, to, false).is_some(),
            },
        }
    }
    let moved = match (from, to) {
        (DType::BFloat16, DType::Float32 | DType::Complex64) => true,
        // The same parts.
        _ => parts(from) >= 32 && parts(from) == parts(to),
    };
    let tested = matches!(to, DType::Bool) && (parts(from) >= 32 || matches!(from, DType::BFloat16));
    // These tiers look these up; AVX-512 of bytes that are integers only what is short.
    let looked_up = from.size() == 1
        && match tier {
            Tier::Avx512 => {
                let integer = matches!(from, DType::Bool | DType::Int8 | DType::UInt8);
                to.size() <= 2 || parts(to) > 0 && !integer
            }
            Tier::Neon => {
                let powers = matches!(from, DType::Float8E8M0FNU);
                to.size() == 1
                    || parts(to) == 32
                    || matches!(to, DType::BFloat16)
                    || matches!(to, DType::Float16) && !powers
                    || from.is_sub_byte() && whole(to)
            }
            _ => false,
        };
    // A conversion that is exact is the same in all environments, if it is one instruction: a difference that is zero has a
    // sign that depends on the rounding mode. The others of AVX-512 bring their rounding mode with them.
    let free = match (tier, from.spec()) {
        (Tier::Avx512, Spec::Int { bits: 32 | 64, .. }) if matches!(to, DType::Float32 | DType::Float64) => {
            true
        }
        (Tier::Avx512, Spec::Int { bits: 16 | 32, .. }) if parts(to) == 64 => true,
        (Tier::Neon, Spec::Int { bits: ..=32, .. }) if parts(to) == 64 => true,
        // What these round they round by their own direction or not at all, and they raise no exceptions.
        (Tier::Avx512, _)
            if matches!(from, DType::Float32 | DType::Float16 | DType::BFloat16) && quiet(from, to) =>
        {
            true
        }
        (Tier::Avx2 | Tier::Avx512 | Tier::Neon, Spec::Bool | Spec::Int { bits: ..=16, .. }) => {
            parts(to) == 32
        }
        _ => false,
    };
    !(from as u8 == to as u8 || whole(from) && whole(to) || moved || tested || looked_up || free)
}
