"""ONNX operators that cast and quantise."""

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
    out: _ArrayT | None = None,
) -> _ArrayT:
    """Quantises an array as the ONNX operator QuantizeLinear does.

    Args:
        x: an array, as for ``astype``.
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
    """
    result: _ArrayT = _lanecast.onnx_linear(
        True, x, scale, zero_point, opset, axis, block_size, output_dtype, precision, saturate, out
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
    out: _ArrayT | None = None,
) -> _ArrayT:
    """Dequantises an array as the ONNX operator DequantizeLinear does.

    Args:
        x: an array, as for ``astype``.
        scale: an array, as for ``onnx_quantize_linear``.
        zero_point: an array with the shape of ``scale`` and the dtype of ``x``, or None.
        opset: the opset version of the model, at least 10.
        axis, block_size, output_dtype: the attributes of those names; None leaves them out.
        out: as for ``onnx_quantize_linear``.

    Returns:
        A new array with the shape of ``x``, from the same library; or ``out``.

    Raises:
        DTypeError, ValueError, OverlapError: as for ``onnx_quantize_linear``.
    """
    result: _ArrayT = _lanecast.onnx_linear(
        False, x, scale, zero_point, opset, axis, block_size, output_dtype, None, None, out
    )
    return result


def onnx_dynamic_quantize_linear(x: _ArrayT, /, *, opset: int, out: _ArrayT | None = None) -> tuple[_ArrayT, float, int]:
    """Quantises a float32 array as the ONNX operator DynamicQuantizeLinear does.

    Args:
        x: a float32 array, as for ``astype``.
        opset: the opset version of the model, at least 11.
        out: as for ``onnx_quantize_linear``.

    Returns:
        A new uint8 array with the shape of ``x``, from the same library, or ``out``; its scale, which is exactly a float32; and its zero point.

    Raises:
        DTypeError: ``x`` is not float32, or ``out`` not uint8.
        ValueError, OverlapError: as for ``onnx_quantize_linear``.
    """
    result: tuple[_ArrayT, float, int] = _lanecast.onnx_dynamic(x, opset, out)
    return result
