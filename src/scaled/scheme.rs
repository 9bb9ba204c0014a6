//! What a scaled cast is: [`Scheme`], and the schemes in use as constants.

pub(super) mod check;
mod granularity;
mod named;
mod rule;

pub use granularity::Granularity;
pub use rule::{Pow2, ScaleRule};

use lanecast_kernels::DType;

/// The largest value of a dtype; for signed integers, the end of the range with the smaller magnitude.
pub(super) const fn largest(dtype: DType) -> Option<f64> {
    match (dtype.finfo(), dtype.iinfo()) {
        (Some(float), _) => Some(float.max),
        (_, Some(int)) => Some(int.max as f64),
        _ => None,
    }
}

/// The dtype of the scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScaleType {
    /// `float32`.
    Float32,
    /// `float16`.
    Float16,
    /// `bfloat16`.
    BFloat16,
    /// `float8_e8m0fnu`: powers of two.
    E8M0,
    /// `float8_e4m3fn`, and a `float32` for the whole tensor.
    E4M3(Global),
    /// The dtype of the source.
    Source,
}

impl ScaleType {
    /// The dtype of a scale of a tensor of the dtype `source`.
    pub const fn dtype(self, source: DType) -> DType {
        match self {
            ScaleType::Float32 => DType::Float32,
            ScaleType::Float16 => DType::Float16,
            ScaleType::BFloat16 => DType::BFloat16,
            ScaleType::E8M0 => DType::Float8E8M0FNU,
            ScaleType::E4M3(_) => DType::Float8E4M3FN,
            ScaleType::Source => source,
        }
    }
}

/// How the scale of a tensor is stored beside the scales of its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Global {
    /// A reader multiplies by it: ModelOpt, TransformerEngine, torchao.
    Multiplier,
    /// A reader divides by it: compressed-tensors.
    Divisor,
}

/// In which arithmetic an element is divided by its scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Quotient {
    /// The code is the one nearest to the exact quotient by the stored scale.
    #[default]
    Exact,
    /// The quotient is rounded to `float32` first.
    Divide,
    /// As [`Divide`](Self::Divide), but quotients of zero lose their sign.
    DivideUnsigned,
    /// The quotient is rounded to `float32` first, and then to the dtype of the source.
    DivideSource,
    /// The element is multiplied by the `float32` nearest to the reciprocal of the scale, which rounds twice.
    TimesReciprocal,
    /// As [`TimesReciprocal`](Self::TimesReciprocal), but the reciprocal of the tensor's scale is divided by the scale of the block.
    TimesGlobalReciprocal,
    /// The element is multiplied by the `float32` nearest to `over / amax`, and the stored scale is the reciprocal of that. With a given
    /// scale it is multiplied by the reciprocal of the scale.
    TimesMultiplier,
}

/// The scale of a block whose elements are all zero, or whose scale would be rounded to zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Empty {
    /// 1 for an empty block; with scales of `float8_e8m0fnu` or `float8_e4m3fn` the code 0, which is 2^-127 or zero. All codes are 0.
    #[default]
    One,
    /// The largest magnitude of a block is taken to be at least this.
    Floor(f32),
    /// Other scales are at least `least`.
    AtLeast {
        /// The scale of empty blocks.
        empty: f32,
        /// The smallest scale of others.
        least: f32,
    },
    /// Empty blocks, and blocks whose scale would be rounded to zero, have the machine epsilon of the dtype of the scales: the distance from 1 to
    /// the next larger value.
    Epsilon,
}

/// How a block with a NaN or an infinity is cast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NonFinite {
    /// Its scale is NaN, and its codes are 0: a reader gets NaN for the whole block.
    #[default]
    Poison,
    /// Its scale is that of its finite elements. Infinities become the largest value, and NaN becomes what the plain cast makes of it.
    Saturate,
    /// The cast fails, and what it has written is unspecified.
    Refuse,
}

/// Everything that decides the answer of a scaled cast, except the dtype of the source.
///
/// [`ScaleType::Source`], [`Quotient::DivideSource`] and [`ScaleRule::AmaxTimesInverseSource`] round to that dtype.
///
/// The elements are cast to `element` after they are divided by the scale of their block: rounded to the nearest, ties to even, and
/// saturated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scheme {
    /// The dtype of the codes.
    pub element: DType,
    /// Which elements share a scale.
    pub granularity: Granularity,
    /// The dtype of the scales.
    pub scale: ScaleType,
    /// How a scale follows from the elements.
    pub rule: ScaleRule,
    /// The arithmetic of the division.
    pub quotient: Quotient,
    /// The scale of empty blocks.
    pub empty: Empty,
    /// What becomes of NaN and infinities.
    pub non_finite: NonFinite,
}

impl Scheme {
    /// The scheme with another dtype of the codes. A range of amplitudes that equals the old dtype's range becomes the new dtype's range.
    pub const fn with_element(self, element: DType) -> Self {
        let rule = match (self.rule, largest(self.element), largest(element)) {
            (ScaleRule::Amax { over }, Some(old), Some(new)) if over as f64 == old => {
                ScaleRule::Amax { over: new as f32 }
            }
            (rule, ..) => rule,
        };
        Self { element, rule, ..self }
    }

    /// The scheme with another quotient.
    pub const fn with_quotient(self, quotient: Quotient) -> Self {
        Self { quotient, ..self }
    }

    /// The scheme with other scales for empty blocks.
    pub const fn with_empty(self, empty: Empty) -> Self {
        Self { empty, ..self }
    }

    /// The scheme for tensors of the dtype `source`: [`ScaleType::Source`] becomes that dtype.
    pub(super) const fn of_source(self, source: DType) -> Self {
        let scale = match (self.scale, source) {
            (ScaleType::Source, DType::Float16) => ScaleType::Float16,
            (ScaleType::Source, DType::BFloat16) => ScaleType::BFloat16,
            (ScaleType::Source, _) => ScaleType::Float32,
            (scale, _) => scale,
        };
        let quotient = match (self.quotient, source) {
            (Quotient::DivideSource, DType::Float32) => Quotient::Divide,
            (quotient, _) => quotient,
        };
        Self { scale, quotient, ..self }
    }

    /// The scheme with another answer to NaN and infinities.
    pub const fn with_non_finite(self, non_finite: NonFinite) -> Self {
        Self { non_finite, ..self }
    }

    /// Whether codes have zero points, which [`ScaleRule::MinMax`] makes.
    pub const fn has_zero_points(&self) -> bool {
        matches!(self.rule, ScaleRule::MinMax)
    }
}
