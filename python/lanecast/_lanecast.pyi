"""The native module. Use ``lanecast``, which re-exports its names."""

import os
import sys
from builtins import bool as bool_
from collections.abc import Iterable, Sequence
from typing import Any, Literal, Self, SupportsIndex, TypeAlias, TypeVar, final, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer as _Bytes

__version__: str

_Array: TypeAlias = Any
"""A NumPy, PyTorch or JAX array, or any other object with ``__dlpack__``."""
_DTypeLike: TypeAlias = Any
"""A ``DType``, ``numpy.dtype``, scalar class, ``torch.dtype`` or full name."""
_ArrayT = TypeVar("_ArrayT")
_OutT = TypeVar("_OutT")
_Order: TypeAlias = Literal["K", "C", "F", "A"]
_Casting: TypeAlias = Literal["no", "equiv", "lossless", "safe", "same_kind", "unsafe"]
_Profile: TypeAlias = Literal["numpy", "torch", "jax", "onnx", "rust", "cuda"]
_Level: TypeAlias = Literal["range", "underflow", "exact"]
_Standard: TypeAlias = Literal[
    "mindspore", "megengine", "megengine_core", "array_api", "numpy", "torch", "jax", "jax_strict", "onnx"
]
_Saturate: TypeAlias = Literal["on", "off", "fn_only"] | bool_
_E8M0Round: TypeAlias = Literal["up", "down", "nearest"]
_E8M0Range: TypeAlias = Literal["exact", "rounded", "magnitude"]
_IntOverflow: TypeAlias = Literal["saturate", "wrap"]
_IntRound: TypeAlias = Literal["toward_zero", "nearest_even", "nearest_away", "floor", "ceil"]
_FloatRound: TypeAlias = Literal["nearest_even", "nearest_away", "toward_zero", "up", "down", "to_odd"]

@final
class DType:
    @property
    def name(self) -> str: ...
    @property
    def bits(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def code(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def numpy(self) -> Any: ...
    @property
    def dtype(self) -> Any: ...
    @property
    def torch(self) -> Any: ...
    def __reduce__(self) -> str: ...
    def __eq__(self, other: object, /) -> bool_: ...
    def __hash__(self) -> int: ...

@final
class Buffer:
    @property
    def dtype(self) -> DType: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def packed(self) -> bool_: ...
    @property
    def importers(self) -> tuple[str, ...]: ...
    @classmethod
    def from_bytes(
        cls,
        data: _Bytes,
        dtype: _DTypeLike,
        shape: int | Sequence[int],
        packed: bool_ = False,
        order: Literal["=", "<", ">"] = "=",
    ) -> Self: ...
    def numpy(self) -> Any: ...
    def __reduce_ex__(self, protocol: SupportsIndex, /) -> tuple[Any, ...]: ...
    def __len__(self) -> int: ...
    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool_ | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    if sys.version_info >= (3, 12):
        def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class Report:
    def __new__(
        cls,
        *,
        elements: int = 0,
        saturated: int = 0,
        wrapped: int = 0,
        overflowed_to_infinity: int = 0,
        became_nan: int = 0,
        nan_lost: int = 0,
        imaginary_dropped: int = 0,
        underflowed_to_zero: int = 0,
        inexact: int = 0,
    ) -> Self: ...
    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, int]]: ...
    @property
    def elements(self) -> int: ...
    @property
    def saturated(self) -> int: ...
    @property
    def wrapped(self) -> int: ...
    @property
    def overflowed_to_infinity(self) -> int: ...
    @property
    def became_nan(self) -> int: ...
    @property
    def nan_lost(self) -> int: ...
    @property
    def imaginary_dropped(self) -> int: ...
    @property
    def underflowed_to_zero(self) -> int: ...
    @property
    def inexact(self) -> int: ...
    @property
    def out_of_range(self) -> int: ...
    @property
    def is_clean(self) -> bool_: ...
    def as_dict(self) -> dict[str, int]: ...
    def __add__(self, other: Report, /) -> Report: ...
    def __radd__(self, other: Report, /) -> Report: ...
    def __eq__(self, other: object, /) -> bool_: ...
    def __ne__(self, other: object, /) -> bool_: ...
    def __hash__(self) -> int: ...

