//! Tiers: the instruction set levels that kernels are built for.
//!
//! A tier is one row of [`Tier::ALL`] and one file here. Which of them the CPU has is asked once; `cfg(target_arch)` of the
//! kernels stands in this file only. A token ([`pulp::simd_type!`]) can only be made after detection and so proves a tier.

#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
mod avx2;
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
mod avx512;
pub(crate) mod scalar;

use crate::table::Table;
use core::{fmt, str::FromStr};

/// An instruction set level, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Tier {
    /// Plain Rust; every target has it.
    Scalar,
    /// x86 with AVX2, FMA, F16C and BMI2.
    Avx2,
    /// x86 with AVX-512 F, BW, VL and DQ.
    Avx512,
    /// 64-bit Arm.
    Neon,
}

// `from_index` finds a tier by its number.
const _: () = {
    let mut i = 0;
    while i < Tier::ALL.len() {
        assert!(Tier::ALL[i] as usize == i, "tiers stand in the order of their numbers");
        i += 1;
    }
};

/// Whether a tier can run here, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TierStatus {
    /// It can run.
    Available,
    /// The CPU has it, but this version has no kernels for it yet.
    NotBuilt,
    /// The CPU lacks its instructions (or the operating system does not save their registers).
    CpuLacks,
    /// It belongs to another architecture.
    OtherArchitecture,
}

impl fmt::Display for TierStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TierStatus::Available => "available",
            TierStatus::NotBuilt => "the CPU has it, but this version has no kernels for it",
            TierStatus::CpuLacks => "the CPU lacks it",
            TierStatus::OtherArchitecture => "it belongs to another architecture",
        })
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
mod tokens {
    pulp::simd_type!({
        /// Proves the tier `avx2`.
        pub struct Avx2 {
            pub avx: f!("avx"),
            pub avx2: f!("avx2"),
            pub fma: f!("fma"),
            pub f16c: f!("f16c"),
            pub bmi1: f!("bmi1"),
            pub bmi2: f!("bmi2"),
            pub lzcnt: f!("lzcnt"),
            pub popcnt: f!("popcnt"),
        }

        /// Proves the tier `avx512`.
        pub struct Avx512 {
            pub avx512f: f!("avx512f"),
            pub avx512bw: f!("avx512bw"),
            pub avx512vl: f!("avx512vl"),
            pub avx512dq: f!("avx512dq"),
        }
    });
}

#[cfg(target_arch = "aarch64")]
mod tokens {
    pulp::simd_type!({
        /// Proves the tier `neon`.
        pub struct Neon {
            pub neon: f!("neon"),
        }
    });
}

/// Whether the CPU has the instructions; `None` if they are of another architecture.
fn detected(tier: Tier) -> Option<bool> {
    match tier {
        Tier::Scalar => Some(true),
        #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
        Tier::Avx2 => Some(tokens::Avx2::try_new().is_some()),
        #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
        Tier::Avx512 => Some(tokens::Avx2::try_new().is_some() && tokens::Avx512::try_new().is_some()),
        #[cfg(target_arch = "aarch64")]
        Tier::Neon => Some(tokens::Neon::try_new().is_some()),
        _ => None,
    }
}

impl Tier {
    /// All tiers, the weakest first.
    pub const ALL: &'static [Tier] = &[Tier::Scalar, Tier::Avx2, Tier::Avx512, Tier::Neon];

    /// Its name everywhere: `"avx512"`.
    pub const fn name(self) -> &'static str {
        match self {
            Tier::Scalar => "scalar",
            Tier::Avx2 => "avx2",
            Tier::Avx512 => "avx512",
            Tier::Neon => "neon",
        }
    }

    /// The kernels of the tier, if there are any.
    pub(crate) const fn table(self) -> Option<&'static Table> {
        match self {
            Tier::Scalar => Some(&scalar::TABLE),
            #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
            Tier::Avx2 => Some(&avx2::TABLE),
            #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
            Tier::Avx512 => Some(&avx512::TABLE),
            _ => None,
        }
    }

    /// Whether it can run here.
    pub fn status(self) -> TierStatus {
        match (detected(self), self.table()) {
            (None, _) => TierStatus::OtherArchitecture,
            (Some(false), _) => TierStatus::CpuLacks,
            (Some(true), None) => TierStatus::NotBuilt,
            (Some(true), Some(_)) => TierStatus::Available,
        }
    }

    /// Whether it can run here.
    pub fn is_available(self) -> bool {
        self.status() == TierStatus::Available
    }

    /// The strongest tier that can run here.
    pub fn best() -> Tier {
        Tier::ALL.iter().copied().rfind(|t| t.is_available()).unwrap_or(Tier::Scalar)
    }

    /// The tier with this number (`tier as u8`).
    pub const fn from_index(index: u8) -> Option<Tier> {
        if (index as usize) < Tier::ALL.len() { Some(Tier::ALL[index as usize]) } else { None }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no tier's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTier(pub alloc::string::String);

impl fmt::Display for UnknownTier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown tier {:?}; the tiers are", self.0)?;
        Tier::ALL.iter().enumerate().try_for_each(|(i, t)| write!(f, "{} {t}", if i == 0 { "" } else { "," }))
    }
}

impl core::error::Error for UnknownTier {}

impl FromStr for Tier {
    type Err = UnknownTier;

    fn from_str(name: &str) -> Result<Self, UnknownTier> {
        let found = Tier::ALL.iter().copied().find(|t| t.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| UnknownTier(name.into()))
    }
}
