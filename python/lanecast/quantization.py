"""Scaled casts, whose blocks of elements share a scale: microscaling (MX), NVFP4, 8-bit floats with a scale per row, and others.

    >>> import numpy as np
    >>> import lanecast
    >>> weights = np.linspace(-1, 1, 4 * 64, dtype=np.float32).reshape(4, 64)
    >>> quantized = lanecast.quantize(weights, "int8-row")
    >>> quantized
    Quantized('int8-row', shape=(4, 64), dtype=int8)
    >>> bool(abs(quantized.dequantize() - weights).max() < 0.004)
    True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from . import _lanecast
from ._lanecast import DType, quantization_schemes
from ._options import Storage

__all__ = ["QuantizationReport", "Quantized", "dequantize", "quantization_schemes", "quantize"]


@dataclass(frozen=True)
class QuantizationReport:
    """What a scaled cast lost.

    Attributes:
        elements: elements cast.
        empty_blocks: blocks whose elements are all zero; 0 if the scales were given.
        poisoned_blocks: blocks whose scale is NaN, because an element is NaN or infinite; 0 if the scales were given.
        clipped: elements whose quotient is above the largest code; None if they were not counted.
        underflowed: nonzero elements whose code is zero; None if they were not counted.
        squared_error: the sum of the squared differences between elements and the values that their codes stand for, wherever both are
            finite: the exact sum, rounded once; None if it was not computed.

    Examples:
        >>> q = lanecast.quantize(np.array([[1.0, 0.5, 0.001]], np.float32), "int8-row", counts=True)
        >>> q.report.elements, q.report.underflowed
        (3, 1)
    """

    elements: int
    empty_blocks: int
    poisoned_blocks: int
    clipped: int | None
    underflowed: int | None
    squared_error: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Quantized:
    """A quantized array: its codes, and the scales of their blocks. Returned by ``lanecast.quantize``.

    Attributes:
        data: the codes, as an array from the library of the source. Its dtype is that of the codes if the library has it, else uint8.
            Packed codes are uint8, in the shape of the source with the last axis counted in bytes, or flat if rows share bytes.
        scales: the scales, in C order of the blocks, as an array from the same library. Its shape is the number of blocks along each axis.
        global_scale: the scale of the whole array; 1 if the scheme has none.
        scheme: the name of the scheme.
        shape: the shape of the source.
        dtype: the dtype of the codes.
        axis: the axis that replaced the scheme's own, or None.
        storage: whether codes of less than 8 bits share bytes ("packed") or have a byte each ("byte").
        report: what the cast lost, or None.
        zero_points: the zero points, one for each scale, for schemes that have them, such as ``"uint8-row"``: a code stands for
            ``(code - zero_point) * scale``. They have the shape of ``scales`` and are stored as the codes are: in packed bytes if those are
            packed. None for other schemes.

    Examples:
        >>> q = lanecast.quantize(np.array([[1.0, 0.5]], np.float32), "int8-row")
        >>> q.data, q.scales.shape, q.dequantize("float16")
        (array([[127,  64]], dtype=int8), (1, 1), array([[1.   , 0.504]], dtype=float16))
    """

    data: Any
    scales: Any
    global_scale: float
    scheme: str
    shape: tuple[int, ...]
    dtype: DType
    axis: int | None = None
    storage: Storage = "packed"
    report: QuantizationReport | None = None
    zero_points: Any = None

    def dequantize(self, dtype: Any = "float32", *, out: Any = None, threads: int | None = None) -> Any:
        """Returns the values that the codes and the scales stand for. Arguments and result are as for ``lanecast.dequantize``."""
        return dequantize(
            self.data,
            self.scales,
            self.scheme,
            self.shape,
            dtype=dtype,
            global_scale=self.global_scale,
            zero_points=self.zero_points,
            axis=self.axis,
            element=self.dtype,
            storage=self.storage,
            out=out,
            threads=threads,
        )

    def __repr__(self) -> str:
        return f"Quantized({self.scheme!r}, shape={self.shape}, dtype={self.dtype})"


def quantize(
    x: Any,
    scheme: str,
    /,
    *,
    scales: Any = None,
    global_scale: float | None = None,
    axis: int | None = None,
    element: Any = None,
    storage: Storage = "packed",
    non_finite: Literal["poison", "saturate", "refuse"] = "poison",
    counts: bool = False,
    squared_error: bool = False,
    seed: int | None = None,
    stream: int = 0,
    threads: int | None = None,
) -> Quantized:
    """Divides each element by the scale of its block and casts the quotient to a small dtype.

    Each code is the one nearest to the exact quotient, ties to even, saturated, unless the scheme reproduces another library.

    Args:
        x: a float16, bfloat16 or float32 array, as for ``astype``, with any strides.
        scheme: the name of a scheme, one of ``quantization_schemes()``.
        scales: the scales to divide by, such as those of a calibration, as for ``dequantize``; None computes them from ``x``. The result
            has a copy of them.
        global_scale: the scale of the whole array, for schemes that have one, such as ``"nvfp4"``, rounded to float32. ``scales`` need it;
            without them, they are computed beside it, and None computes both.
        axis: the axis that blocks run along, in place of the scheme's own. A scheme with a scale per row has one for each of its indices.
        element: the dtype of the codes, in place of the scheme's own, such as "float4_e2m1fn" for ``"mx"``.
        storage: how codes of less than 8 bits are stored: "packed", with the first code in the lowest bits, or "byte", one per byte.
        non_finite: what becomes of a block with a NaN or an infinity: "poison" makes its scale NaN; "saturate" gives it the scale of its
            finite elements; "refuse" raises ValueError. Given scales stay as they are: "poison" then does the same as "saturate", which
            clips infinities.
        counts: whether the report counts elements that are clipped or underflow.
        squared_error: whether the report has the squared error, which takes several times as long.
        seed: the seed of stochastic rounding, an unsigned 64-bit integer; None rounds to nearest.
        stream: selects one of the seed's independent streams of random numbers, an unsigned 64-bit integer.
        threads: as for ``astype``.

    Raises:
        DTypeError: the dtype of ``x``, ``scales`` or ``element`` is not supported.
        ValueError: there is no such scheme or axis, ``scales`` do not match the shape or are given for a scheme with zero points,
            ``global_scale`` is missing, not wanted, or not positive and finite, or a block has a NaN or an infinity and ``non_finite`` is
            "refuse".

    Examples:
        >>> lanecast.quantize(np.ones((2, 64), np.float32), "int8-row")
        Quantized('int8-row', shape=(2, 64), dtype=int8)
    """
    random = None if seed is None else (seed, stream)
    (data, by, zeros), tensor, dtype, shape, report = _lanecast.quantize_array(
        x, scheme, scales, global_scale, axis, element, storage, non_finite, counts, squared_error, random, threads
    )
    return Quantized(data, by, tensor, scheme, shape, dtype, axis, storage, QuantizationReport(*report), zeros)


def dequantize(
    data: Any,
    scales: Any,
    scheme: str,
    shape: int | Sequence[int],
    /,
    dtype: Any = "float32",
    *,
    global_scale: float = 1.0,
    zero_points: Any = None,
    axis: int | None = None,
    element: Any = None,
    storage: Storage = "packed",
    out: Any = None,
    threads: int | None = None,
) -> Any:
    """Returns the values that codes and scales stand for: the exact products of both and ``global_scale``, each rounded once.

    With zero points, these are the exact products ``(code - zero_point) * scale``.

    Args:
        data: the codes, as an array of their own dtype or of uint8, in the shape of ``Quantized.data``, or flat.
        scales: the scales, as an array of the scheme's dtype for scales, or of uint8 if they have 8 bits, in the shape of
            ``Quantized.scales``, or flat.
        scheme, axis, element, storage: as for ``quantize``. An array of a sub-byte dtype needs no ``storage``.
        shape: the shape of the result.
        dtype: the dtype of the result: float16, bfloat16, float32 or float64.
        global_scale: the scale of the whole array; ignored by schemes without one.
        zero_points: the zero points, for schemes that have them, as an array of the dtype of the codes or of uint8, in the shape of
            ``Quantized.zero_points``, or flat; they are packed if the codes are.
        out: a writable array of any library to write to, with the target dtype and the shape of the result. C-contiguous ones need no copy.
        threads: as for ``astype``.

    Returns:
        ``out``, or a new array from the library of ``data``.

    Raises:
        DTypeError: ``dtype``, or the dtype of ``data``, ``scales`` or ``zero_points``, is not supported, or ``out`` has another dtype.
        OverlapError: ``out`` overlaps ``data``, ``scales`` or ``zero_points``.
        ValueError: there is no such scheme, ``data``, ``scales``, ``zero_points`` or ``out`` do not match the shape, ``zero_points`` are
            missing or not wanted, or ``global_scale`` is not positive and finite.

    Examples:
        >>> lanecast.dequantize(np.array([[127, -64]], np.int8), np.array([[0.5]], np.float32), "int8-row", (1, 2))
        array([[ 63.5, -32. ]], dtype=float32)
    """
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    return _lanecast.dequantize_array(
        data, scales, zero_points, global_scale, scheme, lengths, axis, element, storage, dtype, out, threads
    )
