/* Scaled casts by chance. Included by `fuzz.c` after its regions and `done`. */
#ifndef LANECAST_TESTS_FUZZ_SCALED_H
#define LANECAST_TESTS_FUZZ_SCALED_H

enum { MOST_SCHEMES = 64 };

typedef struct {
    const char *scheme;
    /* What has the place of the scheme, if it is of the caller. */
    lanecast_scaled_scheme own;
    int is_own;
    lanecast_type from;
    int64_t shape[AXES];
    int axes;
    lanecast_scaled_options options;
} scaled_arguments;

/* A scheme whose parts are by chance, most of them those of a scheme with a name. */
static int some_scheme(const char *name, lanecast_scaled_scheme *out)
{
    static const float numbers[6] = {6.0f, 448.0f, 0.25f, 1e-40f, 0.0f, -1.0f};
    static const lanecast_type scale_types[3] = {LANECAST_FLOAT32, LANECAST_FLOAT16, LANECAST_BFLOAT16};
    if (lanecast_scaled_scheme_named(name, out, NULL) != LANECAST_OK) {
        return 0;
    }
    if (one_in(2)) {
        /* Zero points, most of them possible. */
        out->rule = LANECAST_SCALE_RULE_MIN_MAX;
        out->quotient = LANECAST_QUOTIENT_EXACT;
        out->global = LANECAST_GLOBAL_NONE;
        out->scale = scale_types[below(3)];
        out->element = one_in(2) ? LANECAST_UINT8 : some_type() & 0xFF;
    }
    if (one_in(2)) {
        out->granularity = (uint8_t)below(one_in(20) ? 6 : 4);
        out->axis = one_in(30) ? (int64_t)draw() : (int64_t)below(5) - 2;
        out->block[0] = one_in(10) ? draw() : below(12);
        out->block[1] = one_in(10) ? draw() : below(12);
    }
    if (one_in(3)) {
        out->empty = (uint8_t)below(one_in(20) ? 6 : 4);
        out->empty_scale = numbers[below(one_in(10) ? 6 : 4)];
        out->least = numbers[below(one_in(10) ? 6 : 4)];
    }
    switch (below(12)) {
    case 0: out->rule = (uint8_t)below(11); break;
    case 1: out->quotient = (uint8_t)below(7); break;
    case 2: out->scale = some_type(); break;
    case 3: out->element = some_type(); break;
    case 4: out->global = (uint8_t)below(4); break;
    case 5: out->over = numbers[below(6)]; break;
    case 6: out->range = numbers[below(6)]; break;
    case 7: out->non_finite = (uint8_t)below(5); break;
    case 8: out->reserved[below(sizeof out->reserved)] = (uint8_t)(below(4) / 3); break;
    default: break;
    }
    return 1;
}

static void some_scaled_arguments(scaled_arguments *out)
{
    static const lanecast_type sources[3] = {LANECAST_FLOAT32, LANECAST_FLOAT16, LANECAST_BFLOAT16};
    static const lanecast_type orders[4] = {0, 0, LANECAST_TYPE_LITTLE, LANECAST_TYPE_BIG};
    size_t schemes = 0;
    int i;
    while (schemes < MOST_SCHEMES && lanecast_scaled_name(schemes) != NULL) {
        schemes++;
    }
    out->scheme = one_in(40) ? NULL : one_in(40) ? "mx9" : lanecast_scaled_name(below(schemes));
    out->is_own = one_in(2) && some_scheme(out->scheme, &out->own);
    out->from = one_in(20) ? some_type() : sources[below(3)] | orders[below(4)];
    out->axes = (int)below(4) + 1;
    for (i = 0; i < AXES; i++) {
        out->shape[i] = (int64_t)(one_in(30) ? 0 : 1 + below(one_in(3) ? 60 : 6));
    }
    if (one_in(40)) {
        out->shape[below(AXES)] = one_in(2) ? -(int64_t)below(100) : (int64_t)(draw() >> 1);
    }
    if (one_in(60)) {
        out->axes = one_in(2) ? 0 : -1;
    }
    memset(&out->options, 0, sizeof out->options);
    out->options.element = one_in(3) ? some_type() : 0;
    out->options.storage = (uint8_t)below(one_in(20) ? 5 : 3);
    out->options.non_finite = (uint8_t)below(one_in(20) ? 6 : 4);
    out->options.counts = (uint8_t)below(one_in(20) ? 4 : 2);
    out->options.squared_error = (uint8_t)below(one_in(20) ? 4 : 2);
    out->options.random_bits = (uint8_t)(one_in(4) ? 8u << below(one_in(10) ? 5 : 3) : 0);
    out->options.seed = draw();
    out->options.stream = draw() >> below(64);
    out->options.first_element = draw() >> below(64);
    if (one_in(6)) {
        static const float globals[6] = {1.0f, 3e-4f, 1e-40f, 1e38f, -1.0f, 1e38f * 10.0f};
        out->options.global = globals[below(one_in(10) ? 6 : 4)];
    }
    if (one_in(60)) {
        out->options.reserved[below(sizeof out->options.reserved)] = (uint8_t)draw();
    }
}

