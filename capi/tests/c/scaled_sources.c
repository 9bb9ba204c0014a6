/* Scaled casts of views, of codes of another scheme, and of parts. C99, and C++ as well. */
#include <lanecast.h>

#include "arrays.h"
#include "check.h"
#include "host.h"
#include "scaled.h"

/* A view has the codes and scales of the same elements in C order. */
static void views(void)
{
    static const int64_t transposed[2] = {4, 4 * ROWS}, backwards[2] = {-4 * COLUMNS, -4}, row[2] = {1, COLUMNS},
                         columns[2] = {COLUMNS, ROWS}, ignored[2] = {INT64_MAX, 4}, repeated[2] = {0, 4};
    lanecast_scaled_plan *plan = plan_of("nvfp4"), *rows = NULL;
    lanecast_scaled_info info = info_of(plan);
    lanecast_scaled_report losses, its;
    lanecast_array view = shaped(back, LANECAST_FLOAT32, 2, shape, transposed);
    lanecast_error error;
    size_t i, k;
    fill_source();
    CHECK(lanecast_scaled_quantize_dynamic(plan, src, sizeof src, data, info.data_len, scales, info.scales_len, &losses, NULL,
                                           &error) == LANECAST_OK);
    for (k = 0; k < 3; k++) {
        for (i = 0; i < N; i++) {
            back[k == 0 ? i % COLUMNS * ROWS + i / COLUMNS : k == 1 ? N - 1 - i : i] = src[i];
        }
        view.data = k == 1 ? back + N - 1 : back;
        view.strides = k == 0 ? transposed : k == 1 ? backwards : NULL;
        memset(again, 0xA5, sizeof again);
        memset(other, 0xA5, sizeof other);
        CHECK(lanecast_scaled_quantize_dynamic_view(plan, &view, again, info.data_len, other, info.scales_len, &its,
                                                    k == 0 ? lanecast_pool() : NULL, &error) == LANECAST_OK);
        CHECK(memcmp(&losses, &its, sizeof its) == 0 && again[info.data_len] == 0xA5 && other[info.scales_len] == 0xA5);
        CHECK(memcmp(data, again, info.data_len) == 0 && memcmp(scales, other, info.scales_len) == 0);
    }
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
    /* Axes of length 1 count, and their strides have no effect. */
    CHECK(lanecast_scaled_create(&rows, "fp8-row", LANECAST_FLOAT32, row, 2, NULL, &error) == LANECAST_OK);
    CHECK(lanecast_scaled_quantize_dynamic(rows, src, 4 * COLUMNS, data, COLUMNS, scales, 4, NULL, NULL, &error) == LANECAST_OK);
    view.data = src;
    view.shape = row;
    view.strides = ignored;
    CHECK(lanecast_scaled_quantize_dynamic_view(rows, &view, again, COLUMNS, other, 4, NULL, NULL, &error) == LANECAST_OK);
    CHECK(memcmp(data, again, COLUMNS) == 0 && memcmp(scales, other, 4) == 0);
    CHECK(lanecast_scaled_destroy(rows) == LANECAST_OK);
    /* A row that is repeated, in the other byte order. */
    plan = plan_of("fp8-row");
    view.shape = shape;
    view.strides = repeated;
    CHECK(lanecast_scaled_quantize_dynamic_view(plan, &view, again, N, other, 4 * ROWS, NULL, NULL, &error) == LANECAST_OK);
    CHECK(memcmp(data, again, COLUMNS) == 0 && memcmp(data, again + 2 * COLUMNS, COLUMNS) == 0);
    memset(again, 0xA5, sizeof again);
    CHECK(lanecast_scaled_create(&rows, "fp8-row", LANECAST_FLOAT32 | LANECAST_TYPE_BIG, shape, 2, NULL, &error) == LANECAST_OK);
    for (i = 0; i < COLUMNS; i++) {
        uint8_t bytes[4], swapped[4];
        const uint32_t one = 1;
        memcpy(bytes, &src[i], 4);
        for (k = 0; k < 4; k++) {
            swapped[k] = bytes[*(const uint8_t *)&one == 1 ? 3 - k : k];
        }
        memcpy(&back[i], swapped, 4);
    }
    view.data = back;
    view.type = LANECAST_FLOAT32 | LANECAST_TYPE_BIG;
    CHECK(lanecast_scaled_quantize_dynamic_view(rows, &view, again, N, other, 4 * ROWS, NULL, NULL, &error) == LANECAST_OK);
    CHECK(memcmp(data, again, COLUMNS) == 0 && memcmp(data, again + 2 * COLUMNS, COLUMNS) == 0);
    CHECK(lanecast_scaled_destroy(rows) == LANECAST_OK);

    /* What is refused is refused before anything is written. */
    memset(again, 0xA5, sizeof again);
    memset(other, 0xA5, sizeof other);
    view.data = src;
    view.strides = NULL;
    view.type = LANECAST_FLOAT32 | LANECAST_TYPE_BIG;
    CHECK(lanecast_scaled_quantize_dynamic_view(plan, &view, again, N, other, 4 * ROWS, NULL, NULL, &error) == LANECAST_ERR_BAD_TYPE);
    view.type = LANECAST_FLOAT32;
#define VIEW(plan, view, data, data_len, scales_len, status)                                                          \
    CHECK(lanecast_scaled_quantize_dynamic_view(plan, view, data, data_len, other, scales_len, NULL, NULL, &error) == status)
    VIEW(NULL, &view, again, N, 4 * ROWS, LANECAST_ERR_NULL_POINTER);
    VIEW(plan, NULL, again, N, 4 * ROWS, LANECAST_ERR_NULL_POINTER);
    VIEW(plan, &view, NULL, N, 4 * ROWS, LANECAST_ERR_NULL_POINTER);
    VIEW(plan, &view, again, N - 1, 4 * ROWS, LANECAST_ERR_BAD_LENGTH);
    VIEW(plan, &view, again, N, 4 * ROWS + 4, LANECAST_ERR_BAD_LENGTH);
    VIEW(plan, &view, src, N, 4 * ROWS, LANECAST_ERR_OVERLAP);
    VIEW(plan, &view, &src[N - 1], N, 4 * ROWS, LANECAST_ERR_OVERLAP);
    view.data = NULL;
    VIEW(plan, &view, again, N, 4 * ROWS, LANECAST_ERR_NULL_POINTER);
    view.data = src + N - 1;
    view.strides = backwards;
    VIEW(plan, &view, src, N, 4 * ROWS, LANECAST_ERR_OVERLAP);
    view.strides = ignored;
    VIEW(plan, &view, again, N, 4 * ROWS, LANECAST_ERR_BAD_LAYOUT);
    view.data = src;
    view.strides = NULL;
    view.shape = columns;
    VIEW(plan, &view, again, N, 4 * ROWS, LANECAST_ERR_BAD_LAYOUT);
    CHECK(strstr(error.message, "shape") != NULL);
    view.shape = NULL;
    VIEW(plan, &view, again, N, 4 * ROWS, LANECAST_ERR_NULL_POINTER);
    view.shape = shape;
    view.ndim = -1;
    VIEW(plan, &view, again, N, 4 * ROWS, LANECAST_ERR_BAD_LAYOUT);
    view.ndim = 1;
    VIEW(plan, &view, again, N, 4 * ROWS, LANECAST_ERR_BAD_LAYOUT);
    CHECK(again[0] == 0xA5 && other[0] == 0xA5);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
}

