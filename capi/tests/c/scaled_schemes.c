/* Scaled casts by schemes of the caller, and with zero points. C99, and C++ as well. */
#include <lanecast.h>

#include "check.h"
#include "scaled.h"

static lanecast_status refused(const lanecast_scaled_scheme *scheme)
{
    lanecast_scaled_plan *plan = NULL;
    lanecast_error error;
    lanecast_status status = lanecast_scaled_create_from(&plan, scheme, LANECAST_FLOAT32, shape, 2, NULL, &error);
    CHECK(plan == NULL && error.status == status);
    return status;
}

/* A scheme with a name is the same by its struct. */
static void named_schemes(void)
{
    lanecast_scaled_scheme scheme;
    lanecast_error error;
    size_t i;
    CHECK(sizeof(lanecast_scaled_scheme) == 80);
    fill_source();
    for (i = 0; lanecast_scaled_name(i) != NULL; i++) {
        lanecast_scaled_plan *from = plan_of(lanecast_scaled_name(i)), *named = NULL;
        lanecast_scaled_info info = info_of(from), its;
        CHECK(lanecast_scaled_create(&named, lanecast_scaled_name(i), LANECAST_FLOAT32, shape, 2, NULL, NULL) == LANECAST_OK);
        its = info_of(named);
        CHECK(memcmp(&info, &its, sizeof info) == 0);
        if (info.zeros_len == 0) {
            CHECK(lanecast_scaled_quantize_dynamic(from, src, sizeof src, data, info.data_len, scales, info.scales_len, NULL,
                                                   NULL, NULL) == LANECAST_OK);
            CHECK(lanecast_scaled_quantize_dynamic(named, src, sizeof src, again, info.data_len, other, info.scales_len, NULL,
                                                   NULL, NULL) == LANECAST_OK);
            CHECK(memcmp(data, again, info.data_len) == 0 && memcmp(scales, other, info.scales_len) == 0);
        }
        CHECK(lanecast_scaled_destroy(from) == LANECAST_OK && lanecast_scaled_destroy(named) == LANECAST_OK);
    }
    memset(&scheme, 0xA5, sizeof scheme);
    CHECK(lanecast_scaled_scheme_named("mx8", &scheme, &error) == LANECAST_ERR_BAD_NAME && scheme.element == 0xA5A5A5A5u);
    CHECK(lanecast_scaled_scheme_named(NULL, &scheme, &error) == LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_scaled_scheme_named("mx", NULL, &error) == LANECAST_ERR_NULL_POINTER);
}

/* What a caller changes has its effect. */
static void changed_schemes(void)
{
    lanecast_scaled_scheme scheme = scheme_of("fp8-group128");
    lanecast_scaled_options options;
    lanecast_scaled_plan *plan;
    lanecast_scaled_report losses;
    lanecast_error error;
    float scale;
    /* Groups of another length. */
    scheme.block[0] = 16;
    plan = plan_from(&scheme, NULL);
    CHECK(info_of(plan).scales == 3 * ROWS && info_of(plan).zeros_len == 0);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
    /* Tiles; a length beyond that of the axis is all of it. */
    scheme.granularity = LANECAST_GRANULARITY_TILE;
    scheme.block[0] = 2;
    scheme.block[1] = UINT64_MAX;
    scheme.scale = LANECAST_BFLOAT16;
    plan = plan_from(&scheme, NULL);
    CHECK(info_of(plan).scales == 2 && info_of(plan).scale_type == LANECAST_BFLOAT16);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
    /* Blocks of zeros. */
    memset(src, 0, sizeof src);
    scheme = scheme_of("fp8-row");
    scheme.empty = LANECAST_EMPTY_AT_LEAST;
    scheme.empty_scale = 0.25f;
    scheme.least = 0.125f;
    src[0] = 1.0f;
    plan = plan_from(&scheme, NULL);
    CHECK(lanecast_scaled_quantize_dynamic(plan, src, sizeof src, data, N, scales, 4 * ROWS, &losses, NULL, &error) ==
          LANECAST_OK);
    memcpy(&scale, scales, sizeof scale);
    CHECK(losses.empty == 2 && scale == 0.125f);
    memcpy(&scale, scales + 4, sizeof scale);
    CHECK(scale == 0.25f);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
    /* The options have the last word: 6 is the largest code of float4. */
    memset(&options, 0, sizeof options);
    options.element = LANECAST_FLOAT4_E2M1FN;
    options.non_finite = LANECAST_NON_FINITE_REFUSE;
    plan = plan_from(&scheme, &options);
    src[0] = 12.0f;
    CHECK(info_of(plan).data_len == N / 2);
    CHECK(lanecast_scaled_quantize_dynamic(plan, src, sizeof src, data, N / 2, scales, 4 * ROWS, NULL, NULL, &error) ==
          LANECAST_OK);
    memcpy(&scale, scales, sizeof scale);
    CHECK(scale == 2.0f);
    src[N - 1] = 1e38f * 10.0f;
    CHECK(lanecast_scaled_quantize_dynamic(plan, src, sizeof src, data, N / 2, scales, 4 * ROWS, NULL, NULL, &error) ==
          LANECAST_ERR_REJECTED);
    CHECK(error.index == 2);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
    /* Scales that the caller gives, and no others. */
    scheme.rule = LANECAST_SCALE_RULE_GIVEN;
    plan = plan_from(&scheme, NULL);
    CHECK(lanecast_scaled_quantize_dynamic(plan, src, sizeof src, data, N, scales, 4 * ROWS, NULL, NULL, &error) ==
          LANECAST_ERR_BAD_OPTION);
    CHECK(lanecast_scaled_quantize(plan, src, sizeof src, scales, 4 * ROWS, 1.0f, data, N, NULL, NULL, &error) == LANECAST_OK);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
}

