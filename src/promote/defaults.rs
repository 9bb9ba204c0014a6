//! A standard with its default dtypes, and the values of Python ints.

use super::{
    error::{PromotionError, Refusal},
    operand::{NumberKind, Operand},
    standard::Standard,
};

use crate::options::CastOptions;
use lanecast_kernels::DType;

/// A [`Standard`] with the default dtypes of its numbers. A program may set some of them.
///
/// | standard | int | float | complex | index | can be set to |
/// |---|---|---|---|---|---|
/// | MindSpore | int64 | float32 | complex128 | int64 | |
/// | MegEngine, MegEngineCore | int32 | float32 | none | int32 | |
/// | array API | int64 | float64 | complex128 | int64 | int32; float32 (complex follows) |
/// | NumPy | int64 | float64 | complex128 | int64 | |
/// | PyTorch | int64 | float32 | complex64 | int64 | float16, bfloat16, float64 (complex follows) |
/// | JAX, JAX strict | int64 | float64 | complex128 | int64 | x64 off: 32 bits for all of them |
/// | ONNX | none | none | none | int64 | |
///
/// ```
/// use lanecast::{DType, promote::{NumberKind, Promotion, Standard}};
/// let torch = Promotion::new(Standard::Torch).with_float(DType::BFloat16)?;
/// let scaled = torch.promote_all(&[DType::Int8.into(), NumberKind::Float.into()])?;
/// assert_eq!(scaled.dtype, DType::BFloat16);
/// # Ok::<(), lanecast::promote::PromotionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Promotion {
    standard: Standard,
    int: DType,
    float: DType,
    x64: bool,
    pub(super) options: CastOptions,
}

impl Promotion {
    /// A standard with its own default dtypes.
    pub const fn new(standard: Standard) -> Self {
        let (int, float) = match standard {
            Standard::MindSpore | Standard::Torch => (DType::Int64, DType::Float32),
            Standard::MegEngine | Standard::MegEngineCore => (DType::Int32, DType::Float32),
            _ => (DType::Int64, DType::Float64),
        };
        Self { standard, int, float, x64: true, options: CastOptions::RUST }
    }

    /// The same standard with these options for the casts of operands. No standard needs a cast from float to integer, from complex to
    /// real, or to bool, so most options have no effect.
    #[must_use]
    pub const fn with_options(mut self, options: &CastOptions) -> Self {
        self.options = *options;
        self
    }

    /// The standard.
    pub const fn standard(&self) -> Standard {
        self.standard
    }

    /// These rules with another default dtype for floats. The default for complex numbers follows: the complex dtype with parts of
    /// this dtype, complex64 for bfloat16, and none for float16, because PyTorch uses complex32.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotADefault`] if the standard does not allow it: PyTorch allows float16, bfloat16, float32 and float64, the
    /// array API float32 and float64, the others only their own default.
    pub const fn with_float(mut self, dtype: DType) -> Result<Self, PromotionError> {
        let allowed = match self.standard {
            Standard::Torch => {
                matches!(dtype, DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64)
            }
            Standard::ArrayApi => matches!(dtype, DType::Float32 | DType::Float64),
            _ => matches!(self.default_dtype(NumberKind::Float), Some(d) if d.code() == dtype.code()),
        };
        if !allowed {
            return Err(PromotionError::new(self.standard, Refusal::NotADefault(dtype)));
        }
        self.float = dtype;
        Ok(self)
    }

    /// These rules with another default dtype for ints.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotADefault`] if the standard does not allow it: the array API allows int32 and int64, the others only their own
    /// default.
    pub const fn with_int(mut self, dtype: DType) -> Result<Self, PromotionError> {
        let allowed = match self.standard {
            Standard::ArrayApi => matches!(dtype, DType::Int32 | DType::Int64),
            _ => matches!(self.default_dtype(NumberKind::Int), Some(d) if d.code() == dtype.code()),
        };
        if !allowed {
            return Err(PromotionError::new(self.standard, Refusal::NotADefault(dtype)));
        }
        self.int = dtype;
        Ok(self)
    }

