/* Every function of scaled casts, and what is written when a call fails. C99, and C++ as well. */
#include <lanecast.h>

#include "check.h"
#include "host.h"

enum { ROWS = 3, COLUMNS = 40, N = ROWS * COLUMNS };

static const int64_t shape[2] = {ROWS, COLUMNS};
static float src[N], back[N];
static uint8_t data[N], again[N], scales[4 * N];

static lanecast_scaled_plan *plan_of(const char *scheme, const lanecast_scaled_options *options)
{
    lanecast_scaled_plan *plan = NULL;
    lanecast_error error;
    if (lanecast_scaled_create(&plan, scheme, LANECAST_FLOAT32, shape, 2, options, &error) != LANECAST_OK) {
        printf("%s: %s\n", scheme, error.message);
        exit(1);
    }
    return plan;
}

static void names(void)
{
    size_t i, k, count = 0;
    CHECK(strcmp(lanecast_scaled_name(0), "mx-ocp") == 0);
    for (i = 0; lanecast_scaled_name(i) != NULL; i++) {
        for (k = 0; k < i; k++) {
            CHECK(strcmp(lanecast_scaled_name(i), lanecast_scaled_name(k)) != 0);
        }
        CHECK(lanecast_scaled_destroy(plan_of(lanecast_scaled_name(i), NULL)) == LANECAST_OK);
        count++;
    }
    CHECK(count >= 21 && lanecast_scaled_name((size_t)-1) == NULL);
}