static lanecast_status create(const scaled_arguments *of, lanecast_scaled_plan **plan, lanecast_error *place)
{
    if (of->is_own) {
        return lanecast_scaled_create_from(plan, &of->own, of->from, of->shape, of->axes, &of->options, place);
    }
    return lanecast_scaled_create(plan, of->scheme, of->from, of->shape, of->axes, &of->options, place);
}

/* A length that is rarely wrong, and never more than there is. */
static size_t about(size_t length)
{
    return one_in(150) && length > 0 ? length - 1 - below(length < 9 ? length : 9) : length;
}

/* A cast by the scalar tier into `reference`: the codes, and the scales behind them. */
static void scalar_codes(const scaled_arguments *of, const lanecast_scaled_info *info, const uint8_t *from)
{
    lanecast_scaled_plan *plan = NULL;
    CHECK(lanecast_force_tier("scalar", NULL) == LANECAST_OK && create(of, &plan, NULL) == LANECAST_OK);
    CHECK(lanecast_scaled_quantize_dynamic(plan, from, info->source_len, reference, info->data_len,
                                           reference + info->data_len, info->scales_len, NULL, NULL, NULL) == LANECAST_OK);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK && lanecast_force_tier(NULL, NULL) == LANECAST_OK);
}

static void scaled_buffers(const scaled_arguments *of, const lanecast_scaled_plan *plan, const lanecast_scaled_info *info)
{
    static const float globals[4] = {1.0f, 0.001f, 0.0f, -1.0f};
    lanecast_scaled_report losses;
    lanecast_threads threads;
    const lanecast_threads *with = some_threads(&threads);
    lanecast_error *place = some_error();
    lanecast_status status;
    size_t src_len = about(info->source_len), data_len = about(info->data_len), scales_len = about(info->scales_len);
    size_t kind = below(5), back_len = 4 * info->elements;
    uint8_t *src = place_in(&source, src_len), *data = place_in(&target, data_len), *scales = place_in(&bitmap, scales_len);
    float global = globals[below(one_in(10) ? 4 : 2)], amax = -1.0f;
    const void *from = one_in(100) ? NULL : src;
    if (one_in(60) && scales_len > 0 && scales_len <= data_len) {
        scales = data;
    }
    memset(&losses, 0xEE, sizeof losses);
    switch (kind) {
    case 0:
        status = lanecast_scaled_quantize_dynamic(plan, from, src_len, one_in(100) ? NULL : data, data_len, scales,
                                                  scales_len, one_in(8) ? NULL : &losses, with, place);
        break;
    case 1:
        status = lanecast_scaled_quantize_with_amax(plan, from, src_len, global, data, data_len, scales, scales_len,
                                                    &losses, place);
        break;
    case 2:
        status = lanecast_scaled_quantize(plan, from, src_len, scales, scales_len, global, data, data_len, &losses, with, place);
        break;
    case 3:
        /* The source of the others is where the values go. */
        status = lanecast_scaled_dequantize(plan, data, data_len, scales, scales_len, global, LANECAST_FLOAT32,
                                            source.start, back_len < SIZE ? back_len : 0, with, place);
        break;
    default: status = lanecast_scaled_amax(plan, from, src_len, one_in(100) ? NULL : &amax, with, place); break;
    }
    if (!done(status, place)) {
        CHECK(unchanged(&source));
        CHECK(status == LANECAST_ERR_REJECTED ? kept(&target, data, data_len) && kept(&bitmap, scales, scales_len)
                                          : unchanged(&target) && unchanged(&bitmap));
        return;
    }
    CHECK(kind == 3 ? kept(&source, source.start, back_len) : unchanged(&source));
    CHECK(kind < 3 ? kept(&target, data, data_len) : unchanged(&target));
    CHECK(kind < 2 ? kept(&bitmap, scales, scales_len) : unchanged(&bitmap));
    CHECK(kind != 2 || losses.elements == info->elements);
    if (kind == 0 && info->data_len + info->scales_len <= SIZE) {
        scalar_codes(of, info, src);
        CHECK(memcmp(reference, data, data_len) == 0 && memcmp(reference + data_len, scales, scales_len) == 0);
    }
}

