/* Scaled casts of every scheme, compared with what the library answers in Rust: scaled_golden FILE. A line of the file is a cast: the
 * scheme, the numbers of the source's type, of the codes' dtype, of their storage and of random bits, the shape, and then, in hexadecimal, the bytes of the
 * source, of the codes, of the scales, of the report (elements, empty, poisoned, clipped, underflowed, scale of the tensor, squared error), of the
 * largest magnitude, and of the values that come back as float32 and bfloat16. */
#include <lanecast.h>

#include "check.h"

enum { FIELDS = 13, MOST = 1 << 16 };

static char line[16 * MOST];

typedef struct {
    size_t length;
    uint8_t bytes[4 * MOST];
} memory;

static memory src, data, scales, numbers, amax, back, narrow;

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void read_bytes(const char *text, memory *out)
{
    size_t i;
    out->length = strlen(text) / 2;
    if (out->length > sizeof out->bytes) {
        printf("too many bytes\n");
        exit(1);
    }
    for (i = 0; i < out->length; i++) {
        out->bytes[i] = (uint8_t)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
    }
}

static int32_t read_shape(char *text, int64_t *shape)
{
    int32_t axes = 0;
    char *word;
    for (word = strtok(text, ","); word != NULL; word = strtok(NULL, ",")) {
        shape[axes++] = atol(word);
    }
    return axes;
}

/* Compares what a call wrote, with a byte behind it that it may not touch. */
static void compare(const char *what, const memory *want, const uint8_t *got)
{
    if (memcmp(want->bytes, got, want->length) != 0 || got[want->length] != 0xA5) {
        printf("%s: %s: wrong\n", line, what);
        failures++;
    }
}

static void one_cast(char *const *field)
{
    static uint8_t got_data[MOST + 1], got_scales[MOST + 1], got_back[4 * MOST + 1];
    int64_t shape[8];
    int32_t axes = read_shape(field[5], shape);
    lanecast_type from = (lanecast_type)atol(field[1]);
    lanecast_scaled_options options;
    lanecast_scaled_plan *plan = NULL;
    lanecast_scaled_info info;
    lanecast_scaled_report losses, given;
    lanecast_error error;
    uint8_t bytes[6 * 8 + 4];
    float largest, global;
    memset(&options, 0, sizeof options);
    options.element = (lanecast_type)atol(field[2]);
    options.storage = (uint8_t)atol(field[3]);
    options.counts = options.squared_error = 1;
    options.random_bits = (uint8_t)atol(field[4]);
    options.seed = 0x0123456789ABCDEFu;
    options.stream = 5;
    options.first_element = 3;
    read_bytes(field[6], &src);
    read_bytes(field[7], &data);
    read_bytes(field[8], &scales);
    read_bytes(field[9], &numbers);
    read_bytes(field[10], &amax);
    read_bytes(field[11], &back);
    read_bytes(field[12], &narrow);
    if (lanecast_scaled_create(&plan, field[0], from, shape, axes, &options, &error) != LANECAST_OK) {
        printf("%s: %s\n", line, error.message);
        failures++;
        return;
    }
    CHECK(lanecast_scaled_describe(plan, &info, NULL) == LANECAST_OK);
    CHECK(info.source_len == src.length && info.data_len == data.length && info.scales_len == scales.length);

    memset(got_data, 0xA5, sizeof got_data);
    memset(got_scales, 0xA5, sizeof got_scales);
    CHECK(lanecast_scaled_quantize_dynamic(plan, src.bytes, src.length, got_data, info.data_len, got_scales,
                                           info.scales_len, &losses, NULL, &error) == LANECAST_OK);
    compare("codes", &data, got_data);
    compare("scales", &scales, got_scales);
    memcpy(bytes, &losses.elements, 8);
    memcpy(bytes + 8, &losses.empty, 8);
    memcpy(bytes + 16, &losses.poisoned, 8);
    memcpy(bytes + 24, &losses.clipped, 8);
    memcpy(bytes + 32, &losses.underflowed, 8);
    memcpy(bytes + 40, &losses.global, 4);
    memcpy(bytes + 44, &losses.squared_error, 8);
    CHECK(losses.counted == 1 && numbers.length == sizeof bytes && memcmp(bytes, numbers.bytes, sizeof bytes) == 0);

    /* By the scales that are given. */
    memcpy(&global, numbers.bytes + 40, sizeof global);
    memset(got_data, 0xA5, sizeof got_data);
    CHECK(lanecast_scaled_quantize(plan, src.bytes, src.length, scales.bytes, scales.length, global, got_data,
                                   data.length, &given, NULL, &error) == LANECAST_OK);
    CHECK(given.elements == info.elements && given.global == losses.global);

    CHECK(lanecast_scaled_amax(plan, src.bytes, src.length, &largest, NULL, &error) == LANECAST_OK);
    CHECK(amax.length == sizeof largest && memcmp(&largest, amax.bytes, sizeof largest) == 0);

    memset(got_back, 0xA5, sizeof got_back);
    CHECK(lanecast_scaled_dequantize(plan, data.bytes, data.length, scales.bytes, scales.length, global, LANECAST_FLOAT32,
                                     got_back, back.length, NULL, &error) == LANECAST_OK);
    compare("float32", &back, got_back);
    memset(got_back, 0xA5, sizeof got_back);
    CHECK(lanecast_scaled_dequantize(plan, data.bytes, data.length, scales.bytes, scales.length, global,
                                     LANECAST_BFLOAT16, got_back, narrow.length, NULL, &error) == LANECAST_OK);
    compare("bfloat16", &narrow, got_back);
    CHECK(lanecast_scaled_destroy(plan) == LANECAST_OK);
}

int main(int count, char **arguments)
{
    FILE *file = count == 2 ? fopen(arguments[1], "r") : NULL;
    int casts = 0;
    if (file == NULL) {
        printf("no file\n");
        return 1;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        char *field[FIELDS], *at = line;
        int i;
        for (i = 0; i < FIELDS; i++) {
            field[i] = at;
            at += strcspn(at, "\t\n");
            CHECK(*at == (i + 1 < FIELDS ? '\t' : '\n'));
            *at++ = 0;
        }
        one_cast(field);
        casts++;
    }
    fclose(file);
    printf("%d casts\n", casts);
    CHECK(casts == CASTS);
    return report();
}
