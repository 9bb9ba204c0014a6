/* Every function of lanecast.h, and what is written when a call fails. C99, and C++ as well. */
#include <lanecast.h>

#include "arrays.h"
#include "check.h"
#include "host.h"

static lanecast_plan plan_of(lanecast_type from, lanecast_type to, const lanecast_options *options)
{
    lanecast_plan plan;
    lanecast_error error;
    memset(&plan, 0, sizeof plan);
    if (lanecast_plan_init(&plan, from, to, options, &error) != LANECAST_OK) {
        printf("plan: %s\n", error.message);
        failures++;
    }
    return plan;
}

static void names(void)
{
    lanecast_type type = 99;
    lanecast_error error;
    size_t bytes = 0;
    uint8_t code = 0, bits = 0;
    uint64_t flags = 9;
    CHECK(lanecast_version() == 0x000100);
    CHECK(strcmp(lanecast_status_name(LANECAST_ERR_OVERLAP), "overlap") == 0);
    CHECK(lanecast_status_name(99) == NULL && lanecast_status_name(-1) == NULL);
    CHECK(strcmp(lanecast_type_name(LANECAST_FLOAT8_E4M3FN), "float8_e4m3fn") == 0);
    CHECK(strcmp(lanecast_type_name(LANECAST_INT4 | LANECAST_TYPE_PACKED), "int4") == 0);
    CHECK(lanecast_type_name(200) == NULL);
    CHECK(lanecast_type_parse("bf16", &type, &error) == LANECAST_OK && type == LANECAST_BFLOAT16);
    CHECK(lanecast_type_parse("float7", &type, &error) == LANECAST_ERR_BAD_NAME && error.status == LANECAST_ERR_BAD_NAME);
    CHECK(strstr(error.message, "float7") != NULL && type == LANECAST_BFLOAT16);
    CHECK(lanecast_type_parse(NULL, &type, NULL) == LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_type_parse("bf16", NULL, NULL) == LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_type_bytes(LANECAST_INT4 | LANECAST_TYPE_PACKED, 5, &bytes) == LANECAST_OK && bytes == 3);
    CHECK(lanecast_type_bytes(LANECAST_FLOAT64, (size_t)-1, &bytes) == LANECAST_ERR_TOO_LARGE && bytes == 3);
    CHECK(lanecast_type_bytes(0x600 | LANECAST_FLOAT32, 1, &bytes) == LANECAST_ERR_BAD_TYPE);
    CHECK(lanecast_type_from_dlpack(4, 16, 1, 0, &type) == LANECAST_OK && type == LANECAST_BFLOAT16);
    CHECK(lanecast_type_from_dlpack(4, 16, 4, 0, &type) == LANECAST_ERR_BAD_TYPE);
    CHECK(lanecast_type_from_dlpack(17, 4, 2, 0, &type) == LANECAST_OK);
    CHECK(type == (LANECAST_FLOAT4_E2M1FN | LANECAST_TYPE_PACKED));
    CHECK(lanecast_type_from_dlpack(17, 4, 2, 4, &type) == LANECAST_ERR_BAD_TYPE);
    CHECK(lanecast_type_from_dlpack(0, 4, 1, 4, &type) == LANECAST_OK && type == LANECAST_INT4);
    CHECK(lanecast_type_to_dlpack(LANECAST_FLOAT32, &code, &bits, &flags) == LANECAST_OK);
    CHECK(code == 2 && bits == 32 && flags == 0);
    CHECK(lanecast_type_to_dlpack(LANECAST_FLOAT32, &code, NULL, &flags) == LANECAST_ERR_NULL_POINTER);
}

