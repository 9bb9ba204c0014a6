//! Tiers: the instruction set levels that kernels are built for.
//!
//! All tiers are rows of one list, [`define_tiers!`], and each has a folder. A row says what is known of a tier on every target; the module that
//! it names has, in its file `backend.rs`,
//!
//! * `BACKENDS`, what the code above calls: a [`Backend`] for each combination of CPU features beyond those of the tier ([`features`]);
//! * `entries`, the kernels of a pair whose types are known at compile time, one for each backend;
//! * `run_work`, which compiles a loop for the tier.
//!
//! A new tier is a row, a folder, a Cargo feature here and in the root crate, and a `cfg` in `build.rs`. This file and that script look at
//! `target_arch`; below them, only code that the 32- and 64-bit forms of x86 do not share does again.

mod backend;
mod environment;
#[cfg(any(x86_tiers, arm_tiers))]
#[cfg(any(x86_tiers, arm_tiers))]
mod features;
#[cfg(any(x86_tiers, arm_tiers, wasm_tiers))]
mod registers;
pub(crate) mod scalar;
mod token;

#[cfg(arm_tiers)]
mod aarch64;
#[cfg(wasm_tiers)]
mod wasm32;
#[cfg(x86_tiers)]
mod x86;

// The kernels of x86 name their instructions so.
#[cfg(x86_tiers)]
use x86 as native;

use crate::{
    dtype::UnknownName,
    format::Format,
    vector::{Work, kernel::PairEntry},
};
use backend::Backend;
use core::{fmt, str::FromStr};
pub use token::TierToken;

/// Makes [`Tier`] of the list of all tiers, the weakest first, and what follows from the list. Of a row,
///
/// * `architecture` is a `cfg` that is true on the targets that may have the tier;
/// * `cargo_feature` is a `cfg` that is true if the user wants the tier;
/// * `built` is a `cfg` that is true if the kernels are in this build (`build.rs`);
/// * `required` are the features that a CPU has if it has the tier, and `optional` those for which the tier has quicker kernels, both by the
///   names that Rust knows them by;
/// * `backend` is the module with the kernels.
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

            /// The CPU features beyond those of a tier for which some tier has quicker kernels, of all architectures: the names that
            /// `LANECAST_DISABLE` may hold.
            pub const FEATURES: &'static [&'static str] = &[$($($optional,)*)*];

            /// Its name everywhere: `"avx512"`.
            pub const fn name(self) -> &'static str {
                match self { $(Tier::$tier => $name,)* }
            }

            /// The features that a CPU has if it has the tier, by the names that Rust knows them by.
            pub const fn required_features(self) -> &'static [&'static str] {
                match self { $(Tier::$tier => &[$($required),*],)* }
            }

            /// Whether it is of this architecture, and its Cargo feature is off.
            const fn is_left_out(self) -> bool {
                match self { $(Tier::$tier => cfg!($architecture) && !cfg!($cargo_feature),)* }
            }
        }

        /// The backends of each tier that this build has.
        const BUILT: &[(Tier, &[Backend])] = &[$(
            #[cfg($built)]
            (Tier::$tier, &$($module)::+::backend::BACKENDS),
        )*];

        /// The kernels of a pair of byte storage under the common rules, by variant ([`TierToken::variant`]).
        pub(crate) const fn entries<S: Format, D: Format>(saturate: bool) -> [PairEntry; VARIANTS] {
            let tiers: &[&[PairEntry]] = &[$(
                #[cfg($built)]
                &$($module)::+::backend::entries::<S, D>(saturate),
            )*];
            let (mut entries, mut filled, mut tier) = ([tiers[0][0]; VARIANTS], 0, 0);
            while tier < tiers.len() {
                let mut i = 0;
                while i < tiers[tier].len() {
                    entries[filled] = tiers[tier][i];
                    (filled, i) = (filled + 1, i + 1);
                }
                tier += 1;
            }
            assert!(filled == VARIANTS, "a tier has an entry for each of its backends");
            entries
        }

        /// Does the work with the vectors of the tier. AVX-512 uses those of AVX2, so that the machine code is there only twice.
        #[inline]
        pub fn run_work<W: Work>(tier: TierToken, src: &W::Source, dst: &mut W::Destination) -> W::Output {
            match tier.tier() {
                $(
                    #[cfg($built)]
                    // SAFETY: the token proves that the CPU has the tier.
                    Tier::$tier => unsafe { $($module)::+::backend::run_work::<W>(src, dst) },
                )*
                // A token is of a tier that is built.
                #[allow(unreachable_patterns, reason = "a build may have all tiers")]
                _ => W::run(src, dst),
            }
        }
    };
}
define_tiers! {
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
    /// 64-bit Arm with NEON, which all of them have that run programs.
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
    }
}

