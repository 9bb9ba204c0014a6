/* Casts what `vectors.tsv` has and compares the results: vectors FILE, or vectors LIBRARY FILE if it is compiled with OPENED, and then
 * opens the shared library at run time, twice. Elements are cast as the host has them, and from and to every other form of theirs. */
#include <lanecast.h>

#include "check.h"

#ifdef OPENED
#include <dlfcn.h>
#endif

enum { MOST = 64, BYTES = 16 * MOST };

/* The functions in use. */
static struct {
    lanecast_status (*parse)(const char *, lanecast_type *, lanecast_error *);
    lanecast_status (*bytes)(lanecast_type, size_t, size_t *);
    lanecast_status (*init)(lanecast_plan *, lanecast_type, lanecast_type, const lanecast_options *, lanecast_error *);
    lanecast_status (*run)(const lanecast_plan *, const void *, void *, size_t, const lanecast_threads *, lanecast_error *);
    const char *(*name)(lanecast_type);
} api;

#ifdef OPENED
static void load(void *library, const char *symbol, void *place, size_t size)
{
    void *found = dlsym(library, symbol);
    if (found == NULL || size != sizeof found) {
        printf("no %s\n", symbol);
        exit(1);
    }
    memcpy(place, &found, size);
}

static void *open_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        printf("%s\n", dlerror());
        exit(1);
    }
    load(library, "lanecast_type_parse", &api.parse, sizeof api.parse);
    load(library, "lanecast_type_bytes", &api.bytes, sizeof api.bytes);
    load(library, "lanecast_plan_init", &api.init, sizeof api.init);
    load(library, "lanecast_run", &api.run, sizeof api.run);
    load(library, "lanecast_type_name", &api.name, sizeof api.name);
    return library;
}
#endif

/* Elements as numbers: bit `i` of one is bit `i % 8` of byte `i / 8`. */
typedef struct {
    lanecast_type type;
    int bits;
    int complex;
    size_t count;
    uint8_t codes[MOST][16];
} elements;

static void type_of(const char *name, elements *out)
{
    size_t packed = 0;
    if (api.parse(name, &out->type, NULL) != LANECAST_OK) {
        printf("no type %s\n", name);
        exit(1);
    }
    /* 64 elements take 8 bytes for each bit. */
    CHECK(api.bytes(out->type | LANECAST_TYPE_PACKED, 64, &packed) == LANECAST_OK);
    out->bits = (int)(packed / 8);
    out->complex = strncmp(name, "complex", 7) == 0;
}

static int digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static void read_codes(char *text, elements *out)
{
    char *word;
    out->count = 0;
    for (word = strtok(text, " \n"); word != NULL; word = strtok(NULL, " \n")) {
        size_t length = strlen(word), i;
        uint8_t *code = out->codes[out->count];
        if (out->count == MOST || length > 32) {
            printf("too many codes, or too long ones\n");
            exit(1);
        }
        memset(code, 0, 16);
        for (i = 0; i < length; i++) {
            code[i / 2] = (uint8_t)(code[i / 2] | digit(word[length - 1 - i]) << i % 2 * 4);
        }
        out->count++;
    }
}

static int host_is_big(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 0;
}

/* The elements in memory, in the form that the flags of a type name; the bytes that they take. */
static size_t store(const elements *from, lanecast_type flags, uint8_t *memory)
{
    size_t i, width = (size_t)(from->bits + 7) / 8, part = from->complex ? width / 2 : width;
    int big = flags & LANECAST_TYPE_BIG ? 1 : flags & LANECAST_TYPE_LITTLE ? 0 : host_is_big();
    if (flags & LANECAST_TYPE_PACKED && from->bits < 8) {
        size_t bits = (size_t)from->bits, bit;
        memset(memory, 0, BYTES);
        for (i = 0; i < from->count * bits; i++) {
            bit = (size_t)from->codes[i / bits][0] >> i % bits & 1;
            memory[i / 8] = (uint8_t)(memory[i / 8] | bit << i % 8);
        }
        return (from->count * bits + 7) / 8;
    }
    for (i = 0; i < from->count * width; i++) {
        size_t at = i % width, within = at % part;
        memory[i] = from->codes[i / width][at - within + (big ? part - 1 - within : within)];
    }
    return from->count * width;
}

static void compare(const elements *from, const elements *to)
{
    static const lanecast_type forms[4] = {0, LANECAST_TYPE_PACKED, LANECAST_TYPE_LITTLE, LANECAST_TYPE_BIG};
    static uint8_t src[BYTES], want[BYTES], got[BYTES + 1];
    int i, k;
    for (i = 0; i < 4; i++) {
        for (k = 0; k < 4; k++) {
            lanecast_plan plan;
            lanecast_error error;
            size_t length, bytes = 0;
            store(from, forms[i], src);
            length = store(to, forms[k], want);
            memset(got, 0xA5, sizeof got);
            CHECK(api.bytes(to->type | forms[k], to->count, &bytes) == LANECAST_OK && bytes == length);
            if (api.init(&plan, from->type | forms[i], to->type | forms[k], NULL, &error) != LANECAST_OK ||
                api.run(&plan, src, got, from->count, NULL, &error) != LANECAST_OK) {
                printf("%s\n", error.message);
                failures++;
            }
            if (memcmp(got, want, length) != 0 || got[length] != 0xA5) {
                printf("%s -> %s, forms %d and %d: wrong\n", api.name(from->type), api.name(to->type), i, k);
                failures++;
            }
        }
    }
}

static void all(const char *path)
{
    static char line[4096];
    static elements from, to;
    int pairs = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        printf("no file %s\n", path);
        exit(1);
    }
    while (fgets(line, sizeof line, file) != NULL) {
        char *codes = strchr(line, '\t'), *source = line[0] == '>' ? NULL : line;
        if (line[0] == '#' || codes == NULL) {
            continue;
        }
        *codes++ = 0;
        if (source != NULL) {
            type_of(source, &from);
            read_codes(codes, &from);
        } else {
            type_of(line + 1, &to);
            read_codes(codes, &to);
            CHECK(to.count == from.count && to.count > 0);
            compare(&from, &to);
            pairs++;
        }
    }
    fclose(file);
    printf("%d pairs\n", pairs);
    CHECK(pairs == PAIRS);
}

int main(int count, char **arguments)
{
#ifdef OPENED
    int turn;
    if (count != 3) {
        return 2;
    }
    for (turn = 0; turn < 2; turn++) {
        void *library = open_library(arguments[1]);
        all(arguments[2]);
        CHECK(dlclose(library) == 0);
    }
#else
    if (count != 2) {
        return 2;
    }
    api.parse = lanecast_type_parse;
    api.bytes = lanecast_type_bytes;
    api.init = lanecast_plan_init;
    api.run = lanecast_run;
    api.name = lanecast_type_name;
    all(arguments[1]);
#endif
    return report();
}