/* Casts to integers with zero points and back. */
static void zero_points(const lanecast_scaled_plan *plan, const lanecast_scaled_info *info)
{
    lanecast_scaled_report losses;
    lanecast_threads threads;
    const lanecast_threads *with = some_threads(&threads);
    lanecast_error *place = some_error();
    lanecast_status status;
    size_t src_len = about(info->source_len), data_len = about(info->data_len), scales_len = about(info->scales_len);
    size_t zeros_len = about(info->zeros_len), back_len = 4 * info->elements;
    int there = one_in(2);
    uint8_t *src = place_in(&source, src_len), *data = place_in(&target, data_len), *scales = place_in(&bitmap, scales_len);
    uint8_t *zeros = place_in(&extra, zeros_len);
    if (one_in(60) && zeros_len > 0 && zeros_len <= data_len) {
        zeros = data;
    }
    if (there) {
        status = lanecast_scaled_quantize_min_max(plan, one_in(100) ? NULL : src, src_len, data, data_len, scales, scales_len,
                                                  one_in(100) ? NULL : zeros, zeros_len, one_in(8) ? NULL : &losses, with, place);
    } else {
        status = lanecast_scaled_dequantize_min_max(plan, data, data_len, scales, scales_len, one_in(100) ? NULL : zeros,
                                                    zeros_len, LANECAST_FLOAT32, one_in(100) ? NULL : source.start,
                                                    back_len < SIZE ? back_len : 0, with, place);
    }
    if (!done(status, place)) {
        CHECK(unchanged(&source));
        CHECK(status == LANECAST_ERR_REJECTED || (unchanged(&target) && unchanged(&bitmap) && unchanged(&extra)));
        return;
    }
    CHECK(there ? unchanged(&source) : kept(&source, source.start, back_len));
    CHECK(there ? kept(&target, data, data_len) : unchanged(&target));
    CHECK(there ? kept(&bitmap, scales, scales_len) : unchanged(&bitmap));
    CHECK(there ? kept(&extra, zeros, zeros_len) : unchanged(&extra));
}

/* A cast of a view, whose codes and scales are those of its elements in C order. */
static void scaled_views(const scaled_arguments *of, const lanecast_scaled_plan *plan, const lanecast_scaled_info *info)
{
    int64_t shape[AXES], strides[AXES], first;
    lanecast_threads threads;
    const lanecast_threads *with = some_threads(&threads);
    lanecast_array view = shaped(NULL, of->from, of->axes, shape, strides);
    lanecast_array in_order = shaped(reference, of->from, of->axes, shape, NULL);
    lanecast_error *place = some_error();
    lanecast_plan copy;
    lanecast_status status;
    size_t size = 0, data_len = about(info->data_len), scales_len = about(info->scales_len);
    uint8_t *data = place_in(&target, data_len), *scales = place_in(&bitmap, scales_len);
    int i;
    for (i = 0; i < of->axes; i++) {
        /* Beside an axis of length 0. */
        if (of->shape[i] > SIZE) {
            return;
        }
    }
    memcpy(shape, of->shape, sizeof shape);
    CHECK(lanecast_type_bytes(of->from & 0xFF, 1, &size) == LANECAST_OK);
    if (!some_strides(shape, of->axes, (int64_t)size, 1, strides, &first)) {
        return;
    }
    view.data = one_in(100) ? NULL : source.start + first;
    if (one_in(40) && of->axes > 0) {
        shape[below((size_t)of->axes)] = one_in(2) ? -1 : 1;
    }
    if (one_in(60)) {
        view.ndim = one_in(2) ? -1 : 0;
    }
    if (one_in(60) && data_len > 0) {
        data = (uint8_t *)view.data;
    }
    status = lanecast_scaled_quantize_dynamic_view(plan, one_in(100) ? NULL : &view, data, data_len, scales, scales_len, NULL,
                                                   with, place);
    if (!done(status, place)) {
        CHECK(unchanged(&source) && (status == LANECAST_ERR_REJECTED || (unchanged(&target) && unchanged(&bitmap))));
        return;
    }
    CHECK(unchanged(&source) && kept(&target, data, data_len) && kept(&bitmap, scales, scales_len));
    in_order.ndim = view.ndim;
    if (info->source_len + data_len + scales_len <= SIZE) {
        uint8_t *codes = reference + info->source_len;
        CHECK(lanecast_plan_init(&copy, of->from, of->from, NULL, NULL) == LANECAST_OK);
        CHECK(lanecast_run_array(&copy, &view, &in_order, NULL, NULL) == LANECAST_OK);
        CHECK(lanecast_scaled_quantize_dynamic(plan, reference, info->source_len, codes, data_len, codes + data_len, scales_len,
                                               NULL, NULL, NULL) == LANECAST_OK);
        CHECK(memcmp(codes, data, data_len) == 0 && memcmp(codes + data_len, scales, scales_len) == 0);
    }
}