/// The tests in this crate are those of parts. Kernels of the vector tiers are tested from outside, for every pair, as users link
/// them; to make all of their machine code a second time for the tests in here would take a minute. Miri makes none.
const PARTS_ONLY: bool = cfg!(all(test, not(miri)));

/// How many backends there are.
pub(crate) const VARIANTS: usize = {
    let (mut count, mut i) = (0, 0);
    while i < BUILT.len() {
        count += BUILT[i].1.len();
        i += 1;
    }
    count
};

// `active` has a number for no token at all.
const _: () = assert!(VARIANTS < u8::MAX as usize);

/// The backends that this build has. A [`TierToken`] is an index.
const BACKENDS: [Backend; VARIANTS] = {
    let (mut backends, mut filled, mut i) = ([BUILT[0].1[0]; VARIANTS], 0, 0);
    while i < BUILT.len() {
        let (tier, of_tier) = BUILT[i];
        let mut j = 0;
        while j < of_tier.len() {
            backends[filled] = if tier.has_kernels() { of_tier[j] } else { of_tier[j].without_kernels() };
            (filled, j) = (filled + 1, j + 1);
        }
        i += 1;
    }
    backends
};

/// The tier of each backend.
const TIERS: [Tier; VARIANTS] = {
    let (mut tiers, mut filled, mut i) = ([Tier::Scalar; VARIANTS], 0, 0);
    while i < BUILT.len() {
        let end = filled + BUILT[i].1.len();
        while filled < end {
            tiers[filled] = BUILT[i].0;
            filled += 1;
        }
        i += 1;
    }
    tiers
};

/// The first backend of each tier; `None` if this build has none.
const FIRST: [Option<u8>; Tier::ALL.len()] = {
    let (mut first, mut i) = ([None; Tier::ALL.len()], VARIANTS);
    while i > 0 {
        i -= 1;
        first[TIERS[i] as usize] = Some(i as u8);
    }
    first
};

impl Tier {
    /// Whether the kernels of pairs are in this program, if it can run them.
    pub(crate) const fn has_kernels(self) -> bool {
        !PARTS_ONLY || matches!(self, Tier::Scalar)
    }

    /// The features beyond those of the tier for which it has quicker kernels and which this CPU has, by the names that
    /// Rust knows them by. `LANECAST_DISABLE` (names separated by commas) keeps kernels from using some.
    pub fn features(self) -> &'static [&'static str] {
        TierToken::new(self).map_or(&[], TierToken::features)
    }

    /// Whether it can run here.
    pub fn status(self) -> TierStatus {
        match TierToken::detects(self) {
            None if self.is_left_out() => TierStatus::NotBuilt,
            None => TierStatus::OtherArchitecture,
            Some(false) => TierStatus::CpuLacks,
            Some(true) => TierStatus::Available,
        }
    }

    /// Whether it can run here.
    pub fn is_available(self) -> bool {
        TierToken::detects(self) == Some(true)
    }

    /// The strongest tier that can run here.
    pub fn best() -> Tier {
        TierToken::best().tier()
    }

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