#define WRONG(field, value, status)                                                                                   \
    do {                                                                                                              \
        lanecast_scaled_scheme wrong = scheme_of("nvfp4");                                                            \
        wrong.field = value;                                                                                          \
        CHECK(refused(&wrong) == status);                                                                             \
    } while (0)

static void wrong_schemes(void)
{
    lanecast_scaled_scheme scheme;
    lanecast_scaled_plan *plan = NULL;
    memset(&scheme, 0, sizeof scheme);
    CHECK(refused(&scheme) == LANECAST_ERR_BAD_TYPE);
    CHECK(refused(NULL) == LANECAST_ERR_NULL_POINTER);
    scheme = scheme_of("mx");
    CHECK(lanecast_scaled_create_from(NULL, &scheme, LANECAST_FLOAT32, shape, 2, NULL, NULL) == LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_scaled_create_from(&plan, &scheme, LANECAST_FLOAT32, NULL, 2, NULL, NULL) == LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_scaled_create_from(&plan, &scheme, LANECAST_INT8, shape, 2, NULL, NULL) == LANECAST_ERR_BAD_TYPE);
    CHECK(lanecast_scaled_create_from(&plan, &scheme, LANECAST_FLOAT32, shape, -1, NULL, NULL) == LANECAST_ERR_BAD_LAYOUT);
    CHECK(plan == NULL);
    WRONG(element, LANECAST_FLOAT64, LANECAST_ERR_BAD_TYPE);
    WRONG(element, LANECAST_INT4 | LANECAST_TYPE_PACKED, LANECAST_ERR_BAD_TYPE);
    WRONG(element, 77, LANECAST_ERR_BAD_TYPE);
    WRONG(scale, LANECAST_INT8, LANECAST_ERR_BAD_TYPE);
    WRONG(scale, LANECAST_FLOAT32, LANECAST_ERR_BAD_TYPE);
    WRONG(scale, LANECAST_FLOAT8_E4M3FN | LANECAST_TYPE_BIG, LANECAST_ERR_BAD_TYPE);
    WRONG(global, LANECAST_GLOBAL_NONE, LANECAST_ERR_BAD_TYPE);
    WRONG(global, LANECAST_GLOBAL_DIVISOR, LANECAST_ERR_BAD_OPTION); /* Its exact quotient needs a multiplier. */
    WRONG(global, 3, LANECAST_ERR_BAD_OPTION);
    WRONG(granularity, 4, LANECAST_ERR_BAD_OPTION);
    WRONG(rule, LANECAST_SCALE_RULE_POW2_ROUND_UP, LANECAST_ERR_BAD_OPTION); /* Powers of two in scales of float8_e4m3fn. */
    WRONG(rule, LANECAST_SCALE_RULE_MIN_MAX, LANECAST_ERR_BAD_OPTION); /* Zero points of floats. */
    WRONG(rule, 11, LANECAST_ERR_BAD_OPTION);
    WRONG(quotient, LANECAST_QUOTIENT_TIMES_MULTIPLIER, LANECAST_ERR_BAD_OPTION);
    WRONG(quotient, 7, LANECAST_ERR_BAD_OPTION);
    WRONG(empty, 1, LANECAST_ERR_BAD_OPTION); /* Its number is 0. */
    WRONG(empty, 4, LANECAST_ERR_BAD_OPTION);
    WRONG(non_finite, 4, LANECAST_ERR_BAD_OPTION);
    WRONG(reserved[0], 1, LANECAST_ERR_BAD_OPTION);
    WRONG(reserved[25], 1, LANECAST_ERR_BAD_OPTION);
    WRONG(axis, 2, LANECAST_ERR_BAD_LAYOUT);
    WRONG(axis, INT64_MIN, LANECAST_ERR_BAD_LAYOUT);
    WRONG(block[0], 0, LANECAST_ERR_BAD_LAYOUT);
    WRONG(over, 0.0f, LANECAST_ERR_BAD_OPTION);
    WRONG(over, -1.0f, LANECAST_ERR_BAD_OPTION);
}

