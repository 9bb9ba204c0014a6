"""The operators of ONNX that cast and quantize: Cast, QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear.

Each function does what the operator does in a model of the given opset, on arrays of any library.

    >>> import numpy as np
    >>> from lanecast import onnx
    >>> onnx.quantize_linear(np.array([1.0, -2.0], np.float32), np.float32(0.5), opset=21, output_dtype="int8")
    array([ 2, -4], dtype=int8)
"""

from typing import Any, NamedTuple

from . import _lanecast
from ._options import Check

__all__ = ["DynamicallyQuantized", "cast", "dequantize_linear", "dynamic_quantize_linear", "quantize_linear"]


def cast(
    x: Any,
    to: Any,
    /,
    *,
    opset: int,
    saturate: bool | None = None,
    round_mode: str | None = None,
    out: Any = None,
    check: Check | None = None,
    threads: int | None = None,
) -> Any:
    """Casts an array as the operator Cast does.

    Args:
        x: an array, as for ``lanecast.astype``.
        to: the target dtype.
        opset: the opset version of the model, at least 1.
        saturate: the attribute of that name, which exists from opset 19 on; None leaves it out.
        round_mode: the attribute of that name, "up", "down" or "nearest", which exists from opset 24 on; None leaves it out.
        out, check, threads: as for ``lanecast.astype``.

    Returns:
        A new array with the shape of ``x``, from the same library; or ``out``.

    Raises:
        DTypeError: this version of Cast does not support a dtype or an attribute. The message names the version that does.
        LossError, OverlapError: as for ``lanecast.astype``.

    Examples:
        >>> lanecast.onnx.cast(np.array([1.5, 1000.0]), "uint8", opset=13)
        array([  1, 232], dtype=uint8)
    """
    saturated, rounded = _lanecast.onnx_attributes(x, to, opset, saturate, round_mode)
    return _lanecast.astype(
        x, to, out=out, check=check, threads=threads, profile="onnx", saturate=saturated, e8m0_round=rounded
    )


def quantize_linear(
    x: Any,
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
    out: Any = None,
) -> Any:
    """Quantizes an array as the operator QuantizeLinear does.

    Args:
        x: an array, as for ``lanecast.astype``.
        scale: an array with one scale for the whole of ``x``, for each index of ``axis``, or for each block.
        zero_point: an array with the shape of ``scale`` and the dtype of the result, or None.
        opset: the opset version of the model, at least 10.
        axis, block_size, output_dtype, precision, saturate: the attributes of those names; None leaves them out.
        out: a writable array of any library to write to, with the dtype of the result and the shape of ``x``. C-contiguous ones need no copy.

    Returns:
        A new array with the shape of ``x``, from the same library; or ``out``.

    Raises:
        DTypeError: this version of QuantizeLinear does not support a dtype or an attribute. The message names the version that does. Or
            ``out`` has another dtype.
        ValueError: the shapes do not match, or the value of an attribute is invalid.
        OverlapError: ``out`` overlaps an input.

    Examples:
        >>> lanecast.onnx.quantize_linear(np.array([1.0, -2.0], np.float32), np.float32(0.5), np.uint8(128), opset=10)
        array([130, 124], dtype=uint8)
    """
    return _lanecast.onnx_linear(
        True, x, scale, zero_point, opset, axis, block_size, output_dtype, precision, saturate, out
    )


def dequantize_linear(
    x: Any,
    scale: Any,
    zero_point: Any = None,
    /,
    *,
    opset: int,
    axis: int | None = None,
    block_size: int | None = None,
    output_dtype: Any = None,
    out: Any = None,
) -> Any:
    """Dequantizes an array as the operator DequantizeLinear does.

    Args:
        x: an array, as for ``lanecast.astype``.
        scale: an array, as for ``quantize_linear``.
        zero_point: an array with the shape of ``scale`` and the dtype of ``x``, or None.
        opset: the opset version of the model, at least 10.
        axis, block_size, output_dtype: the attributes of those names; None leaves them out.
        out: as for ``quantize_linear``.

    Returns:
        A new array with the shape of ``x``, from the same library; or ``out``.

    Raises:
        DTypeError, ValueError, OverlapError: as for ``quantize_linear``.

    Examples:
        >>> lanecast.onnx.dequantize_linear(np.array([130, 124], np.uint8), np.float32(0.5), np.uint8(128), opset=10)
        array([ 1., -2.], dtype=float32)
    """
    return _lanecast.onnx_linear(
        False, x, scale, zero_point, opset, axis, block_size, output_dtype, None, None, out
    )


class DynamicallyQuantized(NamedTuple):
    """The outputs of the operator DynamicQuantizeLinear. Returned by ``dynamic_quantize_linear``.

    Attributes:
        y: the quantized array, of the dtype uint8.
        scale: the scale, which is exactly a float32.
        zero_point: the zero point.

    Examples:
        >>> lanecast.onnx.dynamic_quantize_linear(np.array([-1.0, 0.0, 1.55], np.float32), opset=11).zero_point
        100
    """

    y: Any
    scale: float
    zero_point: int


def dynamic_quantize_linear(x: Any, /, *, opset: int, out: Any = None) -> DynamicallyQuantized:
    """Quantizes a float32 array as the operator DynamicQuantizeLinear does.

    Args:
        x: a float32 array, as for ``lanecast.astype``.
        opset: the opset version of the model, at least 11.
        out: as for ``quantize_linear``.

    Returns:
        A new uint8 array with the shape of ``x``, from the same library, or ``out``; its scale; and its zero point.

    Raises:
        DTypeError: ``x`` is not float32, or ``out`` not uint8.
        ValueError, OverlapError: as for ``quantize_linear``.

    Examples:
        >>> y, scale, zero_point = lanecast.onnx.dynamic_quantize_linear(np.array([-1.0, 0.0, 1.55], np.float32), opset=11)
        >>> y, zero_point
        (array([  0, 100, 255], dtype=uint8), 100)
    """
    return DynamicallyQuantized(*_lanecast.onnx_dynamic(x, opset, out))
