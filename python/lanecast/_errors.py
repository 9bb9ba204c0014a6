"""The errors of lanecast."""

from __future__ import annotations

from typing import Any

__all__ = ["DTypeError", "Error", "FormatError", "LossError", "OverlapError", "PromotionError"]


class Error(Exception):
    """Base class of all errors that lanecast defines."""


class DTypeError(Error, TypeError):
    """A dtype argument is not a dtype, or the cast is not possible with this dtype."""


class PromotionError(Error, TypeError):
    """A standard has no common dtype for the operands."""


class OverlapError(Error, ValueError):
    """The source and ``out`` share memory, and elements would not stay in their places."""


class FormatError(Error, ValueError):
    """A file of tensors is damaged, or its format does not hold what is asked for."""


class LossError(Error, ValueError):
    """A checked cast found an element that the target dtype cannot hold.

    Attributes:
        index: the position of the first such element in C order, one number for each axis.
        value: the element, as a Python number.
        reason: one of ``"nan"``, ``"overflow"``, ``"negative"``, ``"no_zero"``, ``"imaginary"``, ``"underflow"``, ``"inexact"``.
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
