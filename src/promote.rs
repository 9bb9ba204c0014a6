//! Which dtype a binary operation computes in, by the rules of the array systems, and the casts that its operands need.
//!
//! The rules of a [`Standard`] are data: one table of all pairs of dtypes and one of dtypes with Python numbers, in
//! `src/promote/*.tsv`, checked when the library is built. The rules that are not tables are documented here: numbers, 0-d arrays,
//! more than two operands ([`Promotion::promote_all`]), default dtypes ([`Promotion`]).
//!
//! ```
//! use lanecast::{DType, promote, promote::Standard};
//! assert_eq!(promote(Standard::NumPy, DType::Int8, DType::UInt8), Ok(DType::Int16));
//! assert_eq!(promote(Standard::MegEngineCore, DType::Bool, DType::Int8), Ok(DType::Float32));
//! let refused = promote(Standard::MindSpore, DType::Int8, DType::UInt32).unwrap_err();
//! assert_eq!(
//!     refused.to_string(),
//!     "no common dtype for int8 and uint32 under MindSpore rules (uint16, uint32 and uint64 do not promote); \
//!      cast one operand first"
//! );
//! ```
//!
//! Rules that hold for all standards: the caller names the standard; the order of two operands does not matter; a dtype
//! promotes with itself to itself; byte order is not part of a dtype; the casts of a plan are ordinary ones (bool to 0 or 1,
//! integers to floats rounded to nearest even, reals to complex numbers with the imaginary part +0).
//!
//! Dtypes that lanecast does not have (`longdouble`, `complex32`, `int1`, `hifloat8`, `float4_e2m1fn_x2`) have no row in any table. Two
//! of them can still be results; see [`Reason::ResultNotHere`].

mod casting;
mod defaults;
mod error;
mod operand;
mod plan;
mod table;

pub use casting::{Casting, can_cast, is_lossless};
pub use defaults::Promotion;
pub use error::{MissingKernel, PlanError, PromotionError, Reason};
pub use operand::{NumberKind, Operand, Resolved, promote_all};
pub use plan::{Applied, Plan, plan, plan_with};

use crate::{DType, names};
use alloc::string::String;
use core::{fmt, str::FromStr};
use table::Answer;

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
    /// JAX, standard promotion. 64-bit dtypes are enabled; see [`Promotion::with_x64`].
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
        !matches!(table::pair(self, dtype.code() as usize, dtype.code() as usize), Answer::Absent)
    }

    /// The dtypes of the standard, in the order of [`DType::EVERY`].
    pub fn dtypes(self) -> impl Iterator<Item = DType> {
        DType::EVERY.iter().copied().filter(move |dtype| self.has(*dtype))
    }

    const fn is_jax(self) -> bool {
        matches!(self, Standard::Jax | Standard::JaxStrict)
    }
}

impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error for a name that no standard has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownStandard {
    /// The name that was given.
    pub name: String,
}

impl fmt::Display for UnknownStandard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown standard {:?}; there are", self.name)?;
        for (i, standard) in Standard::ALL.iter().enumerate() {
            write!(f, "{}{}", if i == 0 { " " } else { ", " }, standard.id())?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownStandard {}

impl FromStr for Standard {
    type Err = UnknownStandard;

    /// The standard with this [`id`](Standard::id) or [`name`](Standard::name), in any letter case, with or without `_`, `-` and spaces.
    fn from_str(name: &str) -> Result<Self, UnknownStandard> {
        let found =
            Standard::ALL.iter().find(|s| names::is_same(s.id(), name) || names::is_same(s.name(), name));
        found.copied().ok_or_else(|| UnknownStandard { name: name.into() })
    }
}

/// The dtype in which a standard combines arrays of two dtypes.
///
/// As this is a `const fn`, an array library can resolve the dtypes of its generic operators at compile time. Where JAX returns a
/// weak type (uint64 with a signed integer), this is its dtype; [`promote_all`] also says that it is weak.
///
/// ```
/// use lanecast::{DType, Element, promote, promote::Standard};
/// const fn sum<A: Element, B: Element>() -> DType {
///     match promote(Standard::Torch, A::DTYPE, B::DTYPE) {
///         Ok(dtype) => dtype,
///         Err(_) => panic!("these have no common dtype"),
///     }
/// }
/// const SUM: DType = sum::<u8, f32>();
/// assert_eq!(SUM, DType::Float32);
/// ```
///
/// # Errors
///
/// A [`PromotionError`] if the standard refuses the pair or does not have one of the dtypes.
pub const fn promote(standard: Standard, a: DType, b: DType) -> Result<DType, PromotionError> {
    match table::pair(standard, a.code() as usize, b.code() as usize) {
        Answer::Strong(dtype) | Answer::Weak(dtype) => Ok(dtype),
        refused => Err(PromotionError::of_pair(standard, Operand::Array(a), Operand::Array(b), refused)),
    }
}
