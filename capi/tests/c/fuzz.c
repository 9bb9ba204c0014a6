/* Every function with arguments by chance, the same ones in every run: fuzz [ROUNDS]. Pointers are NULL or lead to as much memory as the
 * header asks for, all else is arbitrary. Nothing may be touched beyond, nothing written on failure, and results are those of the scalar
 * tier. */
#define _DEFAULT_SOURCE
#include <lanecast_dlpack.h>

#include "arrays.h"
#include "check.h"
#include "fuzz.h"

static region source, target, bitmap, extra;
static uint8_t reference[SIZE];
static lanecast_error error;

/* NULL, or a place that is filled so that a write is seen. */
static lanecast_error *some_error(void)
{
    memset(&error, 0xEE, sizeof error);
    return one_in(6) ? NULL : &error;
}

/* What holds after every call: no defect; the error is filled on failure only. */
static int done(lanecast_status status, const lanecast_error *place)
{
    lanecast_error empty;
    CHECK(status != LANECAST_ERR_BUG && lanecast_status_name(status) != NULL);
    memset(&empty, 0xEE, sizeof empty);
    if (place != NULL && status == LANECAST_OK) {
        CHECK(memcmp(place, &empty, sizeof empty) == 0);
    } else if (place != NULL) {
        CHECK(place->status == status && place->message[0] != 0);
        CHECK(memchr(place->message, 0, sizeof place->message) != NULL);
    }
    return status == LANECAST_OK;
}

/* A plan by chance, and what its results are compared with; 0 if its arguments were wrong. */
typedef struct {
    lanecast_type from, to;
    lanecast_plan plan, scalar;
} cast;

static int some_cast(cast *out)
{
    lanecast_options options, simple;
    lanecast_options *given = some_options(&options);
    lanecast_error *place = some_error();
    lanecast_status status;
    out->from = some_type();
    out->to = some_type();
    memset(&out->plan, 0xA5, sizeof out->plan);
    status = lanecast_plan_init(one_in(200) ? NULL : &out->plan, out->from, out->to, given, place);
    if (!done(status, place)) {
        lanecast_plan empty;
        memset(&empty, 0xA5, sizeof empty);
        CHECK(memcmp(&out->plan, &empty, sizeof empty) == 0);
        return 0;
    }
    memset(&simple, 0, sizeof simple);
    if (given != NULL) {
        simple = *given;
    }
    simple.tier = LANECAST_TIER_SCALAR;
    return lanecast_plan_init(&out->scalar, out->from, out->to, &simple, NULL) == LANECAST_OK;
}

/* Elements and the bytes that they take on both sides, which the regions have; rarely more than memory holds. */
static size_t some_count(const cast *of, size_t *read, size_t *written)
{
    size_t n = one_in(4) ? below(SIZE / 16) : below(80);
    if (one_in(60)) {
        size_t huge = (size_t)-1 >> below(4);
        if (lanecast_type_bytes(of->from, huge, read) == LANECAST_ERR_TOO_LARGE ||
            lanecast_type_bytes(of->to, huge, read) == LANECAST_ERR_TOO_LARGE) {
            *read = *written = 0;
            return huge;
        }
    }
    CHECK(lanecast_type_bytes(of->from, n, read) == LANECAST_OK);
    CHECK(lanecast_type_bytes(of->to, n, written) == LANECAST_OK);
    return n;
}

