//! The standards whose rules there are tables of.

use super::table::{self, Answer};
use crate::names;
use core::{fmt, str::FromStr};
use lanecast_kernels::{DType, UnknownName};

/// The standard whose rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Standard {
    /// MindSpore: the documented tables, which mindspore 2.10 follows in `+` and `-`. (Its `*`, however, refuses bool with uint16,
    /// uint32 and uint64.)
    MindSpore,
    /// MegEngine as documented: the highest kind decides, and dtypes of that kind are joined; bool is promoted like any lower kind.
    /// Since version 1.9 its operators differ from this: [`Standard::MegEngineCore`].
    MegEngine,
    /// MegEngine as its operators behave since version 1.9: different kinds, and float16 with another float, compute in float32.
    MegEngineCore,
    /// The Python array API standard 2025.12; pairs that it leaves to the implementation are refused.
    ArrayApi,
    /// NumPy 2 (NEP 50), `numpy.promote_types` and `numpy.result_type`, with the dtypes of ml_dtypes 0.6. (An operator on the
    /// dtypes of ml_dtypes may compute in another one, or not exist.)
    NumPy,
    /// PyTorch, `torch.promote_types` and `torch.result_type`.
    Torch,
    /// JAX, standard promotion. 64-bit dtypes are enabled; see [`Promotion::with_x64`](super::Promotion::with_x64).
    Jax,
    /// JAX, strict promotion: only weak types are promoted.
    JaxStrict,
    /// ONNX: both operands must have the same dtype. (The exponent of `Pow` is the exception in arithmetic; which dtypes an operator
    /// accepts at all is defined by the operator.)
    Onnx,
}

impl Standard {
    /// All standards.
    pub const ALL: &'static [Standard] = &[
        Standard::MindSpore,
        Standard::MegEngine,
        Standard::MegEngineCore,
        Standard::ArrayApi,
        Standard::NumPy,
        Standard::Torch,
        Standard::Jax,
        Standard::JaxStrict,
        Standard::Onnx,
    ];

    /// The name for programs, in lower case, such as `"megengine_core"`. The table of the standard has this name too.
    pub const fn id(self) -> &'static str {
        table::IDS[self as usize]
    }

    /// The display name, such as `"MegEngineCore"` or `"array API"`.
    pub const fn name(self) -> &'static str {
        match self {
            Standard::MindSpore => "MindSpore",
            Standard::MegEngine => "MegEngine",
            Standard::MegEngineCore => "MegEngineCore",
            Standard::ArrayApi => "array API",
            Standard::NumPy => "NumPy",
            Standard::Torch => "PyTorch",
            Standard::Jax => "JAX",
            Standard::JaxStrict => "JAX strict",
            Standard::Onnx => "ONNX",
        }
    }

    /// Whether the standard has this dtype.
    ///
    /// ```
    /// use lanecast::{DType, promote::Standard};
    /// assert!(!Standard::MegEngine.has(DType::Float64));
    /// ```
    pub const fn has(self, dtype: DType) -> bool {
        !matches!(table::pair(self as usize, dtype.code() as usize, dtype.code() as usize), Answer::Absent)
    }

    /// The dtypes of the standard, in the order of [`DType::EVERY`].
    pub fn dtypes(self) -> impl Iterator<Item = DType> {
        DType::EVERY.iter().copied().filter(move |dtype| self.has(*dtype))
    }

    pub(super) const fn is_jax(self) -> bool {
        matches!(self, Standard::Jax | Standard::JaxStrict)
    }
}

impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Standard {
    type Err = UnknownName;

    /// The standard with this [`id`](Standard::id) or [`name`](Standard::name), in any letter case, with or without `_`, `-` and spaces.
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let found =
            Standard::ALL.iter().find(|s| names::is_same(s.id(), name) || names::is_same(s.name(), name));
        found
            .copied()
            .ok_or_else(|| UnknownName::new("standard", name, Standard::ALL.iter().map(|s| s.id()).collect()))
    }
}

// The build script has a list of its own.
const _: () = {
    assert!(table::IDS.len() == Standard::ALL.len(), "STANDARDS in build/tables.rs are not all");
    let mut i = 0;
    while i < Standard::ALL.len() {
        assert!(Standard::ALL[i] as usize == i, "the standards are in the order of their numbers");
        i += 1;
    }
};
