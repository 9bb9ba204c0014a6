/* DLPack tensors: layouts, packed elements, devices, and what is wrong with tensors. C99, and C++ as well. */
#include <lanecast_dlpack.h>

#include "check.h"

#if defined(INSTALLED_DLPACK) && defined(LANECAST_TESTS_DLPACK_H)
#error "this is the header of the tests"
#endif

/* Of DLPack 1.3; older headers lack some of these. */
enum { INT = 0, UINT = 1, FLOAT = 2, BFLOAT = 4, FLOAT4 = 17, READ_ONLY = 1, COPIED = 2, PADDED = 4 };

static DLTensor tensor(void *data, int code, int bits, int32_t ndim, int64_t *shape, int64_t *strides)
{
    DLTensor out;
    memset(&out, 0, sizeof out);
    out.data = data;
    out.device.device_type = kDLCPU;
    out.ndim = ndim;
    out.dtype.code = (uint8_t)code;
    out.dtype.bits = (uint8_t)bits;
    out.dtype.lanes = 1;
    out.shape = shape;
    out.strides = strides;
    return out;
}

static lanecast_error error;

static lanecast_status cast(const DLTensor *src, uint64_t src_flags, const DLTensor *dst, uint64_t dst_flags)
{
    memset(&error, 0, sizeof error);
    return lanecast_run_dlpack(src, src_flags, dst, dst_flags, NULL, NULL, &error);
}

static void layouts(void)
{
    int16_t src[7] = {99, 1, 2, 300, 4, 5, -6};
    uint8_t dst[6] = {0, 0, 0, 0, 0, 0};
    double wide[6];
    /* 2 x 3 in C order, read as 3 x 2; then backwards; then one row twice. */
    int64_t shape[3] = {3, 1, 2}, turned[3] = {1, 77, 3}, back[1] = {-1}, six[1] = {6}, one[1] = {0}, c_order[3] = {2, 2, 1};
    DLTensor from = tensor(src, INT, 16, 3, shape, turned), to = tensor(dst, UINT, 8, 3, shape, NULL);
    lanecast_options options;
    from.byte_offset = 2;
    CHECK(cast(&from, COPIED, &to, 0) == LANECAST_OK);
    CHECK(dst[0] == 1 && dst[1] == 4 && dst[2] == 2 && dst[3] == 5 && dst[4] == 44 && dst[5] == 250);
    memset(&options, 0, sizeof options);
    options.int_to_int = LANECAST_INT_OVERFLOW_SATURATE;
    CHECK(lanecast_run_dlpack(&from, 0, &to, 0, &options, NULL, &error) == LANECAST_OK);
    CHECK(dst[4] == 255 && dst[5] == 0);
    options.int_to_int = 3;
    CHECK(lanecast_run_dlpack(&from, 0, &to, 0, &options, NULL, NULL) == LANECAST_ERR_BAD_OPTION);
    CHECK(lanecast_run_dlpack(&from, READ_ONLY, &to, 0, NULL, lanecast_pool(), &error) == LANECAST_OK);
    /* C-contiguous, by strides and without. */
    from.strides = c_order;
    CHECK(cast(&from, 0, &to, 0) == LANECAST_OK && dst[1] == 2 && dst[2] == 44 && dst[3] == 4);
    from = tensor(src, INT, 16, 1, six, back);
    from.byte_offset = 12;
    to = tensor(wide, FLOAT, 64, 1, six, NULL);
    CHECK(cast(&from, 0, &to, 0) == LANECAST_OK && wide[0] == -6.0 && wide[5] == 1.0);
    from.strides = one;
    from.byte_offset = 6;
    CHECK(cast(&from, 0, &to, 0) == LANECAST_OK && wide[0] == 300.0 && wide[5] == 300.0);
    /* No axis is one element; a length of 0 is none, and needs no memory. */
    from = tensor(src + 3, INT, 16, 0, NULL, NULL);
    to = tensor(wide + 1, FLOAT, 64, 0, NULL, NULL);
    wide[2] = 7.0;
    CHECK(cast(&from, 0, &to, 0) == LANECAST_OK && wide[1] == 300.0 && wide[2] == 7.0);
    six[0] = 0;
    from = tensor(NULL, INT, 16, 1, six, back);
    to = tensor(NULL, FLOAT, 64, 1, six, NULL);
    CHECK(cast(&from, 0, &to, 0) == LANECAST_OK);
    /* In place, where the memory has room for the wider side. */
    six[0] = 3;
    memcpy(wide, src + 1, 6);
    from = tensor(wide, INT, 16, 1, six, NULL);
    to = tensor(wide, FLOAT, 64, 1, six, NULL);
    CHECK(cast(&from, 0, &to, 0) == LANECAST_OK && wide[0] == 1.0 && wide[1] == 2.0 && wide[2] == 300.0);
}

