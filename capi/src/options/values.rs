//! The values of options. In every option 0 is the default, whose name ends with `_DEFAULT`.

use lanecast::{
    E5M2Nan, E8M0Range, E8M0Round, FloatRound, FnuzInf, IntOverflow, IntRound, NanToFinite, Saturate,
    Streaming, Tier,
};

/// The values of an option, each with its number; the default is not among them.
pub(super) type Values<T> = &'static [(u8, T)];

/// Finite values beyond the range of an 8-bit float.
pub type lanecast_saturate = u8;
/// As `ON`.
pub const LANECAST_SATURATE_DEFAULT: lanecast_saturate = 0;
/// They become the largest finite value.
pub const LANECAST_SATURATE_ON: lanecast_saturate = 1;
/// They become infinity, or NaN in a dtype without infinity.
pub const LANECAST_SATURATE_OFF: lanecast_saturate = 2;
/// `ON` for float8_e4m3fn, `OFF` for all others.
pub const LANECAST_SATURATE_FN_ONLY: lanecast_saturate = 3;
pub(super) const SATURATE: Values<Saturate> = &[
    (LANECAST_SATURATE_ON, Saturate::On),
    (LANECAST_SATURATE_OFF, Saturate::Off),
    (LANECAST_SATURATE_FN_ONLY, Saturate::FnOnly),
];

/// The rounding to float8_e8m0fnu.
pub type lanecast_e8m0_round = u8;
/// As `UP`.
pub const LANECAST_E8M0_ROUND_DEFAULT: lanecast_e8m0_round = 0;
/// To the next larger power of two.
pub const LANECAST_E8M0_ROUND_UP: lanecast_e8m0_round = 1;
/// To the next smaller power of two.
pub const LANECAST_E8M0_ROUND_DOWN: lanecast_e8m0_round = 2;
/// To the nearest power of two.
pub const LANECAST_E8M0_ROUND_NEAREST: lanecast_e8m0_round = 3;
pub(super) const E8M0_ROUND: Values<E8M0Round> = &[
    (LANECAST_E8M0_ROUND_UP, E8M0Round::Up),
    (LANECAST_E8M0_ROUND_DOWN, E8M0Round::Down),
    (LANECAST_E8M0_ROUND_NEAREST, E8M0Round::Nearest),
];

/// Which values are in the range of float8_e8m0fnu.
pub type lanecast_e8m0_range = u8;
/// As `EXACT`.
pub const LANECAST_E8M0_RANGE_DEFAULT: lanecast_e8m0_range = 0;
/// The value itself decides, as in ONNX.
pub const LANECAST_E8M0_RANGE_EXACT: lanecast_e8m0_range = 1;
/// The rounded value decides, as in ml_dtypes.
pub const LANECAST_E8M0_RANGE_ROUNDED: lanecast_e8m0_range = 2;
/// The magnitude decides, as in PyTorch.
pub const LANECAST_E8M0_RANGE_MAGNITUDE: lanecast_e8m0_range = 3;
pub(super) const E8M0_RANGE: Values<E8M0Range> = &[
    (LANECAST_E8M0_RANGE_EXACT, E8M0Range::Exact),
    (LANECAST_E8M0_RANGE_ROUNDED, E8M0Range::Rounded),
    (LANECAST_E8M0_RANGE_MAGNITUDE, E8M0Range::Magnitude),
];

/// Values out of range of an integer.
pub type lanecast_int_overflow = u8;
/// Floats saturate, integers wrap.
pub const LANECAST_INT_OVERFLOW_DEFAULT: lanecast_int_overflow = 0;
/// Only the low bits are kept.
pub const LANECAST_INT_OVERFLOW_WRAP: lanecast_int_overflow = 1;
/// They become the nearest end of the range.
pub const LANECAST_INT_OVERFLOW_SATURATE: lanecast_int_overflow = 2;
pub(super) const INT_OVERFLOW: Values<IntOverflow> = &[
    (LANECAST_INT_OVERFLOW_WRAP, IntOverflow::Wrap),
    (LANECAST_INT_OVERFLOW_SATURATE, IntOverflow::Saturate),
];