static void runs(void)
{
    cast of;
    lanecast_threads threads;
    lanecast_error *place;
    lanecast_report report, untouched;
    lanecast_status status;
    size_t read, written, n, rejected = 77, kind = below(4);
    const lanecast_plan *plan;
    uint8_t *src, *dst, *mask;
    region *in = &target;
    uint32_t level = one_in(30) ? (uint32_t)draw() : 1 + (uint32_t)below(3);
    int huge;
    if (!some_cast(&of)) {
        return;
    }
    fill(&source);
    fill(&target);
    fill(&bitmap);
    n = some_count(&of, &read, &written);
    huge = n > SIZE;
    src = place_in(&source, read > written ? read : written);
    dst = place_in(&target, written);
    mask = place_in(&bitmap, huge ? 0 : (n + 7) / 8);
    if (one_in(8)) {
        /* In place, or nearly so. */
        in = &source;
        dst = src;
        if (one_in(2)) {
            src = source.start + below(SIZE - read + 1);
        }
    }
    plan = one_in(100) ? NULL : &of.plan;
    if (one_in(100)) {
        of.plan.opaque[0] ^= 1;
    }
    memset(&report, 0xEE, sizeof report);
    memset(&untouched, 0xEE, sizeof untouched);
    {
        const void *from = one_in(100) ? NULL : src;
        void *to = one_in(100) ? NULL : dst;
        const lanecast_threads *with = some_threads(&threads);
        lanecast_array from_array = flat(from, of.from, n), to_array = flat(to, of.to, n);
        if (one_in(100)) {
            from_array.type = some_type();
        }
        place = some_error();
        switch (kind) {
        case 0:
            status = one_in(2) ? lanecast_run(plan, from, to, n, with, place)
                               : lanecast_run_array(plan, &from_array, &to_array, with, place);
            break;
        case 1: status = lanecast_run_checked(plan, &from_array, &to_array, level, with, place); break;
        case 2:
            status = lanecast_run_masked(plan, &from_array, &to_array, level, one_in(100) ? NULL : mask,
                                         one_in(4) ? NULL : &rejected, with, place);
            break;
        default:
            status = lanecast_run_counted(plan, &from_array, &to_array, level, one_in(100) ? NULL : &report, with, place);
            break;
        }
    }
    CHECK(!huge || status != LANECAST_OK);
    if (done(status, place)) {
        CHECK(lanecast_run(&of.scalar, source.before + (src - source.start), reference, n, NULL, NULL) == LANECAST_OK);
        if (memcmp(reference, dst, written) != 0) {
            printf("%u -> %u, %d elements, kind %d: not what the scalar tier gives\n", (unsigned)of.from, (unsigned)of.to,
                   (int)n, (int)kind);
            failures++;
        }
        CHECK(kept(in, dst, written) && (in == &source || unchanged(&source)));
        CHECK(kind != 3 || report.elements == n);
        CHECK(kind == 2 ? kept(&bitmap, mask, (n + 7) / 8) : unchanged(&bitmap));
    } else if (status == LANECAST_ERR_REJECTED) {
        CHECK(kept(in, dst, written) && (place == NULL || (place->index < n && place->reason > 0)));
    } else {
        CHECK(unchanged(&source) && unchanged(&target) && unchanged(&bitmap) && rejected == 77);
        CHECK(memcmp(&report, &untouched, sizeof report) == 0);
    }
}

static void batches(void)
{
    cast of[4];
    lanecast_item items[4];
    lanecast_threads threads;
    lanecast_error *place = some_error();
    size_t count = below(5), i;
    int made = 0;
    fill(&source);
    fill(&target);
    for (i = 0; i < count; i++) {
        size_t read, written, quarter = SIZE / 4;
        if (!some_cast(&of[i])) {
            return;
        }
        items[i].plan = one_in(60) ? NULL : &of[i].plan;
        items[i].n = some_count(&of[i], &read, &written);
        if (read > quarter || written > quarter) {
            return;
        }
        /* Each has a quarter of the regions. */
        items[i].src = one_in(60) ? NULL : source.start + (i + 1) * quarter - read;
        items[i].dst = one_in(60) ? NULL : target.start + i * quarter;
        made += items[i].n > 0;
    }
    place = some_error();
    if (done(lanecast_run_batch(one_in(100) ? NULL : items, count, some_threads(&threads), place), place)) {
        for (i = 0; i < count; i++) {
            size_t written;
            CHECK(lanecast_type_bytes(of[i].to, items[i].n, &written) == LANECAST_OK);
            if (items[i].n > 0) {
                CHECK(lanecast_run(&of[i].scalar, items[i].src, reference, items[i].n, NULL, NULL) == LANECAST_OK);
                CHECK(memcmp(reference, items[i].dst, written) == 0);
            }
            CHECK(memcmp(target.start + i * (SIZE / 4) + written, target.before + i * (SIZE / 4) + written,
                         SIZE / 4 - written) == 0);
        }
    } else {
        CHECK(unchanged(&target));
        CHECK(place == NULL || place->index < 4);
    }
    CHECK(unchanged(&source) && made >= 0);
}