static void plans(void)
{
    lanecast_plan plan, garbage;
    lanecast_options options;
    lanecast_error error;
    char text[40];
    size_t length = 0;
    float src[2] = {1.5f, 2.5f};
    int8_t dst[2] = {7, 7};
    memset(&options, 0, sizeof options);
    CHECK(sizeof(lanecast_options) == 32 && sizeof(lanecast_plan) == 128 && sizeof(lanecast_error) == 256);
    CHECK(sizeof(void *) != 8 || sizeof(lanecast_array) == 56);
    CHECK(lanecast_plan_init(&plan, LANECAST_FLOAT32, 77, NULL, &error) == LANECAST_ERR_BAD_TYPE);
    CHECK(lanecast_plan_init(NULL, LANECAST_FLOAT32, LANECAST_INT8, NULL, &error) == LANECAST_ERR_NULL_POINTER);
    options.reserved[3] = 1;
    CHECK(lanecast_plan_init(&plan, LANECAST_FLOAT32, LANECAST_INT8, &options, &error) == LANECAST_ERR_BAD_OPTION);
    options.reserved[3] = 0;
    options.int_round = 6;
    CHECK(lanecast_plan_init(&plan, LANECAST_FLOAT32, LANECAST_INT8, &options, &error) == LANECAST_ERR_BAD_OPTION);
    CHECK(strstr(error.message, "int_round: 6") != NULL);
    options.int_round = LANECAST_INT_ROUND_NEAREST_EVEN;
    plan = plan_of(LANECAST_FLOAT32, LANECAST_INT8, &options);
    CHECK(lanecast_run(&plan, src, dst, 2, NULL, NULL) == LANECAST_OK && dst[0] == 2 && dst[1] == 2);
    memset(&garbage, 0, sizeof garbage);
    CHECK(lanecast_run(&garbage, src, dst, 2, NULL, &error) == LANECAST_ERR_BAD_PLAN);
    CHECK(lanecast_run(NULL, src, dst, 2, NULL, &error) == LANECAST_ERR_NULL_POINTER);
    garbage = plan;
    CHECK(lanecast_run(&garbage, src, dst, 1, NULL, &error) == LANECAST_OK);
    /* No CPU has both of these. */
    options.tier = LANECAST_TIER_AVX2;
    if (lanecast_plan_init(&plan, LANECAST_FLOAT32, LANECAST_INT8, &options, &error) == LANECAST_OK) {
        options.tier = LANECAST_TIER_NEON;
        CHECK(lanecast_plan_init(&plan, LANECAST_FLOAT32, LANECAST_INT8, &options, &error) == LANECAST_ERR_NO_TIER);
    }
    CHECK(error.status == LANECAST_ERR_NO_TIER);
    CHECK(lanecast_options_profile("torch", &options, &error) == LANECAST_OK && options.saturate == LANECAST_SATURATE_FN_ONLY);
    CHECK(lanecast_options_profile("tensorflow", &options, &error) == LANECAST_ERR_BAD_NAME && options.saturate == LANECAST_SATURATE_FN_ONLY);
    CHECK(lanecast_force_tier("scalar", &error) == LANECAST_OK && strcmp(lanecast_active_tier(), "scalar") == 0);
    CHECK(lanecast_force_tier("sse2", &error) == LANECAST_ERR_BAD_NAME);
    CHECK(lanecast_force_tier(NULL, &error) == LANECAST_OK);
    memset(text, 'x', sizeof text);
    CHECK(lanecast_explain(&plan, text, sizeof text, &length, &error) == LANECAST_OK);
    CHECK(length > sizeof text && strlen(text) == sizeof text - 1 && strstr(text, "float32") != NULL);
    CHECK(lanecast_explain(&plan, NULL, 0, &length, &error) == LANECAST_OK);
    CHECK(lanecast_explain(&plan, NULL, 5, NULL, &error) == LANECAST_ERR_NULL_POINTER);
}

/* One call without a plan. */
static void casts(void)
{
    float src[3] = {1.5f, -300.0f, 2.5f}, place[3] = {1.5f, -300.0f, 2.5f};
    int8_t dst[3] = {7, 7, 7};
    lanecast_options options;
    lanecast_error error;
    CHECK(lanecast_cast(src, LANECAST_FLOAT32, dst, LANECAST_INT8, 3, NULL, &error) == LANECAST_OK);
    CHECK(dst[0] == 1 && dst[1] == -128 && dst[2] == 2);
    memset(&options, 0, sizeof options);
    options.float_to_int = LANECAST_INT_OVERFLOW_WRAP;
    options.int_round = LANECAST_INT_ROUND_CEIL;
    options.tier = LANECAST_TIER_SCALAR;
    options.streaming = LANECAST_STREAMING_NEVER;
    CHECK(lanecast_cast(src, LANECAST_FLOAT32, dst, LANECAST_INT8, 3, &options, &error) == LANECAST_OK);
    CHECK(dst[0] == 2 && dst[1] == -44 && dst[2] == 3);
    /* In place. */
    CHECK(lanecast_cast(place, LANECAST_FLOAT32, place, LANECAST_INT8, 3, &options, &error) == LANECAST_OK);
    CHECK(memcmp(place, dst, 3) == 0);
    CHECK(lanecast_cast(src, 77, dst, LANECAST_INT8, 3, NULL, &error) == LANECAST_ERR_BAD_TYPE);
    CHECK(lanecast_cast(src, LANECAST_FLOAT32, dst, 77, 3, NULL, &error) == LANECAST_ERR_BAD_TYPE);
    CHECK(lanecast_cast(NULL, LANECAST_FLOAT32, dst, LANECAST_INT8, 3, NULL, &error) == LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_cast(src, LANECAST_FLOAT32, NULL, LANECAST_INT8, 3, NULL, NULL) == LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_cast(NULL, LANECAST_FLOAT32, NULL, LANECAST_INT8, 0, NULL, &error) == LANECAST_OK);
    CHECK(lanecast_cast(src, LANECAST_FLOAT32, (int8_t *)src + 1, LANECAST_INT8, 3, NULL, &error) == LANECAST_ERR_OVERLAP);
    options.streaming = 4;
    CHECK(lanecast_cast(src, LANECAST_FLOAT32, dst, LANECAST_INT8, 3, &options, &error) == LANECAST_ERR_BAD_OPTION);
    CHECK(strstr(error.message, "streaming: 4") != NULL && dst[1] == -44);
}

