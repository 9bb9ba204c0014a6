#!/usr/bin/env python3
"""Times numpy on arrays of other layouts, single thread, as `lanecast-bench strided` does ours.

    python -m venv venv && venv/bin/pip install numpy
    venv/bin/python strided.py [--side 256,4096] [--layout transposed]

The layouts have the same names and shapes as there; results go to an array that is there (`np.copyto`). Prints nanoseconds per element,
medians of rounds in turn with the contiguous cast of as many elements, and that cast's time divided by it.
"""

import argparse
import os
import statistics
import time

if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import numpy as np

PAIRS = [("f4", "f2"), ("f8", "f4"), ("u1", "f4"), ("f4", "u1"), ("i4", "i8")]


def layouts(s, d, n):
    def source(*shape):
        size = int(np.prod(shape))
        return (np.arange(size, dtype="u4") * 37 % 101).astype(s).reshape(shape)

    def out(*shape):
        return np.zeros(shape, d)

    yield "contiguous", source(n, n), out(n, n)
    yield "every second row", source(2 * n, n)[::2], out(n, n)
    yield "every second column", source(n, 2 * n)[:, ::2], out(n, n)
    yield "one column of 64", source(n * n // 64, 64)[:, 0], out(n * n // 64)
    yield "transposed", source(n, n).T, out(n, n)
    yield "transposed result", source(n, n), out(n, n).T
    yield "reversed", source(n, n)[::-1, ::-1], out(n, n)
    yield "one row repeated", np.broadcast_to(source(n), (n, n)), out(n, n)
    yield "one column repeated", np.broadcast_to(source(n, 1), (n, n)), out(n, n)
    yield "channels last to first", source(n, n // 4, 4).transpose(2, 0, 1), out(4, n, n // 4)
    yield "channels first to last", source(4, n, n // 4).transpose(1, 2, 0), out(n, n // 4, 4)
    yield "rows of 8 of 12", source(n * n // 8, 12)[:, :8], out(n * n // 8, 8)
    yield "every second result", source(n * n), out(2 * n * n)[::2]


def call_time(call, calls):
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--side", default="256,4096")
    parser.add_argument("--layout", default="")
    arguments = parser.parse_args()
    print(f"numpy {np.__version__}")
    print(f"{'from':12}{'to':12}{'side':>6}  {'layout':24}{'ns/element':>12}{'of contiguous':>15}")
    for s, d in PAIRS:
        for side in map(int, arguments.side.split(",")):
            for name, src, dst in layouts(s, d, side):
                if arguments.layout not in name:
                    continue
                together = np.array(src, order="C")
                plain = np.zeros(src.shape, d)
                casts = [
                    lambda: np.copyto(plain, together, casting="unsafe"),
                    lambda: np.copyto(dst, src, casting="unsafe"),
                ]
                for cast in casts:
                    cast()
                assert (plain == dst).all()
                calls = max(1, int(2e-3 / call_time(casts[1], 1)))
                rounds = [[call_time(cast, calls) for cast in casts] for _ in range(9)]
                own = statistics.median(strided for _, strided in rounds) * 1e9 / src.size
                ratio = statistics.median(plain / strided for plain, strided in rounds)
                print(f"{np.dtype(s).name:12}{np.dtype(d).name:12}{side:>6}  {name:24}{own:12.3f}{ratio:15.2f}")


if __name__ == "__main__":
    main()
