"""The data type functions of the Python array API standard, version 2025.12, for NumPy, PyTorch and JAX arrays.

They replace the functions of the same names in a library's namespace; ``overlay`` returns such a namespace. Dtypes are those of the library.
Dtypes beyond the standard, such as ``bfloat16`` and ``float8_e4m3fn``, are accepted too.

    >>> import numpy as np
    >>> from lanecast import array_api
    >>> xp = array_api.overlay(np)
    >>> xp.astype(xp.asarray([1.5, -2.5]), xp.int8)
    array([ 1, -2], dtype=int8)
    >>> xp.finfo(xp.float32).max
    3.4028234663852886e+38
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from . import _lanecast
from ._errors import DTypeError, PromotionError

__all__ = ["__array_namespace_info__", "astype", "can_cast", "finfo", "iinfo", "isdtype", "overlay", "result_type"]

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

    Examples:
        >>> array_api.astype(np.array([1.5, -2.5]), np.int8)
        array([ 1, -2], dtype=int8)
    """
    to = _known(dtype)
    if _known(x.dtype).kind == "complex floating" and to.kind not in ("complex floating", "bool"):
        raise DTypeError(f"cannot cast {x.dtype} to {to}, which would drop the imaginary part; cast x.real instead")
    if device is not None and device != getattr(x, "device", "cpu"):
        raise ValueError(f"cannot cast from device {getattr(x, 'device', 'cpu')} to device {device}")
    return _lanecast.astype(x, dtype, copy=copy)


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether the promotion rules allow a cast from a dtype, or the dtype of an array, to another dtype.

    Examples:
        >>> array_api.can_cast(np.int8, np.int16), array_api.can_cast(np.int16, np.int8)
        (True, False)
    """
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
    """The limits of a floating-point dtype or array; for complex dtypes, those of the components.

    Examples:
        >>> array_api.finfo(np.complex64).dtype
        dtype('float32')
    """
    dtype = _dtype(type)
    info = _lanecast.finfo(dtype)
    return finfo_object(info.bits, info.eps, info.max, info.min, info.smallest_normal, _own(info.dtype, dtype))


def iinfo(type: Any, /) -> iinfo_object:
    """The limits of an integer dtype or array.

    Examples:
        >>> array_api.iinfo(np.int8).max
        127
    """
    dtype = _dtype(type)
    info = _lanecast.iinfo(dtype)
    return iinfo_object(info.bits, info.max, info.min, _own(info.dtype, dtype))


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype equals ``kind``, belongs to a kind such as ``"integral"``, or matches one item of a tuple of these.

    Examples:
        >>> array_api.isdtype(np.dtype("int8"), ("integral", "bool"))
        True
    """
    return _lanecast.isdtype(dtype, kind)


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype that results from combining arrays, dtypes and Python numbers. At least one must be an array or a dtype.

    Examples:
        >>> array_api.result_type(np.dtype("int8"), np.dtype("uint8"))
        dtype('int16')
    """
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
    """Describes a namespace: its dtypes and devices.

    Args:
        xp: the namespace of a library, such as ``numpy``, ``torch`` or ``jax.numpy``; None is that of NumPy.

    Examples:
        >>> array_api.overlay(np).__array_namespace_info__().dtypes(kind="bool")
        {'bool': dtype('bool')}
    """

    __module__ = "lanecast.array_api"

    def __init__(self, xp: Any = None) -> None:
        if xp is None:
            import numpy as xp
        self._xp = xp
        # PyTorch and old versions of NumPy do not describe themselves.
        theirs = getattr(xp, "__array_namespace_info__", None)
        self._theirs = None if theirs is None else theirs()

    def capabilities(self) -> dict[str, Any]:
        """The optional features of the standard that the namespace supports."""
        if self._theirs is not None:
            return dict(self._theirs.capabilities())
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        """The device on which the namespace creates arrays, or None if it does not say. lanecast casts arrays on the CPU."""
        if self._theirs is not None:
            return self._theirs.default_device()
        return self._xp.device("cpu") if _is_torch(self._xp) else "cpu"

    def devices(self) -> tuple[Any, ...]:
        """The devices of the namespace."""
        return (self.default_device(),) if self._theirs is None else tuple(self._theirs.devices())

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """The default dtype of each kind."""
        self._check_device(device)
        if self._theirs is not None:
            return dict(self._theirs.default_dtypes(device=device))
        floating = "float64"
        if _is_torch(self._xp):
            floating = _known(self._xp.get_default_dtype()).name
        names = {
            "real floating": floating,
            "complex floating": "complex128" if floating == "float64" else "complex64",
            "integral": "int64",
            "indexing": "int64",
        }
        return {kind: self._dtype(name) for kind, name in names.items()}

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """The dtypes of the standard that the namespace has, as its own objects by name: all, or those of one or more kinds."""
        self._check_device(device)
        if self._theirs is not None:
            every = self._theirs.dtypes(device=device)
        else:
            every = {name: self._dtype(name) for name in _STANDARD}
        names = [name for name in _STANDARD if kind is None or _lanecast.isdtype(name, kind)]
        return {name: every[name] for name in names if name in every}

    def _dtype(self, name: str) -> Any:
        dtype = _lanecast.dtype(name)
        return dtype.torch if _is_torch(self._xp) else dtype.numpy

    def _check_device(self, device: Any) -> None:
        devices = [str(known) for known in self.devices()]
        if device is not None and str(device) not in devices:
            raise ValueError(f"unknown device {str(device)!r}; the devices are {', '.join(devices)}")


def _is_torch(xp: Any) -> bool:
    return str(xp.__name__) == "torch"


def overlay(xp: Any, /) -> ModuleType:
    """A namespace like ``xp``, in which the functions of this module replace those of the same names.

    Args:
        xp: the namespace of a library, such as ``numpy``, ``jax.numpy``, ``torch`` or ``array_api_compat.torch``.

    Examples:
        >>> xp = array_api.overlay(np)
        >>> xp.astype(xp.arange(3), xp.float32)
        array([0., 1., 2.], dtype=float32)
    """
    module = ModuleType(f"{__name__}.{xp.__name__}", overlay.__doc__)
    own = {name: globals()[name] for name in __all__ if name != "overlay"}
    own["__array_namespace_info__"] = partial(__array_namespace_info__, xp)
    own["__dir__"] = lambda: sorted({*dir(xp), *own})
    # Python looks up here what the module does not have.
    own["__getattr__"] = partial(getattr, xp)
    vars(module).update(own)
    return module