/* More elements than one thread casts alone, through a host's threads. */
static void views_by_threads(void)
{
    static const int64_t large[2] = {1024, 2048}, columns[2] = {4, 4 * 1024};
    const size_t n = 1024 * 2048;
    int one = 1;
    lanecast_threads hosts = {3, host, &one};
    float *x = (float *)malloc(4 * n);
    uint8_t *codes = (uint8_t *)malloc(2 * n), *powers = (uint8_t *)malloc(n);
    lanecast_scaled_report alone, shared;
    lanecast_scaled_plan *plan = NULL;
    lanecast_scaled_info info;
    lanecast_array view = shaped(NULL, LANECAST_FLOAT32, 2, large, columns);
    size_t i;
    for (i = 0; i < n; i++) {
        x[i] = (float)((i * 2654435761u) % 1000003u) * 1e-3f - 500.0f;
    }
    view.data = x;
    CHECK(lanecast_scaled_create(&plan, "mx", LANECAST_FLOAT32, large, 2, NULL, NULL) == LANECAST_OK);
    info = info_of(plan);
    loops = 0;
    CHECK(lanecast_scaled_quantize_dynamic_view(plan, &view, codes, n, powers, info.scales_len, &alone, NULL, NULL) ==
          LANECAST_OK);
    CHECK(lanecast_scaled_quantize_dynamic_view(plan, &view, codes + n, n, powers + info.scales_len, info.scales_len, &shared,
                                                &hosts, NULL) == LANECAST_OK);
    CHECK(loops > 0 && memcmp(&alone, &shared, sizeof alone) == 0);
    CHECK(memcmp(codes, codes + n, n) == 0 && memcmp(powers, powers + info.scales_len, info.scales_len) == 0);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
    free(x);
    free(codes);
    free(powers);
}

