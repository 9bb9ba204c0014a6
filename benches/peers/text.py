#!/usr/bin/env python3
"""Times numpy's casts between numbers and strings, single thread, as `lanecast-bench text` does ours.

    python -m venv venv && venv/bin/pip install numpy
    venv/bin/python text.py

The values are of the same kinds and the array has as many elements as there. `U` and `S` are numpy's strings of fixed width, `StringDType`
its variable ones. Every text has to be parsed to the value that it was made of. Medians of rounds in turn.
"""

import os
import statistics
import time

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import numpy as np

N = 100_000
ROUNDS = 9


def values():
    generator = np.random.default_rng(1)
    normal = generator.standard_normal(N)
    unit = generator.random(N)
    yield "float64", "normal, 17 digits", normal
    yield "float64", "eighths, as 0.125", np.round((unit - 0.5) * 1e4) / 8
    yield "float64", "4 decimals, as 3.1416", np.round(unit * 1e5) / 1e4
    yield "float64", "whole, as 72.0", np.floor(unit * 1e6)
    yield "float32", "normal, 9 digits", normal.astype("f4")
    yield "float32", "4 decimals, as 3.1416", (np.round(unit * 1e5) / 1e4).astype("f4")
    yield "float16", "normal", normal.astype("f2")
    yield "int64", "up to 19 digits", (normal * 10.0 ** np.floor(unit * 18)).astype("i8")


def main():
    kinds = {"U": "U", "S": "S", "StringDType": np.dtypes.StringDType()}
    print(f"numpy {np.__version__}, M elements/s")
    print(f"{'dtype':10}{'values':24}" + "".join(f"{kind + ' parse':>19}{kind + ' format':>20}" for kind in kinds))
    for dtype, what, array in values():
        calls = []
        for kind in kinds.values():
            texts = array.astype(kind)
            assert (texts.astype(array.dtype) == array).all()
            calls += [lambda texts=texts: texts.astype(array.dtype), lambda kind=kind: array.astype(kind)]
        times = [[] for _ in calls]
        for _ in range(ROUNDS):
            for call, took in zip(calls, times):
                start = time.perf_counter()
                call()
                took.append(time.perf_counter() - start)
        rates = [N / statistics.median(took) / 1e6 for took in times]
        print(f"{dtype:10}{what:24}" + "".join(f"{rate:{20 if i % 2 else 19}.2f}" for i, rate in enumerate(rates)))


if __name__ == "__main__":
    main()