static void runs(void)
{
    float src[4] = {1.0f, -300.0f, 0.5f, 4.0f};
    uint8_t dst[4] = {9, 9, 9, 9}, mask[2] = {0xA5, 0xA5};
    float place[4];
    lanecast_plan plan = plan_of(LANECAST_FLOAT32, LANECAST_UINT8, NULL);
    lanecast_plan same = plan_of(LANECAST_FLOAT32, LANECAST_INT32, NULL);
    lanecast_report losses;
    lanecast_error error;
    size_t rejected = 9;
    lanecast_array from = flat(src, LANECAST_FLOAT32, 4), to = flat(dst, LANECAST_UINT8, 4), last = flat(src + 2, LANECAST_FLOAT32, 2);
    lanecast_array two = flat(dst, LANECAST_UINT8, 2), in_place = flat(place, LANECAST_FLOAT32, 4), again = flat(place, LANECAST_UINT8, 4);
    int32_t first;
    CHECK(lanecast_run(&plan, src, dst, 4, NULL, &error) == LANECAST_OK);
    CHECK(dst[0] == 1 && dst[1] == 0 && dst[2] == 0 && dst[3] == 4);
    CHECK(lanecast_run(&plan, src, dst, 4, lanecast_pool(), &error) == LANECAST_OK);
    CHECK(lanecast_run(&plan, NULL, dst, 4, NULL, &error) == LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_run(&plan, src, NULL, 4, NULL, &error) == LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_run(&plan, NULL, NULL, 0, NULL, &error) == LANECAST_OK);
    CHECK(lanecast_run(&plan, src, (uint8_t *)src + 1, 4, NULL, &error) == LANECAST_ERR_OVERLAP);
    CHECK(lanecast_run(&plan, src, dst, (size_t)-1, NULL, &error) == LANECAST_ERR_TOO_LARGE);
    CHECK(lanecast_run_checked(&plan, &from, &to, LANECAST_LEVEL_RANGE, NULL, &error) == LANECAST_ERR_REJECTED);
    CHECK(error.index == 1 && error.reason == LANECAST_REASON_NEGATIVE && error.code[0] == 0xC3960000u && error.code[1] == 0);
    CHECK(lanecast_run_checked(&plan, &last, &two, LANECAST_LEVEL_RANGE, NULL, &error) == LANECAST_OK);
    CHECK(lanecast_run_checked(&plan, &last, &two, LANECAST_LEVEL_EXACT, NULL, NULL) == LANECAST_ERR_REJECTED);
    CHECK(lanecast_run_checked(&plan, &last, &two, LANECAST_LEVEL_UNDERFLOW, NULL, &error) == LANECAST_ERR_REJECTED && error.index == 0);
    last.data = src + 3;
    last.n = two.n = 1;
    CHECK(lanecast_run_checked(&plan, &last, &two, LANECAST_LEVEL_UNDERFLOW, NULL, &error) == LANECAST_OK);
    CHECK(lanecast_run_checked(&plan, &from, &to, 4, NULL, &error) == LANECAST_ERR_BAD_OPTION);
    CHECK(lanecast_run_masked(&plan, &from, &to, LANECAST_LEVEL_RANGE, mask, &rejected, NULL, &error) == LANECAST_OK);
    CHECK(mask[0] == 0x0D && mask[1] == 0xA5 && rejected == 1);
    CHECK(lanecast_run_masked(&plan, &from, &to, LANECAST_LEVEL_RANGE, NULL, NULL, NULL, &error) == LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_run_counted(&plan, &from, &to, LANECAST_LEVEL_EXACT, &losses, NULL, &error) == LANECAST_OK);
    CHECK(losses.elements == 4 && losses.saturated == 1 && losses.underflowed_to_zero == 1 && losses.inexact == 0);
    CHECK(lanecast_run_counted(&plan, &from, &to, LANECAST_LEVEL_EXACT, NULL, NULL, &error) == LANECAST_ERR_NULL_POINTER);
    /* Arrays that are not those of the plan. */
    to.n = 3;
    CHECK(lanecast_run_array(&plan, &from, &to, NULL, &error) == LANECAST_ERR_BAD_LAYOUT && strstr(error.message, "4") != NULL);
    to.n = 4;
    to.type = LANECAST_INT8;
    CHECK(lanecast_run_array(&plan, &from, &to, NULL, &error) == LANECAST_ERR_BAD_TYPE && strstr(error.message, "int8") != NULL);
    to.type = LANECAST_UINT8;
    to.reserved[1] = 1;
    CHECK(lanecast_run_array(&plan, &from, &to, NULL, &error) == LANECAST_ERR_BAD_OPTION);
    to.reserved[1] = 0;
    from.n = to.n = (size_t)-1;
    CHECK(lanecast_run_array(&plan, &from, &to, NULL, &error) == LANECAST_ERR_TOO_LARGE);
    from.n = to.n = 0;
    from.data = to.data = NULL;
    CHECK(lanecast_run_array(&plan, &from, &to, NULL, &error) == LANECAST_OK);
    /* In place. */
    memcpy(place, src, sizeof src);
    CHECK(lanecast_run(&plan, place, place, 4, NULL, &error) == LANECAST_OK && memcmp(place, dst, 4) == 0);
    memcpy(place, src, sizeof src);
    CHECK(lanecast_run_array(&plan, &in_place, &again, lanecast_pool(), &error) == LANECAST_OK && memcmp(place, dst, 4) == 0);
    memcpy(place, src, sizeof src);
    CHECK(lanecast_run_counted(&plan, &in_place, &again, LANECAST_LEVEL_RANGE, &losses, NULL, &error) == LANECAST_OK);
    CHECK(losses.saturated == 1 && memcmp(place, dst, 4) == 0);
    memcpy(place, src, sizeof src);
    CHECK(lanecast_run_checked(&plan, &in_place, &again, LANECAST_LEVEL_RANGE, NULL, &error) == LANECAST_ERR_REJECTED);
    CHECK(error.index == 1 && memcmp(place, src, sizeof src) == 0);
    CHECK(lanecast_run_masked(&plan, &in_place, &again, LANECAST_LEVEL_RANGE, mask, NULL, NULL, &error) == LANECAST_OK);
    CHECK(mask[0] == 0x0D && memcmp(place, dst, 4) == 0);
    memcpy(place, src, sizeof src);
    again.type = LANECAST_INT32;
    CHECK(lanecast_run_counted(&same, &in_place, &again, LANECAST_LEVEL_RANGE, &losses, NULL, &error) == LANECAST_OK);
    memcpy(&first, place + 1, sizeof first);
    CHECK(first == -300 && losses.elements == 4);
}