static void packed(void)
{
    /* -2, 5, 7, -8, 1: the first in the low bits. */
    uint8_t nibbles[3] = {0x5E, 0x87, 0x01}, out[3] = {0xA5, 0xA5, 0xA5}, pairs[2] = {0x21, 0x74};
    int8_t bytes[6] = {9, 9, 9, 9, 9, 9};
    float floats[4] = {0, 0, 0, 0};
    int64_t five[1] = {5}, rows[2] = {5, 1}, two[2] = {2, 1}, four[2] = {2, 2}, down[2] = {1, 2}, up[2] = {1, 2};
    int64_t three[2] = {2, 3}, three_by_two[2] = {3, 2};
    DLTensor from = tensor(nibbles, INT, 4, 1, five, NULL), to = tensor(bytes, INT, 8, 1, five, NULL);
    CHECK(cast(&from, 0, &to, 0) == LANECAST_OK);
    CHECK(bytes[0] == -2 && bytes[1] == 5 && bytes[2] == 7 && bytes[3] == -8 && bytes[4] == 1 && bytes[5] == 9);
    /* Rows share bytes as well. */
    from = tensor(bytes, INT, 8, 2, rows, NULL);
    to = tensor(out, INT, 4, 2, rows, NULL);
    CHECK(cast(&from, 0, &to, 0) == LANECAST_OK && out[0] == 0x5E && out[1] == 0x87 && (out[2] & 0x0F) == 1);
    /* One element in each byte. */
    from = tensor(bytes, INT, 8, 1, five, NULL);
    to = tensor(floats, INT, 4, 1, five, NULL);
    CHECK(cast(&from, 0, &to, PADDED) == LANECAST_OK && ((uint8_t *)floats)[0] == 0x0E && ((uint8_t *)floats)[4] == 0x01);
    /* Pairs of float4: 0.5 1 2 6. The last axis has two elements for each. */
    from = tensor(pairs, FLOAT4, 4, 2, two, NULL);
    from.dtype.lanes = 2;
    to = tensor(floats, FLOAT, 32, 2, four, NULL);
    CHECK(cast(&from, 0, &to, 0) == LANECAST_OK);
    CHECK(floats[0] == 0.5f && floats[1] == 1.0f && floats[2] == 2.0f && floats[3] == 6.0f);
    to.strides = up;
    CHECK(cast(&from, 0, &to, 0) == LANECAST_OK && floats[0] == 0.5f && floats[1] == 2.0f && floats[2] == 1.0f);
    to.shape = two;
    CHECK(cast(&from, 0, &to, 0) == LANECAST_ERR_BAD_LAYOUT && strstr(error.message, "axis 1 has 2 elements") != NULL);
    CHECK(cast(&from, PADDED, &to, 0) == LANECAST_ERR_BAD_TYPE && strstr(error.message, "pairs") != NULL);
    from.ndim = to.ndim = 0;
    CHECK(cast(&from, 0, &to, 0) == LANECAST_ERR_BAD_LAYOUT);
    from = tensor(nibbles, INT, 4, 2, four, down);
    to = tensor(bytes, INT, 8, 2, four, NULL);
    CHECK(cast(&from, 0, &to, 0) == LANECAST_ERR_BAD_LAYOUT && strstr(error.message, "source has packed") != NULL);
    CHECK(cast(&from, PADDED, &to, 0) == LANECAST_OK && bytes[0] == -2 && bytes[1] == 1 && bytes[2] == 7);
    /* Rows of three: the second begins within a byte, which is beside a tensor without C order. */
    from = tensor(nibbles, INT, 4, 2, three, NULL);
    to = tensor(bytes, INT, 8, 2, three, up);
    CHECK(cast(&from, 0, &to, 0) == LANECAST_ERR_BAD_LAYOUT);
    /* One row may end anywhere. */
    from = tensor(nibbles, INT, 4, 1, three_by_two, NULL);
    to = tensor(bytes, INT, 8, 1, three_by_two, three_by_two + 1);
    CHECK(cast(&from, 0, &to, 0) == LANECAST_OK && bytes[0] == -2 && bytes[2] == 5 && bytes[4] == 7);
}

static void devices(void)
{
    float src[2] = {1.0f, 2.0f};
    uint16_t dst[2] = {9, 9};
    int64_t shape[1] = {2};
    const int host[3] = {kDLCPU, kDLCUDAHost, kDLROCMHost};
    DLTensor from = tensor(src, FLOAT, 32, 1, shape, NULL), to = tensor(dst, BFLOAT, 16, 1, shape, NULL);
    int i;
    for (i = 0; i < 3; i++) {
        from.device.device_type = to.device.device_type = (DLDeviceType)host[i];
        CHECK(cast(&from, 0, &to, 0) == LANECAST_OK && dst[0] == 0x3F80 && dst[1] == 0x4000);
    }
    from.device.device_type = kDLCUDA;
    CHECK(cast(&from, 0, &to, 0) == LANECAST_ERR_BAD_DEVICE && strstr(error.message, "source is on a device of type 2") != NULL);
    from.device.device_type = kDLCPU;
    to.device.device_type = (DLDeviceType)10;
    dst[0] = 9;
    CHECK(cast(&from, 0, &to, 0) == LANECAST_ERR_BAD_DEVICE && strstr(error.message, "destination") != NULL && dst[0] == 9);
}