enum { AXES = 5 };

/* Strides by chance in units of `unit` bytes, and where the first element of `size` bytes has to be so that all of them are in a region; 0
 * if they cannot be. */
static int some_strides(const int64_t *shape, int axes, int64_t size, int64_t unit, int64_t *strides, int64_t *first)
{
    int64_t low = 0, high = size, step = size / unit;
    int i, k, swapped, order[AXES] = {4, 3, 2, 1, 0};
    for (i = AXES - 1; i > 0 && one_in(2); i--) {
        k = (int)below((size_t)i + 1);
        swapped = order[i];
        order[i] = order[k];
        order[k] = swapped;
    }
    for (k = 0; k < AXES; k++) {
        i = order[k];
        if (i < axes) {
            strides[i] = one_in(12) ? (int64_t)below(50) - 25 : one_in(5) ? -step : step;
            step = shape[i] > 0 ? step * shape[i] + (one_in(8) ? (int64_t)below(20) : 0) : step;
        }
    }
    for (i = 0; i < axes; i++) {
        int64_t last = (shape[i] > 0 ? shape[i] - 1 : 0) * strides[i] * unit;
        low += last < 0 ? last : 0;
        high += last > 0 ? last : 0;
    }
    *first = -low + (int64_t)(high - low < SIZE ? below((size_t)(SIZE - (high - low))) : 0);
    return high - low < SIZE;
}

/* Casts element by element into `reference`, which becomes what the whole region has to be. */
static void one_by_one(const cast *of, const lanecast_array *src, const lanecast_array *dst, const int64_t *from_strides,
                       const int64_t *to_strides)
{
    int64_t index[AXES] = {0, 0, 0, 0, 0}, from = (uint8_t *)src->data - source.start, to = (uint8_t *)dst->data - target.start;
    int i;
    memcpy(reference, target.before, SIZE);
    for (i = 0; i < src->ndim; i++) {
        if (src->shape[i] == 0) {
            return;
        }
    }
    for (;;) {
        int64_t a = from, b = to;
        for (i = 0; i < src->ndim; i++) {
            a += index[i] * from_strides[i];
            b += index[i] * to_strides[i];
        }
        CHECK(lanecast_run(&of->scalar, source.before + a, reference + b, 1, NULL, NULL) == LANECAST_OK);
        for (i = src->ndim - 1; i >= 0 && ++index[i] == src->shape[i]; i--) {
            index[i] = 0;
        }
        if (i < 0) {
            return;
        }
    }
}

