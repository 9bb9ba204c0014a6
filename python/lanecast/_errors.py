"""The exceptions of lanecast."""

from __future__ import annotations

from typing import Any

__all__ = ["DTypeError", "Error", "FormatError", "LossError", "OverlapError", "PromotionError"]


class Error(Exception):
    """Base class of the exceptions that lanecast defines."""


class DTypeError(Error, TypeError):
    """An argument is not a dtype, or the operation does not support the dtype."""


class PromotionError(Error, TypeError):
    """The standard defines no common dtype for the operands."""


class OverlapError(Error, ValueError):
    """``out`` overlaps the source in memory, and the cast is not in place."""


class FormatError(Error, ValueError):
    """A tensor file is malformed, or its format cannot store the given data."""


class LossError(Error, ValueError):
    """A checked cast found an element that the target dtype cannot hold.

    Attributes:
        index: the index of the first such element in C order, one number per axis.
        value: the element, as a Python number.
        reason: why it does not fit: ``"nan"``, ``"overflow"``, ``"negative"``, ``"no_zero"``, ``"imaginary"``, ``"underflow"`` or
            ``"inexact"``.

    Examples:
        >>> try:
        ...     lanecast.astype(np.array([1.0, 300.0]), "int8", check="range")
        ... except lanecast.LossError as error:
        ...     error.index, error.value, error.reason
        ((1,), 300.0, 'overflow')
    """

    index: tuple[int, ...]
    value: bool | int | float | complex
    reason: str

    def __init__(self, message: str, index: tuple[int, ...], value: Any, reason: str) -> None:
        super().__init__(message)
        self.index = index
        self.value = value
        self.reason = reason

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.index, self.value, self.reason)