/// The rounding of fractions to integers.
pub type lanecast_int_round = u8;
/// As `TOWARD_ZERO`.
pub const LANECAST_INT_ROUND_DEFAULT: lanecast_int_round = 0;
/// The fraction is cut off.
pub const LANECAST_INT_ROUND_TOWARD_ZERO: lanecast_int_round = 1;
/// To the nearest integer; a tie to the even one.
pub const LANECAST_INT_ROUND_NEAREST_EVEN: lanecast_int_round = 2;
/// To the nearest integer; a tie away from zero.
pub const LANECAST_INT_ROUND_NEAREST_AWAY: lanecast_int_round = 3;
/// To the next smaller integer.
pub const LANECAST_INT_ROUND_FLOOR: lanecast_int_round = 4;
/// To the next larger integer.
pub const LANECAST_INT_ROUND_CEIL: lanecast_int_round = 5;
pub(super) const INT_ROUND: Values<IntRound> = &[
    (LANECAST_INT_ROUND_TOWARD_ZERO, IntRound::TowardZero),
    (LANECAST_INT_ROUND_NEAREST_EVEN, IntRound::NearestEven),
    (LANECAST_INT_ROUND_NEAREST_AWAY, IntRound::NearestAway),
    (LANECAST_INT_ROUND_FLOOR, IntRound::Floor),
    (LANECAST_INT_ROUND_CEIL, IntRound::Ceil),
];

/// The rounding to floats other than float8_e8m0fnu.
pub type lanecast_float_round = u8;
/// As `NEAREST_EVEN`.
pub const LANECAST_FLOAT_ROUND_DEFAULT: lanecast_float_round = 0;
/// To the nearest value; a tie to the one whose last bit is 0.
pub const LANECAST_FLOAT_ROUND_NEAREST_EVEN: lanecast_float_round = 1;
/// To the nearest value; a tie away from zero.
pub const LANECAST_FLOAT_ROUND_NEAREST_AWAY: lanecast_float_round = 2;
/// To the next value in the direction of zero.
pub const LANECAST_FLOAT_ROUND_TOWARD_ZERO: lanecast_float_round = 3;
/// To the next larger value.
pub const LANECAST_FLOAT_ROUND_UP: lanecast_float_round = 4;
/// To the next smaller value.
pub const LANECAST_FLOAT_ROUND_DOWN: lanecast_float_round = 5;
/// To the neighbour whose last bit is 1.
pub const LANECAST_FLOAT_ROUND_TO_ODD: lanecast_float_round = 6;
pub(super) const FLOAT_ROUND: Values<FloatRound> = &[
    (LANECAST_FLOAT_ROUND_NEAREST_EVEN, FloatRound::NearestEven),
    (LANECAST_FLOAT_ROUND_NEAREST_AWAY, FloatRound::NearestAway),
    (LANECAST_FLOAT_ROUND_TOWARD_ZERO, FloatRound::TowardZero),
    (LANECAST_FLOAT_ROUND_UP, FloatRound::Up),
    (LANECAST_FLOAT_ROUND_DOWN, FloatRound::Down),
    (LANECAST_FLOAT_ROUND_TO_ODD, FloatRound::ToOdd),
];

/// The code of NaN in float8_e5m2.
pub type lanecast_e5m2_nan = u8;
/// As `CODE_7E`.
pub const LANECAST_E5M2_NAN_DEFAULT: lanecast_e5m2_nan = 0;
/// 0x7E.
pub const LANECAST_E5M2_NAN_CODE_7E: lanecast_e5m2_nan = 1;
/// 0x7F.
pub const LANECAST_E5M2_NAN_CODE_7F: lanecast_e5m2_nan = 2;
pub(super) const E5M2_NAN: Values<E5M2Nan> =
    &[(LANECAST_E5M2_NAN_CODE_7E, E5M2Nan::Code7E), (LANECAST_E5M2_NAN_CODE_7F, E5M2Nan::Code7F)];

