//! The error of promotion: no common dtype, or no cast to it.

use super::{
    operand::{NumberKind, Operand},
    standard::Standard,
    table::Answer,
};
use core::fmt;
use lanecast_kernels::{DType, Kind};

/// Why operands cannot be promoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refusal {
    /// The standard does not have this dtype.
    NotInStandard(DType),
    /// uint16, uint32 and uint64 combine only with themselves and bool (MindSpore), or only with themselves and floats (PyTorch).
    WideUnsigned,
    /// Array API: no integer dtype holds both signed integers and uint64.
    NoInteger,
    /// MegEngineCore: signed and unsigned integers do not combine.
    SignedWithUnsigned,
    /// Array API: bool, integer and floating dtypes do not mix.
    MixedKinds,
    /// A float of 8 bits or fewer, which the standard does not promote to other floats (JAX) or not at all.
    SmallFloat,
    /// JAX: an integer of 2 or 4 bits, which does not promote.
    SmallInt,
    /// NumPy: ml_dtypes registers no common dtype.
    MlDtypes,
    /// ONNX and JAX strict: the dtypes must be equal.
    Unequal,
    /// A Python number of this kind cannot be combined with an array of this dtype.
    Number(NumberKind, DType),
    /// The standard has no Python numbers.
    NoNumbers,
    /// The standard has no default dtype for Python numbers of this kind, and no operand is an array.
    OnlyNumbers,
    /// The standard has no weak types; only JAX has them.
    NoWeakTypes,
    /// A Python int that the integer dtype cannot hold.
    OutOfRange(i128, DType),
    /// The standard computes in this dtype, which lanecast does not have.
    ResultNotHere(&'static str),
    /// The standard does not allow this dtype as its default.
    NotADefault(DType),
    /// The standard has no switch for 64-bit dtypes; only JAX has one.
    NoX64,
    /// There are no operands.
    NoOperands,
    /// The standard gives a common dtype, but a cast to it cannot run here: [`CastPlan::new`](crate::CastPlan::new) says why.
    NoKernel {
        /// The dtype of the operand.
        from: DType,
        /// The dtype to compute in.
        to: DType,
    },
}

/// The error for operands that have no common dtype under a standard, or no cast to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct PromotionError {
    /// The standard.
    pub standard: Standard,
    /// The two operands that do not combine, or the one that is wrong. With more than two operands, one may be the result of
    /// promoting others.
    pub operands: [Option<Operand>; 2],
    /// Why.
    pub reason: Refusal,
}

impl PromotionError {
    pub(super) const fn new(standard: Standard, reason: Refusal) -> Self {
        Self { standard, operands: [None, None], reason }
    }

    pub(super) const fn of_one(standard: Standard, operand: Operand, reason: Refusal) -> Self {
        Self { standard, operands: [Some(operand), None], reason }
    }

    /// The error for a pair of operands whose table cell has no result.
    pub(super) const fn of_pair(standard: Standard, a: Operand, b: Operand, refused: Answer) -> Self {
        let reason = match (refused, a.dtype(), b.dtype()) {
            (Answer::Foreign(name), ..) => Refusal::ResultNotHere(name),
            (Answer::Absent, Some(a), _) if !standard.has(a) => return Self::absent(standard, a),
            (Answer::Absent, _, Some(b)) if !standard.has(b) => return Self::absent(standard, b),
            (Answer::Absent, ..) => Refusal::NoNumbers,
            (_, Some(a), Some(b)) => why(standard, a, b),
            (_, Some(array), None) | (_, None, Some(array)) => match (a.number(), b.number()) {
                (Some(number), _) | (_, Some(number)) => Refusal::Number(number, array),
                (None, None) => Refusal::Unequal,
            },
            // Only strict JAX comes here with two numbers.
            (_, None, None) => Refusal::Unequal,
        };
        Self { standard, operands: [Some(a), Some(b)], reason }
    }

    const fn absent(standard: Standard, dtype: DType) -> Self {
        Self::of_one(standard, Operand::Array(dtype), Refusal::NotInStandard(dtype))
    }
}

/// Whether a dtype is an integer.
const fn is_integer(dtype: DType) -> bool {
    matches!(dtype.kind(), Kind::SignedInt | Kind::UnsignedInt)
}

const fn is_small_float(dtype: DType) -> bool {
    matches!(dtype.kind(), Kind::Float) && dtype.bits() <= 8
}

