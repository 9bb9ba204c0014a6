"""The options of a cast, and the types of their values."""

from __future__ import annotations

from typing import Literal, TypedDict

__all__ = ["CastOptions"]

Profile = Literal["numpy", "torch", "jax", "onnx", "rust", "cuda"]
Check = Literal["range", "underflow", "exact"]
Storage = Literal["byte", "packed"]
ByteOrder = Literal["native", "little", "big"]
AxisOrder = Literal["K", "C", "F", "A"]
Casting = Literal["no", "equiv", "lossless", "safe", "same_kind", "unsafe"]
Standard = Literal["mindspore", "megengine", "megengine_core", "array_api", "numpy", "torch", "jax", "jax_strict", "onnx"]
Saturate = Literal["on", "off", "fn_only"] | bool
E8M0Round = Literal["up", "down", "nearest"]
E8M0Range = Literal["exact", "rounded", "magnitude"]
IntOverflow = Literal["saturate", "wrap"]
IntRound = Literal["toward_zero", "nearest_even", "nearest_away", "floor", "ceil"]
FloatRound = Literal["nearest_even", "nearest_away", "toward_zero", "up", "down", "to_odd"]


class CastOptions(TypedDict, total=False):
    """What a cast does where dtypes leave a choice: the keyword arguments that every function with ``**options`` accepts.

    Values are spelled as in Rust and in the program; hyphens may stand for underscores. ``docs/semantics.md`` specifies each option.

    Attributes:
        profile: whose results to reproduce: "numpy", "torch", "jax", "onnx", "rust" or "cuda". The other options override it. If it is missing
            or None, the result is that of the library of the array; of NumPy, for functions that take bytes or text.
        saturate: whether 8-bit floats clamp on overflow: "on", "off", or "fn_only", which clamps ``float8_e4m3fn`` alone; or a bool.
        e8m0_round: how values are rounded to ``float8_e8m0fnu``: "up", "down" or "nearest".
        e8m0_range: which values are in the range of ``float8_e8m0fnu``: "exact", "rounded" or "magnitude".
        float_to_int: what out-of-range floats become in integers: "saturate" or "wrap".
        int_to_int: what out-of-range integers become in integers: "saturate" or "wrap".
        int_round: how fractions are removed in integers: "toward_zero", "nearest_even", "nearest_away", "floor" or "ceil".
        float_round: how floats are rounded: "nearest_even", "nearest_away", "toward_zero", "up", "down" or "to_odd".
        e5m2_nan: the code of NaN in ``float8_e5m2``: "7e" or "7f".
        nan_to_finite: what NaN becomes in 4-bit and 6-bit floats, which have none: "zero" or "max".
        fnuz_inf: what infinity becomes in FNUZ floats that saturate: "max" or "nan".

    Examples:
        >>> rules: lanecast.CastOptions = {"profile": "onnx", "saturate": "off"}
        >>> lanecast.count_losses(np.array([1.0, 1e9]), "float8_e4m3fn", **rules)
        Report(2 elements, became_nan 1)
    """

    profile: Profile | None
    saturate: Saturate
    e8m0_round: E8M0Round
    e8m0_range: E8M0Range
    float_to_int: IntOverflow
    int_to_int: IntOverflow
    int_round: IntRound
    float_round: FloatRound
    e5m2_nan: Literal["7e", "7f"] | int
    nan_to_finite: Literal["zero", "max"]
    fnuz_inf: Literal["max", "nan"]