static void views(void)
{
    cast of;
    int64_t shape[AXES], from_strides[AXES], to_strides[AXES], first[2];
    lanecast_array src, dst;
    lanecast_threads threads;
    lanecast_error *place;
    lanecast_report report;
    lanecast_status status;
    size_t elements = 1, size[2], rejected, kind = below(4);
    int i, packed, axes = (int)below(AXES + 1);
    uint32_t level = one_in(30) ? (uint32_t)draw() : 1 + (uint32_t)below(3);
    if (!some_cast(&of) || lanecast_type_bytes(of.from & 0xFF, 1, &size[0]) != LANECAST_OK ||
        lanecast_type_bytes(of.to & 0xFF, 1, &size[1]) != LANECAST_OK) {
        return;
    }
    fill(&source);
    fill(&target);
    fill(&bitmap);
    for (i = 0; i < axes; i++) {
        shape[i] = (int64_t)(one_in(30) ? 0 : 1 + below(one_in(6) ? 40 : 5));
        elements *= (size_t)shape[i];
    }
    if (elements > SIZE / 16 || !some_strides(shape, axes, (int64_t)size[0], 1, from_strides, &first[0]) ||
        !some_strides(shape, axes, (int64_t)size[1], 1, to_strides, &first[1])) {
        return;
    }
    src = shaped(source.start + first[0], of.from, axes, shape, from_strides);
    dst = shaped(NULL, of.to, axes, shape, to_strides);
    /* Without axes there is one element. */
    src.n = dst.n = 1;
    dst.data = one_in(10) ? source.start + first[1] : target.start + first[1];
    packed = ((of.from | of.to) & LANECAST_TYPE_PACKED) != 0;
    if (packed || one_in(5)) {
        /* In C order, which is what packed elements have. */
        src.strides = dst.strides = NULL;
        src.data = source.start + SIZE - elements * size[0];
        dst.data = target.start;
    }
    /* What the library has to see before it reads anything. */
    if (one_in(40)) {
        shape[0] = -(int64_t)below(1000);
    }
    if (one_in(60)) {
        dst.ndim = one_in(2) ? -1 : axes > 0 ? axes - 1 : 0;
    }
    if (one_in(100)) {
        src.shape = NULL;
    }
    if (one_in(100)) {
        dst.data = NULL;
    }
    place = some_error();
    {
        const lanecast_array *from = one_in(100) ? NULL : &src, *to = one_in(100) ? NULL : &dst;
        uint8_t *mask = bitmap.start + SIZE - (elements + 7) / 8;
        const lanecast_threads *with = some_threads(&threads);
        switch (kind) {
        case 0: status = lanecast_run_array(&of.plan, from, to, with, place); break;
        case 1: status = lanecast_run_checked(&of.plan, from, to, level, with, place); break;
        case 2: status = lanecast_run_masked(&of.plan, from, to, level, mask, &rejected, with, place); break;
        default: status = lanecast_run_counted(&of.plan, from, to, level, &report, with, place); break;
        }
        CHECK(kept(&bitmap, mask, (elements + 7) / 8));
    }
    if (!done(status, place)) {
        CHECK(status == LANECAST_ERR_REJECTED || (unchanged(&source) && unchanged(&target) && unchanged(&bitmap)));
    } else if (dst.data != NULL && ((uint8_t *)dst.data < target.start || (uint8_t *)dst.data > target.start + SIZE)) {
        CHECK(unchanged(&target));
    } else if (src.strides != NULL && axes > 0 && shape[0] >= 0 && dst.ndim == axes && dst.data != NULL) {
        one_by_one(&of, &src, &dst, from_strides, to_strides);
        CHECK(memcmp(reference, target.start, SIZE) == 0 && unchanged(&source));
    } else {
        CHECK(unchanged(&source));
    }
}

static void tensors(void)
{
    int64_t shape[AXES], strides[2][AXES], first;
    size_t elements = 1;
    DLTensor tensor[2];
    lanecast_options options;
    lanecast_threads threads;
    lanecast_error *place;
    lanecast_status status;
    uint64_t flags[2];
    int i, k, axes = (int)below(AXES + 1);
    for (i = 0; i < axes; i++) {
        shape[i] = (int64_t)(one_in(30) ? 0 : 1 + below(one_in(6) ? 40 : 5));
        elements *= (size_t)shape[i];
    }
    if (elements > SIZE / 16) {
        return;
    }
    fill(&source);
    fill(&target);
    for (k = 0; k < 2; k++) {
        region *in = k == 0 ? &source : &target;
        lanecast_type type = some_type() & 0xFF;
        int64_t size;
        memset(&tensor[k], 0, sizeof tensor[k]);
        flags[k] = one_in(3) ? 4 : one_in(20) ? draw() >> 40 : 0;
        if (lanecast_type_to_dlpack(type, &tensor[k].dtype.code, &tensor[k].dtype.bits, &flags[k]) != LANECAST_OK) {
            return;
        }
        flags[k] = one_in(2) ? flags[k] : one_in(4) ? draw() & 7 : flags[k] & 4;
        if (one_in(30)) {
            tensor[k].dtype.code = (uint8_t)below(20);
        }
        tensor[k].dtype.lanes = (uint16_t)(one_in(20) ? below(4) : 1);
        size = (tensor[k].dtype.bits + 7) / 8;
        tensor[k].device.device_type = one_in(30) ? kDLCUDA : kDLCPU;
        tensor[k].ndim = one_in(60) ? -1 : axes;
        tensor[k].shape = one_in(60) ? NULL : shape;
        tensor[k].strides = one_in(3) ? NULL : strides[k];
        if (!some_strides(shape, axes, size, size, strides[k], &first)) {
            return;
        }
        if (tensor[k].strides == NULL) {
            first = (int64_t)(SIZE - elements * (size_t)size);
        }
        tensor[k].data = one_in(60) ? NULL : in->start;
        tensor[k].byte_offset = (uint64_t)first;
    }
    place = some_error();
    status = lanecast_run_dlpack(one_in(100) ? NULL : &tensor[0], flags[0], one_in(100) ? NULL : &tensor[1], flags[1],
                                 some_options(&options), some_threads(&threads), place);
    if (!done(status, place)) {
        CHECK(unchanged(&target));
    }
    CHECK(unchanged(&source));
}

