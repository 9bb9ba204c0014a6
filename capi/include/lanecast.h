/* lanecast: casts between every pair of numeric dtypes.
 *
 * Made from the code of the library; do not edit.
 *
 * lanecast_cast casts once. A plan is made once and run often: lanecast_run takes two pointers, the other runs take a lanecast_array on
 * each side, which is a buffer or an array of any layout. Options are zero-initialised and then changed by the names of their values.
 * The plan, options, errors and reports are the caller's memory; nothing has to be freed but plans of scaled casts.
 * Functions that can fail return a lanecast_status and describe what is wrong in the caller's lanecast_error, which may be NULL.
 * All functions may be called from any thread at any time; only lanecast_force_tier changes something for the whole process.
 */

#ifndef LANECAST_H
#define LANECAST_H

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
#define LANECAST_NOEXCEPT noexcept
#else
#define LANECAST_NOEXCEPT
#endif
#ifndef LANECAST_API
#define LANECAST_API
#endif



/**
 * A scaled cast of tensors of one type and shape, made by `lanecast_scaled_create` or `lanecast_scaled_create_from`. It may be shared between
 * threads.
 */
typedef struct lanecast_scaled_plan lanecast_scaled_plan;

/**
 * What a buffer holds: `LANECAST_FLOAT32` and so on, alone or with a flag. `LANECAST_TYPE_PACKED` is for elements of 2, 4 and 6 bits that
 * share bytes, the first in the lowest bits. `LANECAST_TYPE_LITTLE` and `LANECAST_TYPE_BIG` are for elements of more than one byte that are
 * not in the byte order of the host.
 */
typedef uint32_t lanecast_type;
#define LANECAST_BOOL               0u
#define LANECAST_INT2               1u
#define LANECAST_INT4               2u
#define LANECAST_INT8               3u
#define LANECAST_INT16              4u
#define LANECAST_INT32              5u
#define LANECAST_INT64              6u
#define LANECAST_UINT2              7u
#define LANECAST_UINT4              8u
#define LANECAST_UINT8              9u
#define LANECAST_UINT16             10u
#define LANECAST_UINT32             11u
#define LANECAST_UINT64             12u
#define LANECAST_FLOAT16            13u
#define LANECAST_BFLOAT16           14u
#define LANECAST_FLOAT32            15u
#define LANECAST_FLOAT64            16u
#define LANECAST_COMPLEX64          17u
#define LANECAST_COMPLEX128         18u
#define LANECAST_FLOAT8_E4M3FN      19u
#define LANECAST_FLOAT8_E4M3FNUZ    20u
#define LANECAST_FLOAT8_E5M2        21u
#define LANECAST_FLOAT8_E5M2FNUZ    22u
#define LANECAST_FLOAT8_E8M0FNU     23u
#define LANECAST_FLOAT8_E3M4        24u
#define LANECAST_FLOAT8_E4M3        25u
#define LANECAST_FLOAT8_E4M3B11FNUZ 26u
#define LANECAST_FLOAT6_E2M3FN      27u
#define LANECAST_FLOAT6_E3M2FN      28u
#define LANECAST_FLOAT4_E2M1FN      29u
#define LANECAST_TYPE_PACKED        256  /**< A flag: elements of less than 8 bits share bytes. It has no effect on other dtypes. */
/** A flag: the least significant byte of an element comes first. It has no effect on elements of one byte. */
#define LANECAST_TYPE_LITTLE        512
/** A flag: the most significant byte of an element comes first. It has no effect on elements of one byte. */
#define LANECAST_TYPE_BIG           1024

/** The result of a call: `LANECAST_OK`, or why it failed. */
typedef int32_t lanecast_status;
#define LANECAST_OK               0    /**< Done. */
#define LANECAST_ERR_NULL_POINTER 1    /**< A pointer is NULL but must not be. */
/** A number is not a `lanecast_type`, the function does not accept this type, or an array does not have the type of the plan. */
#define LANECAST_ERR_BAD_TYPE     2
/**
 * An option, level, standard or reserved field has a value that the library does not know, the scale of a tensor is not positive and finite,
 * or the parts of a scheme do not fit each other or the function.
 */
#define LANECAST_ERR_BAD_OPTION   3
#define LANECAST_ERR_BAD_PLAN     4    /**< The memory does not hold a plan made by this library's `lanecast_plan_init` or `lanecast_scaled_create`. */
#define LANECAST_ERR_TOO_LARGE    5    /**< The elements would take more bytes than an address space has. */
#define LANECAST_ERR_OVERLAP      6    /**< The source and the destination overlap, but not as a cast in place. */
/**
 * A shape or its strides are invalid, shapes differ, the elements of a destination share memory, or a scheme needs an axis that the shape
 * does not have.
 */
#define LANECAST_ERR_BAD_LAYOUT   7
#define LANECAST_ERR_NO_TIER      8    /**< This CPU cannot run the tier. */
/** A checked cast found an element that the target cannot represent, or a scaled cast a NaN or an infinity that it refuses. */
#define LANECAST_ERR_REJECTED     9
#define LANECAST_ERR_NO_PROMOTION 10   /**< The standard has no answer for these types. */
#define LANECAST_ERR_BAD_NAME     11   /**< No dtype, tier, profile or scheme has this name. */
#define LANECAST_ERR_BUG          12   /**< A defect in lanecast. The contents of the destination are unspecified. */
#define LANECAST_ERR_NO_MEMORY    13   /**< No memory for the list of a batch or for a plan. Nothing was written. */
#define LANECAST_ERR_BAD_DEVICE   14   /**< A tensor is on a device whose memory the CPU cannot address. */
#define LANECAST_ERR_BAD_LENGTH   15   /**< A buffer of a scaled cast does not have the bytes of the plan. */

/** Why an element was rejected. */
typedef uint32_t lanecast_reason;
#define LANECAST_REASON_NONE      0    /**< There is no reason: no element was rejected, or it was rejected by a scaled cast. */
#define LANECAST_REASON_NAN       1    /**< The element is NaN, which the target does not have. */
#define LANECAST_REASON_OVERFLOW  2    /**< The element is out of range. */
#define LANECAST_REASON_NEGATIVE  3    /**< The element is negative, and the target has no sign. */
#define LANECAST_REASON_NO_ZERO   4    /**< The element is zero, which the target does not have. */
#define LANECAST_REASON_IMAGINARY 5    /**< The element has an imaginary part, which the target does not have. */
#define LANECAST_REASON_UNDERFLOW 6    /**< The element would become zero. */
#define LANECAST_REASON_INEXACT   7    /**< The element would be rounded. */

