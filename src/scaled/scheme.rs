//! What a scaled cast is: [`Scheme`], and the schemes in use as constants.

use super::rule::{Pow2, ScaleRule};
use crate::DType;
use alloc::vec::Vec;

/// Which elements share a scale. Axes are counted from the first one, or from the last one if they are negative, as in NumPy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Granularity {
    /// All of them.
    Tensor,
    /// Those with the same index along an axis: for weights of the shape `[out, in]`, axis 0 is a scale per row.
    Axis(isize),
    /// Blocks of `len` elements along an axis. The last one may be shorter.
    Block {
        /// The axis.
        axis: isize,
        /// Elements of a block.
        len: usize,
    },
    /// Tiles of the last two axes. Those at the ends may be smaller.
    Tile {
        /// Elements along the last axis but one.
        rows: usize,
        /// Elements along the last axis.
        cols: usize,
    },
}

impl Granularity {
    /// The shape of the scales of a tensor: the number of blocks along each axis.
    ///
    /// ```
    /// use lanecast::scaled::Granularity;
    /// assert_eq!(Granularity::Tile { rows: 128, cols: 128 }.scales_shape(&[300, 128]), [3, 1]);
    /// assert_eq!(Granularity::Axis(0).scales_shape(&[300, 128]), [300, 1]);
    /// ```
    pub fn scales_shape(self, shape: &[usize]) -> Vec<usize> {
        let axes = shape.len();
        let at = |axis: isize, index: usize| axis == index as isize || axis == index as isize - axes as isize;
        let block = |index: usize| match self {
            Granularity::Tensor => shape[index],
            Granularity::Axis(axis) if at(axis, index) => 1,
            Granularity::Axis(_) => shape[index],
            Granularity::Block { axis, len } if at(axis, index) => len,
            Granularity::Block { .. } => 1,
            Granularity::Tile { cols, .. } if index + 1 == axes => cols,
            Granularity::Tile { rows, .. } if index + 2 == axes => rows,
            Granularity::Tile { .. } => 1,
        };
        (0..axes).map(|index| shape[index].div_ceil(block(index).max(1))).collect()
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

/// How the scale of a tensor is stored beside those of its blocks.
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
    const fn of(element: DType, granularity: Granularity, scale: ScaleType, rule: ScaleRule) -> Self {
        let (quotient, empty, non_finite) = (Quotient::Exact, Empty::One, NonFinite::Poison);
        Self { element, granularity, scale, rule, quotient, empty, non_finite }
    }

    const fn mx(element: DType, rule: Pow2) -> Self {
        Self::of(element, Granularity::Block { axis: -1, len: 32 }, ScaleType::E8M0, ScaleRule::Pow2(rule))
    }

    const fn fp8(granularity: Granularity) -> Self {
        Self::of(DType::Float8E4M3FN, granularity, ScaleType::Float32, ScaleRule::Amax { over: 448.0 })
    }

    const fn nvfp4(global: Global) -> Self {
        let (block, over) = (Granularity::Block { axis: -1, len: 16 }, ScaleRule::Amax { over: 6.0 });
        Self::of(DType::Float4E2M1FN, block, ScaleType::E4M3(global), over)
    }

    /// The scheme with another dtype of the codes. A range of amplitudes that is that of the old dtype becomes that of the new one.
    pub const fn with_element(self, element: DType) -> Self {
        let rule = match (self.rule, super::rule::largest(self.element)) {
            (ScaleRule::Amax { over }, Some(largest)) if over as f64 == largest => {
                match super::rule::largest(element) {
                    Some(largest) => ScaleRule::Amax { over: largest as f32 },
                    None => self.rule,
                }
            }
            (rule, _) => rule,
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

    /// OCP Microscaling 1.0, section 6.3: blocks of 32, the scale by the exponent of the largest element, which clips up to a quarter of its
    /// range.
    pub const MX_OCP: Self = Self::mx(DType::Float8E4M3FN, Pow2::Floor);
    /// Microscaling with the smallest scale that clips nothing: cuDNN, TransformerEngine, Triton. Recommended.
    pub const MX: Self = Self::mx(DType::Float8E4M3FN, Pow2::RoundUp);
    /// Microscaling with the scale by the exponent of the largest element, which is rounded to the precision of the codes first.
    pub const MX_EVEN: Self = Self::mx(DType::Float8E4M3FN, Pow2::Even);
    /// Microscaling with the exponent of the largest element rounded up: torchao's `CEIL`.
    pub const MX_CEIL: Self = Self::mx(DType::Float8E4M3FN, Pow2::Ceil);
    /// NVFP4: blocks of 16, `float8_e4m3fn` scales and a multiplier for the tensor, each rounded once.
    pub const NVFP4: Self = Self::nvfp4(Global::Multiplier);
    /// 8-bit floats with one scale.
    pub const FP8_TENSOR: Self = Self::fp8(Granularity::Tensor);
    /// 8-bit floats with a scale per row.
    pub const FP8_ROW: Self = Self::fp8(Granularity::Axis(0));
    /// 8-bit floats with a scale for 128 elements of a row.
    pub const FP8_GROUP128: Self = Self::fp8(Granularity::Block { axis: -1, len: 128 });
    /// 8-bit floats with a scale for each tile of 128 by 128.
    pub const FP8_BLOCK128: Self = Self::fp8(Granularity::Tile { rows: 128, cols: 128 });
    /// The same with powers of two as scales, the smallest that clip nothing: DeepGEMM's `ue8m0`.
    pub const BLOCK128_UE8M0: Self = {
        let tile = Granularity::Tile { rows: 128, cols: 128 };
        Self::of(DType::Float8E4M3FN, tile, ScaleType::E8M0, ScaleRule::Pow2(Pow2::RoundUp))
    };
    /// `int8` with a scale per row, from -127 to 127.
    pub const INT8_ROW: Self =
        Self::of(DType::Int8, Granularity::Axis(0), ScaleType::Float32, ScaleRule::Amax { over: 127.0 });
    /// `int4` with a scale for 128 elements of a row, from -7 to 7.
    pub const INT4_GROUP128: Self = {
        let group = Granularity::Block { axis: -1, len: 128 };
        Self::of(DType::Int4, group, ScaleType::Float32, ScaleRule::Amax { over: 7.0 })
    };
    /// `uint8` with a scale and a zero point per row: activations, quantised dynamically per token. Its signed form is
    /// `Scheme::UINT8_ROW.with_element(DType::Int8)`.
    pub const UINT8_ROW: Self =
        Self::of(DType::UInt8, Granularity::Axis(0), ScaleType::Float32, ScaleRule::MinMax);
    /// `uint4` with a scale and a zero point for 128 elements of a row: the groups of AWQ and GPTQ.
    pub const UINT4_GROUP128: Self = {
        let group = Granularity::Block { axis: -1, len: 128 };
        Self::of(DType::UInt4, group, ScaleType::Float32, ScaleRule::MinMax)
    };

    /// The bits of vLLM's, DeepSeek's and torchao's `x / scale` in `float32`, by row.
    pub const FP8_ROW_DIVIDE: Self = Self::FP8_ROW.with_quotient(Quotient::Divide);
    /// The bits of `x * (1 / scale)` in `float32`, by row: SGLang, FBGEMM on CPUs.
    pub const FP8_ROW_RECIPROCAL: Self = Self::FP8_ROW.with_quotient(Quotient::TimesReciprocal);
    /// The bits of `x * (448 / amax)` in `float32`, by row: TransformerEngine, FBGEMM, transformers.
    pub const FP8_ROW_MULTIPLIER: Self = Self::FP8_ROW.with_quotient(Quotient::TimesMultiplier);
    /// The bits of compressed-tensors' `FP8_DYNAMIC` weights, by row: scales and quotients have the dtype of the source.
    pub const COMPRESSED_TENSORS_FP8_ROW: Self = Self {
        scale: ScaleType::Source,
        quotient: Quotient::DivideSource,
        empty: Empty::Epsilon,
        ..Self::FP8_ROW
    };
    /// DeepSeek's weights: tiles of 128 by 128, `x / scale` in `float32`.
    pub const DEEPSEEK: Self = Self::FP8_BLOCK128.with_quotient(Quotient::Divide);
    /// The bits of TransformerEngine's reference for NVFP4.
    pub const TE_NVFP4: Self = Self {
        rule: ScaleRule::AmaxTimesInverse { over: 6.0, range: 2688.0 },
        quotient: Quotient::TimesReciprocal,
        ..Self::NVFP4
    };
    /// The bits of ModelOpt's NVFP4.
    pub const MODELOPT_NVFP4: Self = Self {
        rule: ScaleRule::AmaxOverProduct { over: 6.0 },
        quotient: Quotient::DivideUnsigned,
        empty: Empty::AtLeast { empty: 1.0, least: 0.001_953_125 },
        ..Self::NVFP4
    };
    /// The bits of torchao's NVFP4 with a scale for the tensor.
    pub const TORCHAO_NVFP4: Self = Self {
        rule: ScaleRule::AmaxTwice { over: 6.0 },
        quotient: Quotient::TimesGlobalReciprocal,
        empty: Empty::AtLeast { empty: 0.015_625, least: 0.015_625 },
        ..Self::NVFP4
    };
    /// The bits of compressed-tensors' NVFP4.
    pub const COMPRESSED_TENSORS_NVFP4: Self = Self {
        scale: ScaleType::E4M3(Global::Divisor),
        rule: ScaleRule::AmaxTimesInverseSource { over: 6.0, range: 2688.0 },
        quotient: Quotient::DivideUnsigned,
        empty: Empty::Epsilon,
        ..Self::NVFP4
    };

    /// All schemes by their names.
    pub const NAMED: &'static [(&'static str, Scheme)] = &[
        ("mx-ocp", Self::MX_OCP),
        ("mx", Self::MX),
        ("mx-even", Self::MX_EVEN),
        ("mx-ceil", Self::MX_CEIL),
        ("nvfp4", Self::NVFP4),
        ("fp8-tensor", Self::FP8_TENSOR),
        ("fp8-row", Self::FP8_ROW),
        ("fp8-group128", Self::FP8_GROUP128),
        ("fp8-block128", Self::FP8_BLOCK128),
        ("fp8-block128-ue8m0", Self::BLOCK128_UE8M0),
        ("int8-row", Self::INT8_ROW),
        ("int4-group128", Self::INT4_GROUP128),
        ("uint8-row", Self::UINT8_ROW),
        ("uint4-group128", Self::UINT4_GROUP128),
        ("fp8-row-divide", Self::FP8_ROW_DIVIDE),
        ("fp8-row-reciprocal", Self::FP8_ROW_RECIPROCAL),
        ("fp8-row-multiplier", Self::FP8_ROW_MULTIPLIER),
        ("compressed-tensors-fp8-row", Self::COMPRESSED_TENSORS_FP8_ROW),
        ("deepseek", Self::DEEPSEEK),
        ("te-nvfp4", Self::TE_NVFP4),
        ("modelopt-nvfp4", Self::MODELOPT_NVFP4),
        ("torchao-nvfp4", Self::TORCHAO_NVFP4),
        ("compressed-tensors-nvfp4", Self::COMPRESSED_TENSORS_NVFP4),
    ];

    /// Whether codes have zero points, which [`ScaleRule::MinMax`] makes. Such a scheme is cast by
    /// [`quantize_min_max`](super::ScaledPlan::quantize_min_max) and [`dequantize_min_max`](super::ScaledPlan::dequantize_min_max).
    pub const fn has_zero_points(&self) -> bool {
        matches!(self.rule, ScaleRule::MinMax)
    }

    /// The name of the scheme; `None` if [`NAMED`](Self::NAMED) does not have it.
    pub fn name(&self) -> Option<&'static str> {
        Self::NAMED.iter().find(|(_, scheme)| scheme == self).map(|(name, _)| *name)
    }

    /// The scheme of this name.
    pub fn from_name(name: &str) -> Option<Scheme> {
        Self::NAMED.iter().find(|(other, _)| *other == name).map(|(_, scheme)| *scheme)
    }
}
