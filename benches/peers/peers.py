#!/usr/bin/env python3
"""Times the casts of numpy with ml_dtypes, torch, onnxruntime and jax, single thread.

    python -m venv venv && venv/bin/pip install numpy ml_dtypes torch onnxruntime onnx jax
    venv/bin/python peers.py -o python.json
    lanecast-bench report matrix.json --peers peers.json --peers python.json -o docs

Sizes and source values are those of lanecast-bench: source and destination together 24 KiB, 512 KiB, and four times the last
cache. All contenders of a pair take turns with a copy that reads and writes as many bytes together; the report compares the
quotients, because this is not the process in which we are measured. A call from Python costs some hundred nanoseconds; those
of the copy are measured on an empty one and taken off, those of the casts are what a user pays. A pair that a peer does not
have is left out.
"""

import argparse
import importlib.metadata
import json
import os
import statistics
import sys
import time

# Before any of them starts its threads.
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import ml_dtypes
import numpy as np

NAMES = (
    "bool int2 int4 int8 int16 int32 int64 uint2 uint4 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 "
    "complex128 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float8_e3m4 float8_e4m3 "
    "float8_e4m3b11fnuz float6_e2m3fn float6_e3m2fn float4_e2m1fn"
).split()
L1, L2 = 24 << 10, 512 << 10


def dtype(name):
    """The numpy dtype of a name, those of ml_dtypes included."""
    return np.dtype(getattr(ml_dtypes, name) if hasattr(ml_dtypes, name) else name)


def unsigned(name):
    return name.startswith("uint") or name == "float8_e8m0fnu"


def values(source, target, n):
    """Source values as lanecast-bench makes them: in the range of both dtypes, every mantissa bit in use."""
    generator = np.random.default_rng(1)
    period = min(n, 1 << 16)
    unit = generator.random(period)
    largest = 1.0 if any(name in ("int2", "uint2") for name in (source, target)) else 4.25
    if "int" in source or source == "bool":
        numbers = np.floor(unit * (largest + 1.0))
    else:
        numbers = 0.5 + unit * (largest - 0.5)
    if not unsigned(source) and not unsigned(target):
        numbers *= generator.choice([-1.0, 1.0], period)
    return np.resize(numbers.astype(dtype(source)), n)


class Numpy:
    """numpy, with the dtypes of ml_dtypes: `copyto` into an existing array."""

    versions = ("numpy", "ml_dtypes")

    def cast(self, source, target, array):
        out = np.empty(array.shape, dtype(target))
        return lambda: np.copyto(out, array, casting="unsafe")


class Torch:
    """torch: `Tensor.copy_` into an existing tensor."""

    versions = ("torch",)

    def __init__(self):
        import torch

        self.torch = torch
        torch.set_num_threads(1)

    def cast(self, source, target, array):
        wide = np.dtype("complex128") if source.startswith("complex") else np.dtype("float64")
        kind = lambda name: getattr(self.torch, name)
        tensor = self.torch.from_numpy(array.astype(wide)).to(kind(source))
        out = self.torch.empty(len(array), dtype=kind(target))
        return lambda: out.copy_(tensor)


class Onnxruntime:
    """onnxruntime: a model of one Cast, its input and output bound to existing memory."""

    versions = ("onnxruntime",)
    types = {
        "bool": "BOOL",
        "int8": "INT8",
        "int16": "INT16",
        "int32": "INT32",
        "int64": "INT64",
        "uint8": "UINT8",
        "uint16": "UINT16",
        "uint32": "UINT32",
        "uint64": "UINT64",
        "float16": "FLOAT16",
        "bfloat16": "BFLOAT16",
        "float32": "FLOAT",
        "float64": "DOUBLE",
        "float8_e4m3fn": "FLOAT8E4M3FN",
        "float8_e4m3fnuz": "FLOAT8E4M3FNUZ",
        "float8_e5m2": "FLOAT8E5M2",
        "float8_e5m2fnuz": "FLOAT8E5M2FNUZ",
    }

    def __init__(self):
        import onnx
        import onnxruntime

        self.onnx, self.ort = onnx, onnxruntime
        onnxruntime.set_default_logger_severity(4)

    def value(self, name, array):
        """An array as a value of onnxruntime; dtypes that numpy lacks go as their bits."""
        if array.dtype.kind == "V" or name == "bfloat16" or name.startswith("float8"):
            array = array.view(f"u{array.itemsize}")
        return self.ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array, self.type(name))

    def type(self, name):
        return getattr(self.onnx.TensorProto, self.types[name])

    def cast(self, source, target, array):
        helper = self.onnx.helper
        node = helper.make_node("Cast", ["x"], ["y"], to=self.type(target))
        ends = [helper.make_tensor_value_info(end, self.type(of), [None]) for end, of in (("x", source), ("y", target))]
        graph = helper.make_graph([node], "cast", ends[:1], ends[1:])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
        model.ir_version = 10
        options = self.ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = self.ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        # Both stay referenced from the closure: the binding only borrows them.
        x, y = self.value(source, array), self.value(target, np.zeros(len(array), dtype(target)))
        binding.bind_ortvalue_input("x", x)
        binding.bind_ortvalue_output("y", y)
        keep = (array, x, y)
        return lambda: (session.run_with_iobinding(binding), keep)