/** Why a call failed. It is only written on failure. */
typedef struct lanecast_error {
    /** The status that the call returned. */
    lanecast_status status;
    /** For `LANECAST_ERR_REJECTED` of a plain cast why the element was rejected; otherwise `LANECAST_REASON_NONE`. */
    lanecast_reason reason;
    /**
     * For `LANECAST_ERR_REJECTED` the index of the element, in C order, and for a scaled cast that of its block; for a batch the index of the item.
     * Otherwise 0.
     */
    uint64_t index;
    /**
     * For `LANECAST_ERR_REJECTED` the bits of the element, least significant word first, a complex number's real part lowest. Otherwise, and for
     * scaled casts, 0.
     */
    uint64_t code[2];
    /** What is wrong and what to do: UTF-8, terminated by 0; a message that is too long is cut between characters. */
    char message[224];
} lanecast_error;

/** Finite values beyond the range of an 8-bit float. */
typedef uint8_t lanecast_saturate;
#define LANECAST_SATURATE_DEFAULT 0    /**< As `ON`. */
#define LANECAST_SATURATE_ON      1    /**< They become the largest finite value. */
#define LANECAST_SATURATE_OFF     2    /**< They become infinity, or NaN in a dtype without infinity. */
#define LANECAST_SATURATE_FN_ONLY 3    /**< `ON` for float8_e4m3fn, `OFF` for all others. */

/** The rounding to float8_e8m0fnu. */
typedef uint8_t lanecast_e8m0_round;
#define LANECAST_E8M0_ROUND_DEFAULT 0    /**< As `UP`. */
#define LANECAST_E8M0_ROUND_UP      1    /**< To the next larger power of two. */
#define LANECAST_E8M0_ROUND_DOWN    2    /**< To the next smaller power of two. */
#define LANECAST_E8M0_ROUND_NEAREST 3    /**< To the nearest power of two. */

/** Which values are in the range of float8_e8m0fnu. */
typedef uint8_t lanecast_e8m0_range;
#define LANECAST_E8M0_RANGE_DEFAULT   0    /**< As `EXACT`. */
#define LANECAST_E8M0_RANGE_EXACT     1    /**< The value itself decides, as in ONNX. */
#define LANECAST_E8M0_RANGE_ROUNDED   2    /**< The rounded value decides, as in ml_dtypes. */
#define LANECAST_E8M0_RANGE_MAGNITUDE 3    /**< The magnitude decides, as in PyTorch. */

/** Values out of range of an integer. */
typedef uint8_t lanecast_int_overflow;
#define LANECAST_INT_OVERFLOW_DEFAULT  0    /**< Floats saturate, integers wrap. */
#define LANECAST_INT_OVERFLOW_WRAP     1    /**< Only the low bits are kept. */
#define LANECAST_INT_OVERFLOW_SATURATE 2    /**< They become the nearest end of the range. */

/** The rounding of fractions to integers. */
typedef uint8_t lanecast_int_round;
#define LANECAST_INT_ROUND_DEFAULT      0    /**< As `TOWARD_ZERO`. */
#define LANECAST_INT_ROUND_TOWARD_ZERO  1    /**< The fraction is cut off. */
#define LANECAST_INT_ROUND_NEAREST_EVEN 2    /**< To the nearest integer; a tie to the even one. */
#define LANECAST_INT_ROUND_NEAREST_AWAY 3    /**< To the nearest integer; a tie away from zero. */
#define LANECAST_INT_ROUND_FLOOR        4    /**< To the next smaller integer. */
#define LANECAST_INT_ROUND_CEIL         5    /**< To the next larger integer. */

/** The rounding to floats other than float8_e8m0fnu. */
typedef uint8_t lanecast_float_round;
#define LANECAST_FLOAT_ROUND_DEFAULT      0    /**< As `NEAREST_EVEN`. */
#define LANECAST_FLOAT_ROUND_NEAREST_EVEN 1    /**< To the nearest value; a tie to the one whose last bit is 0. */
#define LANECAST_FLOAT_ROUND_NEAREST_AWAY 2    /**< To the nearest value; a tie away from zero. */
#define LANECAST_FLOAT_ROUND_TOWARD_ZERO  3    /**< To the next value in the direction of zero. */
#define LANECAST_FLOAT_ROUND_UP           4    /**< To the next larger value. */
#define LANECAST_FLOAT_ROUND_DOWN         5    /**< To the next smaller value. */
#define LANECAST_FLOAT_ROUND_TO_ODD       6    /**< To the neighbour whose last bit is 1. */

/** The code of NaN in float8_e5m2. */
typedef uint8_t lanecast_e5m2_nan;
#define LANECAST_E5M2_NAN_DEFAULT 0    /**< As `CODE_7E`. */
#define LANECAST_E5M2_NAN_CODE_7E 1    /**< 0x7E. */
#define LANECAST_E5M2_NAN_CODE_7F 2    /**< 0x7F. */

/** NaN in floats of 4 and 6 bits, which have none. */
typedef uint8_t lanecast_nan_to_finite;
#define LANECAST_NAN_TO_FINITE_DEFAULT 0    /**< As `ZERO`. */
#define LANECAST_NAN_TO_FINITE_ZERO    1    /**< It becomes zero. */
#define LANECAST_NAN_TO_FINITE_MAX     2    /**< It becomes the largest value. */

/** Infinity in FNUZ floats that saturate. */
typedef uint8_t lanecast_fnuz_inf;
#define LANECAST_FNUZ_INF_DEFAULT 0    /**< As `MAX`. */
#define LANECAST_FNUZ_INF_MAX     1    /**< It becomes the largest value. */
#define LANECAST_FNUZ_INF_NAN     2    /**< It becomes NaN. */

/** Whether stores bypass the caches (non-temporal stores). The results are the same. */
typedef uint8_t lanecast_streaming;
#define LANECAST_STREAMING_DEFAULT 0    /**< As `AUTO`. */
#define LANECAST_STREAMING_AUTO    1    /**< If the buffers are larger than the last-level cache or 32 MiB. */
#define LANECAST_STREAMING_ALWAYS  2    /**< Always. */
#define LANECAST_STREAMING_NEVER   3    /**< Never. */

/** The instructions that a plan uses. The results are the same. */
typedef uint8_t lanecast_tier;
#define LANECAST_TIER_DEFAULT 0    /**< The tier that `lanecast_active_tier` names. */
#define LANECAST_TIER_SCALAR  1    /**< No SIMD instructions. */
#define LANECAST_TIER_AVX2    2    /**< AVX2 of x86-64. */
#define LANECAST_TIER_AVX512  3    /**< AVX-512 of x86-64. */
#define LANECAST_TIER_NEON    4    /**< NEON of 64-bit Arm. */
#define LANECAST_TIER_WASM128 5    /**< The 128-bit vectors of WebAssembly. */

