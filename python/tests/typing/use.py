"""What a type checker sees; `mypy --strict` reads it, nobody runs it."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import lanecast

x = np.zeros(3, np.float32)
out = np.zeros(3, np.int8)
assert_type(lanecast.float32, lanecast.DType)
assert_type(lanecast.bool_, lanecast.DType)
assert_type(lanecast.dtype("int8"), lanecast.DType)
assert_type(lanecast.int8 == "int8", bool)
np.zeros(3, lanecast.int8)
assert_type(lanecast.Report(wrapped=1) + lanecast.Report(), lanecast.Report)
assert_type(lanecast.Buffer.from_bytes(b"1", lanecast.Encoding("int4", storage="packed"), 2).importers, tuple[str, ...])
lanecast.astype(x, lanecast.int8, int_round="floor", saturate=True, check="range")
assert_type(lanecast.astype(x, "int8", out=out) is out, bool)
assert_type(lanecast.astype(x, "int8"), NDArray[Any])
assert_type(lanecast.astype_masked(x, "int8"), tuple[NDArray[Any], NDArray[np.bool]])
assert_type(lanecast.count_losses(x, "int8").as_dict(), dict[str, int])
assert_type(lanecast.pack(x, "int4"), lanecast.Buffer)
assert_type(lanecast.cast_buffer(b"", "int8", "int16"), bytes)
assert_type(lanecast.cast_buffer(b"", "int8", "int16", out=bytearray(2)), bytearray)
assert_type(lanecast.result_type(x, 3, standard="numpy"), lanecast.DType)
assert_type(lanecast.finfo("float16").max, float)
assert_type(lanecast.format_text(x), list[str])
assert_type(lanecast.quantize(x, "int8-row"), lanecast.Quantized)
q = lanecast.quantize(x, "nvfp4", scales=out, global_scale=0.5, squared_error=True)
assert q.report is not None
assert_type(q.report.squared_error, float | None)
assert_type(q.dequantize(out=x), Any)
assert_type(lanecast.dequantize(q.data, q.scales, q.scheme, 3, zero_points=q.zero_points), Any)
assert_type(lanecast.quantization_schemes(), tuple[str, ...])
rules: lanecast.CastOptions = {"profile": "numpy", "int_round": "floor", "saturate": True}
assert_type(lanecast.pack(x, "int4", **rules).encoding, lanecast.Encoding)
assert_type(lanecast.count_losses(x, "int8", check="exact", **rules), lanecast.Report)
assert_type(lanecast.onnx.quantize_linear(x, x, opset=21), Any)
assert_type(lanecast.onnx.dynamic_quantize_linear(x, opset=21).zero_point, int)
with lanecast.threads(4), lanecast.tier("scalar"):
    assert_type(lanecast.num_threads(), int)
with lanecast.File("weights.safetensors") as file:
    assert_type(file["w"].astype("int8", check="range", int_round="floor"), NDArray[Any])
try:
    lanecast.astype(x, "int8", check="exact")
except lanecast.LossError as error:
    assert_type(error.index, tuple[int, ...])
# mypy must reject these arguments. Otherwise `warn_unused_ignores` reports the comments.
lanecast.astype(x, "int8", rounding="up")  # type: ignore[call-overload]
lanecast.astype(x, "int8", profile="pandas")  # type: ignore[call-overload]
lanecast.astype(x, "int8", int_round="nearest")  # type: ignore[call-overload]
wrong: lanecast.CastOptions = {"rounding": "up"}  # type: ignore[typeddict-unknown-key]
lanecast.result_type(x)  # type: ignore[call-arg]