/* Integers with zero points. */
static void zero_points(void)
{
    static const int64_t small[2] = {1, 3};
    static const float three[3] = {-1.0f, 0.0f, 4.1f};
    static const uint8_t codes[3] = {0, 50, 255};
    lanecast_threads wrong = {2, NULL, &wrong};
    lanecast_scaled_scheme scheme = scheme_of("int8-row");
    lanecast_scaled_options options;
    lanecast_scaled_plan *plan = NULL, *plain = plan_of("int8-row");
    lanecast_scaled_info info;
    lanecast_scaled_report losses;
    lanecast_error error;
    float scale, values[3];
    size_t i;
    scheme.rule = LANECAST_SCALE_RULE_MIN_MAX;
    scheme.element = LANECAST_UINT8;
    CHECK(lanecast_scaled_create_from(&plan, &scheme, LANECAST_FLOAT32, small, 2, NULL, &error) == LANECAST_OK);
    info = info_of(plan);
    CHECK(info.data_len == 3 && info.scales_len == 4 && info.zeros_len == 1 && info.data_type == LANECAST_UINT8);
    CHECK(lanecast_scaled_quantize_min_max(plan, three, sizeof three, data, 3, &scale, 4, zeros, 1, &losses, NULL, &error) ==
          LANECAST_OK);
    CHECK(memcmp(data, codes, 3) == 0 && zeros[0] == 50 && scale == 0.02f && losses.elements == 3 && losses.global == 1.0f);
    CHECK(lanecast_scaled_dequantize_min_max(plan, data, 3, &scale, 4, zeros, 1, LANECAST_FLOAT32, values, sizeof values,
                                             lanecast_pool(), &error) == LANECAST_OK);
    CHECK(values[0] == -50.0f * 0.02f && values[1] == 0.0f && values[2] == 205.0f * 0.02f);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);

    /* Codes and zero points of 4 bits, in groups; what a reader gets is within half a step. */
    scheme = scheme_of("int4-group128");
    scheme.rule = LANECAST_SCALE_RULE_MIN_MAX;
    scheme.block[0] = 8;
    plan = plan_from(&scheme, NULL);
    info = info_of(plan);
    CHECK(info.data_len == N / 2 && info.scales == N / 8 && info.zeros_len == (N / 8 + 1) / 2);
    fill_source();
    CHECK(lanecast_scaled_quantize_min_max(plan, src, sizeof src, data, info.data_len, scales, info.scales_len, zeros,
                                           info.zeros_len, NULL, NULL, &error) == LANECAST_OK);
    CHECK(lanecast_scaled_dequantize_min_max(plan, data, info.data_len, scales, info.scales_len, zeros, info.zeros_len,
                                             LANECAST_FLOAT32, back, sizeof back, NULL, &error) == LANECAST_OK);
    for (i = 0; i < N; i++) {
        memcpy(&scale, scales + 4 * (i / 8), sizeof scale);
        /* The zero point is rounded, too: at the ends of the range, both are off. */
        CHECK(back[i] - src[i] <= scale * 1.001f && src[i] - back[i] <= scale * 1.001f);
    }

    memset(again, 0xA5, sizeof again);
    memset(other, 0xA5, sizeof other);
    memset(back, 0xA5, sizeof back);