/**
 * What a cast returns where there is a choice. All zero is the default, which answers as Rust's `as`; a NULL pointer means the same.
 * An option is ignored for targets that it does not name.
 */
typedef struct lanecast_options {
    /** Finite values beyond the range of an 8-bit float. */
    lanecast_saturate saturate;
    /** The rounding to float8_e8m0fnu. */
    lanecast_e8m0_round e8m0_round;
    /** Which values are in the range of float8_e8m0fnu. */
    lanecast_e8m0_range e8m0_range;
    /** Floats out of range of an integer; they saturate by default. */
    lanecast_int_overflow float_to_int;
    /** Integers out of range of an integer; they wrap by default. */
    lanecast_int_overflow int_to_int;
    /** The rounding of fractions to integers. */
    lanecast_int_round int_round;
    /** The rounding to floats other than float8_e8m0fnu. */
    lanecast_float_round float_round;
    /** The code of NaN in float8_e5m2. */
    lanecast_e5m2_nan e5m2_nan;
    /** NaN in floats of 4 and 6 bits, which have none. */
    lanecast_nan_to_finite nan_to_finite;
    /** Infinity in FNUZ floats that saturate. */
    lanecast_fnuz_inf fnuz_inf;
    /** Whether stores bypass the caches. */
    lanecast_streaming streaming;
    /** The instructions to use. */
    lanecast_tier tier;
    /** Zero. */
    uint8_t reserved[20];
} lanecast_options;

/**
 * A cast from one type to another under fixed options, made by `lanecast_plan_init`. It is a plain value that may be copied and shared
 * between threads, is valid as long as the library is loaded, and needs no cleanup.
 */
typedef struct lanecast_plan {
    /** Private to the library. */
    uint64_t opaque[16];
} lanecast_plan;

/** A task for the host to run: it takes the context that came with it, and an index. */
typedef void (*lanecast_task)(void *context, size_t index);

/** Threads for a cast. A NULL pointer to one means the calling thread only. */
typedef struct lanecast_threads {
    /** How many threads to use at most, the calling one included. With `run` NULL, 0 means all that the library's pool has. */
    size_t count;
    /**
     * The parallel loop of the host: calls `task(task_context, i)` for each `i` below `tasks`, in any order and on any threads, and
     * returns when all of these calls have returned. It may call a task twice or not at all: the library does what is left. It
     * must not throw. If it is NULL, the library uses its own pool.
     */
    void (*run)(void *context, size_t tasks, lanecast_task task, void *task_context);
    /** Handed to `run`. */
    void *context;
} lanecast_threads;

/**
 * Elements in memory: `n` that follow each other, or an array of any shape and strides. Fields that are not needed are zero, so that
 * `(lanecast_array){.data = x, .n = 4, .type = LANECAST_FLOAT32}` is a whole one.
 */
typedef struct lanecast_array {
    /** The first element, whose indices are all 0. Nothing is written to a source. */
    void *data;
    /** Elements, if `ndim` is 0; a scalar has 1. With a shape this field is ignored. */
    size_t n;
    /** What the elements are, as the plan has it. */
    lanecast_type type;
    /** Axes of the shape, or 0 if there is no shape. There can be 64, without the axes of length 1; in scaled casts all count. */
    int32_t ndim;
    /** Elements along each axis. */
    const int64_t *shape;
    /**
     * Bytes from one element to the next along each axis; they may be negative, and 0 in a source. NULL if the elements follow each
     * other in C order. Packed elements share bytes along the last axis, whose stride is 1; each row begins at a whole byte.
     */
    const int64_t *strides;
    /** Zero. */
    uint64_t reserved[2];
} lanecast_array;

/** Which values count as lost. */
typedef uint32_t lanecast_level;
#define LANECAST_LEVEL_RANGE     1    /**< Values out of range. */
#define LANECAST_LEVEL_UNDERFLOW 2    /**< Also values other than zero that become zero. */
#define LANECAST_LEVEL_EXACT     3    /**< Also values that are rounded. */

/** What a cast lost. */
typedef struct lanecast_report {
    /** Elements that were cast. */
    uint64_t elements;
    /** Values that became the nearest end of the range. */
    uint64_t saturated;
    /** Values that kept only their low bits. */
    uint64_t wrapped;
    /** Finite values that became infinite. */
    uint64_t overflowed_to_infinity;
    /** Numbers that became NaN. */
    uint64_t became_nan;
    /** NaNs that became a number. */
    uint64_t nan_lost;
    /** Complex numbers that lost an imaginary part other than zero. */
    uint64_t imaginary_dropped;
    /** Nonzero values in range that became zero, in float and integer targets. */
    uint64_t underflowed_to_zero;
    /** Values in range that were rounded; 0 unless the level is `LANECAST_LEVEL_EXACT`. */
    uint64_t inexact;
    /** Zero. */
    uint64_t reserved[7];
} lanecast_report;

/** One cast of a batch. */
typedef struct lanecast_item {
    /** The cast. */
    const struct lanecast_plan *plan;
    /** The elements to cast. */
    const void *src;
    /** Where the results go. */
    void *dst;
    /** Elements. */
    size_t n;
} lanecast_item;

/** Whose rules of promotion apply. */
typedef uint32_t lanecast_standard;
#define LANECAST_STANDARD_MINDSPORE      0    /**< MindSpore's documented tables. */
#define LANECAST_STANDARD_MEGENGINE      1    /**< MegEngine as documented. */
#define LANECAST_STANDARD_MEGENGINE_CORE 2    /**< What MegEngine's operators do since version 1.9. */
#define LANECAST_STANDARD_ARRAY_API      3    /**< The Python array API standard 2025.12. */
#define LANECAST_STANDARD_NUMPY          4    /**< NumPy 2 with ml_dtypes. */
#define LANECAST_STANDARD_TORCH          5    /**< PyTorch. */
#define LANECAST_STANDARD_JAX            6    /**< JAX, standard promotion with 64-bit dtypes. */
#define LANECAST_STANDARD_JAX_STRICT     7    /**< JAX, strict promotion. */
#define LANECAST_STANDARD_ONNX           8    /**< ONNX: operands of one dtype. */

/** Which casts are allowed. */
typedef uint32_t lanecast_casting;
#define LANECAST_CASTING_LOSSLESS  0    /**< Casts that keep every value. */
#define LANECAST_CASTING_SAFE      1    /**< Casts that the standard does by itself. */
#define LANECAST_CASTING_SAME_KIND 2    /**< Also casts to a narrower dtype of the same kind, and to higher kinds. */
#define LANECAST_CASTING_UNSAFE    3    /**< Every cast that the standard has. */

