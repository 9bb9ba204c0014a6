#!/usr/bin/env python3
"""Makes onnx_dynamic.tsv of this folder with the packages onnx and onnxruntime.

    pip install onnx==1.23.2 onnxruntime==1.31.1
    python3 tests/data/import_onnx_dynamic.py
"""

import pathlib

import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

RANGES = [(-1, 1), (0, 1), (-3, 0), (2, 5), (-7, -1), (-100, 1e-3), (-1e-6, 2e-6), (-1e30, 3e30), (0.1, 0.1000001), (-0.4999, 0.5)]
SINGLE = [
    np.arange(-20, 21) * 0.5,
    # The examples of ONNX.
    [0, 2, -3, -2.5, 1.34, 0.5],
    [-1, -2.1, -1.3, -2.5, -3.34, -4.0],
    [1, 2.1, 1.3, 2.5, 3.34, 4, 1.5, 2.6, 3.9, 4, 3, 2.345],
    [1e-40, -3e-39, 2e-38],
    [0, 255, 127.5, 126.5, 0.5, 1.5],
    [-127.5, 127.5, 0.5, -0.5, 1.5],
    # Both answer zeros and NaN in different ways, which drops these rows.
    [0, 0, 0],
    [3e38, -3e38, 1],
    [np.inf, 1, -1],
    [np.nan, 1, -1],
    [1e-45],
    [-0.0],
]


def codes(array):
    return " ".join(("%08x" % code).rstrip("0") or "0" for code in np.atleast_1d(array).astype(np.float32).view(np.uint32))


def main():
    def value(name, kind, shape):
        return helper.make_tensor_value_info(name, kind, shape)

    node = helper.make_node("DynamicQuantizeLinear", ["x"], ["y", "scale", "zero_point"])
    outputs = [value("y", TensorProto.UINT8, [None]), value("scale", TensorProto.FLOAT, []), value("zero_point", TensorProto.UINT8, [])]
    graph = helper.make_graph([node], "graph", [value("x", TensorProto.FLOAT, [None])], outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    evaluator = ReferenceEvaluator(model)
    rng = np.random.default_rng(7)
    lines = [
        "# DynamicQuantizeLinear, where ReferenceEvaluator of onnx 1.23.2 and onnxruntime 1.31.1 agree",
        "x\tscale\tzero_point\ty",
    ]
    for x in [*(rng.uniform(low, high, 21) for low, high in RANGES), *SINGLE]:
        x = np.asarray(x, np.float32)
        with np.errstate(all="ignore"):
            answers = [session.run(None, {"x": x}), evaluator.run(None, {"x": x})]
        if all((np.asarray(a) == np.asarray(b)).all() for a, b in zip(*answers)):
            y, scale, zero_point = answers[0]
            lines.append("\t".join([codes(x), codes(scale), str(int(zero_point)), y.tobytes().hex()]))
    (pathlib.Path(__file__).parent / "onnx_dynamic.tsv").write_text("\n".join(lines) + "\n")


main()
