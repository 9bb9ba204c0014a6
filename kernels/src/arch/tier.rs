//! The tiers, and the list of them.

use crate::dtype::UnknownName;
use core::{fmt, str::FromStr};

/// Calls the macro `$callback` with the list of all tiers, the weakest first. In each row,
///
/// * `architecture` is a `cfg` that is true on the targets that may have the tier;
/// * `cargo_feature` is a `cfg` that is true if the user wants the tier;
/// * `built` is a `cfg` that is true if the kernels are in this build (`build.rs`);
/// * `required` lists the features that a CPU with the tier has, and `optional` lists the features for which the tier has faster kernels, both
///   by Rust's names;
/// * `backend` is the module with the kernels.
macro_rules! for_each_tier {
    ($callback:ident) => {
        $callback! {
            /// Plain Rust; every target has it.
            Scalar = "scalar" {
                architecture: all(),
                cargo_feature: all(),
                built: all(),
                required: [],
                optional: [],
                backend: scalar,
            }
            /// x86 with AVX2, FMA, F16C and BMI2.
            Avx2 = "avx2" {
                architecture: any(target_arch = "x86_64", target_arch = "x86"),
                cargo_feature: feature = "avx2",
                built: x86_tiers,
                required: ["avx", "avx2", "fma", "f16c", "bmi1", "bmi2", "lzcnt", "popcnt"],
                optional: [],
                backend: x86::avx2,
            }
            /// x86 with AVX-512 F, BW, VL and DQ.
            Avx512 = "avx512" {
                architecture: any(target_arch = "x86_64", target_arch = "x86"),
                cargo_feature: feature = "avx512",
                built: all(x86_tiers, feature = "avx512"),
                required: [
                    "avx", "avx2", "fma", "f16c", "bmi1", "bmi2", "lzcnt", "popcnt", "avx512f", "avx512bw", "avx512vl",
                    "avx512dq"
                ],
                optional: ["avx512vbmi", "avx512bf16"],
                backend: x86::avx512,
            }
            /// 64-bit Arm with NEON, which all of its application processors have.
            Neon = "neon" {
                architecture: target_arch = "aarch64",
                cargo_feature: feature = "neon",
                built: arm_tiers,
                required: ["neon"],
                optional: ["bf16", "fp16"],
                backend: aarch64::neon,
            }
            /// WebAssembly with vectors of 128 bits (`simd128`).
            Wasm128 = "wasm128" {
                architecture: target_arch = "wasm32",
                cargo_feature: wasm_tiers,
                built: wasm_tiers,
                required: ["simd128"],
                optional: [],
                backend: wasm32,
            }        }
    };
}
pub(super) use for_each_tier;

/// Defines [`Tier`] from the list.
macro_rules! define_tiers {
    ($(
        $(#[$doc:meta])*
        $tier:ident = $name:literal {
            architecture: $architecture:meta,
            cargo_feature: $cargo_feature:meta,
            built: $built:meta,
            required: [$($required:literal),*],
            optional: [$($optional:literal),*],
            backend: $($module:ident)::+,
        }
    )*) => {
        /// An instruction set level, the weakest first.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Tier {
            $($(#[$doc])* $tier,)*
        }

        impl Tier {
            /// All tiers, the weakest first.
            pub const ALL: &'static [Tier] = &[$(Tier::$tier),*];

            /// All optional CPU features of all architectures for which some tier has faster kernels: the names that `LANECAST_DISABLE` may
            /// contain.
            pub const FEATURES: &'static [&'static str] = &[$($($optional,)*)*];

            /// The name of the tier everywhere: `"avx512"`.
            pub const fn name(self) -> &'static str {
                match self { $(Tier::$tier => $name,)* }
            }

            /// The features that a CPU with the tier has, by Rust's names.
            pub const fn required_features(self) -> &'static [&'static str] {
                match self { $(Tier::$tier => &[$($required),*],)* }
            }

            /// Whether the tier belongs to this architecture while its Cargo feature is off.
            pub(super) const fn is_left_out(self) -> bool {
                match self { $(Tier::$tier => cfg!($architecture) && !cfg!($cargo_feature),)* }
            }
        }
    };
}
for_each_tier!(define_tiers);

impl Tier {
    /// The tier with this number (`tier as u8`).
    pub const fn from_index(index: u8) -> Option<Tier> {
        if (index as usize) < Tier::ALL.len() { Some(Tier::ALL[index as usize]) } else { None }
    }
}

/// Whether a tier can run here, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TierStatus {
    /// It can run.
    Available,
    /// The CPU lacks its instructions (or the operating system does not save their registers).
    CpuLacks,
    /// It belongs to another architecture.
    OtherArchitecture,
    /// This build leaves it out: the Cargo feature of its name is off.
    NotBuilt,
}

impl fmt::Display for TierStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TierStatus::Available => "available",
            TierStatus::CpuLacks => "the CPU lacks it",
            TierStatus::OtherArchitecture => "it belongs to another architecture",
            TierStatus::NotBuilt => "this build leaves it out (the Cargo feature of its name is off)",
        })
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Tier {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let found = Tier::ALL.iter().copied().find(|t| t.name().eq_ignore_ascii_case(name));
        found
            .ok_or_else(|| UnknownName::new("tier", name, Tier::ALL.iter().map(|tier| tier.name()).collect()))
    }
}