/** How codes of less than 8 bits are stored. */
typedef uint8_t lanecast_storage;
#define LANECAST_STORAGE_DEFAULT 0    /**< As `PACKED`. */
#define LANECAST_STORAGE_PACKED  1    /**< They share bytes (`LANECAST_TYPE_PACKED`). */
#define LANECAST_STORAGE_BYTE    2    /**< Each has a byte. */

/** Blocks with a NaN or an infinity. */
typedef uint8_t lanecast_non_finite;
#define LANECAST_NON_FINITE_DEFAULT  0    /**< In options: as the scheme says. In a scheme: as `POISON`. */
#define LANECAST_NON_FINITE_POISON   1    /**< Their scale is NaN and their codes are 0. */
#define LANECAST_NON_FINITE_SATURATE 2    /**< They have the scale of their finite elements. */
#define LANECAST_NON_FINITE_REFUSE   3    /**< The cast fails with `LANECAST_ERR_REJECTED`. */

/** What a scheme leaves open. All zero is the default; a NULL pointer means the same. */
typedef struct lanecast_scaled_options {
    /** The dtype of the codes, without flags; 0 means the dtype of the scheme. */
    lanecast_type element;
    /** How codes of less than 8 bits are stored. */
    lanecast_storage storage;
    /** Blocks with a NaN or an infinity; by default as the scheme says. */
    lanecast_non_finite non_finite;
    /** 1 counts the elements that are clipped or underflow, in the report, which takes a few percent more time; 0 does not. */
    uint8_t counts;
    /** 1 sums the squared differences between elements and what their codes stand for, in the report; 0 does not. */
    uint8_t squared_error;
    /** With `random_bits`: the key of the random numbers. */
    uint64_t seed;
    /** With `random_bits`: selects a stream of random numbers, so that another tensor or step can have another one. */
    uint64_t stream;
    /** With `random_bits`: the index of the first element, if the tensor is a part of another one. */
    uint64_t first_element;
    /** 0 rounds to the nearest code; 8, 16 or 32 round stochastically, with that many random bits for each element. */
    uint8_t random_bits;
    /** Zero. */
    uint8_t reserved_bytes[3];
    /**
     * The scale of the tensor beside the scales of blocks, if it is known beforehand; 0 finds it from the elements. Only of schemes that have
     * one.
     */
    float global;
    /** Zero. */
    uint8_t reserved[24];
} lanecast_scaled_options;

/** How the scale of the tensor acts. */
typedef uint8_t lanecast_global;
#define LANECAST_GLOBAL_NONE       0    /**< There is none. */
#define LANECAST_GLOBAL_MULTIPLIER 1    /**< Values are multiplied by it. */
#define LANECAST_GLOBAL_DIVISOR    2    /**< Values are divided by it. */

/** Which elements share a scale. */
typedef uint8_t lanecast_granularity;
#define LANECAST_GRANULARITY_TENSOR 0    /**< All of them. */
#define LANECAST_GRANULARITY_AXIS   1    /**< Those with the same index along `axis`. */
#define LANECAST_GRANULARITY_BLOCK  2    /**< Blocks of `block[0]` elements along `axis`. */
#define LANECAST_GRANULARITY_TILE   3    /**< Tiles of `block[0]` by `block[1]` elements of the last two axes. */

/** How a scale follows from `amax`, the largest magnitude of its block. */
typedef uint8_t lanecast_scale_rule;
#define LANECAST_SCALE_RULE_GIVEN                     0    /**< The caller gives the scales. */
#define LANECAST_SCALE_RULE_AMAX                      1    /**< `amax / over`. */
#define LANECAST_SCALE_RULE_AMAX_TWICE                2    /**< `amax / over`, rounded to float32 before it is divided by the scale of the tensor. */
#define LANECAST_SCALE_RULE_AMAX_TIMES_INVERSE        3    /**< `amax / over`, rounded to float32 and multiplied by `range / amax` of the tensor. */
#define LANECAST_SCALE_RULE_POW2_FLOOR                4    /**< `2^(floor(log2 amax) - e)`, where `e` is the exponent of the largest code. */
#define LANECAST_SCALE_RULE_POW2_EVEN                 5    /**< As `POW2_FLOOR`, after `amax` is rounded to the mantissa bits of the codes. */
#define LANECAST_SCALE_RULE_POW2_ROUND_UP             6    /**< The smallest power of two that is not below `amax` divided by the largest code. */
#define LANECAST_SCALE_RULE_POW2_CEIL                 7    /**< `2^(ceil(log2 amax) - e)`, where `e` is the exponent of the largest code. */
#define LANECAST_SCALE_RULE_MIN_MAX                   8    /**< Integers with zero points, for `lanecast_scaled_quantize_min_max`. */
/**
 * As `AMAX_TIMES_INVERSE`, in the dtype of the source: each step but the last is also rounded to it, `range / amax` is formed by the
 * reciprocal of `amax`, and is 1 if it overflows.
 */
#define LANECAST_SCALE_RULE_AMAX_TIMES_INVERSE_SOURCE 9
/** `amax` divided by the product of `over` and the scale of the tensor, both rounded to float32. */
#define LANECAST_SCALE_RULE_AMAX_OVER_PRODUCT         10

/** How an element becomes a quotient. */
typedef uint8_t lanecast_quotient;
#define LANECAST_QUOTIENT_EXACT                   0    /**< The exact quotient by the scale. */
#define LANECAST_QUOTIENT_DIVIDE                  1    /**< The quotient in float32. */
#define LANECAST_QUOTIENT_DIVIDE_SOURCE           2    /**< The quotient in the dtype of the source. */
#define LANECAST_QUOTIENT_TIMES_RECIPROCAL        3    /**< Multiplied by the reciprocal of the scale. */
#define LANECAST_QUOTIENT_TIMES_GLOBAL_RECIPROCAL 4    /**< Multiplied by the reciprocal of the tensor's scale over the scale of the block. */
#define LANECAST_QUOTIENT_TIMES_MULTIPLIER        5    /**< Multiplied by `over / amax`. */
#define LANECAST_QUOTIENT_DIVIDE_UNSIGNED         6    /**< As `DIVIDE`, but quotients of zero lose their sign. */

/** The scale of a block of zeros. */
typedef uint8_t lanecast_empty;
#define LANECAST_EMPTY_ONE      0    /**< 1, or the code 0 of float8_e8m0fnu and float8_e4m3fn. */
#define LANECAST_EMPTY_FLOOR    1    /**< The scale of a block whose `amax` is `least`, which is the least `amax` of all blocks. */
#define LANECAST_EMPTY_AT_LEAST 2    /**< `empty_scale`; every other scale is at least `least`. */
#define LANECAST_EMPTY_EPSILON  3    /**< The machine epsilon of the dtype of the scales, which also replaces scales of 0. */

