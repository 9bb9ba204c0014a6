"""Casts models and compares; see .ci/onnx_model."""
import pathlib
import subprocess
import sys

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, numpy_helper, version_converter

# The target, its type, and how far the probabilities of speech may be from those of the model as it was.
TARGETS = [
    ("float16", np.float16, 2e-3),
    ("bfloat16", ml_dtypes.bfloat16, 2e-2),
    ("float8_e4m3fn", ml_dtypes.float8_e4m3fn, 0.25),
]


def graphs(graph):
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in ([attribute.g] if attribute.HasField("g") else []) + list(attribute.graphs):
                yield from graphs(inner)


def tensors(model):
    """The initializers and constants of all graphs: their names, and they themselves."""
    for graph in graphs(model.graph):
        yield from ((tensor.name, tensor) for tensor in graph.initializer)
        for node in graph.node:
            if node.op_type == "Constant" and node.attribute[0].name == "value":
                yield node.output[0], node.attribute[0].t


def saturated(values, dtype):
    """What the program's default profile does: numpy casts to float8 without saturation."""
    if dtype is ml_dtypes.float8_e4m3fn:
        values = np.where(np.isnan(values), values, np.clip(values, -448, 448))
    return values.astype(dtype)


def run(model, rate):
    """The probabilities of speech in a made-up sound."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(7)
    size = rate * 36 // 1000
    time = np.arange(size * 12) / rate
    sound = 0.3 * np.sin(2 * np.pi * 180 * time) * np.sin(2 * np.pi * 3 * time) + 0.02 * rng.standard_normal(time.size)
    state, answers = np.zeros((2, 1, 128), np.float32), []
    for chunk in sound.astype(np.float32).reshape(12, 1, size):
        output, state = session.run(None, {"input": chunk, "state": state, "sr": np.array(rate, np.int64)})
        answers.append(output.item())
    assert np.isfinite(answers).all()
    return np.array(answers)


def test(program, work, original):
    model = onnx.load(original)
    opset = next(o.version for o in model.opset_import if o.domain == "")
    print(f"{original.name}: opset {opset}, IR version {model.ir_version}, {len(list(tensors(model)))} tensors")
    # The smaller model has one rate, the other a branch for each of two.
    rates = [16000] if "16k" in original.name else [16000, 8000]
    for name, dtype, tolerance in TARGETS:
        source = original
        if name.startswith("float8") and opset < 19:
            refused = subprocess.run([program, "cast", source, work / "refused.onnx", "--to", name], capture_output=True, text=True)
            assert refused.returncode == 5 and "opset 19" in refused.stderr, refused
            source = work / "opset19.onnx"
            onnx.save(version_converter.convert_version(model, 19), source)
        before, out = onnx.load(source), work / f"{name}.onnx"
        done = subprocess.run([program, "cast", source, out, "--to", name, "--force"], check=True, capture_output=True, text=True)
        onnx.checker.check_model(out, full_check=True)
        after = onnx.load(out)

        cast = 0
        for (old_name, old), (new_name, new) in zip(tensors(before), tensors(after), strict=True):
            if old.data_type != TensorProto.FLOAT or np.prod(old.dims) < 16:
                assert old == new and old_name == new_name
                continue
            expected = saturated(numpy_helper.to_array(old), dtype)
            array = numpy_helper.to_array(new)
            assert new_name == f"{old_name}__{name}" and array.dtype == expected.dtype, new_name
            assert array.tobytes() == expected.tobytes(), new_name
            cast += 1
        assert cast > 0
        worst = max(np.abs(run(source, rate) - run(out, rate)).max() for rate in rates)
        assert 0 < worst <= tolerance, worst
        sizes = f"{source.stat().st_size} -> {out.stat().st_size} bytes"
        print(f"{name}: {cast} tensors as in Python, valid, {sizes}, outputs differ by at most {worst:.2g} (limit {tolerance})")
        assert done.stderr == "", done.stderr


for path in sys.argv[3:]:
    test(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(path))
