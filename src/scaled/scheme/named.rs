//! The schemes in use, as constants.

use super::{Empty, Global, Granularity, NonFinite, Pow2, Quotient, ScaleRule, ScaleType, Scheme};
use lanecast_kernels::DType;

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
    /// `uint8` with a scale and a zero point per row: activations, quantized dynamically per token. Its signed form is
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

    /// The name of the scheme; `None` if [`NAMED`](Self::NAMED) does not have it.
    pub fn name(&self) -> Option<&'static str> {
        Self::NAMED.iter().find(|(_, scheme)| scheme == self).map(|(name, _)| *name)
    }

    /// The scheme of this name.
    pub fn from_name(name: &str) -> Option<Scheme> {
        Self::NAMED.iter().find(|(other, _)| *other == name).map(|(_, scheme)| *scheme)
    }
}