class Jax:
    """jax: a compiled `astype`; it allocates its answer."""

    versions = ("jax",)

    def __init__(self):
        import jax

        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_platforms", "cpu")
        self.jax = jax

    def cast(self, source, target, array):
        array = self.jax.numpy.asarray(array)
        if array.dtype != dtype(source):
            raise TypeError(f"jax has no {source}")
        cast = self.jax.jit(lambda x: x.astype(dtype(target)))
        if cast(array).dtype != dtype(target):
            raise TypeError(f"jax has no {target}")
        return lambda: cast(array).block_until_ready()


PEERS = {"numpy": Numpy, "torch": Torch, "onnxruntime": Onnxruntime, "jax": Jax}


def measure(contenders, budget, turn):
    """Median nanoseconds of one call of each; all take turns, each warmed up before its own."""
    counts = []
    for contender in contenders:
        contender()
        start = time.perf_counter_ns()
        contender()
        once = max(1, time.perf_counter_ns() - start)
        counts.append((max(1, int(turn / once)), once < 40e6))
    times = [[] for _ in contenders]
    started = time.perf_counter_ns()
    while len(times[0]) < 1 or (time.perf_counter_ns() - started < budget and len(times[0]) < 500):
        for contender, (count, warm), own in zip(contenders, counts, times):
            if warm:
                contender()
            start = time.perf_counter_ns()
            for _ in range(count):
                contender()
            own.append((time.perf_counter_ns() - start) / count)
    return [statistics.median(own) for own in times]


def contest(peers, source, target, size, footprint, budget):
    """The rows of a pair at a size."""
    n = footprint // (dtype(source).itemsize + dtype(target).itemsize) // 64 * 64
    with np.errstate(all="ignore"):
        array = values(source, target, n)
        names, contenders = [], []
        for name, peer in peers.items():
            try:
                cast = peer.cast(source, target, array)
                cast()
            except Exception:  # noqa: BLE001 - every peer has its own way to say that it lacks a pair
                continue
            names.append(name)
            contenders.append(cast)
        if not names:
            return []
        half = (array.nbytes + n * dtype(target).itemsize) // 2
        original = np.ones(half, np.uint8)
        copy = np.empty_like(original)
        empty, nothing = copy[:1], original[:1]
        contenders += [lambda: np.copyto(copy, original), lambda: np.copyto(empty, nothing)]
        times = measure(contenders, budget * len(contenders), 0 if size == "dram" else 50_000)
    row = {"from": source, "to": target, "size": size, "elements": n, "copy_ns": max(times[-2] - times[-1], times[-2] / 10)}
    return [{"peer": name, **row, "peer_ns": own} for name, own in zip(names, times)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-o", "--output", default="python.json")
    parser.add_argument("--peers", default=",".join(PEERS), help="separated by commas")
    parser.add_argument("--pairs", default="", help="float32:bfloat16,... [default: all]")
    parser.add_argument("--sizes", default="l1,l2,dram")
    parser.add_argument("--dram-mib", type=int, default=128, help="four times the last cache")
    parser.add_argument("--budget", type=float, default=15.0, help="milliseconds per contender")
    arguments = parser.parse_args()
    peers = {}
    for name in arguments.peers.split(","):
        try:
            peers[name] = PEERS[name]()
        except ImportError as error:
            print(f"skipped: {name}: {error}", file=sys.stderr)
    if arguments.pairs:
        pairs = [tuple(pair.split(":")) for pair in arguments.pairs.split(",")]
    else:
        pairs = [(source, target) for source in NAMES for target in NAMES if source != target]
    footprints = {"l1": L1, "l2": L2, "dram": arguments.dram_mib << 20}
    rows = []
    for source, target in pairs:
        print(f"{source} -> {target}", file=sys.stderr)
        for size in arguments.sizes.split(","):
            rows += contest(peers, source, target, size, footprints[size], arguments.budget * 1e6)
    versions = {name: importlib.metadata.version(name) for peer in peers.values() for name in peer.versions}
    with open(arguments.output, "w", encoding="utf-8") as file:
        json.dump({"versions": versions, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
