//! The operands of operations, and the dtype that any number of them combine to.

use super::table::{self, Answer, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT};
use super::{Promotion, PromotionError, Reason, Standard};
use crate::{DType, Kind};
use core::fmt;

/// The kind of a Python number. (In Python a bool is also an int, so check for bool first.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum NumberKind {
    /// `True` or `False`.
    Bool,
    /// An `int`.
    Int,
    /// A `float`.
    Float,
    /// A `complex`.
    Complex,
}

impl NumberKind {
    /// All kinds, from the lowest to the highest.
    pub const ALL: [NumberKind; 4] =
        [NumberKind::Bool, NumberKind::Int, NumberKind::Float, NumberKind::Complex];

    /// The name of the type in Python.
    pub const fn name(self) -> &'static str {
        match self {
            NumberKind::Bool => "bool",
            NumberKind::Int => "int",
            NumberKind::Float => "float",
            NumberKind::Complex => "complex",
        }
    }

    /// The kind of a dtype's elements as numbers.
    pub const fn of(dtype: DType) -> NumberKind {
        match dtype.kind() {
            Kind::Bool => NumberKind::Bool,
            Kind::SignedInt | Kind::UnsignedInt => NumberKind::Int,
            Kind::Float => NumberKind::Float,
            Kind::Complex => NumberKind::Complex,
        }
    }
}

impl fmt::Display for NumberKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An operand of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operand {
    /// An array with dimensions.
    Array(DType),
    /// An array without dimensions. Only PyTorch gives it less weight than others.
    ZeroDim(DType),
    /// An array whose dtype came from Python numbers. Only JAX has these; the other standards refuse it.
    Weak(DType),
    /// A Python number.
    Number(NumberKind),
    /// A Python int of this value: a [`Number`](Self::Number) that is checked against the range of the result.
    Int(i128),
}

impl Operand {
    /// The dtype of an array.
    pub const fn dtype(self) -> Option<DType> {
        match self {
            Operand::Array(dtype) | Operand::ZeroDim(dtype) | Operand::Weak(dtype) => Some(dtype),
            Operand::Number(_) | Operand::Int(_) => None,
        }
    }

    /// The kind of a Python number.
    pub const fn number(self) -> Option<NumberKind> {
        match self {
            Operand::Number(kind) => Some(kind),
            Operand::Int(_) => Some(NumberKind::Int),
            Operand::Array(_) | Operand::ZeroDim(_) | Operand::Weak(_) => None,
        }
    }
}

impl From<DType> for Operand {
    fn from(dtype: DType) -> Self {
        Operand::Array(dtype)
    }
}

impl From<NumberKind> for Operand {
    fn from(kind: NumberKind) -> Self {
        Operand::Number(kind)
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Array(dtype) => dtype.fmt(f),
            Operand::ZeroDim(dtype) => write!(f, "0-d {dtype}"),
            Operand::Weak(dtype) => write!(f, "weak {dtype}"),
            Operand::Number(kind) => write!(f, "a Python {kind}"),
            Operand::Int(value) => value.fmt(f),
        }
    }
}

/// The dtype of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Resolved {
    /// The dtype to compute in.
    pub dtype: DType,
    /// Whether the result is weakly typed (JAX); the caller then passes it on as [`Operand::Weak`].
    pub weak: bool,
}

const fn strong(dtype: DType) -> Resolved {
    Resolved { dtype, weak: false }
}

/// The dtype in which a standard, with its own default dtypes, combines any number of operands.
///
/// ```
/// use lanecast::{DType, promote::{NumberKind, Operand, Standard, promote_all}};
/// let operands = [DType::Int8.into(), DType::UInt8.into(), DType::Float16.into()];
/// // Not int8 with uint8, which is int16, and that with float16, which is float32.
/// assert_eq!(promote_all(Standard::NumPy, &operands).map(|r| r.dtype), Ok(DType::Float16));
/// let half = [Operand::Array(DType::BFloat16), NumberKind::Float.into()];
/// assert_eq!(promote_all(Standard::Torch, &half).map(|r| r.dtype), Ok(DType::BFloat16));
/// ```
///
/// # Errors
///
/// As [`Promotion::promote_all`].
pub fn promote_all(standard: Standard, operands: &[Operand]) -> Result<Resolved, PromotionError> {
    Promotion::new(standard).promote_all(operands)
}