#define MIN_MAX(plan, src, src_len, data, scales_len, zeros, zeros_len, threads, status)                              \
    CHECK(lanecast_scaled_quantize_min_max(plan, src, src_len, data, info.data_len, other, scales_len, zeros, zeros_len, NULL, \
                                           threads, &error) == status)
    MIN_MAX(NULL, src, sizeof src, again, info.scales_len, zeros, info.zeros_len, NULL, LANECAST_ERR_NULL_POINTER);
    MIN_MAX(plan, NULL, sizeof src, again, info.scales_len, zeros, info.zeros_len, NULL, LANECAST_ERR_NULL_POINTER);
    MIN_MAX(plan, src, sizeof src, again, info.scales_len, NULL, info.zeros_len, NULL, LANECAST_ERR_NULL_POINTER);
    MIN_MAX(plan, src, sizeof src - 4, again, info.scales_len, zeros, info.zeros_len, NULL, LANECAST_ERR_BAD_LENGTH);
    MIN_MAX(plan, src, sizeof src, again, info.scales_len - 1, zeros, info.zeros_len, NULL, LANECAST_ERR_BAD_LENGTH);
    MIN_MAX(plan, src, sizeof src, again, info.scales_len, zeros, info.zeros_len + 1, NULL, LANECAST_ERR_BAD_LENGTH);
    CHECK(strstr(error.message, "zero points") != NULL);
    MIN_MAX(plan, src, sizeof src, again, info.scales_len, again + 3, info.zeros_len, NULL, LANECAST_ERR_OVERLAP);
    MIN_MAX(plan, src, sizeof src, src, info.scales_len, zeros, info.zeros_len, NULL, LANECAST_ERR_OVERLAP);
    MIN_MAX(plan, src, sizeof src, again, info.scales_len, zeros, info.zeros_len, &wrong, LANECAST_ERR_BAD_OPTION);
    MIN_MAX(plain, src, sizeof src, again, info.scales_len, zeros, info.zeros_len, NULL, LANECAST_ERR_BAD_OPTION);
    CHECK(lanecast_scaled_quantize_dynamic(plan, src, sizeof src, again, info.data_len, other, info.scales_len, NULL, NULL,
                                           &error) == LANECAST_ERR_BAD_OPTION);
    CHECK(lanecast_scaled_requantize(plan, data, info.data_len, scales, info.scales_len, 1.0f, plain, again, N, other, 4 * ROWS,
                                     NULL, &error) == LANECAST_ERR_BAD_OPTION);
#define VALUES(plan, zeros, zeros_len, to, dst, dst_len, threads, status)                                             \
    CHECK(lanecast_scaled_dequantize_min_max(plan, data, info.data_len, scales, info.scales_len, zeros, zeros_len, to, dst, \
                                             dst_len, threads, &error) == status)
    VALUES(NULL, zeros, info.zeros_len, LANECAST_FLOAT32, back, sizeof back, NULL, LANECAST_ERR_NULL_POINTER);
    VALUES(plan, NULL, info.zeros_len, LANECAST_FLOAT32, back, sizeof back, NULL, LANECAST_ERR_NULL_POINTER);
    VALUES(plan, zeros, info.zeros_len, LANECAST_FLOAT32, NULL, sizeof back, NULL, LANECAST_ERR_NULL_POINTER);
    VALUES(plan, zeros, info.zeros_len, LANECAST_INT8, back, N, NULL, LANECAST_ERR_BAD_TYPE);
    VALUES(plan, zeros, info.zeros_len, 77, back, N, NULL, LANECAST_ERR_BAD_TYPE);
    VALUES(plan, zeros, info.zeros_len, LANECAST_FLOAT64, back, sizeof back, NULL, LANECAST_ERR_BAD_LENGTH);
    VALUES(plan, zeros, info.zeros_len - 1, LANECAST_FLOAT32, back, sizeof back, NULL, LANECAST_ERR_BAD_LENGTH);
    VALUES(plan, back, info.zeros_len, LANECAST_FLOAT32, back, sizeof back, NULL, LANECAST_ERR_OVERLAP);
    VALUES(plan, zeros, info.zeros_len, LANECAST_FLOAT32, back, sizeof back, &wrong, LANECAST_ERR_BAD_OPTION);
    VALUES(plain, zeros, info.zeros_len, LANECAST_FLOAT32, back, sizeof back, NULL, LANECAST_ERR_BAD_OPTION);
    CHECK(again[0] == 0xA5 && other[0] == 0xA5 && *(uint8_t *)back == 0xA5);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK && lanecast_scaled_destroy(plain) == LANECAST_OK);

    memset(&options, 0, sizeof options);
    options.non_finite = LANECAST_NON_FINITE_REFUSE;
    plan = plan_from(&scheme, &options);
    src[17] = 1e38f * 10.0f;
    MIN_MAX(plan, src, sizeof src, again, info.scales_len, zeros, info.zeros_len, NULL, LANECAST_ERR_REJECTED);
    CHECK(error.index == 2);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
}

int main(void)
{
    named_schemes();
    changed_schemes();
    wrong_schemes();
    zero_points();
    return report();
}