/**
 * Everything that decides the results of a scaled cast, except the dtype of the source. `lanecast_scaled_scheme_named` fills the struct; change
 * what should differ, such as the length of blocks, and make a plan with `lanecast_scaled_create_from`. A field is ignored if the others do not
 * use it. `docs/scaled.md` of lanecast specifies the rules.
 */
typedef struct lanecast_scaled_scheme {
    /** The dtype of the codes, without flags: an integer of at most 16 bits, float16, or a float of at most 8 bits with a zero. */
    lanecast_type element;
    /**
     * The dtype of the scales, without flags: float32, float16, bfloat16, float8_e8m0fnu (powers of two), or float8_e4m3fn with a float32
     * for the tensor. 0: the dtype of the source.
     */
    lanecast_type scale;
    /** The axis of the granularities `AXIS` and `BLOCK`, counted from the last one if it is negative. */
    int64_t axis;
    /** Elements of a block or a tile of the granularities `BLOCK` and `TILE`. */
    uint64_t block[2];
    /** A number of the rules whose description has it: what the largest element of a block becomes, such as 448 for float8_e4m3fn. */
    float over;
    /** A number of the rules whose description has it: what the largest element of the tensor would become without the scales of the blocks. */
    float range;
    /** See `empty`. */
    float empty_scale;
    /** See `empty`. */
    float least;
    /** How the scale of the tensor acts: `NONE` unless scales are float8_e4m3fn, which need one of the others. */
    lanecast_global global;
    /** Which elements share a scale. */
    lanecast_granularity granularity;
    /** How a scale follows from `amax`, the largest magnitude of its block. */
    lanecast_scale_rule rule;
    /** How an element becomes a quotient. */
    lanecast_quotient quotient;
    /** The scale of a block of zeros. */
    lanecast_empty empty;
    /** Blocks with a NaN or an infinity. */
    lanecast_non_finite non_finite;
    /** Zero. */
    uint8_t reserved[26];
} lanecast_scaled_scheme;

/** What the buffers of a scaled cast hold. */
typedef struct lanecast_scaled_info {
    /** Elements of the tensor. */
    size_t elements;
    /** Bytes of the source, if it is in C order and without gaps. */
    size_t source_len;
    /** Bytes of the codes. */
    size_t data_len;
    /** Scales: one for each block, in C order. */
    size_t scales;
    /** Bytes of the scales. */
    size_t scales_len;
    /** The type of the codes. */
    lanecast_type data_type;
    /** The type of the scales, which are in the byte order of the host. */
    lanecast_type scale_type;
    /** How the scale of the tensor acts: a `lanecast_global`. */
    uint32_t global;
    /** Bytes of the zero points, one for each scale, stored as the codes are; 0 if the scheme has none. */
    size_t zeros_len;
    /** Zero. */
    uint64_t reserved[3];
} lanecast_scaled_info;

/** What a scaled cast lost, and the scale of the tensor. */
typedef struct lanecast_scaled_report {
    /** Elements that were cast. */
    uint64_t elements;
    /** Blocks whose elements are all zero; 0 if the scales are given. */
    uint64_t empty;
    /** Blocks whose scale is NaN because an element is NaN or infinite; 0 if the scales are given. */
    uint64_t poisoned;
    /** Elements whose quotient is above the largest code; 0 unless the options of the plan count them. */
    uint64_t clipped;
    /** Elements other than zero whose code is zero; 0 unless the options of the plan count them. */
    uint64_t underflowed;
    /** The scale of the tensor; 1 if the scheme has none. */
    float global;
    /** 1 if clipped and underflowed elements were counted. */
    uint32_t counted;
    /**
     * The sum of the squared differences between elements and what their codes stand for, wherever both are finite: the exact sum, rounded
     * once. 0 unless the options of the plan request it.
     */
    double squared_error;
    /** Zero. */
    uint64_t reserved[5];
} lanecast_scaled_report;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/** The version of the library: major << 16 | minor << 8 | patch. */
LANECAST_API uint32_t lanecast_version(void) LANECAST_NOEXCEPT;

/** The name of the dtype without flags, as a static string such as "float8_e4m3fn"; NULL if there is no such dtype. */
LANECAST_API const char *lanecast_type_name(lanecast_type type) LANECAST_NOEXCEPT;

/**
 * The dtype with a name of lanecast's: "float8_e4m3fn", or a short form such as "f8e4m3fn" or "bf16". Names of other systems that
 * mean another dtype here ("i4" of NumPy) are read as lanecast's.
 *
 * Preconditions:
 *
 * `name` is NULL or a string that ends with 0; `out` and `error` are NULL or can be written.
 */