@final
class FInfo:
    @property
    def dtype(self) -> DType: ...
    @property
    def bits(self) -> int: ...
    @property
    def eps(self) -> float: ...
    @property
    def epsneg(self) -> float: ...
    @property
    def max(self) -> float: ...
    @property
    def min(self) -> float: ...
    @property
    def smallest_normal(self) -> float: ...
    @property
    def smallest_subnormal(self) -> float: ...
    @property
    def exponent_bits(self) -> int: ...
    @property
    def mantissa_bits(self) -> int: ...
    @property
    def bias(self) -> int: ...
    def __reduce__(self) -> tuple[Any, tuple[DType]]: ...
    def __eq__(self, other: object, /) -> bool_: ...
    def __ne__(self, other: object, /) -> bool_: ...
    def __hash__(self) -> int: ...

@final
class IInfo:
    @property
    def dtype(self) -> DType: ...
    @property
    def bits(self) -> int: ...
    @property
    def max(self) -> int: ...
    @property
    def min(self) -> int: ...
    def __reduce__(self) -> tuple[Any, tuple[DType]]: ...
    def __eq__(self, other: object, /) -> bool_: ...
    def __ne__(self, other: object, /) -> bool_: ...
    def __hash__(self) -> int: ...

@final
class TensorFile:
    def __new__(cls, path: str | os.PathLike[str], /) -> Self: ...
    def tensors(
        self,
    ) -> list[tuple[str, DType | None, str, list[int] | None, int | None, int | None, bool_, bool_, bool_]]: ...
    def metadata(self) -> list[tuple[str, str]]: ...
    def read(self, index: int, /) -> bytes: ...
    def check_plain(self, index: int, /) -> None: ...

