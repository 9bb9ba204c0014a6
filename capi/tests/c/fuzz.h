/* What `fuzz.c` draws by chance: numbers, memory between pages that nobody may touch, types, options, threads. */
#ifndef LANECAST_TESTS_FUZZ_H
#define LANECAST_TESTS_FUZZ_H

#include <sys/mman.h>
#include <unistd.h>

static uint64_t state = 0x9E3779B97F4A7C15u;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static size_t below(size_t n)
{
    return (size_t)(draw() >> 11) % n;
}

static int one_in(size_t n)
{
    return below(n) == 0;
}

/* Memory with a page before it and a page behind it that may not be touched. */
typedef struct {
    uint8_t *start;
    /* What is in it before a call. */
    uint8_t *before;
} region;

enum { SIZE = 16384 };

static region new_region(void)
{
    region out;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *memory = mmap(NULL, SIZE + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    out.before = (uint8_t *)malloc(SIZE);
    if (memory == MAP_FAILED || out.before == NULL || SIZE % page != 0 || mprotect(memory, page, PROT_NONE) != 0 ||
        mprotect((uint8_t *)memory + page + SIZE, page, PROT_NONE) != 0) {
        printf("no memory\n");
        exit(1);
    }
    out.start = (uint8_t *)memory + page;
    return out;
}

static void fill(region *of)
{
    /* Bytes by chance, and stretches of small numbers, infinities and NaN. */
    size_t i;
    for (i = 0; i < SIZE; i += 8) {
        uint64_t word = draw();
        switch (word % 8) {
        case 0: word = 0; break;
        case 1: word &= 0x0000001F0000001Fu; break;
        case 2: word |= 0x7FF07FF07FF07FF0u; break;
        default: break;
        }
        memcpy(of->start + i, &word, 8);
    }
    memcpy(of->before, of->start, SIZE);
}

/* A place of so many bytes, often at one end of the region. */
static uint8_t *place_in(const region *in, size_t bytes)
{
    switch (below(4)) {
    case 0: return in->start;
    case 1: return in->start + below(SIZE - bytes + 1);
    default: return in->start + SIZE - bytes;
    }
}

/* Whether all of a region is as before, but for `bytes` bytes from `from` on. */
static int kept(const region *of, const uint8_t *from, size_t bytes)
{
    size_t at = (size_t)(from - of->start);
    return memcmp(of->start, of->before, at) == 0 &&
           memcmp(of->start + at + bytes, of->before + at + bytes, SIZE - at - bytes) == 0;
}

static int unchanged(const region *of)
{
    return kept(of, of->start, 0);
}

static lanecast_type some_type(void)
{
    static const lanecast_type flags[8] = {0, 0, 0, 0, LANECAST_TYPE_PACKED, LANECAST_TYPE_PACKED, LANECAST_TYPE_LITTLE, LANECAST_TYPE_BIG};
    lanecast_type type;
    if (one_in(40)) {
        return (lanecast_type)(draw() >> below(64));
    }
    do {
        type = (lanecast_type)below(64);
    } while (lanecast_type_name(type) == NULL);
    return type | flags[below(8)];
}

static lanecast_options *some_options(lanecast_options *place)
{
    uint8_t bytes[sizeof *place];
    size_t i;
    if (one_in(3)) {
        return NULL;
    }
    memset(bytes, 0, sizeof bytes);
    for (i = 0; i < 11; i++) {
        if (one_in(4)) {
            bytes[i] = (uint8_t)(below(20) == 0 ? below(256) : below(3 + 4 * (i == 6)));
        }
    }
    if (one_in(4)) {
        bytes[11] = (uint8_t)below(6);
    }
    if (one_in(60)) {
        bytes[below(sizeof bytes)] = (uint8_t)draw();
    }
    memcpy(place, bytes, sizeof bytes);
    return place;
}

/* A host that leaves tasks out and runs some twice. */
static void host(void *context, size_t tasks, lanecast_task task, void *task_context)
{
    size_t i, turns = below(2 * tasks + 1);
    (void)context;
    for (i = 0; i < turns; i++) {
        task(task_context, below(tasks));
    }
}

static const lanecast_threads *some_threads(lanecast_threads *place)
{
    place->count = below(5);
    place->run = NULL;
    place->context = NULL;
    switch (below(8)) {
    case 0: return lanecast_pool();
    case 1: return place;
    case 2: place->run = host; return place;
    case 3: place->context = one_in(8) ? place : NULL; return place;
    default: return NULL;
    }
}

#endif
