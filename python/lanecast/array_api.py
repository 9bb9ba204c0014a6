"""The data-type functions of the Python array API standard, version 2025.12, for arrays of NumPy, PyTorch and JAX.

They are those of a namespace: lay them over the namespace of a library, whose own functions do the rest. Dtypes are the objects of the
library of the arrays; those that the standard does not have, such as ``bfloat16`` and ``float8_e4m3fn``, are accepted by all of them.

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
    """The dtype as an object of the library that ``like``, a dtype or an array, belongs to."""
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
    """Casts an array. TypeError for a complex array to a real dtype, which the standard forbids.

    Args:
        x: the array.
        dtype: the dtype of the result.
        copy: False returns ``x`` itself if it has the dtype.
        device: None, or the device of ``x``, which is where the result is.
    """
    to = _known(dtype)
    if _known(x.dtype).kind == "complex floating" and to.kind not in ("complex floating", "bool"):
        raise DTypeError(f"a cast from {x.dtype} to {to} would drop the imaginary part; cast x.real")
    if device is not None and device != getattr(x, "device", "cpu"):
        raise ValueError(f"the array is on {getattr(x, 'device', 'cpu')}, and so is the result, not on {device}")
    return _lanecast.astype(x, dtype, copy=copy)


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether the promotion rules allow a cast from a dtype, or that of an array, to another."""
    source, target = _known(_dtype(from_)), _known(to)
    try:
        return _lanecast.can_cast(source, target, standard="array_api")
    except PromotionError:
        # Dtypes beyond the standard.
        return _lanecast.can_cast(source, target, standard="numpy")


@dataclass(frozen=True)
class finfo_object:
    """The limits of a floating dtype, as Python numbers."""

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
    """The limits of a floating dtype, or of that of an array; of the parts of a complex one."""
    dtype = _dtype(type)
    info = _lanecast.finfo(dtype)
    return finfo_object(info.bits, info.eps, info.max, info.min, info.smallest_normal, _own(info.dtype, dtype))


def iinfo(type: Any, /) -> iinfo_object:
    """The limits of an integer dtype, or of that of an array."""
    dtype = _dtype(type)
    info = _lanecast.iinfo(dtype)
    return iinfo_object(info.bits, info.max, info.min, _own(info.dtype, dtype))


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is another dtype, of a kind such as ``"integral"``, or one of a tuple of these."""
    return _lanecast.isdtype(dtype, kind)


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype in which arrays, dtypes and Python numbers are combined. At least one has to be an array or a dtype."""
    numbers = [type(value) in (builtins.bool, int, float, complex) for value in arrays_and_dtypes]
    if all(numbers):
        raise ValueError("result_type needs an array or a dtype")
    # Arrays without axes are promoted as all others.
    operands = [value if number else _dtype(value) for value, number in zip(arrays_and_dtypes, numbers)]
    try:
        dtype = _lanecast.result_type(*operands, standard="array_api")
    except PromotionError:
        dtype = _lanecast.result_type(*operands, standard="numpy")
    return _own(dtype, next(value for value, number in zip(operands, numbers) if not number))


class __array_namespace_info__:
    """What the namespace has: the dtypes of the standard, on the CPU."""

    __module__ = "lanecast.array_api"

    def capabilities(self) -> dict[str, Any]:
        """What is optional in the standard."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """The device of new arrays."""
        return "cpu"

    def devices(self) -> list[str]:
        """All devices."""
        return ["cpu"]

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """The dtypes of arrays made of Python numbers."""
        _check_device(device)
        return {
            "real floating": _lanecast.float64.numpy,
            "complex floating": _lanecast.complex128.numpy,
            "integral": _lanecast.int64.numpy,
            "indexing": _lanecast.int64.numpy,
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """The dtypes of a kind, or of all kinds, by their names."""
        _check_device(device)
        every = {name: getattr(_lanecast, name) for name in _STANDARD}
        return {name: d.numpy for name, d in every.items() if kind is None or _lanecast.isdtype(d, kind)}


def _check_device(device: Any) -> None:
    if device not in (None, "cpu"):
        raise ValueError(f"the device is {device!r}, but there is only 'cpu'")