static void threads(void)
{
    size_t n = 3000000, i, rejected = 0;
    int32_t *src = (int32_t *)malloc(n * sizeof *src);
    double *dst = (double *)malloc(n * sizeof *dst);
    int16_t *narrow = (int16_t *)malloc(n * sizeof *narrow);
    uint8_t *mask = (uint8_t *)malloc((n + 7) / 8);
    int one = 1;
    lanecast_threads hosts = {3, host, &one}, two = {2, NULL, NULL}, wrong = {2, NULL, &one};
    lanecast_plan plan = plan_of(LANECAST_INT32, LANECAST_FLOAT64, NULL);
    lanecast_plan lossy = plan_of(LANECAST_INT32, LANECAST_INT16, NULL);
    lanecast_item items[2];
    lanecast_error error;
    lanecast_array from = flat(src, LANECAST_INT32, n), to = flat(narrow, LANECAST_INT16, n);
    for (i = 0; i < n; i++) {
        src[i] = (int32_t)i;
    }
    CHECK(lanecast_run(&plan, src, dst, n, &hosts, &error) == LANECAST_OK && loops == 1);
    CHECK(dst[0] == 0.0 && dst[n - 1] == (double)(n - 1));
    CHECK(lanecast_run(&plan, src, dst, n, &two, &error) == LANECAST_OK);
    CHECK(lanecast_run(&plan, src, dst, n, &wrong, &error) == LANECAST_ERR_BAD_OPTION);
    CHECK(lanecast_run_masked(&lossy, &from, &to, LANECAST_LEVEL_RANGE, mask, &rejected, &hosts, &error) == LANECAST_OK);
    CHECK(rejected == n - 32768 && mask[0] == 0xFF && mask[n / 8 - 1] == 0);
    CHECK(lanecast_run_checked(&lossy, &from, &to, LANECAST_LEVEL_RANGE, &hosts, &error) == LANECAST_ERR_REJECTED);
    CHECK(error.index == 32768);
    items[0].plan = &plan;
    items[0].src = src;
    items[0].dst = dst;
    items[0].n = n;
    items[1].plan = &lossy;
    items[1].src = src;
    items[1].dst = narrow;
    items[1].n = n;
    CHECK(lanecast_run_batch(items, 2, &hosts, &error) == LANECAST_OK);
    items[1].dst = NULL;
    CHECK(lanecast_run_batch(items, 2, NULL, &error) == LANECAST_ERR_NULL_POINTER && error.index == 1);
    items[1].dst = src + 1;
    CHECK(lanecast_run_batch(items, 2, NULL, &error) == LANECAST_ERR_OVERLAP && error.index == 1);
    CHECK(lanecast_run_batch(NULL, 1, NULL, &error) == LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_run_batch(NULL, 0, NULL, &error) == LANECAST_OK);
    free(src);
    free(dst);
    free(narrow);
    free(mask);
}

