"""The ONNX operator Cast."""

from __future__ import annotations

from typing import Any, TypeVar

from . import _lanecast

_ArrayT = TypeVar("_ArrayT")


def onnx_cast(
    x: _ArrayT,
    to: Any,
    /,
    opset: int,
    *,
    saturate: bool | None = None,
    round_mode: str | None = None,
    threads: int | None = None,
) -> _ArrayT:
    """Casts an array as the ONNX operator Cast does.

    Args:
        x: an array, as for ``astype``.
        to: the target dtype.
        opset: the opset version of the model, at least 1.
        saturate: the attribute of that name, which exists from opset 19 on; None leaves it out.
        round_mode: the attribute of that name, "up", "down" or "nearest", which exists from opset 24 on; None leaves it out.
        threads: as for ``astype``.

    Raises:
        DTypeError: this version of Cast does not support a dtype or an attribute. The message names the version that does.
    """
    saturated, rounded = _lanecast.onnx_attributes(x, to, opset, saturate, round_mode)
    return _lanecast.astype(x, to, profile="onnx", saturate=saturated, e8m0_round=rounded, threads=threads)