/// NaN in floats of 4 and 6 bits, which have none.
pub type lanecast_nan_to_finite = u8;
/// As `ZERO`.
pub const LANECAST_NAN_TO_FINITE_DEFAULT: lanecast_nan_to_finite = 0;
/// It becomes zero.
pub const LANECAST_NAN_TO_FINITE_ZERO: lanecast_nan_to_finite = 1;
/// It becomes the largest value.
pub const LANECAST_NAN_TO_FINITE_MAX: lanecast_nan_to_finite = 2;
pub(super) const NAN_TO_FINITE: Values<NanToFinite> =
    &[(LANECAST_NAN_TO_FINITE_ZERO, NanToFinite::Zero), (LANECAST_NAN_TO_FINITE_MAX, NanToFinite::Max)];

/// Infinity in FNUZ floats that saturate.
pub type lanecast_fnuz_inf = u8;
/// As `MAX`.
pub const LANECAST_FNUZ_INF_DEFAULT: lanecast_fnuz_inf = 0;
/// It becomes the largest value.
pub const LANECAST_FNUZ_INF_MAX: lanecast_fnuz_inf = 1;
/// It becomes NaN.
pub const LANECAST_FNUZ_INF_NAN: lanecast_fnuz_inf = 2;
pub(super) const FNUZ_INF: Values<FnuzInf> =
    &[(LANECAST_FNUZ_INF_MAX, FnuzInf::Max), (LANECAST_FNUZ_INF_NAN, FnuzInf::Nan)];

/// Whether stores bypass the caches (non-temporal stores). The results are the same.
pub type lanecast_streaming = u8;
/// As `AUTO`.
pub const LANECAST_STREAMING_DEFAULT: lanecast_streaming = 0;
/// If the buffers are larger than the last-level cache or 32 MiB.
pub const LANECAST_STREAMING_AUTO: lanecast_streaming = 1;
/// Always.
pub const LANECAST_STREAMING_ALWAYS: lanecast_streaming = 2;
/// Never.
pub const LANECAST_STREAMING_NEVER: lanecast_streaming = 3;
pub(super) const STREAMING: Values<Streaming> = &[
    (LANECAST_STREAMING_AUTO, Streaming::Auto),
    (LANECAST_STREAMING_ALWAYS, Streaming::Always),
    (LANECAST_STREAMING_NEVER, Streaming::Never),
];

/// The instructions that a plan uses. The results are the same.
pub type lanecast_tier = u8;
/// The tier that `lanecast_active_tier` names.
pub const LANECAST_TIER_DEFAULT: lanecast_tier = 0;
/// No SIMD instructions.
pub const LANECAST_TIER_SCALAR: lanecast_tier = 1;
/// AVX2 of x86-64.
pub const LANECAST_TIER_AVX2: lanecast_tier = 2;
/// AVX-512 of x86-64.
pub const LANECAST_TIER_AVX512: lanecast_tier = 3;
/// NEON of 64-bit Arm.
pub const LANECAST_TIER_NEON: lanecast_tier = 4;
/// The 128-bit vectors of WebAssembly.
pub const LANECAST_TIER_WASM128: lanecast_tier = 5;
pub(super) const TIERS: Values<Tier> = &[
    (LANECAST_TIER_SCALAR, Tier::Scalar),
    (LANECAST_TIER_AVX2, Tier::Avx2),
    (LANECAST_TIER_AVX512, Tier::Avx512),
    (LANECAST_TIER_NEON, Tier::Neon),
    (LANECAST_TIER_WASM128, Tier::Wasm128),
];