static void refused(void)
{
    float src[4] = {1.0f, 2.0f, 3.0f, 4.0f};
    uint8_t dst[4] = {9, 9, 9, 9};
    int64_t shape[2] = {2, 2}, other[2] = {4, 1}, again[2] = {0, 1}, bad[2] = {-2, 2}, step[2] = {1, 2};
    int64_t large[2] = {INT64_MAX, 4}, ones[70], far_away[2] = {INT64_MAX, 1};
    DLTensor from = tensor(src, FLOAT, 32, 2, shape, NULL), to = tensor(dst, UINT, 8, 2, shape, NULL), wrong;
    int i;
    CHECK(cast(NULL, 0, &to, 0) == LANECAST_ERR_NULL_POINTER && strstr(error.message, "source") != NULL);
    CHECK(cast(&from, 0, NULL, 0) == LANECAST_ERR_NULL_POINTER && strstr(error.message, "destination") != NULL);
    CHECK(cast(&from, 8, &to, 0) == LANECAST_ERR_BAD_OPTION && strstr(error.message, "0x8") != NULL);
    CHECK(cast(&from, 0, &to, READ_ONLY) == LANECAST_ERR_BAD_OPTION && strstr(error.message, "read-only") != NULL);
    wrong = from;
    wrong.data = NULL;
    CHECK(cast(&wrong, 0, &to, 0) == LANECAST_ERR_NULL_POINTER && strstr(error.message, "DLTensor.data") != NULL);
    wrong = from;
    wrong.shape = NULL;
    CHECK(cast(&wrong, 0, &to, 0) == LANECAST_ERR_NULL_POINTER && strstr(error.message, "DLTensor.shape") != NULL);
    wrong = from;
    wrong.dtype.bits = 31;
    CHECK(cast(&wrong, 0, &to, 0) == LANECAST_ERR_BAD_TYPE && strstr(error.message, "31 bits") != NULL);
    wrong = from;
    wrong.dtype.lanes = 4;
    CHECK(cast(&wrong, 0, &to, 0) == LANECAST_ERR_BAD_TYPE && strstr(error.message, "lanes") != NULL);
    wrong.dtype.lanes = 0;
    CHECK(cast(&wrong, 0, &to, 0) == LANECAST_ERR_BAD_TYPE);
    wrong = from;
    wrong.ndim = -1;
    CHECK(cast(&wrong, 0, &to, 0) == LANECAST_ERR_BAD_LAYOUT && strstr(error.message, "-1 axes") != NULL);
    wrong.ndim = 1;
    CHECK(cast(&wrong, 0, &to, 0) == LANECAST_ERR_BAD_LAYOUT && strstr(error.message, "1 axes") != NULL);
    wrong = from;
    wrong.shape = other;
    CHECK(cast(&wrong, 0, &to, 0) == LANECAST_ERR_BAD_LAYOUT && strstr(error.message, "axis 0 has 4") != NULL);
    wrong.shape = bad;
    CHECK(cast(&wrong, 0, &to, 0) == LANECAST_ERR_BAD_LAYOUT && strstr(error.message, "length -2") != NULL);
    wrong.shape = large;
    CHECK(cast(&wrong, 0, &to, 0) == LANECAST_ERR_TOO_LARGE);
    wrong = from;
    wrong.strides = far_away;
    CHECK(cast(&wrong, 0, &to, 0) == LANECAST_ERR_BAD_LAYOUT && strstr(error.message, "stride") != NULL);
    wrong = to;
    wrong.strides = again;
    CHECK(cast(&from, 0, &wrong, 0) == LANECAST_ERR_BAD_LAYOUT);
    /* In another order, the source would be overwritten before it is read. */
    wrong = tensor(src, UINT, 32, 2, shape, step);
    CHECK(cast(&from, 0, &wrong, 0) == LANECAST_ERR_OVERLAP);
    wrong = to;
    wrong.data = src;
    wrong.byte_offset = 4;
    CHECK(cast(&from, 0, &wrong, 0) == LANECAST_ERR_OVERLAP && src[1] == 2.0f);
    /* Axes of length 1 do not count. */
    for (i = 0; i < 70; i++) {
        ones[i] = 1;
    }
    from = tensor(src, FLOAT, 32, 70, ones, NULL);
    to = tensor(dst, UINT, 8, 70, ones, NULL);
    CHECK(cast(&from, 0, &to, 0) == LANECAST_OK && dst[0] == 1 && dst[1] == 9);
    for (i = 0; i < 70; i++) {
        ones[i] = i == 0 ? 0 : 2;
    }
    CHECK(cast(&from, 0, &to, 0) == LANECAST_ERR_BAD_LAYOUT && strstr(error.message, "64 axes") != NULL);
    CHECK(dst[1] == 9);
    ones[0] = 2;
    CHECK(cast(&from, 0, &to, 0) == LANECAST_ERR_TOO_LARGE);
}

int main(void)
{
    layouts();
    packed();
    devices();
    refused();
    return report();
}