LANECAST_API
lanecast_status lanecast_type_parse(const char *name,
                                    lanecast_type *out,
                                    struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * The bytes that `n` elements take, a last partial byte included.
 *
 * Preconditions:
 *
 * `out` is NULL or can be written.
 */
LANECAST_API lanecast_status lanecast_type_bytes(lanecast_type type, size_t n, size_t *out) LANECAST_NOEXCEPT;

/**
 * The type of a DLPack tensor's elements. Elements of less than 8 bits are packed, unless `flags` has
 * `DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED` (4). `lanes` is 1, or 2 for pairs of packed
 * float4, which are two elements.
 *
 * Preconditions:
 *
 * `out` is NULL or can be written.
 */
LANECAST_API
lanecast_status lanecast_type_from_dlpack(uint8_t code,
                                          uint8_t bits,
                                          uint16_t lanes,
                                          uint64_t flags,
                                          lanecast_type *out)
LANECAST_NOEXCEPT;

/**
 * The DLPack type code, bits and flags of a type; lanes are 1. DLPack has no byte order: only types in the byte order of the host are accepted.
 *
 * Preconditions:
 *
 * The places are NULL or can be written.
 */
LANECAST_API
lanecast_status lanecast_type_to_dlpack(lanecast_type type,
                                        uint8_t *code,
                                        uint8_t *bits,
                                        uint64_t *flags)
LANECAST_NOEXCEPT;

/** The name of a status, as a static string; NULL if there is no such status. */
LANECAST_API const char *lanecast_status_name(lanecast_status status) LANECAST_NOEXCEPT;

/**
 * The options under which another system casts: "rust", "onnx", "numpy", "jax", "torch" or "cuda".
 *
 * Preconditions:
 *
 * `profile` is NULL or a string that ends with 0; `out` and `error` are NULL or can be written.
 */
LANECAST_API
lanecast_status lanecast_options_profile(const char *profile,
                                         struct lanecast_options *out,
                                         struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * Casts `n` elements of the type `from` at `src` to `n` elements of the type `to` at `dst`, on the calling thread: `lanecast_plan_init` and
 * `lanecast_run` in one call. If `options` is NULL, the default options apply. The cast is in place if both addresses are the same.
 *
 * Preconditions:
 *
 * `src` is readable and `dst` writable for the bytes of `n` elements (`lanecast_type_bytes`), and until the call returns nothing else
 * writes the source or accesses the destination. `options` is NULL or readable; `error` is NULL or writable.
 */
LANECAST_API
lanecast_status lanecast_cast(const void *src,
                              lanecast_type from,
                              void *dst,
                              lanecast_type to,
                              size_t n,
                              const struct lanecast_options *options,
                              struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * Makes a plan. If `options` is NULL, the default options apply. On failure `plan` is not written.
 *
 * Preconditions:
 *
 * `plan` and `error` are NULL or can be written; `options` is NULL or can be read.
 */
LANECAST_API
lanecast_status lanecast_plan_init(struct lanecast_plan *plan,
                                   lanecast_type from,
                                   lanecast_type to,
                                   const struct lanecast_options *options,
                                   struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * Describes what the plan does and why, as `lanecast explain` prints it: lines of UTF-8. As `snprintf`: at most `capacity` bytes are
 * written, the last of them 0, and `*length`, unless it is NULL, becomes the length of the whole text without its end.
 *
 * Preconditions:
 *
 * `plan` is NULL or leads to a plan; `text` can be written for `capacity` bytes; `length` and `error` are NULL or can be written.
 */
LANECAST_API
lanecast_status lanecast_explain(const struct lanecast_plan *plan,
                                 char *text,
                                 size_t capacity,
                                 size_t *length,
                                 struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * Casts `n` elements at `src` to `n` elements at `dst`, at any alignment. If both are the same address, the cast is in place, and the
 * memory must have room for the wider type; other overlap is an error. If `n` is 0, pointers may be NULL. `threads` is NULL for the
 * calling thread.
 *
 * Preconditions:
 *
 * `src` is readable and `dst` writable for the bytes of `n` elements (`lanecast_type_bytes`), and until the call returns nothing else
 * writes the source or accesses the destination. `plan` points to a plan; `threads` is NULL or readable; `error` is NULL or writable.
 */
LANECAST_API
lanecast_status lanecast_run(const struct lanecast_plan *plan,
                             const void *src,
                             void *dst,
                             size_t n,
                             const struct lanecast_threads *threads,
                             struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * Casts each element of `src` to the element of `dst` with the same indices; both have the same shape. Elements without a shape are cast
 * in place as by `lanecast_run`. Other arrays that share memory are an error, unless each element is replaced by its own result.
 *
 * Preconditions:
 *
 * All elements of `src` are readable and all elements of `dst` are writable, and until the call returns nothing else writes the source or
 * accesses the destination; shapes, and strides that are not NULL, have `ndim` numbers. `plan` points to a plan; `src`, `dst` and `threads` are
 * NULL or readable; `error` is NULL or writable.
 */
LANECAST_API
lanecast_status lanecast_run_array(const struct lanecast_plan *plan,
                                   const struct lanecast_array *src,
                                   const struct lanecast_array *dst,
                                   const struct lanecast_threads *threads,
                                   struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * As `lanecast_run_array`, but fails with `LANECAST_ERR_REJECTED` at the first element that the target cannot represent; `error` gives its
 * index, bits and reason. From that element on the contents of the destination are unspecified; memory that is cast in
 * place is unchanged.
 *
 * Preconditions:
 *
 * As for `lanecast_run_array`.
 */
LANECAST_API
lanecast_status lanecast_run_checked(const struct lanecast_plan *plan,
                                     const struct lanecast_array *src,
                                     const struct lanecast_array *dst,
                                     lanecast_level level,
                                     const struct lanecast_threads *threads,
                                     struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * As `lanecast_run_array`, and marks which elements the target can represent, as an Arrow validity bitmap does: bit `i % 8` of byte `i / 8`
 * of `validity`, lowest bit first, becomes 1 if element `i` in C order fits and 0 if not; the bits after the last element become 0. Elements
 * that do not fit are cast as by `lanecast_run_array`. Unless `rejected` is NULL, their number goes there.
 *
 * Preconditions:
 *
 * As for `lanecast_run_array`; `validity` is writable for a bit per element, `rejected` is NULL or can be written.
 */
LANECAST_API
lanecast_status lanecast_run_masked(const struct lanecast_plan *plan,
                                    const struct lanecast_array *src,
                                    const struct lanecast_array *dst,
                                    lanecast_level level,
                                    uint8_t *validity,
                                    size_t *rejected,
                                    const struct lanecast_threads *threads,
                                    struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * As `lanecast_run_array`, and counts in `report` what was lost.
 *
 * Preconditions:
 *
 * As for `lanecast_run_array`; `report` is NULL or can be written.
 */
LANECAST_API
lanecast_status lanecast_run_counted(const struct lanecast_plan *plan,
                                     const struct lanecast_array *src,
                                     const struct lanecast_array *dst,
                                     lanecast_level level,
                                     struct lanecast_report *report,
                                     const struct lanecast_threads *threads,
                                     struct lanecast_error *error)
LANECAST_NOEXCEPT;

/** The library's own pool with all of its threads, for `threads` arguments. */
LANECAST_API const struct lanecast_threads *lanecast_pool(void) LANECAST_NOEXCEPT;

/**
 * Runs many casts, which the threads share as if they were one. No destination may overlap another item's memory. If an item is
 * invalid, `error` gives its index, and nothing is written. The call allocates
 * at most 96 bytes an item; if it cannot, it writes nothing and returns `LANECAST_ERR_NO_MEMORY`.
 *
 * Preconditions:
 *
 * `items` can be read for `count` items, and each item is as for `lanecast_run`.
 */
LANECAST_API
lanecast_status lanecast_run_batch(const struct lanecast_item *items,
                                   size_t count,
                                   const struct lanecast_threads *threads,
                                   struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * The dtype in which an operation on two computes. Types with flags are refused.
 *
 * Preconditions:
 *
 * `out` and `error` are NULL or can be written.
 */
LANECAST_API
lanecast_status lanecast_promote(lanecast_standard standard,
                                 lanecast_type a,
                                 lanecast_type b,
                                 lanecast_type *out,
                                 struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * Whether a standard allows a cast under a rule: `*out` becomes 1 or 0. Types with flags are refused.
 *
 * Preconditions:
 *
 * `out` and `error` are NULL or can be written.
 */
LANECAST_API
lanecast_status lanecast_can_cast(lanecast_standard standard,
                                  lanecast_type from,
                                  lanecast_type to,
                                  lanecast_casting casting,
                                  int32_t *out,
                                  struct lanecast_error *error)
LANECAST_NOEXCEPT;

/** The name of the tier that new plans use: "avx512", "avx2", "neon", "wasm128" or "scalar", a static string. */
LANECAST_API const char *lanecast_active_tier(void) LANECAST_NOEXCEPT;

/**
 * Makes new plans of the whole process use a tier; NULL takes that back.
 *
 * Preconditions:
 *
 * `name` is NULL or a string that ends with 0; `error` is NULL or can be written.
 */
LANECAST_API lanecast_status lanecast_force_tier(const char *name, struct lanecast_error *error) LANECAST_NOEXCEPT;

/**
 * Makes a plan for scaled casts by the scheme of this name: between tensors of the type `from` (float16, bfloat16 or float32, in either byte
 * order) and of this shape, and their codes and scales. Tensors are in C order and without gaps, unless they are given as a `lanecast_array`. If
 * `options` is NULL, the default options apply. On failure `*plan` is not written. `lanecast_scaled_destroy` frees the plan.
 *
 * Preconditions:
 *
 * `plan` and `error` are NULL or can be written; `scheme` is NULL or a string that ends with 0; `shape` is NULL or has `ndim` numbers;
 * `options` is NULL or can be read.
 */
LANECAST_API
lanecast_status lanecast_scaled_create(struct lanecast_scaled_plan **plan,
                                       const char *scheme,
                                       lanecast_type from,
                                       const int64_t *shape,
                                       int32_t ndim,
                                       const struct lanecast_scaled_options *options,
                                       struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * As `lanecast_scaled_create`, by a scheme of the caller, which is not needed afterwards.
 *
 * Preconditions:
 *
 * As for `lanecast_scaled_create`; `scheme` is NULL or can be read.
 */
LANECAST_API
lanecast_status lanecast_scaled_create_from(struct lanecast_scaled_plan **plan,
                                            const struct lanecast_scaled_scheme *scheme,
                                            lanecast_type from,
                                            const int64_t *shape,
                                            int32_t ndim,
                                            const struct lanecast_scaled_options *options,
                                            struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * Frees a plan. NULL is allowed.
 *
 * Preconditions:
 *
 * `plan` is NULL or a plan of `lanecast_scaled_create`, which no other call uses now or later.
 */
LANECAST_API lanecast_status lanecast_scaled_destroy(struct lanecast_scaled_plan *plan) LANECAST_NOEXCEPT;

/**
 * The bytes and the types of the buffers of a plan.
 *
 * Preconditions:
 *
 * `plan` is NULL or a plan; `out` and `error` are NULL or can be written.
 */
LANECAST_API
lanecast_status lanecast_scaled_describe(const struct lanecast_scaled_plan *plan,
                                         struct lanecast_scaled_info *out,
                                         struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * Casts codes and scales of the plan `from` to codes and scales of the plan `to`, whose options apply: each value is decoded exactly and rounded
 * once. Both plans are for tensors of the same shape. `global` is the tensor's scale for `from`; schemes without one ignore it. The results go
 * to `data` and `scales`, and unless `report` is NULL, the report goes there, with the tensor's scale for `to`. The scheme of `to` needs
 * `LANECAST_QUOTIENT_EXACT` and the rule `LANECAST_SCALE_RULE_AMAX` or one of the `LANECAST_SCALE_RULE_POW2_` ones; that of `from` has no zero
 * points. The cast runs on the calling thread.
 *
 * Preconditions:
 *
 * `src_data` and `src_scales` can be read for `src_data_len` and `src_scales_len` bytes, `data` and `scales` can be written for `data_len` and
 * `scales_len` bytes, at any alignment, and until the call returns nothing else writes the sources or accesses the destinations. `from` and `to` are
 * NULL or plans; `report` and `error` are NULL or can be written.
 */
LANECAST_API
lanecast_status lanecast_scaled_requantize(const struct lanecast_scaled_plan *from,
                                           const void *src_data,
                                           size_t src_data_len,
                                           const void *src_scales,
                                           size_t src_scales_len,
                                           float global,
                                           const struct lanecast_scaled_plan *to,
                                           void *data,
                                           size_t data_len,
                                           void *scales,
                                           size_t scales_len,
                                           struct lanecast_scaled_report *report,
                                           struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * Scales and casts a tensor: writes its codes to `data` and its scales to `scales`. If the scheme has a scale for the tensor, it is in
 * `global` of the report, and readers of the codes need it. Unless `report` is NULL, the report goes there. The lengths are in bytes and
 * must equal the lengths that `lanecast_scaled_describe` returns. `threads` is as for `lanecast_run`; the result does not depend on it.
 *
 * Preconditions:
 *
 * `src` can be read for `src_len` bytes, `data` and `scales` can be written for `data_len` and `scales_len` bytes, at any alignment, and until
 * the call returns nothing else writes the sources or accesses the destinations. `plan` is NULL or a plan; `threads` is NULL or readable;
 * `report` and `error` are NULL or can be written.
 */
LANECAST_API
lanecast_status lanecast_scaled_quantize_dynamic(const struct lanecast_scaled_plan *plan,
                                                 const void *src,
                                                 size_t src_len,
                                                 void *data,
                                                 size_t data_len,
                                                 void *scales,
                                                 size_t scales_len,
                                                 struct lanecast_scaled_report *report,
                                                 const struct lanecast_threads *threads,
                                                 struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * As `lanecast_scaled_quantize_dynamic`, for a part of a larger tensor or for one of several tensors that share a scale. `amax` is the
 * largest magnitude of all of them, the maximum of what `lanecast_scaled_amax` or `lanecast_scaled_finite_amax` returns for each, and has to
 * be finite. The cast runs on the calling thread.
 *
 * Preconditions:
 *
 * As for `lanecast_scaled_quantize_dynamic`.
 */
LANECAST_API
lanecast_status lanecast_scaled_quantize_with_amax(const struct lanecast_scaled_plan *plan,
                                                   const void *src,
                                                   size_t src_len,
                                                   float amax,
                                                   void *data,
                                                   size_t data_len,
                                                   void *scales,
                                                   size_t scales_len,
                                                   struct lanecast_scaled_report *report,
                                                   struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * Casts a tensor with given scales and writes its codes to `data`. `global` is the scale of the tensor; schemes without one ignore it.
 *
 * Preconditions:
 *
 * As for `lanecast_scaled_quantize_dynamic`; `scales` can be read for `scales_len` bytes.
 */
LANECAST_API
lanecast_status lanecast_scaled_quantize(const struct lanecast_scaled_plan *plan,
                                         const void *src,
                                         size_t src_len,
                                         const void *scales,
                                         size_t scales_len,
                                         float global,
                                         void *data,
                                         size_t data_len,
                                         struct lanecast_scaled_report *report,
                                         const struct lanecast_threads *threads,
                                         struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * Writes the values that codes and scales stand for to `dst`, each the exact product rounded once to the type `to`: float16, bfloat16,
 * float32 or float64, in either byte order. `global` is the scale of the tensor; schemes without one ignore it. `dst_len` is in bytes and must
 * be the size of the elements.
 *
 * Preconditions:
 *
 * `data` and `scales` can be read for `data_len` and `scales_len` bytes, `dst` can be written for `dst_len` bytes, at any alignment, and until
 * the call returns nothing else writes the sources or accesses the destinations. `plan` is NULL or a plan; `threads` is NULL or readable;
 * `error` is NULL or can be written.
 */
LANECAST_API
lanecast_status lanecast_scaled_dequantize(const struct lanecast_scaled_plan *plan,
                                           const void *data,
                                           size_t data_len,
                                           const void *scales,
                                           size_t scales_len,
                                           float global,
                                           lanecast_type to,
                                           void *dst,
                                           size_t dst_len,
                                           const struct lanecast_threads *threads,
                                           struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * The largest magnitude of a tensor, or NaN or infinity if the tensor has one. For several parts, it is the largest of theirs.
 *
 * Preconditions:
 *
 * `src` can be read for `src_len` bytes. `plan` is NULL or a plan; `threads` is NULL or readable; `out` and `error` are NULL or can be
 * written.
 */
LANECAST_API
lanecast_status lanecast_scaled_amax(const struct lanecast_scaled_plan *plan,
                                     const void *src,
                                     size_t src_len,
                                     float *out,
                                     const struct lanecast_threads *threads,
                                     struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * The largest finite magnitude of `src_len` bytes of elements of the type `from`: float16, bfloat16 or float32, in either byte order. It needs
 * no plan, and the result for several parts is the largest of theirs, which `lanecast_scaled_quantize_with_amax` takes even if some elements
 * are NaN or infinite. Unless `non_finite` is NULL, 1 is written there if there are such elements, and 0 if not. Without a finite element, the
 * result is 0.
 *
 * Preconditions:
 *
 * `src` can be read for `src_len` bytes, at any alignment. `out`, `non_finite` and `error` are NULL or can be written.
 */
LANECAST_API
lanecast_status lanecast_scaled_finite_amax(lanecast_type from,
                                            const void *src,
                                            size_t src_len,
                                            float *out,
                                            int32_t *non_finite,
                                            struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * The name of the scheme at `index`, counted from 0, as a static string such as "mx" or "nvfp4"; NULL after the last one.
 * `docs/scaled.md` of lanecast specifies the schemes.
 */
LANECAST_API
const char *lanecast_scaled_name(size_t index)
LANECAST_NOEXCEPT;

/**
 * The scheme of this name, all of whose fields are written.
 *
 * Preconditions:
 *
 * `scheme` is NULL or a string that ends with 0; `out` and `error` are NULL or can be written.
 */
LANECAST_API
lanecast_status lanecast_scaled_scheme_named(const char *scheme,
                                             struct lanecast_scaled_scheme *out,
                                             struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * As `lanecast_scaled_quantize_dynamic`, of elements in any layout, such as a transposed tensor, without a copy of all of it. `src` has the
 * shape of the plan, at most 64 axes, and elements of the plan's type. `data` and `scales` lie outside of the bytes from
 * the lowest element to the highest one.
 *
 * Preconditions:
 *
 * All elements of `src` can be read; its shape and strides have `ndim` numbers. The other pointers are as for
 * `lanecast_scaled_quantize_dynamic`.
 */
LANECAST_API
lanecast_status lanecast_scaled_quantize_dynamic_view(const struct lanecast_scaled_plan *plan,
                                                      const struct lanecast_array *src,
                                                      void *data,
                                                      size_t data_len,
                                                      void *scales,
                                                      size_t scales_len,
                                                      struct lanecast_scaled_report *report,
                                                      const struct lanecast_threads *threads,
                                                      struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * Scales and casts a tensor to integers with zero points; the rule of the plan's scheme is `LANECAST_SCALE_RULE_MIN_MAX`. An integer stands for
 * `(code - zero) * scale`. Writes the codes to `data`, the scales to `scales`, and for each scale a zero point, stored as the codes are, to
 * `zeros`. Unless `report` is NULL, the report goes there. The lengths are in bytes and must equal the lengths that `lanecast_scaled_describe`
 * returns. `threads` is as for `lanecast_run`; the result does not depend on it.
 *
 * Preconditions:
 *
 * `src` can be read for `src_len` bytes; `data`, `scales` and `zeros` can be written for `data_len`, `scales_len` and `zeros_len` bytes, at any
 * alignment, and until the call returns nothing else writes the sources or accesses the destinations. `plan` is NULL or a plan; `threads` is NULL or
 * readable; `report` and `error` are NULL or can be written.
 */
LANECAST_API
lanecast_status lanecast_scaled_quantize_min_max(const struct lanecast_scaled_plan *plan,
                                                 const void *src,
                                                 size_t src_len,
                                                 void *data,
                                                 size_t data_len,
                                                 void *scales,
                                                 size_t scales_len,
                                                 void *zeros,
                                                 size_t zeros_len,
                                                 struct lanecast_scaled_report *report,
                                                 const struct lanecast_threads *threads,
                                                 struct lanecast_error *error)
LANECAST_NOEXCEPT;

/**
 * Writes the values that integers with zero points stand for to `dst`: `(code - zero) * scale`, rounded once to the type `to`: float16, bfloat16,
 * float32 or float64, in either byte order. `dst_len` is in bytes and must be the size of the elements. `threads` is as for
 * `lanecast_scaled_quantize_min_max`.
 *
 * Preconditions:
 *
 * `data`, `scales` and `zeros` can be read for `data_len`, `scales_len` and `zeros_len` bytes, `dst` can be written for `dst_len` bytes, at any
 * alignment, and until the call returns nothing else writes the sources or accesses the destinations. `plan` is NULL or a plan; `threads` is NULL or
 * readable; `error` is NULL or can be written.
 */
LANECAST_API
lanecast_status lanecast_scaled_dequantize_min_max(const struct lanecast_scaled_plan *plan,
                                                   const void *data,
                                                   size_t data_len,
                                                   const void *scales,
                                                   size_t scales_len,
                                                   const void *zeros,
                                                   size_t zeros_len,
                                                   lanecast_type to,
                                                   void *dst,
                                                   size_t dst_len,
                                                   const struct lanecast_threads *threads,
                                                   struct lanecast_error *error)
LANECAST_NOEXCEPT;

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LANECAST_H */
