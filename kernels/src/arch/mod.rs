//! Tiers: the instruction set levels that kernels are built for.
//!
//! A tier is one row of [`Tier::ALL`] and one folder of its architecture, whose `mod.rs` detects it: a token
//! (`pulp::simd_type!`) can only be made after detection and so proves a tier. This file chooses the architecture; below it,
//! only code that the 32- and 64-bit forms of x86 do not share looks at `cfg(target_arch)` again.

#[cfg(any(x86_tiers, arm_tiers))]
mod fine;
#[cfg(any(x86_tiers, arm_tiers, wasm_tiers))]
mod registers;
pub(crate) mod scalar;

#[cfg(x86_tiers)]
#[path = "x86/mod.rs"]
mod native;
#[cfg(arm_tiers)]
#[path = "aarch64/mod.rs"]
mod native;
#[cfg(wasm_tiers)]
#[path = "wasm32/mod.rs"]
mod native;
/// No tier but the scalar one.
#[cfg(not(any(x86_tiers, arm_tiers, wasm_tiers)))]
mod native {
    pub(super) fn detected(_: super::Tier) -> Option<bool> {
        None
    }
    pub(super) fn table(_: super::Tier) -> Option<&'static super::Table> {
        None
    }
    pub(super) const VARIANTS: usize = 0;
    pub(super) const fn entries<S: super::Format, D: super::Format>(
        _: bool,
    ) -> [(&'static [super::Tier], super::Entry); 0] {
        []
    }
    pub(super) fn owners(tier: super::Tier) -> &'static [super::Tier] {
        super::alone(tier)
    }
    pub(super) fn variant(_: super::Tier) -> usize {
        0
    }
    pub(super) fn features(_: super::Tier) -> &'static [&'static str] {
        &[]
    }
    pub(super) fn packing(_: super::Tier) -> &'static super::Packing {
        &super::packed::SCALAR
    }
    pub(super) fn swaps(_: super::Tier) -> &'static super::order::Swaps {
        &super::order::SCALAR
    }
    pub(super) fn transpose(_: super::Tier) -> &'static super::Transpose {
        &crate::strided::SCALAR
    }
    pub(super) fn non_temporal(_: super::Tier) -> Option<&'static super::NonTemporal> {
        None
    }
    /// # Safety
    ///
    /// None: there are only the vectors of the target.
    pub(super) unsafe fn run_work<W: super::Work>(src: &W::Source, dst: &mut W::Destination) -> W::Output {
        W::run(src, dst)
    }
    pub(super) fn last_cache() -> usize {
        usize::MAX
    }
    pub(super) fn rounded(
        _: super::Tier,
        _: super::Encoding,
        _: super::Encoding,
        _: &super::Rules,
    ) -> Option<super::Rounded> {
        None
    }
    pub(super) fn loops(_: super::Tier, shape: super::Shape) -> super::Loops {
        super::scalar::loops(shape)
    }
    pub(super) fn fused(
        _: super::Tier,
        _: super::DType,
        _: super::Encoding,
        _: crate::scaled::Step,
    ) -> Option<crate::scaled::Fused> {
        None
    }
    pub(super) fn decoder(
        _: super::Tier,
        _: super::Encoding,
        _: super::DType,
        _: crate::scaled::Step,
    ) -> Option<crate::scaled::Fused> {
        None
    }
    pub(super) fn products(
        _: super::Tier,
        _: super::Encoding,
        _: super::Encoding,
    ) -> Option<crate::table::KernelFn> {
        None
    }
    pub(super) fn scaled(_: super::Tier) -> Option<&'static crate::scaled::Loops> {
        None
    }
}

use crate::{
    active::TierToken,
    dtype::DType,
    exact::Rules,
    format::{
        Format,
        packed::{self, Packing},
    },
    loss::{Loops, Shape},
    order,
    storage::Encoding,
    stream::NonTemporal,
    strided::{self, Transpose},
    table::{Entry, KernelFn, Rounded, Table},
    tabled::Made,
    unknown::UnknownName,
    work::Work,
};
use core::{fmt, str::FromStr};

/// Bytes of the last cache that a cast may count on.
pub(crate) fn last_cache() -> usize {
    native::last_cache()
}

