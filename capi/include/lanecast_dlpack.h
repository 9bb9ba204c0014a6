/* lanecast: casts of DLPack tensors. Made from the code of the library; do not edit. */

#ifndef LANECAST_DLPACK_H
#define LANECAST_DLPACK_H

#include <dlpack/dlpack.h>
#include "lanecast.h"

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Casts every element of a DLPack tensor to the element at the same place of another tensor of the same shape.
 *
 * Both tensors are in memory that the CPU addresses: `kDLCPU`, `kDLCUDAHost` or `kDLROCMHost`. The flags are the flags of the
 * `DLManagedTensorVersioned` that holds the tensor, or 0. Strides may be NULL (C order), negative, and 0 in the source.
 *
 * Elements of less than 8 bits are packed unless the flags say that they are padded. A packed tensor must be C-contiguous; if the
 * other tensor is not, the last axis of the packed one must fill whole bytes. `lanes` is 1, or 2 for pairs of packed float4, each of
 * which counts as two elements along the last axis.
 *
 * `options` works as in `lanecast_plan_init`, `threads` as in `lanecast_run`. C-contiguous tensors at the same address are cast in place;
 * the memory must have room for the wider side. Other tensors must not overlap, unless every element becomes its own result at
 * its own place. The call borrows the tensors and calls no deleter.
 *
 * Preconditions:
 *
 * `src` and `dst` are NULL or lead to tensors whose shapes, and strides that are not NULL, have `ndim` numbers. All elements of `src` are readable
 * and all elements of `dst` are writable, and nothing else writes `src` or accesses `dst` until the call returns. `options` and `threads` are
 * NULL or can be read, `error` is NULL or can be written.
 */
LANECAST_API
lanecast_status lanecast_run_dlpack(const DLTensor *src,
                                    uint64_t src_flags,
                                    const DLTensor *dst,
                                    uint64_t dst_flags,
                                    const lanecast_options *options,
                                    const lanecast_threads *threads,
                                    lanecast_error *error)
LANECAST_NOEXCEPT;

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LANECAST_DLPACK_H */