/* A plan is not made of wrong arguments. */
static void plans(void)
{
    static const int64_t negative[2] = {3, -1}, large[2] = {(int64_t)1 << 40, (int64_t)1 << 40}, none[2] = {0, 40};
    lanecast_scaled_plan *plan = NULL;
    lanecast_scaled_options options;
    lanecast_scaled_info info;
    lanecast_error error;
    uint64_t garbage[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    memset(&options, 0, sizeof options);
    CHECK(sizeof(lanecast_scaled_options) == 64 && sizeof(lanecast_scaled_report) == 96);
    CHECK(lanecast_scaled_create(&plan, "mx8", LANECAST_FLOAT32, shape, 2, NULL, &error) == LANECAST_ERR_BAD_NAME);
    CHECK(strstr(error.message, "mx8") != NULL && plan == NULL);
    CHECK(lanecast_scaled_create(&plan, NULL, LANECAST_FLOAT32, shape, 2, NULL, &error) == LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_scaled_create(NULL, "mx", LANECAST_FLOAT32, shape, 2, NULL, &error) == LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_scaled_create(&plan, "mx", LANECAST_FLOAT32, NULL, 2, NULL, &error) == LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_scaled_create(&plan, "mx", LANECAST_FLOAT64, shape, 2, NULL, &error) == LANECAST_ERR_BAD_TYPE);
    CHECK(strstr(error.message, "float64") != NULL);
    CHECK(lanecast_scaled_create(&plan, "mx", 77, shape, 2, NULL, &error) == LANECAST_ERR_BAD_TYPE);
    CHECK(lanecast_scaled_create(&plan, "mx", LANECAST_FLOAT32, shape, -1, NULL, &error) == LANECAST_ERR_BAD_LAYOUT);
    CHECK(lanecast_scaled_create(&plan, "mx", LANECAST_FLOAT32, negative, 2, NULL, &error) == LANECAST_ERR_BAD_LAYOUT);
    CHECK(lanecast_scaled_create(&plan, "mx", LANECAST_FLOAT32, NULL, 0, NULL, &error) == LANECAST_ERR_BAD_LAYOUT);
    CHECK(lanecast_scaled_create(&plan, "mx", LANECAST_FLOAT32, large, 2, NULL, &error) == LANECAST_ERR_TOO_LARGE);
    options.element = LANECAST_FLOAT32;
    CHECK(lanecast_scaled_create(&plan, "mx", LANECAST_FLOAT32, shape, 2, &options, &error) == LANECAST_ERR_BAD_TYPE);
    options.element = LANECAST_INT4 | LANECAST_TYPE_PACKED;
    CHECK(lanecast_scaled_create(&plan, "mx", LANECAST_FLOAT32, shape, 2, &options, &error) == LANECAST_ERR_BAD_TYPE);
    options.element = 0;
    options.storage = 3;
    CHECK(lanecast_scaled_create(&plan, "mx", LANECAST_FLOAT32, shape, 2, &options, &error) == LANECAST_ERR_BAD_OPTION);
    CHECK(strstr(error.message, "storage: 3") != NULL);
    options.storage = 0;
    options.non_finite = 4;
    CHECK(lanecast_scaled_create(&plan, "mx", LANECAST_FLOAT32, shape, 2, &options, &error) == LANECAST_ERR_BAD_OPTION);
    options.non_finite = 0;
    options.counts = 2;
    CHECK(lanecast_scaled_create(&plan, "mx", LANECAST_FLOAT32, shape, 2, &options, &error) == LANECAST_ERR_BAD_OPTION);
    options.counts = 0;
    options.squared_error = 2;
    CHECK(lanecast_scaled_create(&plan, "mx", LANECAST_FLOAT32, shape, 2, &options, &error) == LANECAST_ERR_BAD_OPTION);
    options.squared_error = 0;
    options.random_bits = 24;
    CHECK(lanecast_scaled_create(&plan, "mx", LANECAST_FLOAT32, shape, 2, &options, &error) == LANECAST_ERR_BAD_OPTION);
    CHECK(strstr(error.message, "not: 24") != NULL);
    options.random_bits = 0;
    options.reserved[sizeof options.reserved - 1] = 1;
    CHECK(lanecast_scaled_create(&plan, "mx", LANECAST_FLOAT32, shape, 2, &options, &error) == LANECAST_ERR_BAD_OPTION);
    CHECK(plan == NULL);

    CHECK(lanecast_scaled_describe(NULL, &info, &error) == LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_scaled_describe((lanecast_scaled_plan *)garbage, &info, &error) == LANECAST_ERR_BAD_PLAN);
    CHECK(lanecast_scaled_destroy((lanecast_scaled_plan *)garbage) == LANECAST_ERR_BAD_PLAN);
    CHECK(lanecast_scaled_destroy(NULL) == LANECAST_OK);

    /* No elements need no memory. */
    CHECK(lanecast_scaled_create(&plan, "nvfp4", LANECAST_FLOAT32, none, 2, NULL, &error) == LANECAST_OK);
    CHECK(lanecast_scaled_describe(plan, &info, &error) == LANECAST_OK);
    CHECK(info.elements == 0 && info.source_len == 0 && info.data_len == 0 && info.scales_len == 0 && info.global == LANECAST_GLOBAL_MULTIPLIER);
    CHECK(lanecast_scaled_quantize_dynamic(plan, NULL, 0, NULL, 0, NULL, 0, NULL, NULL, &error) == LANECAST_OK);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
}

/* A plan of a plain cast is none of a scaled one, nor the other way round. */
static void kinds_of_plans(void)
{
    lanecast_plan plain;
    lanecast_scaled_plan *plan = plan_of("mx", NULL);
    lanecast_error error;
    CHECK(lanecast_plan_init(&plain, LANECAST_FLOAT32, LANECAST_FLOAT16, NULL, NULL) == LANECAST_OK);
    CHECK(lanecast_scaled_amax((const lanecast_scaled_plan *)&plain, src, sizeof src, back, NULL, &error) == LANECAST_ERR_BAD_PLAN);
    CHECK(lanecast_run((const lanecast_plan *)plan, src, back, 1, NULL, &error) == LANECAST_ERR_BAD_PLAN);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
}

static void sizes(void)
{
    lanecast_scaled_options options;
    lanecast_scaled_plan *plan;
    lanecast_scaled_info info;
    memset(&options, 0, sizeof options);
    options.element = LANECAST_FLOAT4_E2M1FN;
    plan = plan_of("mx", &options);
    CHECK(lanecast_scaled_describe(plan, NULL, NULL) == LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_scaled_describe(plan, &info, NULL) == LANECAST_OK);
    CHECK(info.elements == N && info.source_len == 4 * N && info.data_len == N / 2);
    CHECK(info.scales == 2 * ROWS && info.scales_len == 2 * ROWS && info.global == LANECAST_GLOBAL_NONE);
    CHECK(info.data_type == (LANECAST_FLOAT4_E2M1FN | LANECAST_TYPE_PACKED) && info.scale_type == LANECAST_FLOAT8_E8M0FNU);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
    options.storage = LANECAST_STORAGE_BYTE;
    plan = plan_of("mx", &options);
    CHECK(lanecast_scaled_describe(plan, &info, NULL) == LANECAST_OK);
    CHECK(info.data_len == N && info.data_type == LANECAST_FLOAT4_E2M1FN);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
    plan = plan_of("compressed-tensors-nvfp4", NULL);
    CHECK(lanecast_scaled_describe(plan, &info, NULL) == LANECAST_OK && info.global == LANECAST_GLOBAL_DIVISOR);
    CHECK(info.scale_type == LANECAST_FLOAT8_E4M3FN && info.scales == 3 * ROWS);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
}

/* There and back, by each of the ways to the same codes. */
static void casts(void)
{
    lanecast_scaled_plan *plan = plan_of("nvfp4", NULL);
    lanecast_scaled_report report, given;
    lanecast_error error;
    size_t i, data_len = N / 2, scales_len = 3 * ROWS;
    float amax = 0.0f;
    for (i = 0; i < N; i++) {
        src[i] = (float)i - 60.0f;
    }
    memset(data, 0xA5, sizeof data);
    CHECK(lanecast_scaled_amax(plan, src, sizeof src, &amax, NULL, &error) == LANECAST_OK && amax == 60.0f);
    CHECK(lanecast_scaled_quantize_dynamic(plan, src, sizeof src, data, data_len, scales, scales_len, &report, NULL, &error) ==
          LANECAST_OK);
    CHECK(report.elements == N && report.empty == 0 && report.poisoned == 0);
    /* The nearest float32 to 60 / (448 * 6). */
    CHECK(report.global == 60.0f / 2688.0f && data[data_len] == 0xA5);
    CHECK(lanecast_scaled_quantize(plan, src, sizeof src, scales, scales_len, report.global, again, data_len, &given, NULL,
                                   &error) == LANECAST_OK);
    CHECK(memcmp(data, again, data_len) == 0 && given.elements == N && given.global == report.global);
    memset(again, 0, sizeof again);
    CHECK(lanecast_scaled_quantize_with_amax(plan, src, sizeof src, amax, again, data_len, scales, scales_len, NULL,
                                             &error) == LANECAST_OK);
    CHECK(memcmp(data, again, data_len) == 0);
    CHECK(lanecast_scaled_dequantize(plan, data, data_len, scales, scales_len, report.global, LANECAST_FLOAT32, back,
                                     sizeof back, NULL, &error) == LANECAST_OK);
    for (i = 0; i < N; i++) {
        /* Half of the widest gap between codes, which is 2 of 6, and a little for the rounded scale. */
        CHECK(back[i] - src[i] <= 60.0f / 6.0f * 1.1f && src[i] - back[i] <= 60.0f / 6.0f * 1.1f);
    }
    CHECK(back[0] < -50.0f && back[N - 1] > 50.0f && back[60] == 0.0f);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
}

static void wrong_calls(void)
{
    lanecast_threads wrong = {2, NULL, &wrong};
    lanecast_scaled_plan *plan = plan_of("nvfp4", NULL);
    lanecast_scaled_report report;
    lanecast_error error;
    size_t data_len = N / 2, scales_len = 3 * ROWS;
    float amax = -1.0f;
    memset(data, 0xA5, sizeof data);
    memset(scales, 0xA5, sizeof scales);
    memset(&report, 0xA5, sizeof report);
    CHECK(lanecast_scaled_quantize_dynamic(NULL, src, sizeof src, data, data_len, scales, scales_len, &report, NULL, &error) ==
          LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_scaled_quantize_dynamic(plan, NULL, sizeof src, data, data_len, scales, scales_len, &report, NULL, &error) ==
          LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_scaled_quantize_dynamic(plan, src, sizeof src, NULL, data_len, scales, scales_len, &report, NULL, &error) ==
          LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_scaled_quantize_dynamic(plan, src, sizeof src, data, data_len, NULL, scales_len, &report, NULL, &error) ==
          LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_scaled_quantize_dynamic(plan, src, sizeof src - 4, data, data_len, scales, scales_len, &report, NULL,
                                           &error) == LANECAST_ERR_BAD_LENGTH);
    CHECK(lanecast_scaled_quantize_dynamic(plan, src, sizeof src, data, data_len + 1, scales, scales_len, &report, NULL,
                                           &error) == LANECAST_ERR_BAD_LENGTH);
    CHECK(lanecast_scaled_quantize_dynamic(plan, src, sizeof src, data, data_len, scales, scales_len - 1, &report, NULL,
                                           &error) == LANECAST_ERR_BAD_LENGTH);
    CHECK(strstr(error.message, "scales") != NULL);
    CHECK(lanecast_scaled_quantize_dynamic(plan, src, sizeof src, (uint8_t *)src + 9, data_len, scales, scales_len,
                                           &report, NULL, &error) == LANECAST_ERR_OVERLAP);
    CHECK(lanecast_scaled_quantize_dynamic(plan, src, sizeof src, data, data_len, data + data_len - 1, scales_len,
                                           &report, NULL, &error) == LANECAST_ERR_OVERLAP);
    CHECK(lanecast_scaled_quantize_with_amax(plan, src, sizeof src, 1e38f * 10.0f, data, data_len, scales, scales_len,
                                             &report, &error) == LANECAST_ERR_BAD_OPTION);
    CHECK(lanecast_scaled_quantize(plan, src, sizeof src, scales, scales_len, 0.0f, data, data_len, &report, NULL, &error) ==
          LANECAST_ERR_BAD_OPTION);
    CHECK(lanecast_scaled_quantize(plan, src, sizeof src, scales, scales_len, 1.0f, scales, data_len, &report, NULL, &error) ==
          LANECAST_ERR_OVERLAP);
    CHECK(lanecast_scaled_dequantize(plan, data, data_len, scales, scales_len, -1.0f, LANECAST_FLOAT32, back, sizeof back, NULL,
                                     &error) == LANECAST_ERR_BAD_OPTION);
    CHECK(lanecast_scaled_dequantize(plan, data, data_len, scales, scales_len, 1.0f, LANECAST_INT8, back, N, NULL, &error) ==
          LANECAST_ERR_BAD_TYPE);
    CHECK(lanecast_scaled_dequantize(plan, data, data_len, scales, scales_len, 1.0f, LANECAST_FLOAT16, back, sizeof back, NULL,
                                     &error) == LANECAST_ERR_BAD_LENGTH);
    CHECK(lanecast_scaled_dequantize(plan, data, data_len, scales, scales_len, 1.0f, LANECAST_FLOAT32, NULL, sizeof back, NULL,
                                     &error) == LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_scaled_dequantize(plan, back, data_len, scales, scales_len, 1.0f, LANECAST_FLOAT32, back, sizeof back, NULL,
                                     &error) == LANECAST_ERR_OVERLAP);
    CHECK(lanecast_scaled_amax(plan, src, 3, &amax, NULL, &error) == LANECAST_ERR_BAD_LENGTH && amax == -1.0f);
    CHECK(lanecast_scaled_amax(plan, src, sizeof src, NULL, NULL, &error) == LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_scaled_amax(plan, src, sizeof src, &amax, &wrong, &error) == LANECAST_ERR_BAD_OPTION && amax == -1.0f);
    CHECK(data[0] == 0xA5 && scales[0] == 0xA5 && report.counted == 0xA5A5A5A5u);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
}

/* What the options say of a block with a NaN. */
static void not_finite(void)
{
    lanecast_scaled_options options;
    lanecast_scaled_plan *plan;
    lanecast_scaled_report report;
    lanecast_error error;
    uint32_t nan = 0x7FC00000u;
    uint8_t how;
    memcpy(&src[COLUMNS + 1], &nan, sizeof nan);
    memset(&options, 0, sizeof options);
    for (how = 0; how < 4; how++) {
        lanecast_status status;
        options.non_finite = how;
        plan = plan_of("mx", &options);
        status = lanecast_scaled_quantize_dynamic(plan, src, sizeof src, data, N, scales, 2 * ROWS, &report, NULL, &error);
        CHECK(status == (how == LANECAST_NON_FINITE_REFUSE ? LANECAST_ERR_REJECTED : LANECAST_OK));
        /* The third block: 40 columns are one of 32 and one of 8. */
        CHECK(how == LANECAST_NON_FINITE_REFUSE ? error.index == 2 && error.reason == LANECAST_REASON_NONE : (scales[2] == 0xFF) == (how < 2));
        CHECK(how == LANECAST_NON_FINITE_REFUSE || report.poisoned == (how < 2));
        CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
    }
}

/* Counts are there if they are wanted. */
static void counts(void)
{
    lanecast_scaled_options options;
    lanecast_scaled_plan *plan;
    lanecast_scaled_report losses;
    uint8_t wanted;
    size_t i;
    for (i = 0; i < N; i++) {
        src[i] = i % 2 == 0 ? 1e-30f : 1.9f;
    }
    memset(&options, 0, sizeof options);
    for (wanted = 0; wanted < 2; wanted++) {
        options.counts = wanted;
        /* The scale of a block is 2^-8, and 1.9 * 256 is above 448. */
        plan = plan_of("mx-ocp", &options);
        CHECK(lanecast_scaled_quantize_dynamic(plan, src, sizeof src, data, N, scales, 2 * ROWS, &losses, NULL, NULL) ==
              LANECAST_OK);
        CHECK(losses.counted == wanted && losses.elements == N);
        CHECK(losses.clipped == (wanted ? N / 2 : 0) && losses.underflowed == (wanted ? N / 2 : 0));
        CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
    }
}

/* Codes that are rounded at random are those of the seed and of the index, in parts as in the whole. */
static void random_codes(void)
{
    static const int64_t row[2] = {1, COLUMNS};
    lanecast_scaled_options options;
    lanecast_scaled_plan *plan, *part = NULL;
    lanecast_scaled_report losses;
    uint8_t nearest[N];
    size_t i, differ = 0;
    for (i = 0; i < N; i++) {
        src[i] = 1.0f + (float)i / 97.0f;
    }
    memset(&options, 0, sizeof options);
    options.squared_error = 1;
    plan = plan_of("fp8-row", &options);
    CHECK(lanecast_scaled_quantize_dynamic(plan, src, sizeof src, nearest, N, scales, 4 * ROWS, &losses, NULL, NULL) ==
          LANECAST_OK);
    CHECK(losses.squared_error > 0.0 && losses.squared_error < (double)N * 0.01);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
    options.random_bits = 16;
    options.seed = 7;
    options.stream = 3;
    plan = plan_of("fp8-row", &options);
    CHECK(lanecast_scaled_quantize_dynamic(plan, src, sizeof src, data, N, scales, 4 * ROWS, NULL, lanecast_pool(),
                                           NULL) == LANECAST_OK);
    for (i = 0; i < N; i++) {
        CHECK(data[i] == nearest[i] || data[i] + 1 == nearest[i] || data[i] - 1 == nearest[i]);
        differ += data[i] != nearest[i];
    }
    CHECK(differ > N / 10 && differ < N / 2);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
    options.first_element = COLUMNS;
    CHECK(lanecast_scaled_create(&part, "fp8-row", LANECAST_FLOAT32, row, 2, &options, NULL) == LANECAST_OK);
    CHECK(lanecast_scaled_quantize_dynamic(part, src + COLUMNS, 4 * COLUMNS, again, COLUMNS, scales, 4, NULL, NULL,
                                           NULL) == LANECAST_OK);
    CHECK(memcmp(again, data + COLUMNS, COLUMNS) == 0);
    CHECK(lanecast_scaled_destroy(part) == LANECAST_OK);
}

/* A scale of the tensor that is known beforehand. */
static void global_scales(void)
{
    static const float wrong[3] = {-1.0f, 1e38f * 10.0f, -1e38f * 10.0f};
    const size_t data_len = N / 2, scales_len = 3 * ROWS;
    lanecast_scaled_options options;
    lanecast_scaled_plan *plan = plan_of("nvfp4", NULL);
    lanecast_scaled_report found, given;
    lanecast_error error;
    size_t i;
    for (i = 0; i < N; i++) {
        src[i] = (float)i - 60.0f;
    }
    CHECK(lanecast_scaled_quantize_dynamic(plan, src, sizeof src, data, data_len, scales, scales_len, &found, NULL, NULL) ==
          LANECAST_OK);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
    memset(&options, 0, sizeof options);
    for (i = 0; i < 2; i++) {
        options.global = i == 0 ? found.global : 2.0f * found.global;
        plan = plan_of("nvfp4", &options);
        CHECK(lanecast_scaled_quantize_dynamic(plan, src, sizeof src, again, data_len, scales + scales_len, scales_len, &given,
                                               NULL, NULL) == LANECAST_OK);
        /* Twice the scale halves those of the blocks, which change nothing else while they are normal. */
        CHECK(given.global == options.global && (i == 1 || memcmp(scales, scales + scales_len, scales_len) == 0));
        CHECK(memcmp(data, again, data_len) == 0 && (scales[0] - scales[scales_len] == (i == 0 ? 0 : 8)));
        CHECK(lanecast_scaled_quantize_with_amax(plan, src, sizeof src, 60.0f, again, data_len, scales, scales_len, NULL, &error) ==
              LANECAST_ERR_BAD_OPTION);
        CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
    }
    for (i = 0; i < 3; i++) {
        options.global = wrong[i];
        CHECK(lanecast_scaled_create(&plan, "nvfp4", LANECAST_FLOAT32, shape, 2, &options, &error) == LANECAST_ERR_BAD_OPTION);
    }
    options.global = 1.0f;
    CHECK(lanecast_scaled_create(&plan, "mx", LANECAST_FLOAT32, shape, 2, &options, &error) == LANECAST_ERR_BAD_OPTION);
    CHECK(strstr(error.message, "scale of the tensor") != NULL);
    options.reserved_bytes[1] = 1;
    CHECK(lanecast_scaled_create(&plan, "nvfp4", LANECAST_FLOAT32, shape, 2, &options, &error) == LANECAST_ERR_BAD_OPTION);
    CHECK(strstr(error.message, "newer") != NULL);
}

/* Threads change nothing but the time. */
static void threads(void)
{
    static const int64_t large[2] = {2048, 1024};
    const size_t n = 2048 * 1024;
    int one = 1;
    lanecast_threads hosts = {3, host, &one};
    lanecast_scaled_options options;
    lanecast_scaled_report alone, shared;
    lanecast_scaled_plan *plan = NULL;
    lanecast_scaled_info info;
    float *x = (float *)malloc(4 * n), *values = (float *)malloc(4 * n), *wanted = (float *)malloc(4 * n);
    uint8_t *codes = (uint8_t *)malloc(2 * n), *steps = (uint8_t *)malloc(n);
    float amax = 0.0f, largest = -1.0f;
    size_t i;
    for (i = 0; i < n; i++) {
        x[i] = (float)((i * 2654435761u) % 1000003u) * 1e-3f - 500.0f;
    }
    memset(&options, 0, sizeof options);
    options.counts = options.squared_error = 1;
    CHECK(lanecast_scaled_create(&plan, "nvfp4", LANECAST_FLOAT32, large, 2, &options, NULL) == LANECAST_OK);
    CHECK(lanecast_scaled_describe(plan, &info, NULL) == LANECAST_OK && 2 * info.scales_len <= n && info.data_len <= n);
    CHECK(lanecast_scaled_quantize_dynamic(plan, x, 4 * n, codes, info.data_len, steps, info.scales_len, &alone, NULL,
                                           NULL) == LANECAST_OK);
    CHECK(lanecast_scaled_quantize_dynamic(plan, x, 4 * n, codes + n, info.data_len, steps + info.scales_len,
                                           info.scales_len, &shared, &hosts, NULL) == LANECAST_OK);
    CHECK(loops > 0 && memcmp(&alone, &shared, sizeof alone) == 0);
    CHECK(memcmp(codes, codes + n, info.data_len) == 0 && memcmp(steps, steps + info.scales_len, info.scales_len) == 0);
    loops = 0;
    memset(codes + n, 0xA5, info.data_len);
    CHECK(lanecast_scaled_quantize(plan, x, 4 * n, steps, info.scales_len, alone.global, codes + n, info.data_len, NULL,
                                   &hosts, NULL) == LANECAST_OK);
    CHECK(loops > 0 && memcmp(codes, codes + n, info.data_len) == 0);
    loops = 0;
    CHECK(lanecast_scaled_dequantize(plan, codes, info.data_len, steps, info.scales_len, alone.global, LANECAST_FLOAT32,
                                     wanted, 4 * n, NULL, NULL) == LANECAST_OK);
    CHECK(lanecast_scaled_dequantize(plan, codes, info.data_len, steps, info.scales_len, alone.global, LANECAST_FLOAT32,
                                     values, 4 * n, &hosts, NULL) == LANECAST_OK);
    CHECK(loops > 0 && memcmp(values, wanted, 4 * n) == 0);
    loops = 0;
    CHECK(lanecast_scaled_amax(plan, x, 4 * n, &amax, &hosts, NULL) == LANECAST_OK);
    CHECK(lanecast_scaled_amax(plan, x, 4 * n, &largest, NULL, NULL) == LANECAST_OK);
    CHECK(loops > 0 && amax == largest && amax >= 499.9f);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
    free(x);
    free(values);
    free(wanted);
    free(codes);
    free(steps);
}

int main(void)
{
    names();
    plans();
    kinds_of_plans();
    sizes();
    casts();
    wrong_calls();
    not_finite();
    counts();
    random_codes();
    global_scales();
    threads();
    return report();
}
