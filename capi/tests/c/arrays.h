/* Operands of casts. Included after lanecast.h. C99, and C++ as well. */
#ifndef LANECAST_TESTS_ARRAYS_H
#define LANECAST_TESTS_ARRAYS_H

#include <string.h>

/* Elements that follow each other. */
static inline lanecast_array flat(const void *data, lanecast_type type, size_t n)
{
    lanecast_array out;
    memset(&out, 0, sizeof out);
    out.data = (void *)data;
    out.n = n;
    out.type = type;
    return out;
}

/* An array with a shape; strides may be NULL. */
static inline lanecast_array shaped(const void *data, lanecast_type type, int32_t ndim, const int64_t *shape,
                                    const int64_t *strides)
{
    lanecast_array out = flat(data, type, 0);
    out.ndim = ndim;
    out.shape = shape;
    out.strides = strides;
    return out;
}

#endif
