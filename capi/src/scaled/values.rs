//! The values of the options and of the parts of a scheme.

/// How codes of less than 8 bits are stored.
pub type lanecast_storage = u8;
/// As `PACKED`.
pub const LANECAST_STORAGE_DEFAULT: lanecast_storage = 0;
/// They share bytes (`LANECAST_TYPE_PACKED`).
pub const LANECAST_STORAGE_PACKED: lanecast_storage = 1;
/// Each has a byte.
pub const LANECAST_STORAGE_BYTE: lanecast_storage = 2;

/// Blocks with a NaN or an infinity.
pub type lanecast_non_finite = u8;
/// In options: as the scheme says. In a scheme: as `POISON`.
pub const LANECAST_NON_FINITE_DEFAULT: lanecast_non_finite = 0;
/// Their scale is NaN and their codes are 0.
pub const LANECAST_NON_FINITE_POISON: lanecast_non_finite = 1;
/// They have the scale of their finite elements.
pub const LANECAST_NON_FINITE_SATURATE: lanecast_non_finite = 2;
/// The cast fails with `LANECAST_ERR_REJECTED`.
pub const LANECAST_NON_FINITE_REFUSE: lanecast_non_finite = 3;

/// How the scale of the tensor acts.
pub type lanecast_global = u8;
/// There is none.
pub const LANECAST_GLOBAL_NONE: lanecast_global = 0;
/// Values are multiplied by it.
pub const LANECAST_GLOBAL_MULTIPLIER: lanecast_global = 1;
/// Values are divided by it.
pub const LANECAST_GLOBAL_DIVISOR: lanecast_global = 2;

/// Which elements share a scale.
pub type lanecast_granularity = u8;
/// All of them.
pub const LANECAST_GRANULARITY_TENSOR: lanecast_granularity = 0;
/// Those with the same index along `axis`.
pub const LANECAST_GRANULARITY_AXIS: lanecast_granularity = 1;
/// Blocks of `block[0]` elements along `axis`.
pub const LANECAST_GRANULARITY_BLOCK: lanecast_granularity = 2;
/// Tiles of `block[0]` by `block[1]` elements of the last two axes.
pub const LANECAST_GRANULARITY_TILE: lanecast_granularity = 3;

/// How a scale follows from `amax`, the largest magnitude of its block.
pub type lanecast_scale_rule = u8;
/// The caller gives the scales.
pub const LANECAST_SCALE_RULE_GIVEN: lanecast_scale_rule = 0;
/// `amax / over`.
pub const LANECAST_SCALE_RULE_AMAX: lanecast_scale_rule = 1;
/// `amax / over`, rounded to float32 before it is divided by the scale of the tensor.
pub const LANECAST_SCALE_RULE_AMAX_TWICE: lanecast_scale_rule = 2;
/// `amax / over`, rounded to float32 and multiplied by `range / amax` of the tensor.
pub const LANECAST_SCALE_RULE_AMAX_TIMES_INVERSE: lanecast_scale_rule = 3;
/// `2^(floor(log2 amax) - e)`, where `e` is the exponent of the largest code.
pub const LANECAST_SCALE_RULE_POW2_FLOOR: lanecast_scale_rule = 4;
/// As `POW2_FLOOR`, after `amax` is rounded to the mantissa bits of the codes.
pub const LANECAST_SCALE_RULE_POW2_EVEN: lanecast_scale_rule = 5;
/// The smallest power of two that is not below `amax` divided by the largest code.
pub const LANECAST_SCALE_RULE_POW2_ROUND_UP: lanecast_scale_rule = 6;
/// `2^(ceil(log2 amax) - e)`, where `e` is the exponent of the largest code.
pub const LANECAST_SCALE_RULE_POW2_CEIL: lanecast_scale_rule = 7;
/// Integers with zero points, for `lanecast_scaled_quantize_min_max`.
pub const LANECAST_SCALE_RULE_MIN_MAX: lanecast_scale_rule = 8;
/// As `AMAX_TIMES_INVERSE`, in the dtype of the source: each step but the last is also rounded to it, `range / amax` is formed by the
/// reciprocal of `amax`, and is 1 if it overflows.
pub const LANECAST_SCALE_RULE_AMAX_TIMES_INVERSE_SOURCE: lanecast_scale_rule = 9;
/// `amax` divided by the product of `over` and the scale of the tensor, both rounded to float32.
pub const LANECAST_SCALE_RULE_AMAX_OVER_PRODUCT: lanecast_scale_rule = 10;

/// How an element becomes a quotient.
pub type lanecast_quotient = u8;
/// The exact quotient by the scale.
pub const LANECAST_QUOTIENT_EXACT: lanecast_quotient = 0;
/// The quotient in float32.
pub const LANECAST_QUOTIENT_DIVIDE: lanecast_quotient = 1;
/// The quotient in the dtype of the source.
pub const LANECAST_QUOTIENT_DIVIDE_SOURCE: lanecast_quotient = 2;
/// Multiplied by the reciprocal of the scale.
pub const LANECAST_QUOTIENT_TIMES_RECIPROCAL: lanecast_quotient = 3;
/// Multiplied by the reciprocal of the tensor's scale over the scale of the block.
pub const LANECAST_QUOTIENT_TIMES_GLOBAL_RECIPROCAL: lanecast_quotient = 4;
/// Multiplied by `over / amax`.
pub const LANECAST_QUOTIENT_TIMES_MULTIPLIER: lanecast_quotient = 5;
/// As `DIVIDE`, but quotients of zero lose their sign.
pub const LANECAST_QUOTIENT_DIVIDE_UNSIGNED: lanecast_quotient = 6;

/// The scale of a block of zeros.
pub type lanecast_empty = u8;
/// 1, or the code 0 of float8_e8m0fnu and float8_e4m3fn.
pub const LANECAST_EMPTY_ONE: lanecast_empty = 0;
/// The scale of a block whose `amax` is `least`, which is the least `amax` of all blocks.
pub const LANECAST_EMPTY_FLOOR: lanecast_empty = 1;
/// `empty_scale`; every other scale is at least `least`.
pub const LANECAST_EMPTY_AT_LEAST: lanecast_empty = 2;
/// The machine epsilon of the dtype of the scales, which also replaces scales of 0.
pub const LANECAST_EMPTY_EPSILON: lanecast_empty = 3;