    /// JAX with its flag `jax_enable_x64`. Without it, which is JAX's default, int64, uint64, float64 and complex128 are read
    /// as the dtypes of half their width, and no result has 64-bit parts.
    ///
    /// # Errors
    ///
    /// [`Refusal::NoX64`] for the other standards.
    pub const fn with_x64(mut self, x64: bool) -> Result<Self, PromotionError> {
        if !self.standard.is_jax() {
            return Err(PromotionError::new(self.standard, Refusal::NoX64));
        }
        self.x64 = x64;
        Ok(self)
    }

    /// The dtype of an array made of Python numbers of this kind; `None` if the standard has none that lanecast has.
    pub const fn default_dtype(&self, kind: NumberKind) -> Option<DType> {
        match (self.standard, kind) {
            (Standard::Onnx, _) => None,
            (_, NumberKind::Bool) => Some(DType::Bool),
            (_, NumberKind::Int) => Some(self.enabled(self.int)),
            (_, NumberKind::Float) => Some(self.enabled(self.float)),
            (Standard::MegEngine | Standard::MegEngineCore, NumberKind::Complex) => None,
            (Standard::MindSpore, NumberKind::Complex) => Some(DType::Complex128),
            (_, NumberKind::Complex) => match self.enabled(self.float) {
                DType::Float16 => None,
                DType::Float64 => Some(DType::Complex128),
                _ => Some(DType::Complex64),
            },
        }
    }

    /// The dtype of indices, such as the results of `argmax`.
    pub const fn index_dtype(&self) -> DType {
        match self.standard {
            Standard::MegEngine | Standard::MegEngineCore => DType::Int32,
            _ => self.enabled(DType::Int64),
        }
    }

    /// The dtype as JAX reads it: without x64, 64-bit dtypes are read as dtypes of half their width.
    pub(super) const fn enabled(&self, dtype: DType) -> DType {
        match dtype {
            _ if self.x64 => dtype,
            DType::Int64 => DType::Int32,
            DType::UInt64 => DType::UInt32,
            DType::Float64 => DType::Float32,
            DType::Complex128 => DType::Complex64,
            _ => dtype,
        }
    }

    /// The value that a Python int takes in an array of the dtype returned by [`promote_all`](Self::promote_all).
    ///
    /// If an integer dtype cannot hold the value, NumPy and the array API refuse it; the others keep its low bits, provided that it
    /// fits in 64 bits, signed or unsigned. (MegEngine's results vary; it is treated like these.) JAX refuses every value that its
    /// default int cannot hold, whatever the array. For dtypes other than integers the value is returned unchanged: a cast rounds it,
    /// and a bool array is promoted when it is combined with an int.
    ///
    /// ```
    /// use lanecast::{DType, promote::{Promotion, Standard}};
    /// let value = |standard| Promotion::new(standard).int_value(300, DType::UInt8);
    /// assert_eq!(value(Standard::Torch), Ok(44));
    /// assert_eq!(value(Standard::NumPy).unwrap_err().to_string(), "300 does not fit uint8 (0 to 255); cast the array first");
    /// ```
    ///
    /// # Errors
    ///
    /// [`Refusal::OutOfRange`].
    pub const fn int_value(&self, value: i128, dtype: DType) -> Result<i128, PromotionError> {
        let int = self.enabled(self.int);
        if self.standard.is_jax() && !holds(int, value) {
            return Err(self.out_of_range(value, int));
        }
        let Some(info) = dtype.iinfo() else { return Ok(value) };
        if holds(dtype, value) {
            return Ok(value);
        }
        match self.standard {
            Standard::NumPy | Standard::ArrayApi => return Err(self.out_of_range(value, dtype)),
            _ if !holds(DType::Int64, value) && !holds(DType::UInt64, value) => {
                let widest = if value < 0 { DType::Int64 } else { DType::UInt64 };
                return Err(self.out_of_range(value, widest));
            }
            _ => {}
        }
        let low = value & ((1 << info.bits) - 1);
        Ok(if low > info.max { low - (1 << info.bits) } else { low })
    }

    const fn out_of_range(&self, value: i128, dtype: DType) -> PromotionError {
        PromotionError::of_one(self.standard, Operand::Int(value), Refusal::OutOfRange(value, dtype))
    }
}

/// Whether an integer dtype can hold a value.
const fn holds(dtype: DType, value: i128) -> bool {
    matches!(dtype.iinfo(), Some(info) if info.min <= value && value <= info.max)
}