/// The rule by which a standard refuses a pair.
const fn why(standard: Standard, a: DType, b: DType) -> Refusal {
    let small_float = is_small_float(a) || is_small_float(b);
    let small_int = is_integer(a) && a.bits() < 8 || is_integer(b) && b.bits() < 8;
    match standard {
        Standard::MindSpore | Standard::Torch if small_float => Refusal::SmallFloat,
        Standard::MindSpore | Standard::Torch => Refusal::WideUnsigned,
        Standard::MegEngine | Standard::MegEngineCore => Refusal::SignedWithUnsigned,
        Standard::ArrayApi if is_integer(a) && is_integer(b) => Refusal::NoInteger,
        Standard::ArrayApi => Refusal::MixedKinds,
        Standard::NumPy => Refusal::MlDtypes,
        Standard::Jax if small_int => Refusal::SmallInt,
        Standard::Jax => Refusal::SmallFloat,
        Standard::JaxStrict | Standard::Onnx => Refusal::Unequal,
    }
}

/// The article for a name: `a` or `an`.
fn article(name: &str) -> &'static str {
    if name.starts_with(['a', 'i', 'e', 'o']) { "an" } else { "a" }
}

impl fmt::Display for PromotionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let standard = self.standard;
        let because = match self.reason {
            Refusal::WideUnsigned if matches!(standard, Standard::Torch) => {
                "uint16, uint32 and uint64 promote only with floats"
            }
            Refusal::WideUnsigned => "uint16, uint32 and uint64 do not promote",
            Refusal::NoInteger => "signed with uint64 has no integer result",
            Refusal::SignedWithUnsigned => "signed with unsigned is undefined",
            Refusal::MixedKinds => "bool, integer and floating are left undefined together",
            Refusal::SmallFloat if standard.is_jax() => {
                "floats of 8 bits and fewer do not promote to other floats"
            }
            Refusal::SmallFloat => "8-bit floats do not promote",
            Refusal::SmallInt => "integers of 2 and 4 bits do not promote",
            Refusal::MlDtypes => "ml_dtypes defines none",
            Refusal::Unequal => "they have to be equal",
            Refusal::NotInStandard(dtype) => {
                return write!(f, "{standard} has no dtype {dtype}; cast to one that it has first");
            }
            Refusal::Number(number, array) => {
                return write!(
                    f,
                    "a Python {number} cannot be combined with {} {array} array under {standard} rules; cast the array first",
                    article(array.name())
                );
            }
            Refusal::NoNumbers => {
                return write!(f, "{standard} has no Python numbers; make an array of the number first");
            }
            Refusal::OnlyNumbers => {
                return write!(
                    f,
                    "{standard} rules need an array beside these numbers; make one of them an array first"
                );
            }
            Refusal::NoWeakTypes => {
                return write!(f, "{standard} has no weak types; name the operand an array or a number");
            }
            Refusal::OutOfRange(value, dtype) => {
                return match dtype.iinfo() {
                    Some(i) => write!(
                        f,
                        "{value} does not fit {dtype} ({} to {}); cast the array first",
                        i.min, i.max
                    ),
                    None => write!(f, "{value} does not fit {dtype}; cast the array first"),
                };
            }
            Refusal::ResultNotHere(name) => {
                return write!(
                    f,
                    "{} compute in {name} under {standard} rules, a dtype that lanecast lacks; cast one operand first",
                    Operands(self.operands)
                );
            }
            Refusal::NotADefault(dtype) => {
                return write!(f, "{dtype} cannot be a default dtype under {standard} rules; choose another");
            }
            Refusal::NoX64 => return write!(f, "{standard} has no switch for 64-bit dtypes; only JAX has"),
            Refusal::NoOperands => return f.write_str("no operands; give at least one"),
            Refusal::NoKernel { from, to } => {
                return write!(
                    f,
                    "{from} promotes to {to} under {standard} rules, but this build or machine cannot cast {from} to {to}; `CastPlan::new` says why"
                );
            }
        };
        write!(
            f,
            "no common dtype for {} under {standard} rules ({because}); cast one operand first",
            Operands(self.operands)
        )
    }
}

/// Operands, joined by "and".
struct Operands([Option<Operand>; 2]);

impl fmt::Display for Operands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, operand) in self.0.iter().flatten().enumerate() {
            write!(f, "{}{operand}", if i == 0 { "" } else { " and " })?;
        }
        Ok(())
    }
}

impl core::error::Error for PromotionError {}
