"""The operators of ONNX that cast and quantise."""

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


def onnx_quantize_linear(
    x: _ArrayT,
    scale: Any,
    zero_point: Any = None,
    /,
    *,
    opset: int,
    axis: int | None = None,
    block_size: int | None = None,
    output_dtype: Any = None,
    precision: Any = None,
    saturate: bool | None = None,
) -> _ArrayT:
    """Quantises an array as a node QuantizeLinear does in a graph of an opset.

    Args:
        x: an array, as of ``astype``.
        scale: an array: a scalar, one scale for each index of the axis, or for each block.
        zero_point: an array of the shape of the scale and the dtype of the result, or None.
        opset: the version of the operator set of the graph, from 10 on.
        axis, block_size, output_dtype, precision, saturate: the attributes; None if the node does not have them.

    Returns:
        A new array of the library and the shape of `x`.

    Raises:
        DTypeError: the version in force does not have a dtype or an attribute; the message names the one that has.
        ValueError: the shapes do not fit, or an attribute has a value that it cannot have.
    """
    result: _ArrayT = _lanecast.onnx_linear(
        True, x, scale, zero_point, opset, axis, block_size, output_dtype, precision, saturate
    )
    return result


def onnx_dequantize_linear(
    x: _ArrayT,
    scale: Any,
    zero_point: Any = None,
    /,
    *,
    opset: int,
    axis: int | None = None,
    block_size: int | None = None,
    output_dtype: Any = None,
) -> _ArrayT:
    """Dequantises an array as a node DequantizeLinear does in a graph of an opset.

    Args:
        x: an array, as of ``astype``.
        scale: an array, as of ``onnx_quantize_linear``.
        zero_point: an array of the shape of the scale and the dtype of `x`, or None.
        opset: the version of the operator set of the graph, from 10 on.
        axis, block_size, output_dtype: the attributes; None if the node does not have them.

    Returns:
        A new array of the library and the shape of `x`.

    Raises:
        DTypeError, ValueError: as of ``onnx_quantize_linear``.
    """
    result: _ArrayT = _lanecast.onnx_linear(
        False, x, scale, zero_point, opset, axis, block_size, output_dtype, None, None
    )
    return result


def onnx_dynamic_quantize_linear(x: _ArrayT, /, *, opset: int) -> tuple[_ArrayT, float, int]:
    """Quantises a float32 array as a node DynamicQuantizeLinear does in a graph of an opset.

    Args:
        x: an array of float32, as of ``astype``.
        opset: the version of the operator set of the graph, from 11 on.

    Returns:
        A new array of uint8, of the library and the shape of `x`; its scale, which float32 has exactly; its zero point.

    Raises:
        DTypeError: the version in force does not have the dtype.
    """
    result: tuple[_ArrayT, float, int] = _lanecast.onnx_dynamic(x, opset)
    return result