/* From one scheme to another: where float32 has the values, that is what their codes are. */
static void requantized(void)
{
    static const int64_t longer[2] = {ROWS, COLUMNS + 1};
    lanecast_scaled_scheme dividing = scheme_of("fp8-row-divide"), refusing = scheme_of("fp8-row");
    lanecast_scaled_options options;
    lanecast_scaled_plan *from = plan_of("mx"), *to, *row = plan_of("fp8-row"), *nvfp4 = plan_of("nvfp4"), *more = NULL;
    lanecast_scaled_report losses, its;
    lanecast_error error;
    memset(&options, 0, sizeof options);
    options.counts = options.squared_error = 1;
    to = plan_from(&refusing, &options);
    fill_source();
    CHECK(lanecast_scaled_quantize_dynamic(from, src, sizeof src, data, N, scales, 2 * ROWS, NULL, NULL, &error) == LANECAST_OK);
    CHECK(lanecast_scaled_dequantize(from, data, N, scales, 2 * ROWS, 1.0f, LANECAST_FLOAT32, back, sizeof back, NULL, &error) ==
          LANECAST_OK);
    CHECK(lanecast_scaled_quantize_dynamic(to, back, sizeof back, again, N, other, 4 * ROWS, &losses, NULL, &error) ==
          LANECAST_OK);
    CHECK(losses.counted == 1 && losses.squared_error > 0.0);
    CHECK(lanecast_scaled_requantize(from, data, N, scales, 2 * ROWS, 1.0f, to, zeros, N, other + 2 * N, 4 * ROWS, &its,
                                     &error) == LANECAST_OK);
    CHECK(memcmp(&losses, &its, sizeof its) == 0);
    CHECK(memcmp(again, zeros, N) == 0 && memcmp(other, other + 2 * N, 4 * ROWS) == 0);
    /* The report has the scale of the tensor, which the way back needs. */
    CHECK(lanecast_scaled_requantize(from, data, N, scales, 2 * ROWS, 1.0f, nvfp4, again, N / 2, other, 3 * ROWS, &its, &error) ==
          LANECAST_OK);
    CHECK(its.global > 0.0f && its.global < 1.0f && its.counted == 0);
    CHECK(lanecast_scaled_requantize(nvfp4, again, N / 2, other, 3 * ROWS, its.global, row, zeros, N, other + N, 4 * ROWS, NULL,
                                     &error) == LANECAST_OK);

    memset(again, 0xA5, sizeof again);
    memset(other, 0xA5, sizeof other);
#define REQUANTIZE(from, data, data_len, global, to, out, out_len, status)                                            \
    CHECK(lanecast_scaled_requantize(from, data, data_len, scales, 2 * ROWS, global, to, out, out_len, other, 4 * ROWS, &its, \
                                     &error) == status)
    REQUANTIZE(NULL, data, N, 1.0f, to, again, N, LANECAST_ERR_NULL_POINTER);
    REQUANTIZE(from, data, N, 1.0f, NULL, again, N, LANECAST_ERR_NULL_POINTER);
    REQUANTIZE(from, NULL, N, 1.0f, to, again, N, LANECAST_ERR_NULL_POINTER);
    REQUANTIZE(from, data, N, 1.0f, to, NULL, N, LANECAST_ERR_NULL_POINTER);
    REQUANTIZE(from, data, N - 1, 1.0f, to, again, N, LANECAST_ERR_BAD_LENGTH);
    REQUANTIZE(from, data, N, 1.0f, to, again, N + 1, LANECAST_ERR_BAD_LENGTH);
    REQUANTIZE(from, data, N, 1.0f, to, data, N, LANECAST_ERR_OVERLAP);
    REQUANTIZE(from, data, N, 1.0f, to, scales, N, LANECAST_ERR_OVERLAP);
    REQUANTIZE((const lanecast_scaled_plan *)src, data, N, 1.0f, to, again, N, LANECAST_ERR_BAD_PLAN);
    CHECK(lanecast_scaled_requantize(from, data, N, NULL, 2 * ROWS, 1.0f, to, again, N, other, 4 * ROWS, &its, &error) ==
          LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_scaled_requantize(from, data, N, scales, 2 * ROWS - 1, 1.0f, to, again, N, other, 4 * ROWS, &its, &error) ==
          LANECAST_ERR_BAD_LENGTH);
    CHECK(strstr(error.message, "source scales") != NULL);
    CHECK(lanecast_scaled_requantize(nvfp4, data, N / 2, scales, 3 * ROWS, 0.0f, to, again, N, other, 4 * ROWS, &its, &error) ==
          LANECAST_ERR_BAD_OPTION);
    CHECK(lanecast_scaled_create(&more, "fp8-row", LANECAST_FLOAT32, longer, 2, NULL, NULL) == LANECAST_OK);
    REQUANTIZE(from, data, N, 1.0f, more, again, N, LANECAST_ERR_BAD_LAYOUT);
    CHECK(lanecast_scaled_destroy(more) == LANECAST_OK);
    more = plan_from(&dividing, NULL);
    REQUANTIZE(from, data, N, 1.0f, more, again, N, LANECAST_ERR_BAD_OPTION);
    CHECK(lanecast_scaled_destroy(more) == LANECAST_OK);
    CHECK(again[0] == 0xA5 && other[0] == 0xA5);
    refusing.non_finite = LANECAST_NON_FINITE_REFUSE;
    more = plan_from(&refusing, NULL);
    scales[3] = 0xFF;
    REQUANTIZE(from, data, N, 1.0f, more, again, N, LANECAST_ERR_REJECTED);
    CHECK(error.index == 1);
    CHECK(lanecast_scaled_destroy(more) == LANECAST_OK && lanecast_scaled_destroy(from) == LANECAST_OK);
    CHECK(lanecast_scaled_destroy(to) == LANECAST_OK && lanecast_scaled_destroy(row) == LANECAST_OK);
    CHECK(lanecast_scaled_destroy(nvfp4) == LANECAST_OK);
}

