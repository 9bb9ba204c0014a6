/* Scaled casts by chance. Included by `fuzz.c` after its regions and `done`. */
#ifndef LANECAST_TESTS_FUZZ_SCALED_H
#define LANECAST_TESTS_FUZZ_SCALED_H

enum { MOST_SCHEMES = 64 };

typedef struct {
    const char *scheme;
    lanecast_type from;
    int64_t shape[AXES];
    int axes;
    lanecast_scaled_options options;
} scaled_arguments;

static void some_scaled_arguments(scaled_arguments *out)
{
    static const lanecast_type sources[3] = {LANECAST_FLOAT32, LANECAST_FLOAT16, LANECAST_BFLOAT16};
    static const lanecast_type orders[4] = {0, 0, LANECAST_LITTLE, LANECAST_BIG};
    size_t schemes = 0;
    int i;
    while (schemes < MOST_SCHEMES && lanecast_scaled_name(schemes) != NULL) {
        schemes++;
    }
    out->scheme = one_in(40) ? NULL : one_in(40) ? "mx9" : lanecast_scaled_name(below(schemes));
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
    out->options.storage = (uint8_t)below(one_in(20) ? 4 : 2);
    out->options.non_finite = (uint8_t)below(one_in(20) ? 6 : 4);
    out->options.counts = (uint8_t)below(one_in(20) ? 4 : 2);
    out->options.squared_error = (uint8_t)below(one_in(20) ? 4 : 2);
    out->options.random_bits = (uint8_t)(one_in(4) ? 8u << below(one_in(10) ? 5 : 3) : 0);
    out->options.seed = draw();
    out->options.stream = draw() >> below(64);
    out->options.first_element = draw() >> below(64);
    if (one_in(60)) {
        out->options.reserved[below(sizeof out->options.reserved)] = (uint8_t)draw();
    }
}

static lanecast_status create(const scaled_arguments *of, lanecast_scaled_plan **plan, lanecast_error *place)
{
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
        CHECK(status == LANECAST_REJECTED ? kept(&target, data, data_len) && kept(&bitmap, scales, scales_len)
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
    if (info.source_len <= SIZE && info.data_len <= SIZE && info.scales_len <= SIZE) {
        scaled_buffers(&of, one_in(100) ? NULL : plan, &info);
    }
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
}

#endif