impl Promotion {
    /// The dtype in which any number of operands are combined.
    ///
    /// * **MindSpore, MegEngine, MegEngineCore, array API**: arrays from left to right, then numbers, by the tables.
    /// * **NumPy**: complex arrays first, then float, integer and bool arrays, then numbers, as `numpy.result_type` does for NumPy's
    ///   own dtypes. Promoting pairs from left to right does not always give the same result.
    /// * **PyTorch**: arrays with dimensions come before 0-d arrays, and these before numbers. A later category counts only if
    ///   its kind is higher; then a 0-d array adds its dtype and a number the default dtype of its kind.
    /// * **JAX**: the least upper bound of all. Numbers are weakly typed, except bool. If all operands are weak, so is the result.
    ///
    /// A Python int of known value ([`Operand::Int`]) is checked by [`int_value`](Self::int_value).
    ///
    /// # Errors
    ///
    /// A [`PromotionError`] if operands have no common dtype, the standard lacks a dtype or a kind of number, or an int does not
    /// fit.
    pub fn promote_all(&self, operands: &[Operand]) -> Result<Resolved, PromotionError> {
        let standard = self.standard();
        for &operand in operands {
            match operand {
                Operand::Array(dtype) | Operand::ZeroDim(dtype) | Operand::Weak(dtype)
                    if !standard.has(dtype) =>
                {
                    return Err(PromotionError::of_one(standard, operand, Reason::NotInStandard(dtype)));
                }
                Operand::Weak(_) if !standard.is_jax() => {
                    return Err(PromotionError::of_one(standard, operand, Reason::NoWeakTypes));
                }
                _ => {}
            }
        }
        let resolved = match standard {
            Standard::Jax | Standard::JaxStrict => self.least_upper_bound(operands)?,
            Standard::Torch => strong(self.by_category(operands)?),
            Standard::NumPy => strong(self.by_kind(operands)?),
            _ => {
                let arrays = self.fold(operands.iter().filter_map(|operand| operand.dtype()))?;
                strong(self.with_numbers(arrays, operands)?)
            }
        };
        for &operand in operands {
            if let Operand::Int(value) = operand {
                self.int_value(value, resolved.dtype)?;
            }
        }
        Ok(resolved)
    }

    /// Arrays from left to right.
    fn fold(&self, mut dtypes: impl Iterator<Item = DType>) -> Result<Option<DType>, PromotionError> {
        let Some(first) = dtypes.next() else { return Ok(None) };
        dtypes.try_fold(first, |a, b| super::promote(self.standard(), a, b)).map(Some)
    }

    /// NumPy: arrays of the highest kind first.
    fn by_kind(&self, operands: &[Operand]) -> Result<DType, PromotionError> {
        let mut result = None;
        for kind in NumberKind::ALL.iter().rev() {
            for dtype in operands.iter().filter_map(|operand| operand.dtype()) {
                if NumberKind::of(dtype) == *kind {
                    result = self.fold(result.into_iter().chain([dtype]))?;
                }
            }
        }
        self.with_numbers(result, operands)
    }

    /// PyTorch: arrays with dimensions, 0-d arrays, numbers.
    fn by_category(&self, operands: &[Operand]) -> Result<DType, PromotionError> {
        let arrays = self.fold(operands.iter().filter_map(|operand| match operand {
            Operand::Array(dtype) => Some(*dtype),
            _ => None,
        }))?;
        let zero_dim = self.fold(operands.iter().filter_map(|operand| match operand {
            Operand::ZeroDim(dtype) => Some(*dtype),
            _ => None,
        }))?;
        let (Some(array), Some(_)) = (arrays, zero_dim) else {
            return self.with_numbers(arrays.or(zero_dim), operands);
        };
        let lower = self.with_numbers(zero_dim, operands);
        let kind = match lower {
            Ok(dtype) => NumberKind::of(dtype),
            // complex32 is complex, whether lanecast has it or not.
            Err(PromotionError { reason: Reason::ResultNotHere(_), .. }) => NumberKind::Complex,
            Err(error) => return Err(error),
        };
        match (NumberKind::of(array), kind) {
            (NumberKind::Complex, _) => Ok(array),
            (NumberKind::Float, NumberKind::Complex) => self.with_number(array, NumberKind::Complex),
            (NumberKind::Float, _) => Ok(array),
            (NumberKind::Int, NumberKind::Bool | NumberKind::Int) => Ok(array),
            // As measured, this also holds for uint16, uint32 and uint64, although two such arrays would not promote.
            (NumberKind::Int, NumberKind::Complex) => lower,
            (NumberKind::Int | NumberKind::Bool, _) => super::promote(self.standard(), array, lower?),
        }
    }

