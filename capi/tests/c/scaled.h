/* Plans by schemes of the caller, and a tensor for them. Included after lanecast.h and check.h. C99, and C++ as well. */
#ifndef LANECAST_TESTS_SCALED_H
#define LANECAST_TESTS_SCALED_H

enum { ROWS = 3, COLUMNS = 40, N = ROWS * COLUMNS };

static const int64_t shape[2] = {ROWS, COLUMNS};
static float src[N], back[N];
static uint8_t data[N], again[N], scales[4 * N], other[4 * N], zeros[N];

static inline lanecast_scaled_scheme scheme_of(const char *name)
{
    lanecast_scaled_scheme scheme;
    memset(&scheme, 0xA5, sizeof scheme);
    CHECK(lanecast_scaled_scheme_named(name, &scheme, NULL) == LANECAST_OK);
    return scheme;
}

static inline lanecast_scaled_plan *plan_from(const lanecast_scaled_scheme *scheme, const lanecast_scaled_options *options)
{
    lanecast_scaled_plan *plan = NULL;
    lanecast_error error;
    if (lanecast_scaled_create_from(&plan, scheme, LANECAST_FLOAT32, shape, 2, options, &error) != LANECAST_OK) {
        printf("%s\n", error.message);
        exit(1);
    }
    return plan;
}

static inline lanecast_scaled_plan *plan_of(const char *name)
{
    lanecast_scaled_scheme scheme = scheme_of(name);
    return plan_from(&scheme, NULL);
}

static inline lanecast_scaled_info info_of(const lanecast_scaled_plan *plan)
{
    lanecast_scaled_info info;
    memset(&info, 0xA5, sizeof info);
    CHECK(lanecast_scaled_describe(plan, &info, NULL) == LANECAST_OK);
    return info;
}

static inline void fill_source(void)
{
    size_t i;
    for (i = 0; i < N; i++) {
        src[i] = ((float)((i * 7919) % 1009) - 500.0f) / 3.0f;
    }
}

#endif
