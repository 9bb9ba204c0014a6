"""The data type functions of the Python array API standard, version 2025.12, for NumPy, PyTorch and JAX arrays.

They replace the functions of the same names in a library's namespace. Dtypes are those of the library. Dtypes beyond the standard, such as
``bfloat16`` and ``float8_e4m3fn``, are accepted too.

    >>> import numpy as np
    >>> from lanecast import array_api as xp
    >>> xp.astype(np.array([1.5, -2.5]), np.int8)
    array([ 1, -2], dtype=int8)
    >>> xp.finfo(np.float32).max
    3.4028234663852886e+38
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import Any

from . import _lanecast
from ._errors import DTypeError, PromotionError

__all__ = ["__array_namespace_info__", "astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]

_STANDARD = tuple(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128".split()
)


def _own(dtype: _lanecast.DType, like: Any) -> Any:
    """The dtype as an object of the library to which ``like``, a dtype or an array, belongs."""
    if isinstance(like, _lanecast.DType):
        return dtype
    module = type(like).__module__.partition(".")[0]
    return dtype.torch if module == "torch" else dtype.numpy


def _dtype(value: Any) -> Any:
    """The dtype of an array, or the dtype itself."""
    if isinstance(value, (_lanecast.DType, str, type)):
        return value
    return getattr(value, "dtype", value) if hasattr(value, "shape") and hasattr(value, "__dlpack__") else value


def _known(dtype: Any) -> _lanecast.DType:
    """The ``DType`` of a dtype argument."""
    return _lanecast.promote_types(dtype, dtype, standard="numpy")


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """Casts an array to another dtype.

    Args:
        x: the array.
        dtype: the dtype of the result.
        copy: False returns ``x`` itself if it already has the dtype.
        device: None or the device of ``x``. The result is on the device of ``x``.

    Raises:
        TypeError: ``x`` is complex and ``dtype`` is real, which the standard forbids.
        ValueError: ``device`` is another device.
    """
    to = _known(dtype)
    if _known(x.dtype).kind == "complex floating" and to.kind not in ("complex floating", "bool"):
        raise DTypeError(f"cannot cast {x.dtype} to {to}, which would drop the imaginary part; cast x.real instead")
    if device is not None and device != getattr(x, "device", "cpu"):
        raise ValueError(f"cannot cast from device {getattr(x, 'device', 'cpu')} to device {device}")
    return _lanecast.astype(x, dtype, copy=copy)


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether the promotion rules allow a cast from a dtype, or the dtype of an array, to another dtype."""
    source, target = _known(_dtype(from_)), _known(to)
    try:
        return _lanecast.can_cast(source, target, standard="array_api")
    except PromotionError:
        # A dtype that the standard does not have.
        return _lanecast.can_cast(source, target, standard="numpy")


@dataclass(frozen=True)
class finfo_object:
    """The limits of a floating-point dtype, as Python numbers."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any


@dataclass(frozen=True)
class iinfo_object:
    """The limits of an integer dtype, as Python numbers."""

    bits: int
    max: int
    min: int
    dtype: Any


def finfo(type: Any, /) -> finfo_object:
    """The limits of a floating-point dtype or array; for complex dtypes, those of the components."""
    dtype = _dtype(type)
    info = _lanecast.finfo(dtype)
    return finfo_object(info.bits, info.eps, info.max, info.min, info.smallest_normal, _own(info.dtype, dtype))


def iinfo(type: Any, /) -> iinfo_object:
    """The limits of an integer dtype or array."""
    dtype = _dtype(type)
    info = _lanecast.iinfo(dtype)
    return iinfo_object(info.bits, info.max, info.min, _own(info.dtype, dtype))


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype equals ``kind``, belongs to a kind such as ``"integral"``, or matches one item of a tuple of these."""
    return _lanecast.isdtype(dtype, kind)


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype that results from combining arrays, dtypes and Python numbers. At least one must be an array or a dtype."""
    numbers = [type(value) in (builtins.bool, int, float, complex) for value in arrays_and_dtypes]
    if all(numbers):
        raise ValueError("result_type needs at least one array or dtype")
    # The standard promotes 0-d arrays like all others.
    operands = [value if number else _dtype(value) for value, number in zip(arrays_and_dtypes, numbers)]
    try:
        dtype = _lanecast.result_type(*operands, standard="array_api")
    except PromotionError:
        dtype = _lanecast.result_type(*operands, standard="numpy")
    return _own(dtype, next(value for value, number in zip(operands, numbers) if not number))


class __array_namespace_info__:
    """Describes the namespace: the dtypes of the standard, on the CPU."""

    __module__ = "lanecast.array_api"

    def capabilities(self) -> dict[str, Any]:
        """The optional features of the standard that the namespace supports."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """The device on which new arrays are created."""
        return "cpu"

    def devices(self) -> list[str]:
        """The available devices."""
        return ["cpu"]

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """The default dtype of each kind."""
        _check_device(device)
        return {
            "real floating": _lanecast.float64.numpy,
            "complex floating": _lanecast.complex128.numpy,
            "integral": _lanecast.int64.numpy,
            "indexing": _lanecast.int64.numpy,
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """The dtypes of one or more kinds, or all dtypes, by name."""
        _check_device(device)
        every = {name: getattr(_lanecast, name) for name in _STANDARD}
        return {name: d.numpy for name, d in every.items() if kind is None or _lanecast.isdtype(d, kind)}


def _check_device(device: Any) -> None:
    if device not in (None, "cpu"):
        raise ValueError(f"unknown device {device!r}; the only device is 'cpu'")