/* Functions of types, names and numbers. */
static void small(void)
{
    static const char *const names[10] = {"float32", "bf16", "f8e4m3fn", "i4", "", "\xFF", "numpy", "torch", "scalar", "x"};
    static char text[512];
    lanecast_type type = 77;
    lanecast_options options;
    lanecast_error *place = some_error();
    cast of;
    uint8_t code = 0, bits = 0;
    uint64_t flags = 0;
    int32_t allowed = 0;
    size_t length = 0, capacity;
    const char *name = one_in(20) ? NULL : names[below(10)];
    switch (below(8)) {
    case 0: done(lanecast_type_parse(name, one_in(20) ? NULL : &type, place), place); break;
    case 1: done(lanecast_options_profile(name, one_in(20) ? NULL : &options, place), place); break;
    case 2: done(lanecast_force_tier(one_in(2) ? NULL : name, place), place); break;
    case 3:
        done(lanecast_promote((uint32_t)below(10), some_type(), some_type(), one_in(20) ? NULL : &type, place), place);
        break;
    case 4:
        done(lanecast_can_cast((uint32_t)below(10), some_type(), some_type(), (uint32_t)below(5),
                               one_in(20) ? NULL : &allowed, place),
             place);
        CHECK(allowed == 0 || allowed == 1);
        break;
    case 5:
        done(lanecast_type_from_dlpack((uint8_t)below(20), (uint8_t)(one_in(3) ? below(256) : 1u << below(8)),
                                       (uint16_t)below(4), draw() & 7, one_in(20) ? NULL : &type),
             NULL);
        break;
    case 6:
        done(lanecast_type_to_dlpack(some_type(), &code, one_in(20) ? NULL : &bits, &flags), NULL);
        break;
    default:
        capacity = below(sizeof text);
        if (some_cast(&of)) {
            place = some_error();
            memset(text, 'x', sizeof text);
            if (done(lanecast_explain(&of.plan, text, capacity, &length, place), place) && capacity > 0) {
                CHECK(strlen(text) == (length < capacity ? length : strlen(text)) && strlen(text) < capacity);
            }
            CHECK(text[capacity] == 'x');
        }
        break;
    }
}

#include "fuzz_scaled.h"

int main(int count, char **arguments)
{
    long rounds = count > 1 ? atol(arguments[1]) : 20000, i;
    source = new_region();
    target = new_region();
    bitmap = new_region();
    extra = new_region();
    for (i = 0; i < rounds && failures == 0; i++) {
        switch (below(10)) {
        case 0: case 1: case 2: runs(); break;
        case 3: batches(); break;
        case 4: case 5: views(); break;
        case 6: tensors(); break;
        case 7: case 8: scaled_casts(); break;
        default: small(); break;
        }
        if (failures > 0) {
            printf("round %ld\n", i);
        }
    }
    free(source.before);
    free(target.before);
    free(bitmap.before);
    free(extra.before);
    return report();
}