static void views(void)
{
    int16_t src[6] = {1, 2, 300, 4, 5, -6};
    uint8_t dst[6] = {0, 0, 0, 0, 0, 0}, mask[1] = {0};
    /* 2 x 3 in C order, read as 3 x 2. */
    int64_t shape[3] = {3, 1, 2}, turned[3] = {2, 77, 6}, large[1] = {-1}, again[3] = {0, 0, 1}, other[3] = {1, 3, 1}, bytes[2] = {1, 1};
    lanecast_array from = shaped(src, LANECAST_INT16, 3, shape, turned), to = shaped(dst, LANECAST_UINT8, 3, shape, NULL);
    lanecast_plan plan = plan_of(LANECAST_INT16, LANECAST_UINT8, NULL);
    lanecast_report losses;
    lanecast_error error;
    size_t rejected = 0;
    CHECK(lanecast_run_array(&plan, &from, &to, NULL, &error) == LANECAST_OK);
    CHECK(dst[0] == 1 && dst[1] == 4 && dst[2] == 2 && dst[3] == 5 && dst[4] == 44 && dst[5] == 250);
    CHECK(lanecast_run_checked(&plan, &from, &to, LANECAST_LEVEL_RANGE, lanecast_pool(), &error) == LANECAST_ERR_REJECTED);
    CHECK(error.index == 4 && error.code[0] == 300);
    CHECK(lanecast_run_masked(&plan, &from, &to, LANECAST_LEVEL_RANGE, mask, &rejected, lanecast_pool(), &error) == LANECAST_OK);
    CHECK(mask[0] == 0x0F && rejected == 2);
    CHECK(lanecast_run_counted(&plan, &from, &to, LANECAST_LEVEL_RANGE, &losses, lanecast_pool(), &error) == LANECAST_OK);
    CHECK(losses.elements == 6 && losses.wrapped == 2);
    to.strides = again;
    CHECK(lanecast_run_array(&plan, &from, &to, NULL, &error) == LANECAST_ERR_BAD_LAYOUT);
    to.strides = NULL;
    to.ndim = 2;
    CHECK(lanecast_run_array(&plan, &from, &to, NULL, &error) == LANECAST_ERR_BAD_LAYOUT);
    to.ndim = 3;
    to.data = src;
    CHECK(lanecast_run_array(&plan, &from, &to, NULL, &error) == LANECAST_ERR_OVERLAP);
    mask[0] = 0xA5;
    CHECK(lanecast_run_masked(&plan, &from, &to, LANECAST_LEVEL_RANGE, mask, NULL, NULL, &error) == LANECAST_ERR_OVERLAP);
    CHECK(mask[0] == 0xA5);
    to.data = NULL;
    CHECK(lanecast_run_array(&plan, &from, &to, NULL, &error) == LANECAST_ERR_NULL_POINTER);
    to.data = dst;
    to.shape = NULL;
    CHECK(lanecast_run_array(&plan, &from, &to, NULL, &error) == LANECAST_ERR_NULL_POINTER);
    to.shape = shape;
    from.shape = large;
    from.ndim = to.ndim = 1;
    CHECK(lanecast_run_array(&plan, &from, &to, NULL, &error) == LANECAST_ERR_BAD_LAYOUT);
    CHECK(lanecast_run_array(&plan, &from, NULL, NULL, &error) == LANECAST_ERR_NULL_POINTER);
    /* A shape on one side only: elements without one have one axis. */
    large[0] = 3;
    from = shaped(src, LANECAST_INT16, 1, large, turned);
    turned[0] = -2;
    from.data = src + 2;
    to = flat(dst, LANECAST_UINT8, 3);
    CHECK(lanecast_run_array(&plan, &from, &to, NULL, &error) == LANECAST_OK && dst[0] == 44 && dst[1] == 2 && dst[2] == 1);
    to.n = 4;
    CHECK(lanecast_run_array(&plan, &from, &to, NULL, &error) == LANECAST_ERR_BAD_LAYOUT);
    /* Shapes that differ. */
    from = shaped(src, LANECAST_INT16, 3, shape, NULL);
    to = shaped(dst, LANECAST_UINT8, 3, other, NULL);
    CHECK(lanecast_run_array(&plan, &from, &to, NULL, &error) == LANECAST_ERR_BAD_LAYOUT && strstr(error.message, "axis 0") != NULL);
    /* Packed elements in rows of one, beside elements that are not packed. */
    plan = plan_of(LANECAST_INT4 | LANECAST_TYPE_PACKED, LANECAST_UINT8, NULL);
    from = shaped(src, LANECAST_INT4 | LANECAST_TYPE_PACKED, 2, other + 1, bytes);
    to = shaped(dst, LANECAST_UINT8, 2, other + 1, NULL);
    memset(src, 0x21, sizeof src);
    CHECK(lanecast_run_array(&plan, &from, &to, NULL, &error) == LANECAST_OK && dst[0] == 1 && dst[1] == 1 && dst[2] == 1);
}

