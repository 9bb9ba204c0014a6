"""Times scaled casts of lanecast beside those of onnxruntime, PyTorch, torchao, gguf and ggml, on one thread.

    python scaled.py [--sizes 65536,8388608] [--peers onnxruntime,torch] [--only int4] [--ggml libggml-base.so] [--seconds 0.1]

Prints a table in Markdown for each size. A ratio is lanecast's time divided by the peer's; `differ` is the fraction of elements (of bytes,
if elements or blocks are packed) in which the two results differ. As in `matrix.py`, both run in turn, and times are medians over the rounds.

Block formats are timed through the shared object that `cargo build --release -p lanecast-blocks` makes. The peers are the package gguf and, if
`--ggml` has its path, the C code of ggml, which a source package has:

    pip download --no-deps --no-binary :all: llama-cpp-python && tar xzf llama_cpp_python-*.tar.gz
    cmake -S llama_cpp_python-*/vendor/llama.cpp -B ggml -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON
    cmake --build ggml --target ggml-base    # ggml/bin/libggml-base.so
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import scaled_peers as peers
from matrix import first_line, rounds_of

import lanecast

BEHIND = 1.1
BLOCKS = Path(__file__).parents[2] / "target/release/liblanecast_blocks.so"


def differing(own: Any, peer: Any) -> str:
    """The fraction of elements that differ."""
    left, right = peers.elements(own), peers.elements(peer)
    if left.shape != right.shape or left.dtype != right.dtype:
        return f"{left.dtype} {left.shape}, {right.dtype} {right.shape}"
    fraction = float((left != right).mean())
    return f"{fraction:.2g}" if fraction else "0"


def row(contest: peers.Contest, peer: str, seconds: float) -> tuple[str, float | None]:
    """A row of the table, and the ratio."""
    start = f"| {contest.operation} | {contest.source} | "
    try:
        answer = contest.peer()
    except Exception as error:
        return f"{start} | {peer} | cannot: {first_line(error)} | | |", None
    differ = differing(contest.own(), answer)
    del answer
    calls = {"lanecast": contest.own, peer: contest.peer}
    own, other = (statistics.median(times) for times in rounds_of(calls, seconds).values())
    return f"{start}{own * 1e6:.1f} | {peer} | {other * 1e6:.1f} | {own / other:.2f} | {differ} |", own / other


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="65536,8388608", help=f"elements, multiples of {peers.COLUMNS}, separated by commas")
    parser.add_argument("--peers", default="onnxruntime,torch,torchao,gguf,ggml", help="libraries, separated by commas")
    parser.add_argument("--only", default="", help="operations with this in their names")
    parser.add_argument("--blocks", default=str(BLOCKS), help="the shared object of block formats")
    parser.add_argument("--ggml", default="libggml-base.so", help="the shared object of ggml")
    parser.add_argument("--seconds", type=float, default=0.1, help="the time per row; there are at least three rounds")
    arguments = parser.parse_args()

    warnings.simplefilter("ignore")
    lanecast.set_num_threads(1)
    makers: dict[str, Callable[[], Any]] = {
        "onnxruntime": peers.OnnxRuntime,
        "torch": peers.Torch,
        "torchao": peers.TorchAO,
        "gguf": lambda: peers.Gguf(peers.Blocks(arguments.blocks)),
        "ggml": lambda: peers.Ggml(peers.Blocks(arguments.blocks), arguments.ggml),
    }
    libraries = {}
    for name in arguments.peers.split(","):
        if name not in makers:
            parser.error(f"--peers: {name!r} must be one of {', '.join(makers)}")
        try:
            libraries[name] = makers[name]()
        except ImportError as error:
            print(f"SKIPPED: {name}: {error}")
    versions = ", ".join(library.version for library in libraries.values())
    print(f"lanecast {lanecast.__version__} ({lanecast.active_tier()}), {versions}; load {os.getloadavg()[0]:.2f}")
    start = time.perf_counter()
    for n in map(int, arguments.sizes.split(",")):
        if n % peers.COLUMNS or not n:
            parser.error(f"--sizes: {n} must be a positive multiple of {peers.COLUMNS}")
        print(f"\n**{n} elements**\n\n| operation | source | lanecast, us | peer | us | ratio | differ |\n|---|---|---|---|---|---|---|")
        ratios = []
        for name, library in libraries.items():
            for source in ("float32", "bfloat16"):
                for contest in library.contests(n, source):
                    if arguments.only in contest.operation:
                        line, ratio = row(contest, name, arguments.seconds)
                        print(line, flush=True)
                        ratios += [ratio] if ratio else []
        if ratios:
            mean, behind = statistics.geometric_mean(ratios), sum(ratio > BEHIND for ratio in ratios)
            print(f"\n{len(ratios)} rows, ratio {mean:.3f} (geometric mean), lanecast is behind by more than 10 % in {behind}")
    print(f"\n{time.perf_counter() - start:.0f} s, load {os.getloadavg()[0]:.2f}", file=sys.stderr)


if __name__ == "__main__":
    main()
