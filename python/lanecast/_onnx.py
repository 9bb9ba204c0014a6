"""The operator Cast of ONNX."""

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
    """Casts an array as a node Cast does in a graph of an opset.

    Args:
        x: an array, as of ``astype``.
        to: the dtype.
        opset: the version of the operator set of the graph, from 1 on.
        saturate: the attribute, of opset 19 and later; None if the node does not have it.
        round_mode: the attribute, "up", "down" or "nearest", of opset 24 and later; None if the node does not have it.
        threads: as of ``astype``.

    Raises:
        DTypeError: the version in force does not have a dtype or an attribute; the message names the one that has.
    """
    saturated, rounded = _lanecast.onnx_attributes(x, to, opset, saturate, round_mode)
    return _lanecast.astype(x, to, profile="onnx", saturate=saturated, e8m0_round=rounded, threads=threads)
