//! The dtype that two operands, or any number of them, combine to.

use super::{
    defaults::Promotion,
    error::{PromotionError, Refusal},
    operand::{NumberKind, Operand, Resolved},
    standard::Standard,
    table::{self, Answer, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT},
};
use lanecast_kernels::DType;

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
    match table::pair(standard as usize, a.code() as usize, b.code() as usize) {
        Answer::Strong(dtype) | Answer::Weak(dtype) => Ok(dtype),
        refused => Err(PromotionError::of_pair(standard, Operand::Array(a), Operand::Array(b), refused)),
    }
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
    /// [`promote`](promote()) under these rules.
    ///
    /// # Errors
    ///
    /// As [`promote_all`](Self::promote_all).
    pub const fn promote(&self, a: DType, b: DType) -> Result<DType, PromotionError> {
        match promote(self.standard(), self.enabled(a), self.enabled(b)) {
            Ok(dtype) => Ok(self.enabled(dtype)),
            refused => refused,
        }
    }

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
                    return Err(PromotionError::of_one(standard, operand, Refusal::NotInStandard(dtype)));
                }
                Operand::Weak(_) if !standard.is_jax() => {
                    return Err(PromotionError::of_one(standard, operand, Refusal::NoWeakTypes));
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
        dtypes.try_fold(first, |a, b| promote(self.standard(), a, b)).map(Some)
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
            Err(PromotionError { reason: Refusal::ResultNotHere(_), .. }) => NumberKind::Complex,
            Err(error) => return Err(error),
        };
        match (NumberKind::of(array), kind) {
            (NumberKind::Complex, _) => Ok(array),
            (NumberKind::Float, NumberKind::Complex) => self.with_number(array, NumberKind::Complex),
            (NumberKind::Float, _) => Ok(array),
            (NumberKind::Int, NumberKind::Bool | NumberKind::Int) => Ok(array),
            // As measured, this also holds for uint16, uint32 and uint64, although two such arrays would not promote.
            (NumberKind::Int, NumberKind::Complex) => lower,
            (NumberKind::Int | NumberKind::Bool, _) => promote(self.standard(), array, lower?),
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
            (_, None) => Err(PromotionError::new(standard, Refusal::NoOperands)),
            (Standard::Onnx, Some(kind)) => {
                Err(PromotionError::of_one(standard, Operand::Number(*kind), Refusal::NoNumbers))
            }
            // The standard requires at least one array.
            (Standard::ArrayApi, Some(kind)) => {
                Err(PromotionError::of_one(standard, Operand::Number(*kind), Refusal::OnlyNumbers))
            }
            (_, Some(kind)) => match self.default_dtype(*kind) {
                Some(dtype) => Ok(dtype),
                None => Err(PromotionError::of_one(standard, Operand::Number(*kind), Refusal::OnlyNumbers)),
            },
        }
    }

    /// The dtype of an array combined with a number.
    fn with_number(&self, array: DType, kind: NumberKind) -> Result<DType, PromotionError> {
        let standard = self.standard();
        let answer = table::number(standard as usize, array, kind as usize);
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
            return Err(PromotionError::new(standard, Refusal::NoOperands));
        };
        let (mut at, mut what) = (place(*first), *first);
        for &operand in rest {
            (at, what) = match table::pair(standard as usize, at, place(operand)) {
                Answer::Strong(dtype) => (dtype.code() as usize, Operand::Array(dtype)),
                Answer::Weak(dtype) => (table::weak(dtype), Operand::Weak(dtype)),
                refused => return Err(PromotionError::of_pair(standard, what, operand, refused)),
            };
        }
        let (dtype, weak) = match table::pair(standard as usize, at, at) {
            Answer::Strong(dtype) => (dtype, as_strong),
            Answer::Weak(dtype) => (dtype, true),
            refused => return Err(PromotionError::of_pair(standard, what, what, refused)),
        };
        Ok(Resolved { dtype: self.enabled(dtype), weak })
    }
}
