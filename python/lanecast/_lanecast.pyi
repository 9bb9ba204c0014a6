"""The native module. Use ``lanecast``, which re-exports its names."""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
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
    """The dtype of array elements. Each dtype is a single object, such as `lanecast.float8_e4m3fn`, so `is` and `==` both compare dtypes.

    A `DType` also equals its full name, with which it shares its hash: `lanecast.int8 == "int8"`. It equals the `numpy.dtype` with the same
    elements, whose hash differs: as keys of one dict, use either kind but not both.

    Examples:
        >>> lanecast.float8_e4m3fn.bits, lanecast.float8_e4m3fn.kind
        (8, 'real floating')
        >>> lanecast.int8 == "int8" == lanecast.int8.name
        True
    """
    @property
    def name(self) -> str:
        """The name, as in NumPy and ml_dtypes."""
    @property
    def bits(self) -> int:
        """The size of an element in bits."""
    @property
    def itemsize(self) -> int:
        """The size of an array element in bytes; 1 for sub-byte dtypes."""
    @property
    def code(self) -> int:
        """The number of the dtype in the C API, which is the same in every version."""
    @property
    def kind(self) -> str:
        """`"bool"`, `"signed integer"`, `"unsigned integer"`, `"real floating"` or `"complex floating"`."""
    @property
    def numpy(self) -> Any:
        """The `numpy.dtype`, which may be one of ml_dtypes. Raises ImportError if the package is not installed."""
    @property
    def dtype(self) -> Any:
        """The `numpy.dtype` for NumPy itself, which reads this attribute in `np.dtype(lanecast.float32)` and wherever it takes a dtype. Raises
        DTypeError if ml_dtypes, whose dtype it is, is not installed or lacks it.
        """
    @property
    def torch(self) -> Any:
        """The `torch.dtype`. Raises DTypeError if PyTorch lacks the dtype, and ImportError if PyTorch is not installed."""
    def __reduce__(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Encoding:
    r"""How raw bytes encode elements: their dtype, their storage and their byte order. Functions that take raw bytes of a dtype accept it.

    Args:
        dtype: the dtype, as for `astype`.
        storage: "byte" stores each sub-byte element in a byte of its own; "packed" lets them share bytes, with the first element in the
            lowest bits. Other dtypes ignore it.
        order: the byte order, "native", "little" or "big"; None keeps the order of a `numpy.dtype` and is native for others.

    Examples:
        >>> packed = lanecast.Encoding("int4", storage="packed")
        >>> lanecast.cast_buffer(bytes([0x21, 0x43]), packed, "int8")
        b'\x01\x02\x03\x04'
    """
    def __new__(cls, dtype: _DTypeLike, /, *, storage: Storage = "byte", order: ByteOrder | None = None) -> Self: ...
    def __getnewargs_ex__(self) -> tuple[tuple[DType], dict[str, str]]: ...
    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
    @property
    def storage(self) -> Storage:
        """`"packed"` if sub-byte elements share bytes, else `"byte"`."""
    @property
    def order(self) -> Literal["little", "big"]:
        """The byte order, `"little"` or `"big"`."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Buffer:
    """A C-contiguous array that owns its memory, aligned to 64 bytes. Other libraries can use it without a copy.

    `importers` names the libraries that take it through `__dlpack__`. NumPy takes none of the dtypes of ml_dtypes, and no library takes
    sub-byte dtypes: `numpy()` returns an array of any dtype, and the buffer protocol shares the raw bytes.

    The exported memory is writable, and no lock guards it. As with NumPy arrays, a thread must not write to it while another thread reads or
    writes the same elements, also inside a call of lanecast, which may release the GIL: such a call may read any mixture of old and new bytes.

    A Buffer is pickled with its bytes, which protocol 5 does not copy.

    Examples:
        >>> packed = lanecast.pack(np.arange(6), "int4")
        >>> packed
        lanecast.Buffer(int4, (6,), packed, importers=())
        >>> bytes(packed).hex()
        '103254'
    """
    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
    @property
    def nbytes(self) -> int:
        """The size of the elements in bytes."""
    @property
    def encoding(self) -> Encoding:
        """The encoding of the bytes: the dtype, whether sub-byte elements share bytes, and the byte order."""
    @property
    def importers(self) -> tuple[str, ...]:
        """The libraries among `"numpy"`, `"torch"` and `"jax"` whose `from_dlpack` takes the Buffer. They lack the other dtypes, or the means to import
        them (NumPy 2.5, PyTorch 2.15, JAX 0.12). `numpy()` and the buffer protocol work for all.
        """
    @classmethod
    def from_bytes(
        cls,
        data: _Bytes,
        encoding: _EncodingLike,
        shape: int | Sequence[int],
        /,
    ) -> Self:
        """A Buffer with a copy of these bytes.

        Args:
            data: a contiguous object with the buffer protocol, such as `bytes(buffer)`.
            encoding: the dtype of the elements, or an `Encoding`.
            shape: the shape, an int or a sequence of ints.

        Raises:
            ValueError: `data` does not have the size that encoding and shape need.

        Examples:
            >>> lanecast.Buffer.from_bytes(bytes([1, 0, 2, 0]), lanecast.Encoding("int16", order="little"), 2).numpy()
            array([1, 2], dtype=int16)
        """
    def numpy(self) -> Any:
        """A NumPy array that shares the memory. Packed elements are unpacked into a new array."""
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
    """Counts of the values that a cast lost, by kind of loss. Each value is counted at most once. The components of a complex number count
    separately. Returned by `count_losses`.

    Examples:
        >>> report = lanecast.count_losses(np.array([1.5, 300.0, np.nan]), "int8")
        >>> report.wrapped, report.nan_lost, report.is_clean
        (1, 1, False)
        >>> report + lanecast.Report(elements=7)
        Report(10 elements, wrapped 1, nan_lost 1)
    """
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
    def elements(self) -> int:
        """Elements cast."""
    @property
    def saturated(self) -> int:
        """Values clamped to an end of the range, infinities included."""
    @property
    def wrapped(self) -> int:
        """Values reduced modulo the range of an integer dtype."""
    @property
    def overflowed_to_infinity(self) -> int:
        """Finite values that became infinite."""
    @property
    def became_nan(self) -> int:
        """Numbers and infinities that became NaN."""
    @property
    def nan_lost(self) -> int:
        """NaNs that became a number."""
    @property
    def imaginary_dropped(self) -> int:
        """Nonzero imaginary parts that were dropped."""
    @property
    def underflowed_to_zero(self) -> int:
        """Nonzero values in range that became zero, in floating-point and integer dtypes."""
    @property
    def inexact(self) -> int:
        """Values in range that were rounded. Counted only with `check="exact"`."""
    @property
    def out_of_range(self) -> int:
        """Values out of range: all losses except `underflowed_to_zero` and `inexact`."""
    @property
    def is_clean(self) -> bool:
        """Whether all counts of losses are 0."""
    def as_dict(self) -> dict[str, int]:
        """The counts by name, with `elements` first."""
    def __add__(self, other: Report, /) -> Report: ...
    def __radd__(self, other: Report, /) -> Report: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class FInfo:
    """The limits of a floating-point dtype, or of the components of a complex dtype, as Python floats. Returned by `finfo`.

    Examples:
        >>> lanecast.finfo("float16").smallest_normal
        6.103515625e-05
    """
    @property
    def dtype(self) -> DType:
        """The real dtype with these limits."""
    @property
    def bits(self) -> int:
        """The size of an element in bits."""
    @property
    def eps(self) -> float:
        """The distance from 1 to the next larger value."""
    @property
    def epsneg(self) -> float:
        """The distance from 1 to the next smaller value."""
    @property
    def max(self) -> float:
        """The largest finite value."""
    @property
    def min(self) -> float:
        """The smallest finite value."""
    @property
    def smallest_normal(self) -> float:
        """The smallest positive normal value."""
    @property
    def smallest_subnormal(self) -> float:
        """The smallest positive value."""
    @property
    def exponent_bits(self) -> int:
        """The width of the exponent field in bits."""
    @property
    def mantissa_bits(self) -> int:
        """The width of the mantissa field in bits."""
    @property
    def bias(self) -> int:
        """The exponent bias."""
    def __reduce__(self) -> tuple[Any, tuple[DType]]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class IInfo:
    """The limits of an integer dtype. Returned by `iinfo`.

    Examples:
        >>> lanecast.iinfo("uint64").max
        18446744073709551615
    """
    @property
    def dtype(self) -> DType:
        """The dtype."""
    @property
    def bits(self) -> int:
        """The size of an element in bits."""
    @property
    def max(self) -> int:
        """The largest value."""
    @property
    def min(self) -> int:
        """The smallest value."""
    def __reduce__(self) -> tuple[Any, tuple[DType]]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Checkpoint:
    """An opened checkpoint. Only headers and small descriptions are in memory."""
    def __new__(cls, path: str | os.PathLike[str], allow_nan: bool, threads: int | None, /) -> Self: ...
    def layout(self) -> str:
        """The layout of the weights that are quantized, or `"plain"`."""
    def warnings(self) -> list[str]:
        """What a reader should know."""
    def tensors(self) -> list[tuple[str, list[int], Encoding | None, str, int]]:
        """The tensors, in the order of the files."""
    def read(self, name: str, dtype: _DTypeLike, out: Any, /) -> None:
        """Decodes a tensor to little-endian elements of a dtype of whole bytes, into a writable buffer of as many bytes."""

def checkpoint_dequantize(
    src: str,
    dst: str,
    to: _DTypeLike,
    allow_nan: bool,
    overwrite: bool,
    threads: int | None,
    progress: Callable[..., object] | None,
    /,
) -> str:
    """Decodes all weights of a checkpoint."""

def checkpoint_convert(
    src: str,
    dst: str,
    to: _DTypeLike,
    map: Sequence[tuple[str, _DTypeLike]],
    include: Sequence[str],
    exclude: Sequence[str],
    max_shard_size: int | None,
    wait: float | None,
    flags: tuple[bool, bool, bool, bool],
    threads: int | None,
    progress: Callable[..., object] | None,
    /,
) -> str:
    """Casts the tensors of a checkpoint."""

def checkpoint_quantize(
    src: str,
    dst: str,
    scheme: str,
    layout: str,
    map: Sequence[tuple[str, str]],
    ignore: Sequence[str],
    like: str | None,
    flags: tuple[bool, bool, bool, bool],
    threads: int | None,
    progress: Callable[..., object] | None,
    /,
) -> str:
    """Quantizes the weights of a plain checkpoint, or of a quantized one without loss."""

def checkpoint_check(path: str, loader: str | None, /) -> str:
    """Checks a checkpoint."""

def checkpoint_compare(a: str, b: str, progress: Callable[..., object] | None, /) -> str:
    """Compares two checkpoints."""

@final
class Plan:
    """A plan of tasks. The first task that it runs opens the checkpoint."""
    @staticmethod
    def convert(
        src: str,
        dst: str,
        to: _DTypeLike,
        map: Sequence[tuple[str, _DTypeLike]],
        include: Sequence[str],
        exclude: Sequence[str],
        max_shard_size: int | None,
        flags: tuple[bool, bool],
        division: tuple[int, bool],
        /,
    ) -> Plan:
        """Plans casts."""
    @staticmethod
    def dequantize(src: str, dst: str, to: _DTypeLike, flags: tuple[bool, bool], division: tuple[int, bool], /) -> Plan:
        """Plans decoding."""
    @staticmethod
    def quantize(
        src: str,
        dst: str,
        scheme: str,
        layout: str,
        map: Sequence[tuple[str, str]],
        ignore: Sequence[str],
        like: str | None,
        flags: tuple[bool, bool, bool, bool],
        division: tuple[int, bool],
        /,
    ) -> Plan:
        """Plans quantization, of a quantized checkpoint without loss if the first flag says so."""
    @staticmethod
    def load(path: str, /) -> Plan:
        """Reads the file of a plan."""
    def save(self, path: str, /) -> None:
        """Writes the plan to a file."""
    def described(self) -> tuple[str, str, str]:
        """The operation, the source and the output."""
    def tasks(self) -> list[tuple[str, int, str | None, list[tuple[str | None, int, int]]]]:
        """The tasks."""
    def pending(self, phase: str | None, /) -> list[int]:
        """The numbers of the tasks that are not done, of all phases or of one."""
    def run(self, id: int, threads: int | None, progress: Callable[..., object] | None, /) -> str:
        """Runs a task."""
    def finish(self, threads: int | None, progress: Callable[..., object] | None, /) -> str:
        """Ends files whose ranges are written, and gives the output its name."""

@final
class TensorFile:
    """An open tensor file. Only its headers are in memory."""
    def __new__(cls, path: str | os.PathLike[str], /) -> Self: ...
    def tensors(
        self,
    ) -> list[tuple[str, Encoding | None, str, list[int] | None, int | None, int | None, Literal["C", "F"]]]:
        """The tensors, in file order."""
    def metadata(self) -> list[tuple[str, str]]:
        """The metadata of the file, as pairs of key and text."""
    def read(self, index: int, /) -> bytes:
        """Reads the bytes of a tensor."""
    def check_plain(self, index: int, /) -> None:
        """Raises `FormatError` if the tensor holds codes or scales of a quantized checkpoint."""

def save_tensors(
    path: str | os.PathLike[str],
    tensors: Sequence[tuple[str, _Array]],
    metadata: Sequence[tuple[str, str]],
    overwrite: bool,
    /,
) -> None:
    """Writes a tensor file. The extension of `path` selects the format."""
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
) -> NDArray[Any]:
    """Casts an array to another dtype.

    Each element is rounded once, from its exact value. The result is a new array of the same library and shape.

    Ctrl-C ends a cast of seconds early, as does any signal whose handler raises an exception. `out` then holds the results of some of its
    elements, and the others are as before.

    Args:
        x: a NumPy, PyTorch or JAX array in CPU memory, or any other object with `__dlpack__`.
        dtype: a `DType`, `numpy.dtype`, scalar class, `torch.dtype` or full name such as "float32".
        copy: False returns `x` itself if it already has the dtype and the order.
        order: the memory layout of the result: "K" keeps that of `x`; "C"; "F"; "A" is "F" if `x` is Fortran-contiguous, else "C".
        out: a writable array of any library to write to, with the target dtype and the shape of `x`.
        casting: which casts to allow, by the rules of the library of `x`: "no", "equiv", "lossless", "safe", "same_kind" or "unsafe".
        check: raises LossError for the first element that is out of range ("range"); that is out of range or becomes zero
            ("underflow"); or that the dtype cannot represent exactly ("exact"). None raises none.
        threads: the maximum number of threads; None follows `lanecast.threads` and `lanecast.set_num_threads`.
        **options: the items of a `CastOptions`: `profile`, `saturate`, `int_round` and so on. Without a profile, the result is
            as in the library of `x`.

    Raises:
        DTypeError: the dtype is unknown, or `casting` forbids the cast.
        LossError: `check` found an element that does not fit.
        OverlapError: `out` overlaps `x`, and the cast is not in place.

    Examples:
        >>> lanecast.astype(np.array([1.5, 300.0]), "int8")
        array([ 1, 44], dtype=int8)
        >>> lanecast.astype(np.array([1.5, 300.0]), "int8", profile="rust", int_round="nearest_even")
        array([  2, 127], dtype=int8)
    """
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
) -> tuple[NDArray[Any], NDArray[np.bool]]:
    """Casts an array and reports which elements fit.

    Args:
        x, dtype, order, out, casting, threads, **options: as for `astype`.
        check: "range" marks elements out of range; "underflow" also marks nonzero elements that become zero; "exact" also marks elements
            that need rounding.

    Returns:
        The array that `astype` returns, and a bool array of the same library and shape, which is True where an element fits.

    Examples:
        >>> array, fits = lanecast.astype_masked(np.array([1.5, 300.0]), "int8")
        >>> array, fits
        (array([ 1, 44], dtype=int8), array([ True, False]))
    """
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
) -> Report:
    """Counts what a cast would lose, without returning its result.

    Args:
        x, dtype, threads, **options: as for `astype`.
        check: "range" and "underflow" count elements out of range and nonzero elements that become zero; "exact" also counts rounded
            elements, which takes longer.

    Returns:
        A `Report`.

    Examples:
        >>> lanecast.count_losses(np.array([1.5, 300.0]), "int8", check="exact")
        Report(2 elements, wrapped 1, inexact 1)
    """
def pack(
    x: _Array,
    dtype: _DTypeLike,
    /,
    *,
    check: Check | None = None,
    threads: int | None = None,
    **options: Unpack[CastOptions],
) -> Buffer:
    """Casts an array and packs the result: sub-byte elements share bytes, with the first element in the lowest bits.

    Args:
        x: an array, as for `astype`.
        dtype: the target dtype.
        check, threads, **options: as for `astype`.

    Returns:
        A `Buffer` with the shape of `x`. Its elements are in C order, and rows are not padded to whole bytes.

    Examples:
        >>> lanecast.pack(np.arange(6), "int4").nbytes
        3
    """
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
) -> Any:
    """Unpacks elements that share bytes.

    Args:
        data: a contiguous object with the buffer protocol, such as the `Buffer` that `pack` returns.
        dtype: the dtype of the packed elements. Rows are not padded to whole bytes.
        shape: the shape of the result.
        to: the dtype of the result; None means `dtype`.
        check, threads, **options: as for `astype`, for the cast to `to`. The default profile is "numpy".

    Returns:
        A NumPy array with one element per byte, or a `Buffer` if NumPy is not installed.

    Examples:
        >>> lanecast.unpack(bytes([0x21, 0x43]), "uint4", (2, 2), to="int8")
        array([[1, 2],
               [3, 4]], dtype=int8)
    """
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
) -> bytes:
    r"""Casts raw bytes to raw bytes. No array library is needed.

    Args:
        data: a contiguous object with the buffer protocol, such as bytes, memoryview or mmap.
        source, target: the dtypes, or an `Encoding` for packed elements and other byte orders.
        count: the number of elements; None takes all of `data`.
        out: a writable object with the buffer protocol to write to, whose items are bytes or numbers. Bytes after the last element stay
            unchanged.
        check, threads, **options: as for `astype`. The default profile is "numpy".

    Returns:
        New bytes, or `out`.

    Examples:
        >>> lanecast.cast_buffer(bytes([1, 2, 255]), "uint8", "int16")
        b'\x01\x00\x02\x00\xff\x00'
    """
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
) -> Any:
    """Parses numbers. Each is rounded once, from its exact decimal value. Many texts are parsed without the GIL, and Ctrl-C ends the call.

    Args:
        texts: an iterable of str or bytes.
        dtype: the dtype of the result.
        on_error: "error" raises ValueError for text that is not a number of the dtype; "nan" and "zero" store NaN or 0 instead.
        **options: as for `astype`. The default profile is "numpy".

    Returns:
        A NumPy array, or a `Buffer` if NumPy is not installed.

    Examples:
        >>> lanecast.parse_text(["0.1", "-2e3", "inf"], "float32")
        array([ 1.e-01, -2.e+03,     inf], dtype=float32)
    """
def format_text(
    x: _Array,
    /,
    *,
    special: Literal["lower", "onnx"] = "lower",
    exponent: Literal["auto", "never"] = "auto",
    trailing_dot_zero: bool = True,
) -> list[str]:
    """Formats the elements of an array. Each text is the shortest one that parses to the same value. Many elements are formatted without the
    GIL, and Ctrl-C ends the call.

    Args:
        x: an array, as for `astype`.
        special: "lower" writes nan, inf and -inf; "onnx" writes NaN, INF and -INF.
        exponent: "auto" writes exponents as Python does; "never" writes none.
        trailing_dot_zero: whether whole numbers of real floating-point dtypes end in ".0".

    Returns:
        A flat list of texts, in C order.

    Examples:
        >>> lanecast.format_text(np.array([0.1, 1e16, np.nan]))
        ['0.1', '1e+16', 'nan']
    """
def result_type(
    *operands: Any,
    standard: Standard,
    default_float: _DTypeLike | None = None,
    default_int: _DTypeLike | None = None,
    x64: bool | None = None,
) -> DType:
    """The dtype that results from combining operands.

    Args:
        *operands: one or more arrays, dtypes or Python numbers.
        standard: the rules: "numpy", "array_api", "torch", "jax", "jax_strict", "mindspore", "megengine", "megengine_core" or "onnx".
        default_float, default_int: the default dtypes of Python numbers, for standards that let programs set them.
        x64: False selects JAX without 64-bit dtypes.

    Raises:
        PromotionError: the standard defines no common dtype for the operands, or lacks one of the dtypes.

    Examples:
        >>> lanecast.result_type("int8", "uint8", standard="numpy")
        lanecast.int16
        >>> lanecast.result_type("bfloat16", 2.5, standard="jax")
        lanecast.bfloat16
    """
def promote_types(a: _DTypeLike, b: _DTypeLike, /, *, standard: Standard) -> DType:
    """The dtype that results from combining arrays of two dtypes.

    Raises:
        PromotionError: as for `result_type`.

    Examples:
        >>> lanecast.promote_types("float16", "bfloat16", standard="torch")
        lanecast.float32
    """
def can_cast(
    source: Any,
    target: Any,
    /,
    *,
    standard: Standard,
    casting: Literal["lossless", "safe", "same_kind", "unsafe"] = "safe",
) -> bool:
    """Whether a standard allows a cast.

    Args:
        source, target: dtypes or arrays.
        standard: as for `result_type`.
        casting: "lossless" (keeps every value), "safe", "same_kind" or "unsafe".

    Raises:
        PromotionError: the standard lacks one of the dtypes.

    Examples:
        >>> lanecast.can_cast("int16", "int8", standard="numpy"), lanecast.can_cast("int16", "int8", standard="numpy", casting="same_kind")
        (False, True)
    """
def finfo(dtype: Any, /) -> FInfo:
    """The limits of a floating-point or complex dtype or array. Raises DTypeError for other dtypes.

    Examples:
        >>> lanecast.finfo("float8_e4m3fn").max
        448.0
    """
def iinfo(dtype: Any, /) -> IInfo:
    """The limits of an integer dtype or array. Raises DTypeError for other dtypes, including bool.

    Examples:
        >>> lanecast.iinfo("int4")
        iinfo(dtype=int4, bits=4, min=-8, max=7)
    """
def dtype(value: _DTypeLike, /) -> DType:
    """The `DType` of anything that names a dtype: a full name, `numpy.dtype`, scalar class, `torch.dtype`, `jnp` type or `DType`. A `DType` has
    no byte order, so the order of a `numpy.dtype` is dropped. Raises DTypeError for other values.

    Examples:
        >>> lanecast.dtype(np.dtype("i1"))
        lanecast.int8
    """
def isdtype(dtype: _DTypeLike, kind: _DTypeLike | tuple[_DTypeLike, ...], /) -> bool:
    """Whether a dtype matches a kind of the array API: another dtype, "bool", "signed integer", "unsigned integer", "integral", "real
    floating", "complex floating", "numeric", or a tuple of these; at least one of them must match.

    Examples:
        >>> lanecast.isdtype("bfloat16", "real floating"), lanecast.isdtype("int8", ("bool", "unsigned integer"))
        (True, False)
    """
def active_tier() -> str:
    """The instruction-set tier that casts use now: "scalar", "avx2", "avx512", "neon" or "wasm128". All tiers return the same bits.

    Examples:
        >>> lanecast.active_tier() in ("scalar", "avx2", "avx512", "neon", "wasm128")
        True
    """
def enter_tier(name: str, /) -> int:
    """Begins a block of `lanecast.tier`. Returns its number."""
def leave_tier(number: int, /) -> None:
    """Ends the block with this number."""
def set_num_threads(n: int, /) -> None:
    """Sets the maximum number of threads per cast in this process; 0 means one per CPU. `lanecast.threads` limits one block of code instead.

    Examples:
        >>> lanecast.set_num_threads(2)
        >>> lanecast.num_threads()
        2
        >>> lanecast.set_num_threads(0)
    """
def num_threads() -> int:
    """The maximum number of threads per cast here: the number of the `lanecast.threads` block, or else of `set_num_threads`.

    Examples:
        >>> with lanecast.threads(3):
        ...     lanecast.num_threads()
        3
    """
def threads_variable() -> ContextVar[int | None]:
    """The context variable with the number of threads, or None outside of all blocks."""
def explain(source: _EncodingLike, target: _EncodingLike, /, **options: Unpack[CastOptions]) -> str:
    """Describes, in text, the stages of a cast between two dtypes.

    Args:
        source, target: the dtypes, or an `Encoding` for packed elements and other byte orders.
        **options: as for `astype`. The default profile is "numpy".

    Examples:
        >>> print(lanecast.explain("float32", "int8"))  # doctest: +ELLIPSIS
        float32...
    """
def run_program(arguments: Sequence[str], /) -> int:
    """Runs the program with these arguments and returns its exit code. It handles signals from then on."""
def onnx_attributes(
    from_: _DTypeLike, to: _DTypeLike, opset: int, saturate: bool | None, round_mode: str | None, /
) -> tuple[Literal["on", "off"], Literal["up", "down", "nearest"]]:
    """The options of `astype` that correspond to a Cast node of this opset. Raises DTypeError for what its version does not support."""
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
) -> Any:
    """Returns the output of a QuantizeLinear or DequantizeLinear node in a graph of this opset. Raises DTypeError for what the version in
    force does not support, and ValueError for shapes that do not match.
    """
def onnx_dynamic(x: Any, opset: int, out: Any, /) -> tuple[Any, float, int]:
    """Returns the three outputs of a DynamicQuantizeLinear node in a graph of this opset, the scale and the zero point as numbers."""
def quantization_schemes() -> tuple[str, ...]:
    """The names of the schemes that `quantize` and `dequantize` accept. `docs/scaled.md` specifies them.

    Examples:
        >>> "mx" in lanecast.quantization_schemes()
        True
    """
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
]:
    """Quantizes an array. Returns the codes, the scales, and the zero points if the scheme has them; the scale of the tensor, the dtype of the
    codes, the shape, and the report.
    """
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
) -> Any:
    """Returns the values that codes and scales stand for, in `out` or as an array of the library of `data`."""

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
