"""Casts between every pair of numeric dtypes, each element rounded once from its exact value.

`astype` takes arrays of NumPy (with the dtypes of ml_dtypes), PyTorch and JAX, and others that have `__dlpack__`; it returns an array
of the same library. None of these packages is needed to import this one.

    >>> import numpy as np
    >>> import lanecast
    >>> lanecast.astype(np.array([1.5, 300.0]), "int8", float_to_int="saturate")
    array([  1, 127], dtype=int8)
"""

from ._errors import DTypeError, Error, LossError, OverlapError, PromotionError
from ._lanecast import (
    Buffer,
    DType,
    FInfo,
    IInfo,
    Report,
    __version__,
    astype,
    astype_masked,
    bfloat16,
    bool,
    can_cast,
    cast_buffer,
    complex64,
    complex128,
    count_losses,
    explain,
    finfo,
    float4_e2m1fn,
    float6_e2m3fn,
    float6_e3m2fn,
    float8_e3m4,
    float8_e4m3,
    float8_e4m3b11fnuz,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    force_tier,
    format,
    iinfo,
    int2,
    int4,
    int8,
    int16,
    int32,
    int64,
    isdtype,
    num_threads,
    pack,
    parse,
    promote_types,
    result_type,
    set_num_threads,
    tier,
    uint2,
    uint4,
    uint8,
    uint16,
    uint32,
    uint64,
    unpack,
)

#: All dtypes, in the order of their codes.
dtypes = (
    bool, int2, int4, int8, int16, int32, int64, uint2, uint4, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64,
    complex64, complex128, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu, float8_e3m4, float8_e4m3,
    float8_e4m3b11fnuz, float6_e2m3fn, float6_e3m2fn, float4_e2m1fn,
)  # fmt: skip

__all__ = [
    "Buffer",
    "DType",
    "DTypeError",
    "Error",
    "FInfo",
    "IInfo",
    "LossError",
    "OverlapError",
    "PromotionError",
    "Report",
    "astype",
    "astype_masked",
    "can_cast",
    "cast_buffer",
    "count_losses",
    "dtypes",
    "explain",
    "finfo",
    "force_tier",
    "iinfo",
    "isdtype",
    "num_threads",
    "pack",
    "promote_types",
    "result_type",
    "set_num_threads",
    "tier",
    "unpack",
]
