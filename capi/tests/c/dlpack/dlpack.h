/* What the tests need of <dlpack/dlpack.h>: the tensor of DLPack 1.3, written from its specification, as users have the header of
 * https://github.com/dmlc/dlpack. The tests also use that one where it is installed. */
#ifndef LANECAST_TESTS_DLPACK_H
#define LANECAST_TESTS_DLPACK_H

#include <stdint.h>

typedef enum {
    kDLCPU = 1,
    kDLCUDA = 2,
    kDLCUDAHost = 3,
    kDLROCMHost = 11
} DLDeviceType;

typedef struct {
    DLDeviceType device_type;
    int32_t device_id;
} DLDevice;

typedef struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} DLDataType;

typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
} DLTensor;

#endif
