/* After a fork the threads of the library's pool are in the parent only. The child casts all the same. */
#define _POSIX_C_SOURCE 200809L
#include <lanecast.h>

#include "arrays.h"
#include "check.h"

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Elements: tens of milliseconds of one thread. */
enum { N = 8000000, PATIENCE = 60 };

static float *src;
static uint8_t *dst;
static lanecast_plan plan;

static void cast(const lanecast_threads *threads)
{
    lanecast_error error;
    lanecast_item items[2];
    size_t i, wrong = 0, rejected = 9;
    memset(dst, 0xA5, N);
    CHECK(lanecast_run(&plan, src, dst, N, threads, &error) == LANECAST_OK);
    for (i = 0; i < N; i++) {
        wrong += dst[i] != i % 251;
    }
    items[0].plan = items[1].plan = &plan;
    items[0].src = src;
    items[1].src = src + N / 2;
    items[0].dst = dst;
    items[1].dst = dst + N / 2;
    items[0].n = items[1].n = N / 2;
    memset(dst, 0xA5, N);
    CHECK(lanecast_run_batch(items, 2, threads, &error) == LANECAST_OK);
    for (i = 0; i < N; i++) {
        wrong += dst[i] != i % 251;
    }
    {
        static uint8_t mask[N / 8];
        const lanecast_array from = flat(src, LANECAST_FLOAT32, N), to = flat(dst, LANECAST_UINT8, N);
        CHECK(lanecast_run_masked(&plan, &from, &to, LANECAST_LEVEL_RANGE, mask, &rejected, threads, &error) == LANECAST_OK);
    }
    CHECK(wrong == 0 && rejected == 0);
}

static void in_child(const lanecast_threads *threads, int grandchild)
{
    int status = -1;
    pid_t child;
    fflush(stdout);
    child = fork();
    if (child == 0) {
        /* One that hangs is ended. */
        alarm(PATIENCE);
        failures = 0;
        cast(threads);
        if (grandchild) {
            in_child(threads, 0);
        }
        fflush(stdout);
        _exit(failures != 0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    static const lanecast_threads two = {2, NULL, NULL};
    size_t i;
    src = (float *)malloc(N * sizeof *src);
    dst = (uint8_t *)malloc(N);
    if (src == NULL || dst == NULL) {
        return 1;
    }
    for (i = 0; i < N; i++) {
        src[i] = (float)(i % 251);
    }
    CHECK(lanecast_plan_init(&plan, LANECAST_FLOAT32, LANECAST_UINT8, NULL, NULL) == LANECAST_OK);
    /* Before the pool has threads, and after. */
    in_child(lanecast_pool(), 0);
    cast(lanecast_pool());
    in_child(lanecast_pool(), 1);
    in_child(&two, 0);
    in_child(NULL, 0);
    /* The parent goes on as before. */
    cast(lanecast_pool());
    cast(&two);
    free(src);
    free(dst);
    return report();
}
