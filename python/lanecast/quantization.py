"""Scaled casts: blocks of elements that share a scale, such as microscaling (MX), NVFP4, and 8-bit floats with a scale per row.

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

__all__ = ["QuantizationReport", "Quantized", "dequantize", "quantization_schemes", "quantize"]


@dataclass(frozen=True)
class QuantizationReport:
    """What a scaled cast lost.

    Attributes:
        elements: elements cast.
        empty_blocks: blocks whose elements are all zero.
        poisoned_blocks: blocks whose scale is NaN, because an element is NaN or infinite.
        clipped: elements whose quotient is above the largest code; None if they were not counted.
        underflowed: nonzero elements whose code is zero; None if they were not counted.
    """

    elements: int
    empty_blocks: int
    poisoned_blocks: int
    clipped: int | None
    underflowed: int | None


@dataclass(frozen=True, eq=False, repr=False)
class Quantized:
    """A quantized array: codes, and the scales of their blocks. Returned by ``lanecast.quantize``.

    Attributes:
        data: the codes, as an array of the library of the source. It has the dtype of the codes where the library has that, else uint8.
            Packed codes are uint8. Their shape is that of the source with the last axis in bytes; it is flat if rows share bytes.
        scales: the scales, in C order of the blocks, as an array of the same library. The shape has the number of blocks along each axis.
        global_scale: the scale of the whole array; 1 if the scheme has none.
        scheme: the name of the scheme.
        shape: the shape of the source.
        dtype: the dtype of the codes.
        axis: the axis that was given instead of that of the scheme, or None.
        storage: whether codes of less than 8 bits share bytes ("packed") or have a byte each ("byte").
        report: what the cast lost, or None.
    """

    data: Any
    scales: Any
    global_scale: float
    scheme: str
    shape: tuple[int, ...]
    dtype: DType
    axis: int | None = None
    storage: Literal["packed", "byte"] = "packed"
    report: QuantizationReport | None = None

    def dequantize(self, dtype: Any = "float32", *, threads: int | None = None) -> Any:
        """The values that the codes and the scales stand for. Arguments and result are those of ``lanecast.dequantize``."""
        return dequantize(
            self.data,
            self.scales,
            self.scheme,
            self.shape,
            dtype=dtype,
            global_scale=self.global_scale,
            axis=self.axis,
            element=self.dtype,
            storage=self.storage,
            threads=threads,
        )

    def __repr__(self) -> str:
        return f"Quantized({self.scheme!r}, shape={self.shape}, dtype={self.dtype})"


def quantize(
    x: Any,
    scheme: str,
    /,
    *,
    axis: int | None = None,
    element: Any = None,
    storage: Literal["packed", "byte"] = "packed",
    non_finite: Literal["poison", "saturate", "refuse"] = "poison",
    counts: bool = False,
    seed: int | None = None,
    stream: int = 0,
    threads: int | None = None,
) -> Quantized:
    """Divides each element by the scale of its block and casts the quotient to a small dtype.

    A code is the one nearest to the exact quotient, ties to even, saturated, unless the scheme follows another library.

    Args:
        x: a float16, bfloat16 or float32 array, as for ``astype``, with any strides.
        scheme: the name of a scheme, one of ``quantization_schemes()``.
        axis: another axis than that of the scheme. Blocks run along it; a scheme with a scale per row has one for each of its indices.
        element: another dtype of the codes than that of the scheme, such as "float4_e2m1fn" for ``"mx"``.
        storage: how codes of less than 8 bits are stored: "packed", with the first code in the lowest bits, or "byte", one per byte.
        non_finite: what becomes of a block with a NaN or an infinity: "poison" makes its scale NaN; "saturate" gives it the scale of its
            finite elements; "refuse" raises ValueError.
        counts: whether the report counts elements that are clipped or underflow.
        seed: rounds stochastically, with this seed, an unsigned integer of 64 bits; None rounds to nearest.
        stream: another stream of random numbers of the seed, an unsigned integer of 64 bits.
        threads: as for ``astype``.

    Raises:
        DTypeError: the dtype of ``x`` or ``element`` is not supported.
        ValueError: there is no such scheme, the axis does not exist, or a block has a NaN or an infinity and ``non_finite`` is "refuse".
    """
    random = None if seed is None else (seed, stream)
    data, scales, global_scale, dtype, shape, report = _lanecast.quantize_array(
        x, scheme, axis, element, storage, non_finite, counts, random, threads
    )
    return Quantized(data, scales, global_scale, scheme, shape, dtype, axis, storage, QuantizationReport(*report))


def dequantize(
    data: Any,
    scales: Any,
    scheme: str,
    shape: int | Sequence[int],
    /,
    dtype: Any = "float32",
    *,
    global_scale: float = 1.0,
    axis: int | None = None,
    element: Any = None,
    storage: Literal["packed", "byte"] = "packed",
    threads: int | None = None,
) -> Any:
    """The values that codes and scales stand for: the exact product of both and of ``global_scale``, rounded once.

    Args:
        data: the codes, an array of the dtype of the codes or of uint8, in the shape that ``Quantized.data`` has, or flat.
        scales: the scales, an array of the dtype of the scheme, or of uint8 if they have 8 bits, in the shape that ``Quantized.scales`` has,
            or flat.
        scheme, axis, element, storage: as for ``quantize``. An array of a sub-byte dtype needs no ``storage``.
        shape: the shape of the result.
        dtype: the dtype of the result: float16, bfloat16, float32 or float64.
        global_scale: the scale of the whole array; ignored by schemes without one.
        threads: as for ``astype``.

    Returns:
        A new array of the library of ``data``.

    Raises:
        DTypeError: ``data``, ``scales`` or ``dtype`` have a dtype that does not fit.
        ValueError: there is no such scheme, ``data`` or ``scales`` do not fit the shape, or ``global_scale`` is not positive and finite.
    """
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    return _lanecast.dequantize_array(
        data, scales, global_scale, scheme, lengths, axis, element, storage, dtype, threads
    )