/* The largest magnitudes of parts, one of which has an infinity, make the scale of all. */
static void parts(void)
{
    lanecast_scaled_plan *plan = plan_of("nvfp4");
    lanecast_scaled_report losses;
    lanecast_error error;
    float amax = -1.0f;
    int32_t non_finite = -1;
    fill_source();
    src[5] = -1e38f * 10.0f;
    src[9] = 300.0f;
    CHECK(lanecast_scaled_finite_amax(LANECAST_FLOAT32, src, sizeof src, &amax, &non_finite, &error) == LANECAST_OK);
    CHECK(amax == 300.0f && non_finite == 1);
    CHECK(lanecast_scaled_quantize_with_amax(plan, src, sizeof src, amax, data, N / 2, scales, 3 * ROWS, &losses, &error) ==
          LANECAST_OK);
    CHECK(losses.poisoned == 1 && losses.global == 300.0f / 2688.0f);
    CHECK(lanecast_scaled_finite_amax(LANECAST_FLOAT32, src + 6, 8, &amax, &non_finite, &error) == LANECAST_OK);
    CHECK(non_finite == 0 && amax < 300.0f);
    CHECK(lanecast_scaled_finite_amax(LANECAST_FLOAT32, NULL, 0, &amax, NULL, &error) == LANECAST_OK && amax == 0.0f);
    amax = -1.0f;
    CHECK(lanecast_scaled_finite_amax(LANECAST_FLOAT32, NULL, 4, &amax, NULL, &error) == LANECAST_ERR_NULL_POINTER);
    CHECK(lanecast_scaled_finite_amax(LANECAST_FLOAT32, src, 7, &amax, NULL, &error) == LANECAST_ERR_BAD_LENGTH);
    CHECK(lanecast_scaled_finite_amax(LANECAST_FLOAT64, src, 8, &amax, NULL, &error) == LANECAST_ERR_BAD_TYPE);
    CHECK(lanecast_scaled_finite_amax(LANECAST_FLOAT32, src, 8, NULL, &non_finite, &error) == LANECAST_ERR_NULL_POINTER);
    CHECK(amax == -1.0f && non_finite == 0);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
}

int main(void)
{
    views();
    views_by_threads();
    requantized();
    parts();
    return report();
}