/// Does work with the vectors of a tier.
#[inline]
pub(crate) fn run_work<W: Work>(tier: TierToken, src: &W::Source, dst: &mut W::Destination) -> W::Output {
    if matches!(tier.tier(), Tier::Scalar) {
        return W::run(src, dst);
    }
    // SAFETY: the token proves that the tier can run here, and it is not the scalar one.
    unsafe { native::run_work::<W>(src, dst) }
}

/// In how many variants the code of a pair is there: one per tier and set of CPU features, the scalar one first.
pub(crate) const VARIANTS: usize = 1 + native::VARIANTS;

/// The kernels of a pair of byte storage under the common rules, by variant, and the tiers that each may come from.
pub(crate) const fn entries<S: Format, D: Format>(saturate: bool) -> [(&'static [Tier], Entry); VARIANTS] {
    let scalar: (&[Tier], _) = (&[Tier::Scalar], scalar::typed::<S, D>(saturate));
    let mut entries = [scalar; VARIANTS];
    let native = native::entries::<S, D>(saturate);
    let mut i = 0;
    while i < native.len() {
        entries[1 + i] = native[i];
        i += 1;
    }
    entries
}

/// The variant that runs on a tier that can run here.
#[inline]
pub(crate) fn variant(tier: Tier) -> usize {
    if matches!(tier, Tier::Scalar) { 0 } else { native::variant(tier) }
}

/// The tiers that the kernels of a tier come from: itself and, where this CPU lacks a finer feature, the one below.
pub(crate) fn owners(tier: Tier) -> &'static [Tier] {
    if matches!(tier, Tier::Scalar) { alone(tier) } else { native::owners(tier) }
}

/// A tier that has all its kernels itself.
fn alone(tier: Tier) -> &'static [Tier] {
    core::slice::from_ref(&Tier::ALL[tier as usize])
}

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
    /// 64-bit Arm with NEON, which all of them have that run programs.
    Neon,
    /// WebAssembly with vectors of 128 bits (`simd128`).
    Wasm128,
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

/// The tests in this crate are those of parts. Kernels of the vector tiers are tested from outside, for every pair, as users link
/// them; to make all of their machine code a second time for the tests in here would take a minute. Miri makes none.
const PARTS_ONLY: bool = cfg!(all(test, not(miri)));

/// Whether the CPU has the instructions; `None` if they are of another architecture.
fn detected(tier: Tier) -> Option<bool> {
    if matches!(tier, Tier::Scalar) { Some(true) } else { native::detected(tier) }
}

impl Tier {
    /// All tiers, the weakest first.
    pub const ALL: &'static [Tier] = &[Tier::Scalar, Tier::Avx2, Tier::Avx512, Tier::Neon, Tier::Wasm128];

