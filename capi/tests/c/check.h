/* Checks that go on after a failure, and the statuses that a program has seen. Included after lanecast.h. C99, and C++ as well. */
#ifndef LANECAST_TESTS_CHECK_H
#define LANECAST_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                                                                              \
    do {                                                                                                              \
        if (!(condition)) {                                                                                           \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                    \
            failures++;                                                                                               \
        }                                                                                                             \
    } while (0)

static int seen[64];

static inline lanecast_status see(lanecast_status status)
{
    if (status >= 0 && status < 64) {
        seen[status] = 1;
    } else {
        failures++;
    }
    return status;
}

/* Prints the statuses, for the test that wants each of them provoked by some program, and the failures. */
static inline int report(void)
{
    int status;
    printf("statuses:");
    for (status = 0; status < 64; status++) {
        if (seen[status]) {
            printf(" %d", status);
        }
    }
    printf("\n%d failures\n", failures);
    return failures != 0;
}

/* Every function that returns a status, through `see`; not in programs that call them on several threads. */
#ifndef LANECAST_TESTS_PLAIN
#define lanecast_can_cast(...) see(lanecast_can_cast(__VA_ARGS__))
#define lanecast_cast(...) see(lanecast_cast(__VA_ARGS__))
#define lanecast_explain(...) see(lanecast_explain(__VA_ARGS__))
#define lanecast_force_tier(...) see(lanecast_force_tier(__VA_ARGS__))
#define lanecast_options_profile(...) see(lanecast_options_profile(__VA_ARGS__))
#define lanecast_plan_init(...) see(lanecast_plan_init(__VA_ARGS__))
#define lanecast_promote(...) see(lanecast_promote(__VA_ARGS__))
#define lanecast_run(...) see(lanecast_run(__VA_ARGS__))
#define lanecast_run_array(...) see(lanecast_run_array(__VA_ARGS__))
#define lanecast_run_batch(...) see(lanecast_run_batch(__VA_ARGS__))
#define lanecast_run_checked(...) see(lanecast_run_checked(__VA_ARGS__))
#define lanecast_run_counted(...) see(lanecast_run_counted(__VA_ARGS__))
#define lanecast_run_dlpack(...) see(lanecast_run_dlpack(__VA_ARGS__))
#define lanecast_run_masked(...) see(lanecast_run_masked(__VA_ARGS__))
#define lanecast_scaled_amax(...) see(lanecast_scaled_amax(__VA_ARGS__))
#define lanecast_scaled_create(...) see(lanecast_scaled_create(__VA_ARGS__))
#define lanecast_scaled_create_from(...) see(lanecast_scaled_create_from(__VA_ARGS__))
#define lanecast_scaled_dequantize(...) see(lanecast_scaled_dequantize(__VA_ARGS__))
#define lanecast_scaled_dequantize_min_max(...) see(lanecast_scaled_dequantize_min_max(__VA_ARGS__))
#define lanecast_scaled_describe(...) see(lanecast_scaled_describe(__VA_ARGS__))
#define lanecast_scaled_destroy(...) see(lanecast_scaled_destroy(__VA_ARGS__))
#define lanecast_scaled_finite_amax(...) see(lanecast_scaled_finite_amax(__VA_ARGS__))
#define lanecast_scaled_quantize(...) see(lanecast_scaled_quantize(__VA_ARGS__))
#define lanecast_scaled_quantize_dynamic(...) see(lanecast_scaled_quantize_dynamic(__VA_ARGS__))
#define lanecast_scaled_quantize_dynamic_view(...) see(lanecast_scaled_quantize_dynamic_view(__VA_ARGS__))
#define lanecast_scaled_quantize_min_max(...) see(lanecast_scaled_quantize_min_max(__VA_ARGS__))
#define lanecast_scaled_quantize_with_amax(...) see(lanecast_scaled_quantize_with_amax(__VA_ARGS__))
#define lanecast_scaled_requantize(...) see(lanecast_scaled_requantize(__VA_ARGS__))
#define lanecast_scaled_scheme_named(...) see(lanecast_scaled_scheme_named(__VA_ARGS__))
#define lanecast_type_bytes(...) see(lanecast_type_bytes(__VA_ARGS__))
#define lanecast_type_from_dlpack(...) see(lanecast_type_from_dlpack(__VA_ARGS__))
#define lanecast_type_parse(...) see(lanecast_type_parse(__VA_ARGS__))
#define lanecast_type_to_dlpack(...) see(lanecast_type_to_dlpack(__VA_ARGS__))
#endif

#endif