def save_tensors(
    path: str | os.PathLike[str],
    tensors: Sequence[tuple[str, _Array]],
    metadata: Sequence[tuple[str, str]],
    overwrite: bool_,
    /,
) -> None: ...
@overload
def astype(
    x: NDArray[Any],
    dtype: _DTypeLike,
    /,
    *,
    copy: bool_ = True,
    order: _Order = "K",
    out: None = None,
    casting: _Casting = "unsafe",
    profile: _Profile | None = None,
    check: _Level | None = None,
    threads: int | None = None,
    saturate: _Saturate = ...,
    e8m0_round: _E8M0Round = ...,
    e8m0_range: _E8M0Range = ...,
    float_to_int: _IntOverflow = ...,
    int_to_int: _IntOverflow = ...,
    int_round: _IntRound = ...,
    float_round: _FloatRound = ...,
    e5m2_nan: Literal["7e", "7f"] | int = ...,
    nan_to_finite: Literal["zero", "max"] = ...,
    fnuz_inf: Literal["max", "nan"] = ...,
) -> NDArray[Any]: ...
@overload
def astype(
    x: _ArrayT,
    dtype: _DTypeLike,
    /,
    *,
    copy: bool_ = True,
    order: _Order = "K",
    out: None = None,
    casting: _Casting = "unsafe",
    profile: _Profile | None = None,
    check: _Level | None = None,
    threads: int | None = None,
    saturate: _Saturate = ...,
    e8m0_round: _E8M0Round = ...,
    e8m0_range: _E8M0Range = ...,
    float_to_int: _IntOverflow = ...,
    int_to_int: _IntOverflow = ...,
    int_round: _IntRound = ...,
    float_round: _FloatRound = ...,
    e5m2_nan: Literal["7e", "7f"] | int = ...,
    nan_to_finite: Literal["zero", "max"] = ...,
    fnuz_inf: Literal["max", "nan"] = ...,
) -> _ArrayT: ...
@overload
def astype(
    x: _Array,
    dtype: _DTypeLike,
    /,
    *,
    copy: bool_ = True,
    order: _Order = "K",
    out: _OutT,
    casting: _Casting = "unsafe",
    profile: _Profile | None = None,
    check: _Level | None = None,
    threads: int | None = None,
    saturate: _Saturate = ...,
    e8m0_round: _E8M0Round = ...,
    e8m0_range: _E8M0Range = ...,
    float_to_int: _IntOverflow = ...,
    int_to_int: _IntOverflow = ...,
    int_round: _IntRound = ...,
    float_round: _FloatRound = ...,
    e5m2_nan: Literal["7e", "7f"] | int = ...,
    nan_to_finite: Literal["zero", "max"] = ...,
    fnuz_inf: Literal["max", "nan"] = ...,
) -> _OutT: ...
@overload
def astype_masked(
    x: NDArray[Any],
    dtype: _DTypeLike,
    /,
    *,
    check: _Level = "range",
    order: _Order = "K",
    out: Any = None,
    casting: _Casting = "unsafe",
    profile: _Profile | None = None,
    threads: int | None = None,
    saturate: _Saturate = ...,
    e8m0_round: _E8M0Round = ...,
    e8m0_range: _E8M0Range = ...,
    float_to_int: _IntOverflow = ...,
    int_to_int: _IntOverflow = ...,
    int_round: _IntRound = ...,
    float_round: _FloatRound = ...,
    e5m2_nan: Literal["7e", "7f"] | int = ...,
    nan_to_finite: Literal["zero", "max"] = ...,
    fnuz_inf: Literal["max", "nan"] = ...,
) -> tuple[NDArray[Any], NDArray[np.bool]]: ...
@overload
def astype_masked(
    x: _ArrayT,
    dtype: _DTypeLike,
    /,
    *,
    check: _Level = "range",
    order: _Order = "K",
    out: Any = None,
    casting: _Casting = "unsafe",
    profile: _Profile | None = None,
    threads: int | None = None,
    saturate: _Saturate = ...,
    e8m0_round: _E8M0Round = ...,
    e8m0_range: _E8M0Range = ...,
    float_to_int: _IntOverflow = ...,
    int_to_int: _IntOverflow = ...,
    int_round: _IntRound = ...,
    float_round: _FloatRound = ...,
    e5m2_nan: Literal["7e", "7f"] | int = ...,
    nan_to_finite: Literal["zero", "max"] = ...,
    fnuz_inf: Literal["max", "nan"] = ...,
) -> tuple[_ArrayT, _ArrayT]: ...
def count_losses(
    x: _Array,
    dtype: _DTypeLike,
    /,
    *,
    exact: bool_ = False,
    profile: _Profile | None = None,
    threads: int | None = None,
    saturate: _Saturate = ...,
    e8m0_round: _E8M0Round = ...,
    e8m0_range: _E8M0Range = ...,
    float_to_int: _IntOverflow = ...,
    int_to_int: _IntOverflow = ...,
    int_round: _IntRound = ...,
    float_round: _FloatRound = ...,
    e5m2_nan: Literal["7e", "7f"] | int = ...,
    nan_to_finite: Literal["zero", "max"] = ...,
    fnuz_inf: Literal["max", "nan"] = ...,
) -> Report: ...
def pack(
    x: _Array,
    dtype: _DTypeLike,
    /,
    *,
    profile: _Profile | None = None,
    check: _Level | None = None,
    threads: int | None = None,
    saturate: _Saturate = ...,
    e8m0_round: _E8M0Round = ...,
    e8m0_range: _E8M0Range = ...,
    float_to_int: _IntOverflow = ...,
    int_to_int: _IntOverflow = ...,
    int_round: _IntRound = ...,
    float_round: _FloatRound = ...,
    e5m2_nan: Literal["7e", "7f"] | int = ...,
    nan_to_finite: Literal["zero", "max"] = ...,
    fnuz_inf: Literal["max", "nan"] = ...,
) -> Buffer: ...
def unpack(
    data: _Bytes,
    dtype: _DTypeLike,
    shape: int | Sequence[int],
    /,
    *,
    to: _DTypeLike | None = None,
    profile: _Profile = "numpy",
    threads: int | None = None,
    saturate: _Saturate = ...,
    e8m0_round: _E8M0Round = ...,
    e8m0_range: _E8M0Range = ...,
    float_to_int: _IntOverflow = ...,
    int_to_int: _IntOverflow = ...,
    int_round: _IntRound = ...,
    float_round: _FloatRound = ...,
    e5m2_nan: Literal["7e", "7f"] | int = ...,
    nan_to_finite: Literal["zero", "max"] = ...,
    fnuz_inf: Literal["max", "nan"] = ...,
) -> Any: ...
@overload
def cast_buffer(
    data: _Bytes,
    from_: _DTypeLike,
    to: _DTypeLike,
    /,
    *,
    count: int | None = None,
    packed: tuple[bool_, bool_] | None = None,
    order: tuple[Literal["=", "<", ">"], Literal["=", "<", ">"]] | None = None,
    out: None = None,
    profile: _Profile = "numpy",
    check: _Level | None = None,
    threads: int | None = None,
    saturate: _Saturate = ...,
    e8m0_round: _E8M0Round = ...,
    e8m0_range: _E8M0Range = ...,
    float_to_int: _IntOverflow = ...,
    int_to_int: _IntOverflow = ...,
    int_round: _IntRound = ...,
    float_round: _FloatRound = ...,
    e5m2_nan: Literal["7e", "7f"] | int = ...,
    nan_to_finite: Literal["zero", "max"] = ...,
    fnuz_inf: Literal["max", "nan"] = ...,
) -> bytes: ...
@overload
def cast_buffer(
    data: _Bytes,
    from_: _DTypeLike,
    to: _DTypeLike,
    /,
    *,
    count: int | None = None,
    packed: tuple[bool_, bool_] | None = None,
    order: tuple[Literal["=", "<", ">"], Literal["=", "<", ">"]] | None = None,
    out: _OutT,
    profile: _Profile = "numpy",
    check: _Level | None = None,
    threads: int | None = None,
    saturate: _Saturate = ...,
    e8m0_round: _E8M0Round = ...,
    e8m0_range: _E8M0Range = ...,
    float_to_int: _IntOverflow = ...,
    int_to_int: _IntOverflow = ...,
    int_round: _IntRound = ...,
    float_round: _FloatRound = ...,
    e5m2_nan: Literal["7e", "7f"] | int = ...,
    nan_to_finite: Literal["zero", "max"] = ...,
    fnuz_inf: Literal["max", "nan"] = ...,
) -> _OutT: ...
def parse(
    texts: Iterable[str | bytes],
    dtype: _DTypeLike,
    /,
    *,
    on_error: Literal["error", "nan", "zero"] = "error",
    profile: _Profile = "numpy",
    saturate: _Saturate = ...,
    e8m0_round: _E8M0Round = ...,
    e8m0_range: _E8M0Range = ...,
    float_to_int: _IntOverflow = ...,
    int_to_int: _IntOverflow = ...,
    int_round: _IntRound = ...,
    float_round: _FloatRound = ...,
    e5m2_nan: Literal["7e", "7f"] | int = ...,
    nan_to_finite: Literal["zero", "max"] = ...,
    fnuz_inf: Literal["max", "nan"] = ...,
) -> Any: ...
def format(
    x: _Array,
    /,
    *,
    special: Literal["lower", "onnx"] = "lower",
    exponent: Literal["auto", "never"] = "auto",
    trailing_dot_zero: bool_ = True,
) -> list[str]: ...
def result_type(
    *operands: Any,
    standard: _Standard,
    default_float: _DTypeLike | None = None,
    default_int: _DTypeLike | None = None,
    x64: bool_ | None = None,
) -> DType: ...
def promote_types(a: _DTypeLike, b: _DTypeLike, /, *, standard: _Standard) -> DType: ...
def can_cast(
    from_: Any,
    to: Any,
    /,
    *,
    standard: _Standard,
    casting: Literal["lossless", "safe", "same_kind", "unsafe"] = "safe",
) -> bool_: ...
def finfo(type_: Any, /) -> FInfo: ...
def iinfo(type_: Any, /) -> IInfo: ...
def dtype(value: _DTypeLike, /) -> DType: ...
def isdtype(dtype: _DTypeLike, kind: _DTypeLike | tuple[_DTypeLike, ...], /) -> bool_: ...
def tier() -> str: ...
def force_tier(name: str | None, /) -> None: ...
def set_num_threads(n: int, /) -> None: ...
def num_threads() -> int: ...
def explain(
    from_: _DTypeLike,
    to: _DTypeLike,
    /,
    *,
    packed: tuple[bool_, bool_] | None = None,
    profile: _Profile = "numpy",
    saturate: _Saturate = ...,
    e8m0_round: _E8M0Round = ...,
    e8m0_range: _E8M0Range = ...,
    float_to_int: _IntOverflow = ...,
    int_to_int: _IntOverflow = ...,
    int_round: _IntRound = ...,
    float_round: _FloatRound = ...,
    e5m2_nan: Literal["7e", "7f"] | int = ...,
    nan_to_finite: Literal["zero", "max"] = ...,
    fnuz_inf: Literal["max", "nan"] = ...,
) -> str: ...
def onnx_attributes(
    from_: _DTypeLike, to: _DTypeLike, opset: int, saturate: bool_ | None, round_mode: str | None, /
) -> tuple[Literal["on", "off"], _E8M0Round]: ...
def onnx_linear(
    quantize: bool_,
    x: Any,
    scale: Any,
    zero_point: Any,
    opset: int,
    axis: int | None,
    block_size: int | None,
    output_dtype: _DTypeLike | None,
    precision: _DTypeLike | None,
    saturate: bool_ | None,
    out: Any,
    /,
) -> Any: ...
def onnx_dynamic(x: Any, opset: int, out: Any, /) -> tuple[Any, float, int]: ...
def quantization_schemes() -> tuple[str, ...]: ...
def quantize_array(
    x: _Array,
    scheme: str,
    scales: _Array | None,
    global_scale: float | None,
    axis: int | None,
    element: _DTypeLike | None,
    storage: str,
    non_finite: str,
    counts: bool_,
    squared_error: bool_,
    random: tuple[int, int] | None,
    threads: int | None,
    /,
) -> tuple[
    tuple[Any, Any, Any],
    float,
    DType,
    tuple[int, ...],
    tuple[int, int, int, int | None, int | None, float | None],
]: ...
def dequantize_array(
    data: _Array,
    scales: _Array,
    zero_points: _Array | None,
    global_scale: float,
    scheme: str,
    shape: Sequence[int],
    axis: int | None,
    element: _DTypeLike | None,
    storage: str,
    dtype: _DTypeLike,
    out: _Array | None,
    threads: int | None,
    /,
) -> Any: ...

bool: DType
int2: DType
int4: DType
int8: DType
int16: DType
int32: DType
int64: DType
uint2: DType
uint4: DType
uint8: DType
uint16: DType
uint32: DType
uint64: DType
float16: DType
bfloat16: DType
float32: DType
float64: DType
complex64: DType
complex128: DType
float8_e4m3fn: DType
float8_e4m3fnuz: DType
float8_e5m2: DType
float8_e5m2fnuz: DType
float8_e8m0fnu: DType
float8_e3m4: DType
float8_e4m3: DType
float8_e4m3b11fnuz: DType
float6_e2m3fn: DType
float6_e3m2fn: DType
float4_e2m1fn: DType