/* Codes and scales by chance, cast to those of another scheme for the same shape. */
static void requantized(const scaled_arguments *of, const lanecast_scaled_plan *plan, const lanecast_scaled_info *info)
{
    static const float globals[4] = {1.0f, 0.001f, 0.0f, -1.0f};
    scaled_arguments wanted;
    lanecast_scaled_plan *to = NULL;
    lanecast_scaled_info its;
    lanecast_error *place;
    lanecast_status status;
    size_t data_len = about(info->data_len), scales_len = about(info->scales_len);
    uint8_t *data, *scales;
    some_scaled_arguments(&wanted);
    memcpy(wanted.shape, of->shape, sizeof wanted.shape);
    wanted.axes = of->axes;
    place = some_error();
    if (!done(create(&wanted, &to, place), place)) {
        return;
    }
    CHECK(lanecast_scaled_describe(to, &its, NULL) == LANECAST_OK);
    if (its.data_len <= SIZE && its.scales_len <= SIZE) {
        place = some_error();
        its.data_len = about(its.data_len);
        its.scales_len = about(its.scales_len);
        data = place_in(&target, its.data_len);
        scales = place_in(&bitmap, its.scales_len);
        status = lanecast_scaled_requantize(one_in(100) ? NULL : plan, one_in(100) ? NULL : place_in(&source, data_len), data_len,
                                            one_in(60) ? target.start : place_in(&extra, scales_len), scales_len,
                                            globals[below(one_in(10) ? 4 : 2)], one_in(100) ? NULL : to, data, its.data_len,
                                            scales, its.scales_len, NULL, place);
        if (done(status, place)) {
            CHECK(kept(&target, data, its.data_len) && kept(&bitmap, scales, its.scales_len));
        } else {
            CHECK(status == LANECAST_ERR_REJECTED || (unchanged(&target) && unchanged(&bitmap)));
        }
        CHECK(unchanged(&source) && unchanged(&extra));
    }
    CHECK(lanecast_scaled_destroy(to) == LANECAST_OK);
}

static void scaled_casts(void)
{
    scaled_arguments of;
    lanecast_scaled_plan *plan = NULL;
    lanecast_scaled_info info;
    lanecast_error *place = some_error();
    some_scaled_arguments(&of);
    if (!done(create(&of, one_in(200) ? NULL : &plan, place), place)) {
        CHECK(plan == NULL);
        return;
    }
    place = some_error();
    CHECK(done(lanecast_scaled_describe(plan, &info, place), place));
    fill(&source);
    fill(&target);
    fill(&bitmap);
    fill(&extra);
    if (info.source_len <= SIZE && info.data_len <= SIZE && info.scales_len <= SIZE) {
        const lanecast_scaled_plan *with = one_in(100) ? NULL : plan;
        switch (below(info.zeros_len > 0 ? 8 : 4)) {
        case 0: scaled_views(&of, with, &info); break;
        case 1: requantized(&of, with, &info); break;
        case 2: case 3: scaled_buffers(&of, with, &info); break;
        default: zero_points(with, &info); break;
        }
    }
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
}

#endif
