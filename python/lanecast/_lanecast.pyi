"""The native module. Use ``lanecast``, which re-exports its names."""

import os
import sys
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from typing import Any, Literal, Self, SupportsIndex, TypeAlias, TypeVar, Unpack, final, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer as _Bytes

from ._options import AxisOrder, ByteOrder, CastOptions, Casting, Check, Standard, Storage

__version__: str

_Array: TypeAlias = Any
"""A NumPy, PyTorch or JAX array, or any other object with ``__dlpack__``."""
_DTypeLike: TypeAlias = Any
"""A ``DType``, ``numpy.dtype``, scalar class, ``torch.dtype`` or full name."""
_EncodingLike: TypeAlias = Any
"""An ``Encoding``, or anything that names a dtype."""
_ArrayT = TypeVar("_ArrayT")
_OutT = TypeVar("_OutT")

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
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Encoding:
    def __new__(cls, dtype: _DTypeLike, /, *, storage: Storage = "byte", order: ByteOrder | None = None) -> Self: ...
    def __getnewargs_ex__(self) -> tuple[tuple[DType], dict[str, str]]: ...
    @property
    def dtype(self) -> DType: ...
    @property
    def storage(self) -> Storage: ...
    @property
    def order(self) -> Literal["little", "big"]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
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
    def encoding(self) -> Encoding: ...
    @property
    def importers(self) -> tuple[str, ...]: ...
    @classmethod
    def from_bytes(
        cls,
        data: _Bytes,
        encoding: _EncodingLike,
        shape: int | Sequence[int],
        /,
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
        copy: bool | None = None,
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
    def is_clean(self) -> bool: ...
    def as_dict(self) -> dict[str, int]: ...
    def __add__(self, other: Report, /) -> Report: ...
    def __radd__(self, other: Report, /) -> Report: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
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
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
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
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class TensorFile:
    def __new__(cls, path: str | os.PathLike[str], /) -> Self: ...
    def tensors(
        self,
    ) -> list[tuple[str, Encoding | None, str, list[int] | None, int | None, int | None, Literal["C", "F"]]]: ...
    def metadata(self) -> list[tuple[str, str]]: ...
    def read(self, index: int, /) -> bytes: ...
    def check_plain(self, index: int, /) -> None: ...

def save_tensors(
    path: str | os.PathLike[str],
    tensors: Sequence[tuple[str, _Array]],
    metadata: Sequence[tuple[str, str]],
    overwrite: bool,
    /,
) -> None: ...
@overload
def astype(
    x: NDArray[Any],
    dtype: _DTypeLike,
    /,
    *,
    copy: bool = True,
    order: AxisOrder = "K",
    out: None = None,
    casting: Casting = "unsafe",
    check: Check | None = None,
    threads: int | None = None,
    **options: Unpack[CastOptions],
) -> NDArray[Any]: ...
@overload
def astype(
    x: _ArrayT,
    dtype: _DTypeLike,
    /,
    *,
    copy: bool = True,
    order: AxisOrder = "K",
    out: None = None,
    casting: Casting = "unsafe",
    check: Check | None = None,
    threads: int | None = None,
    **options: Unpack[CastOptions],
) -> _ArrayT: ...
@overload
def astype(
    x: _Array,
    dtype: _DTypeLike,
    /,
    *,
    copy: bool = True,
    order: AxisOrder = "K",
    out: _OutT,
    casting: Casting = "unsafe",
    check: Check | None = None,
    threads: int | None = None,
    **options: Unpack[CastOptions],
) -> _OutT: ...
@overload
def astype_masked(
    x: NDArray[Any],
    dtype: _DTypeLike,
    /,
    *,
    order: AxisOrder = "K",
    out: Any = None,
    casting: Casting = "unsafe",
    check: Check = "range",
    threads: int | None = None,
    **options: Unpack[CastOptions],
) -> tuple[NDArray[Any], NDArray[np.bool]]: ...
@overload
def astype_masked(
    x: _ArrayT,
    dtype: _DTypeLike,
    /,
    *,
    order: AxisOrder = "K",
    out: Any = None,
    casting: Casting = "unsafe",
    check: Check = "range",
    threads: int | None = None,
    **options: Unpack[CastOptions],
) -> tuple[_ArrayT, _ArrayT]: ...
def count_losses(
    x: _Array,
    dtype: _DTypeLike,
    /,
    *,
    check: Check = "range",
    threads: int | None = None,
    **options: Unpack[CastOptions],
) -> Report: ...
def pack(
    x: _Array,
    dtype: _DTypeLike,
    /,
    *,
    check: Check | None = None,
    threads: int | None = None,
    **options: Unpack[CastOptions],
) -> Buffer: ...
def unpack(
    data: _Bytes,
    dtype: _DTypeLike,
    shape: int | Sequence[int],
    /,
    *,
    to: _DTypeLike | None = None,
    check: Check | None = None,
    threads: int | None = None,
    **options: Unpack[CastOptions],
) -> Any: ...
@overload
def cast_buffer(
    data: _Bytes,
    source: _EncodingLike,
    target: _EncodingLike,
    /,
    *,
    count: int | None = None,
    out: None = None,
    check: Check | None = None,
    threads: int | None = None,
    **options: Unpack[CastOptions],
) -> bytes: ...
@overload
def cast_buffer(
    data: _Bytes,
    source: _EncodingLike,
    target: _EncodingLike,
    /,
    *,
    count: int | None = None,
    out: _OutT,
    check: Check | None = None,
    threads: int | None = None,
    **options: Unpack[CastOptions],
) -> _OutT: ...
def parse_text(
    texts: Iterable[str | bytes],
    dtype: _DTypeLike,
    /,
    *,
    on_error: Literal["error", "nan", "zero"] = "error",
    **options: Unpack[CastOptions],
) -> Any: ...
def format_text(
    x: _Array,
    /,
    *,
    special: Literal["lower", "onnx"] = "lower",
    exponent: Literal["auto", "never"] = "auto",
    trailing_dot_zero: bool = True,
) -> list[str]: ...
def result_type(
    *operands: Any,
    standard: Standard,
    default_float: _DTypeLike | None = None,
    default_int: _DTypeLike | None = None,
    x64: bool | None = None,
) -> DType: ...
def promote_types(a: _DTypeLike, b: _DTypeLike, /, *, standard: Standard) -> DType: ...
def can_cast(
    source: Any,
    target: Any,
    /,
    *,
    standard: Standard,
    casting: Literal["lossless", "safe", "same_kind", "unsafe"] = "safe",
) -> bool: ...
def finfo(dtype: Any, /) -> FInfo: ...
def iinfo(dtype: Any, /) -> IInfo: ...
def dtype(value: _DTypeLike, /) -> DType: ...
def isdtype(dtype: _DTypeLike, kind: _DTypeLike | tuple[_DTypeLike, ...], /) -> bool: ...
def active_tier() -> str: ...
def enter_tier(name: str, /) -> int: ...
def leave_tier(number: int, /) -> None: ...
def set_num_threads(n: int, /) -> None: ...
def num_threads() -> int: ...
def threads_variable() -> ContextVar[int | None]: ...
def explain(source: _EncodingLike, target: _EncodingLike, /, **options: Unpack[CastOptions]) -> str: ...
def run_program(arguments: Sequence[str], /) -> int: ...
def onnx_attributes(
    from_: _DTypeLike, to: _DTypeLike, opset: int, saturate: bool | None, round_mode: str | None, /
) -> tuple[Literal["on", "off"], Literal["up", "down", "nearest"]]: ...
def onnx_linear(
    quantize: bool,
    x: Any,
    scale: Any,
    zero_point: Any,
    opset: int,
    axis: int | None,
    block_size: int | None,
    output_dtype: _DTypeLike | None,
    precision: _DTypeLike | None,
    saturate: bool | None,
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
    counts: bool,
    squared_error: bool,
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

bool_: DType
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
