/* Counts what the library allocates, and refuses it. glibc: the program's own `malloc` takes the place of that of the C library, in the
 * shared library as well. */
#include <lanecast_dlpack.h>

#include "arrays.h"
#include "check.h"

#include <errno.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

/* Of this thread: whether its allocations are counted and whether they fail, from which one on, and how many there were. */
static _Thread_local int counting, failing;
static _Thread_local size_t counted, failing_from;

static int refused(void)
{
    counted += counting != 0;
    if (counting && failing && counted > failing_from) {
        errno = ENOMEM;
        return 1;
    }
    return 0;
}

void *malloc(size_t size)
{
    return refused() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return refused() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return refused() ? NULL : __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size)
{
    return refused() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *memory = memalign(alignment, size);
    if (memory == NULL) {
        return ENOMEM;
    }
    *out = memory;
    return 0;
}

/* What a call allocates while there is no memory: it may not need any. */
#define ALLOCATES_NOTHING(call, want)                                                                                 \
    do {                                                                                                              \
        lanecast_status status_;                                                                                      \
        counted = 0;                                                                                                  \
        counting = failing = 1;                                                                                       \
        status_ = (call);                                                                                             \
        counting = failing = 0;                                                                                       \
        if (status_ != (want) || counted != 0) {                                                                      \
            printf("%s:%d: %s: status %d, %d allocations\n", __FILE__, __LINE__, #call, (int)status_, (int)counted);  \
            failures++;                                                                                               \
        }                                                                                                             \
    } while (0)

enum { ROWS = 40, COLUMNS = 48, N = ROWS * COLUMNS };

/* Look-up tables that were made. */
static size_t tables;
static uint8_t src[16 * N], dst[16 * N], mask[N / 8 + 1];

/* A count that grows shows that the program's `malloc` is the one in use. */
static void control(void)
{
    lanecast_plan plan;
    lanecast_item item = {&plan, src, dst, 8};
    CHECK(lanecast_plan_init(&plan, LANECAST_FLOAT32, LANECAST_FLOAT16, NULL, NULL) == LANECAST_OK);
    counted = 0;
    counting = 1;
    CHECK(lanecast_run_batch(&item, 1, NULL, NULL) == LANECAST_OK);
    counting = 0;
    CHECK(counted == 1);
}

static void batch(void)
{
    lanecast_plan plan;
    lanecast_error error;
    lanecast_item items[2] = {{&plan, src, dst, 8}, {&plan, src, dst + 16, 8}};
    CHECK(lanecast_plan_init(&plan, LANECAST_FLOAT32, LANECAST_FLOAT16, NULL, NULL) == LANECAST_OK);
    memset(dst, 0xA5, 32);
    counting = failing = 1;
    CHECK(lanecast_run_batch(items, 2, NULL, &error) == LANECAST_ERR_NO_MEMORY);
    counting = failing = 0;
    CHECK(error.status == LANECAST_ERR_NO_MEMORY && strstr(error.message, "memory") != NULL && dst[0] == 0xA5);
    ALLOCATES_NOTHING(lanecast_run_batch(items, 0, NULL, &error), LANECAST_OK);
    /* A list that no memory holds. */
    CHECK(lanecast_run_batch(items, (size_t)-1 / 64, NULL, &error) == LANECAST_ERR_NO_MEMORY);
    CHECK(lanecast_run_batch(items, 2, NULL, &error) == LANECAST_OK && dst[0] != 0xA5);
}

/* The memory of a scaled plan is the library's. */
static void scaled_plans(void)
{
    static const int64_t shape[2] = {4, 64};
    lanecast_scaled_plan *plan = NULL;
    lanecast_scaled_scheme scheme;
    lanecast_error error;
    size_t attempts;
    int named;
    ALLOCATES_NOTHING(lanecast_scaled_scheme_named("nvfp4", &scheme, &error), LANECAST_OK);
    /* The look-up tables, which are kept. */
    CHECK(lanecast_scaled_create(&plan, "nvfp4", LANECAST_FLOAT32, shape, 2, NULL, &error) == LANECAST_OK);
    ALLOCATES_NOTHING(lanecast_scaled_destroy(plan), LANECAST_OK);
    for (named = 0; named < 2; named++) {
        plan = NULL;
        /* Every allocation of the call fails in turn; the last attempt has all that it needs. */
        for (attempts = 0; attempts < 8 && plan == NULL; attempts++) {
            lanecast_status status;
            counted = 0;
            failing_from = attempts;
            counting = failing = 1;
            status = named ? lanecast_scaled_create(&plan, "nvfp4", LANECAST_FLOAT32, shape, 2, NULL, &error)
                           : lanecast_scaled_create_from(&plan, &scheme, LANECAST_FLOAT32, shape, 2, NULL, &error);
            counting = failing = 0;
            failing_from = 0;
            CHECK(status == (plan == NULL ? LANECAST_ERR_NO_MEMORY : LANECAST_OK));
            CHECK(plan != NULL || strstr(error.message, "no memory") != NULL);
        }
        CHECK(attempts == 3 && plan != NULL);
        ALLOCATES_NOTHING(lanecast_scaled_destroy(plan), LANECAST_OK);
    }
}

/* Every kind of run of a pair through `ALLOCATES_NOTHING`; or as they are, with allocations counted: the first plan and the first checked
 * and masked runs of a pair may make a look-up table, which is kept. */
static void one_pair(lanecast_type from, lanecast_type to, int first)
{
    static const int64_t shape[2] = {ROWS, COLUMNS}, columns[2] = {16, 16 * ROWS};
    lanecast_array source = shaped(src, from, 2, shape, NULL), result = shaped(dst, to, 2, shape, NULL);
    lanecast_array read = flat(src, from, N), written = flat(dst, to, N);
    lanecast_plan plan;
    lanecast_error error;
    lanecast_report losses;
    size_t rejected, i;
    const size_t sizes[4] = {0, 1, 33, N};
    if (first) {
        counted = 0;
        counting = 1;
        CHECK(lanecast_plan_init(&plan, from, to, NULL, &error) == LANECAST_OK);
        CHECK(lanecast_run_checked(&plan, &read, &written, LANECAST_LEVEL_RANGE, NULL, &error) == LANECAST_OK);
        CHECK(lanecast_run_masked(&plan, &read, &written, LANECAST_LEVEL_EXACT, mask, &rejected, NULL, &error) == LANECAST_OK);
        counting = 0;
        CHECK(counted <= 12);
        tables += counted;
        return;
    }
    ALLOCATES_NOTHING(lanecast_plan_init(&plan, from, to, NULL, &error), LANECAST_OK);
    ALLOCATES_NOTHING(lanecast_cast(src, from, dst, to, N, NULL, &error), LANECAST_OK);
    for (i = 0; i < 4; i++) {
        size_t n = sizes[i];
        read.n = written.n = n;
        ALLOCATES_NOTHING(lanecast_run(&plan, src, dst, n, NULL, &error), LANECAST_OK);
        ALLOCATES_NOTHING(lanecast_run_checked(&plan, &read, &written, LANECAST_LEVEL_RANGE, NULL, &error), LANECAST_OK);
        ALLOCATES_NOTHING(lanecast_run_masked(&plan, &read, &written, LANECAST_LEVEL_EXACT, mask, &rejected, NULL, &error),
                          LANECAST_OK);
        ALLOCATES_NOTHING(lanecast_run_counted(&plan, &read, &written, LANECAST_LEVEL_EXACT, &losses, NULL, &error), LANECAST_OK);
    }
    /* In C order; and by columns, unless elements are packed. */
    for (i = 0; i < 2; i++) {
        ALLOCATES_NOTHING(lanecast_run_array(&plan, &source, &result, NULL, &error), LANECAST_OK);
        ALLOCATES_NOTHING(lanecast_run_checked(&plan, &source, &result, LANECAST_LEVEL_RANGE, NULL, &error), LANECAST_OK);
        ALLOCATES_NOTHING(lanecast_run_masked(&plan, &source, &result, LANECAST_LEVEL_EXACT, mask, &rejected, NULL, &error),
                          LANECAST_OK);
        ALLOCATES_NOTHING(lanecast_run_counted(&plan, &source, &result, LANECAST_LEVEL_EXACT, &losses, NULL, &error),
                          LANECAST_OK);
        if ((from | to) & LANECAST_TYPE_PACKED) {
            break;
        }
        source.strides = result.strides = columns;
    }
}

static void every_pair(void)
{
    static const lanecast_type forms[3] = {0, LANECAST_TYPE_PACKED, LANECAST_TYPE_BIG};
    lanecast_type from, to;
    int i;
    /* The first element of all fits everywhere but in float8_e8m0fnu, which has no zero. */
    for (from = 0; from < 64; from++) {
        for (to = 0; to < 64; to++) {
            if (lanecast_type_name(from) == NULL || lanecast_type_name(to) == NULL) {
                continue;
            }
            memset(src, from == LANECAST_FLOAT8_E8M0FNU ? 0x7F : 0, sizeof src);
            if (to == LANECAST_FLOAT8_E8M0FNU && from != to) {
                continue;
            }
            for (i = 0; i < 3; i++) {
                one_pair(from | forms[i], to | forms[2 - i], 1);
                one_pair(from | forms[i], to | forms[2 - i], 0);
            }
        }
    }
}

/* A rejection without a message, and other failures with one. */
static void failing_calls(void)
{
    lanecast_plan plan;
    lanecast_error error;
    const lanecast_array from = flat(src, LANECAST_FLOAT32, 8), to = flat(dst, LANECAST_UINT8, 8);
    memset(src, 0xFF, sizeof src);
    CHECK(lanecast_plan_init(&plan, LANECAST_FLOAT32, LANECAST_UINT8, NULL, NULL) == LANECAST_OK);
    ALLOCATES_NOTHING(lanecast_run_checked(&plan, &from, &to, LANECAST_LEVEL_RANGE, NULL, NULL), LANECAST_ERR_REJECTED);
    ALLOCATES_NOTHING(lanecast_run(&plan, NULL, dst, 8, NULL, &error), LANECAST_ERR_NULL_POINTER);
    ALLOCATES_NOTHING(lanecast_run(&plan, src, src + 1, 8, NULL, &error), LANECAST_ERR_OVERLAP);
    ALLOCATES_NOTHING(lanecast_run(&plan, src, dst, (size_t)-1, NULL, &error), LANECAST_ERR_TOO_LARGE);
    ALLOCATES_NOTHING(lanecast_plan_init(&plan, 99, LANECAST_UINT8, NULL, &error), LANECAST_ERR_BAD_TYPE);
}

static void tensors(void)
{
    int64_t shape[2] = {ROWS, COLUMNS}, columns[2] = {1, ROWS};
    DLTensor from, to;
    lanecast_error error;
    memset(&from, 0, sizeof from);
    from.data = src;
    from.device.device_type = kDLCPU;
    from.ndim = 2;
    from.dtype.code = 2;
    from.dtype.bits = 32;
    from.dtype.lanes = 1;
    from.shape = shape;
    to = from;
    to.data = dst;
    to.dtype.bits = 16;
    memset(src, 0, sizeof src);
    ALLOCATES_NOTHING(lanecast_run_dlpack(&from, 0, &to, 0, NULL, NULL, &error), LANECAST_OK);
    from.strides = columns;
    ALLOCATES_NOTHING(lanecast_run_dlpack(&from, 0, &to, 0, NULL, NULL, &error), LANECAST_OK);
}

int main(void)
{
    control();
    batch();
    scaled_plans();
    every_pair();
    printf("%d look-up tables\n", (int)tables);
    failing_calls();
    tensors();
    return report();
}