static void promotion(void)
{
    lanecast_type type = 99;
    int32_t allowed = 9;
    lanecast_error error;
    CHECK(lanecast_promote(LANECAST_STANDARD_NUMPY, LANECAST_INT8, LANECAST_UINT8, &type, &error) == LANECAST_OK);
    CHECK(type == LANECAST_INT16);
    CHECK(lanecast_promote(LANECAST_STANDARD_ONNX, LANECAST_INT8, LANECAST_UINT8, &type, &error) == LANECAST_ERR_NO_PROMOTION);
    CHECK(lanecast_promote(50, LANECAST_INT8, LANECAST_UINT8, &type, &error) == LANECAST_ERR_BAD_OPTION);
    CHECK(lanecast_promote(LANECAST_STANDARD_NUMPY, LANECAST_INT4 | LANECAST_TYPE_PACKED, LANECAST_UINT8, &type, &error) ==
          LANECAST_ERR_BAD_TYPE);
    CHECK(lanecast_can_cast(LANECAST_STANDARD_NUMPY, LANECAST_INT8, LANECAST_INT16, LANECAST_CASTING_SAFE, &allowed, &error) ==
          LANECAST_OK);
    CHECK(allowed == 1);
    CHECK(lanecast_can_cast(LANECAST_STANDARD_NUMPY, LANECAST_INT16, LANECAST_INT8, LANECAST_CASTING_SAFE, &allowed, &error) ==
          LANECAST_OK);
    CHECK(allowed == 0);
    CHECK(lanecast_can_cast(LANECAST_STANDARD_NUMPY, LANECAST_INT16, LANECAST_INT8, 4, &allowed, &error) ==
          LANECAST_ERR_BAD_OPTION);
}

int main(void)
{
    names();
    casts();
    plans();
    runs();
    threads();
    views();
    promotion();
    return report();
}