    /// The CPU features beyond those of a tier for which some tier has quicker kernels, of all architectures: the names that
    /// `LANECAST_DISABLE` may hold.
    pub const FEATURES: &'static [&'static str] = &["avx512vbmi", "avx512bf16", "bf16", "fp16"];

    /// Its name everywhere: `"avx512"`.
    pub const fn name(self) -> &'static str {
        match self {
            Tier::Scalar => "scalar",
            Tier::Avx2 => "avx2",
            Tier::Avx512 => "avx512",
            Tier::Neon => "neon",
            Tier::Wasm128 => "wasm128",
        }
    }

    /// The kernels of the tier, if there are any.
    pub(crate) fn table(self) -> Option<&'static Table> {
        match self {
            Tier::Scalar => Some(&scalar::TABLE),
            _ if PARTS_ONLY => None,
            _ => native::table(self),
        }
    }

    /// The kernel of a pair of encodings under rules that are not the common ones, if the tier has one.
    pub(crate) fn rounded(self, from: Encoding, to: Encoding, rules: &Rules) -> Option<Rounded> {
        match self {
            Tier::Scalar => scalar::rounded(from, to, rules),
            _ if PARTS_ONLY => None,
            _ => native::rounded(self, from, to, rules),
        }
    }

    /// The kernel from a source of at most a byte that makes these [words](crate::lut::words), if the tier has one.
    pub(crate) fn tabled(
        self,
        from: Encoding,
        to: Encoding,
        rules: &Rules,
        words: &[u16; 256],
    ) -> Option<Made> {
        self.table()?.tabled?(from, to, rules, words)
    }

    /// How packed storage is read and written.
    pub(crate) fn packing(self) -> &'static Packing {
        if matches!(self, Tier::Scalar) { &packed::SCALAR } else { native::packing(self) }
    }

    /// The kernel from elements of a dtype, which are wider than a byte, to those of the other byte order.
    pub(crate) fn swap(self, dtype: DType) -> KernelFn {
        let swaps = if matches!(self, Tier::Scalar) { &order::SCALAR } else { native::swaps(self) };
        swaps[order::PLACES[dtype as usize] as usize]
    }

    /// How tiles are turned.
    pub(crate) fn transpose(self) -> &'static Transpose {
        if matches!(self, Tier::Scalar) { &strided::SCALAR } else { native::transpose(self) }
    }

    /// The loops that look for what is lost.
    pub(crate) fn loops(self, shape: Shape) -> Loops {
        if matches!(self, Tier::Scalar) || PARTS_ONLY {
            scalar::loops(shape)
        } else {
            native::loops(self, shape)
        }
    }

    /// The loops of scaled casts, if it has vectors.
    pub(crate) fn scaled(self) -> Option<&'static crate::scaled::Loops> {
        if matches!(self, Tier::Scalar) { None } else { native::scaled(self) }
    }

    /// The loop that scales in registers, if there is one for the pair.
    pub(crate) fn fused(
        self,
        from: DType,
        to: Encoding,
        step: crate::scaled::Step,
    ) -> Option<crate::scaled::Fused> {
        if matches!(self, Tier::Scalar) || PARTS_ONLY { None } else { native::fused(self, from, to, step) }
    }

    /// The loop that scales codes in registers, if there is one for the pair.
    pub(crate) fn decoder(
        self,
        from: Encoding,
        to: DType,
        step: crate::scaled::Step,
    ) -> Option<crate::scaled::Fused> {
        if matches!(self, Tier::Scalar) || PARTS_ONLY { None } else { native::decoder(self, from, to, step) }
    }

    /// The kernel that looks the words of an 8-bit float up in a table of magnitudes, if the tier has a quick one.
    pub(crate) fn products(self, from: Encoding, to: Encoding) -> Option<KernelFn> {
        if matches!(self, Tier::Scalar) || PARTS_ONLY { None } else { native::products(self, from, to) }
    }

    /// How it uses non-temporal stores, if it does.
    pub(crate) fn non_temporal(self) -> Option<&'static NonTemporal> {
        native::non_temporal(self)
    }

    /// The features that a CPU has if it has the tier, by the names that Rust knows them by.
    pub const fn required_features(self) -> &'static [&'static str] {
        match self {
            Tier::Scalar => &[],
            Tier::Avx2 => &["avx", "avx2", "fma", "f16c", "bmi1", "bmi2", "lzcnt", "popcnt"],
            Tier::Avx512 => &[
                "avx", "avx2", "fma", "f16c", "bmi1", "bmi2", "lzcnt", "popcnt", "avx512f", "avx512bw",
                "avx512vl", "avx512dq",
            ],
            Tier::Neon => &["neon"],
            Tier::Wasm128 => &["simd128"],
        }
    }

    /// The features beyond those of the tier for which it has quicker kernels and which this CPU has, by the names that
    /// Rust knows them by. `LANECAST_DISABLE` (names separated by commas) keeps kernels from using some.
    pub fn features(self) -> &'static [&'static str] {
        if self.is_available() { native::features(self) } else { &[] }
    }

    /// Whether it can run here.
    pub fn status(self) -> TierStatus {
        match detected(self) {
            None if self.is_left_out() => TierStatus::NotBuilt,
            None => TierStatus::OtherArchitecture,
            Some(false) => TierStatus::CpuLacks,
            Some(true) => TierStatus::Available,
        }
    }

    /// Whether it is of this architecture, and its Cargo feature is off.
    const fn is_left_out(self) -> bool {
        let x86 = cfg!(any(target_arch = "x86_64", target_arch = "x86"));
        match self {
            Tier::Scalar => false,
            Tier::Avx2 => x86 && !cfg!(feature = "avx2"),
            Tier::Avx512 => x86 && !cfg!(feature = "avx512"),
            Tier::Neon => cfg!(target_arch = "aarch64") && !cfg!(feature = "neon"),
            Tier::Wasm128 => cfg!(target_arch = "wasm32") && !cfg!(wasm_tiers),
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

impl FromStr for Tier {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let found = Tier::ALL.iter().copied().find(|t| t.name().eq_ignore_ascii_case(name));
        found
            .ok_or_else(|| UnknownName::new("tier", name, Tier::ALL.iter().map(|tier| tier.name()).collect()))
    }
}