    /// The dtype of arrays combined with numbers; without arrays, the default dtype of the highest kind of number.
    fn with_numbers(&self, arrays: Option<DType>, operands: &[Operand]) -> Result<DType, PromotionError> {
        let standard = self.standard();
        let kinds =
            || NumberKind::ALL.iter().rev().filter(|k| operands.iter().any(|o| o.number() == Some(**k)));
        if let Some(array) = arrays {
            return kinds().try_fold(array, |array, kind| self.with_number(array, *kind));
        }
        match (standard, kinds().next()) {
            (_, None) => Err(PromotionError::new(standard, Reason::NoOperands)),
            (Standard::Onnx, Some(kind)) => {
                Err(PromotionError::of_one(standard, Operand::Number(*kind), Reason::NoNumbers))
            }
            // The standard requires at least one array.
            (Standard::ArrayApi, Some(kind)) => {
                Err(PromotionError::of_one(standard, Operand::Number(*kind), Reason::OnlyNumbers))
            }
            (_, Some(kind)) => match self.default_dtype(*kind) {
                Some(dtype) => Ok(dtype),
                None => Err(PromotionError::of_one(standard, Operand::Number(*kind), Reason::OnlyNumbers)),
            },
        }
    }

    /// The dtype of an array combined with a number.
    fn with_number(&self, array: DType, kind: NumberKind) -> Result<DType, PromotionError> {
        let standard = self.standard();
        let answer = table::number(standard, array, kind);
        // PyTorch's table assumes its initial default dtype. Bool and integer arrays take the actual default of floats.
        let of_default = standard == Standard::Torch && kind >= NumberKind::Float;
        match answer {
            Answer::Strong(_) if of_default && NumberKind::of(array) < NumberKind::Float => {
                self.default_dtype(kind).ok_or(Answer::Foreign("complex32"))
            }
            Answer::Strong(dtype) | Answer::Weak(dtype) => Ok(dtype),
            refused => Err(refused),
        }
        .map_err(|refused| {
            PromotionError::of_pair(standard, Operand::Array(array), Operand::Number(kind), refused)
        })
    }

    /// JAX: all operands in its lattice.
    fn least_upper_bound(&self, operands: &[Operand]) -> Result<Resolved, PromotionError> {
        let standard = self.standard();
        let number = |kind: NumberKind| match kind {
            NumberKind::Bool => DType::Bool.code() as usize,
            NumberKind::Int => WEAK_INT,
            NumberKind::Float => WEAK_FLOAT,
            NumberKind::Complex => WEAK_COMPLEX,
        };
        let is_weak = |operand: &Operand| match operand {
            Operand::Weak(dtype) => *dtype != DType::Bool,
            _ => operand.number().is_some_and(|kind| kind != NumberKind::Bool),
        };
        // If all operands are weak they are combined as if they were strong, so that a weak int16 stays an int16.
        let as_strong = operands.iter().all(is_weak) && (standard == Standard::Jax || operands.len() == 1);
        let place = |operand: Operand| match operand {
            Operand::Weak(dtype) if !as_strong => table::weak(dtype),
            Operand::Array(dtype) | Operand::ZeroDim(dtype) | Operand::Weak(dtype) => {
                self.enabled(dtype).code() as usize
            }
            _ => {
                let kind = operand.number().unwrap_or(NumberKind::Bool);
                let default = self.default_dtype(kind).filter(|_| as_strong);
                default.map_or(number(kind), |dtype| dtype.code() as usize)
            }
        };
        let Some((first, rest)) = operands.split_first() else {
            return Err(PromotionError::new(standard, Reason::NoOperands));
        };
        let (mut at, mut what) = (place(*first), *first);
        for &operand in rest {
            (at, what) = match table::pair(standard, at, place(operand)) {
                Answer::Strong(dtype) => (dtype.code() as usize, Operand::Array(dtype)),
                Answer::Weak(dtype) => (table::weak(dtype), Operand::Weak(dtype)),
                refused => return Err(PromotionError::of_pair(standard, what, operand, refused)),
            };
        }
        let (dtype, weak) = match table::pair(standard, at, at) {
            Answer::Strong(dtype) => (dtype, as_strong),
            Answer::Weak(dtype) => (dtype, true),
            refused => return Err(PromotionError::of_pair(standard, what, what, refused)),
        };
        Ok(Resolved { dtype: self.enabled(dtype), weak })
    }
}
