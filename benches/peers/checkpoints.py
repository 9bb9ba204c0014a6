#!/usr/bin/env python3
"""Times operations on whole checkpoints: lanecast beside cp, torch, llm-compressor, compressed-tensors and anamnesis.

    python -m venv venv && venv/bin/pip install numpy safetensors torch llmcompressor compressed-tensors
    cargo install anamnesis --features cli
    venv/bin/python ../../examples/make_models.py models
    venv/bin/python checkpoints.py models --lanecast ../../target/release/lanecast -o checkpoints.json

The contenders of an operation take turns, each in a process of its own, and read the same files, which are in the page cache. `time` is that of
the whole process; `work` leaves out the imports of Python. `memory` is the largest resident set of the process. `error` is the root mean square
of the differences to the exact values of the source, divided by that of the values; NumPy computes it, without any of the contenders. A
contender that is not installed is SKIPPED with the reason, and one that fails is reported with the end of its output.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import math
import os
import pathlib
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

TILE = 128


# What children do. Each is called in a process of its own, with the source and the output.


def torch_cast(source: str, output: str) -> None:
    """Loads each shard, casts its floats, and saves it."""
    import torch
    from safetensors.torch import load_file, save_file

    start()
    for path in shards(source):
        tensors = load_file(path)
        cast = {name: tensor.to(torch.float16) if tensor.is_floating_point() else tensor for name, tensor in tensors.items()}
        save_file(cast, os.path.join(output, path.name), metadata={"format": "pt"})
    copy_others(source, output)


def torch_dequantize(source: str, output: str) -> None:
    """Multiplies the codes of each tile by its scale, as the script of DeepSeek does on a GPU."""
    import torch
    from safetensors.torch import load_file, save_file

    start()
    for path in shards(source):
        tensors, plain = load_file(path), {}
        for name, tensor in tensors.items():
            if name.endswith("_scale_inv"):
                continue
            scale = tensors.get(f"{name}_scale_inv")
            if scale is not None:
                spread = scale.repeat_interleave(TILE, 0)[: tensor.shape[0]].repeat_interleave(TILE, 1)[:, : tensor.shape[1]]
                tensor = (tensor.to(torch.float32) * spread).to(torch.bfloat16)
            plain[name] = tensor
        save_file(plain, os.path.join(output, path.name), metadata={"format": "pt"})
    copy_others(source, output)


def torch_quantize(source: str, output: str) -> None:
    """Divides each tile by its largest magnitude over 448, and casts it."""
    import torch
    from safetensors.torch import load_file, save_file

    start()
    for path in shards(source):
        tensors, coded = load_file(path), {}
        for name, tensor in tensors.items():
            if not is_linear(name, tensor.ndim):
                coded[name] = tensor
                continue
            rows, columns = tensor.shape
            padded = torch.zeros(-(-rows // TILE) * TILE, -(-columns // TILE) * TILE)
            padded[:rows, :columns] = tensor
            tiles = padded.view(padded.shape[0] // TILE, TILE, padded.shape[1] // TILE, TILE)
            scale = tiles.abs().amax(dim=(1, 3)).clamp(min=1e-12) / 448
            codes = (tiles / scale[:, None, :, None]).view_as(padded)[:rows, :columns]
            coded[name] = codes.to(torch.float8_e4m3fn).contiguous()
            coded[f"{name}_scale_inv"] = scale
        save_file(coded, os.path.join(output, path.name), metadata={"format": "pt"})
    copy_others(source, output)


def llm_compressor_quantize(source: str, output: str) -> None:
    from llmcompressor import model_free_ptq

    start()
    ignore = ["lm_head", "model.embed_tokens", "re:.*mlp.gate$"]
    model_free_ptq(source, output, "FP8_BLOCK", ignore=ignore, device="cpu", max_workers=os.cpu_count() or 1)


def compressed_tensors_dequantize(source: str, output: str) -> None:
    from compressed_tensors.entrypoints.convert import FP8BlockDequantizer, convert_checkpoint

    start()
    converter = FP8BlockDequantizer(targets=[r"re:.*_proj.*"], weight_block_size=(TILE, TILE))
    convert_checkpoint(source, output, converter, max_workers=os.cpu_count() or 1)


CHILDREN: dict[str, Callable[[str, str], None]] = {
    child.__name__: child for child in (torch_cast, torch_dequantize, torch_quantize, llm_compressor_quantize, compressed_tensors_dequantize)
}

began = 0.0


def start() -> None:
    """The imports are done."""
    global began
    began = time.perf_counter()


def child(name: str, source: str, output: str) -> None:
    os.makedirs(output, exist_ok=True)
    CHILDREN[name](source, output)
    print(f"work {time.perf_counter() - began}")


def copy_others(source: str, output: str) -> None:
    for path in pathlib.Path(source).iterdir():
        if path.suffix != ".safetensors":
            shutil.copy(path, output)


def is_linear(name: str, axes: int) -> bool:
    return axes == 2 and "_proj" in name


def shards(folder: str | os.PathLike[str]) -> list[pathlib.Path]:
    return sorted(pathlib.Path(folder).glob("*.safetensors"))


# The contenders.


class Contender(NamedTuple):
    name: str
    #: The words of a process that reads `{source}` and writes `{output}`; for several files, words of which each are run one after another.
    command: Callable[[pathlib.Path, pathlib.Path], list[list[str]]]
    #: Why it cannot run; empty if it can.
    missing: str
    version: str = ""


def python_child(label: str, package: str, module: str, function: Callable[[str, str], None]) -> Contender:
    def command(source: pathlib.Path, output: pathlib.Path) -> list[list[str]]:
        return [[sys.executable, __file__, "--child", function.__name__, str(source), str(output)]]

    try:
        version = importlib.metadata.version(package)
        missing = "" if importlib.util.find_spec(module) else f"it has no module {module}"
    except (importlib.metadata.PackageNotFoundError, ModuleNotFoundError):
        version, missing = "", f"this Python has no package {package}"
    return Contender(label, command, missing, version)


def program(label: str, path: str | None, command: Callable[[pathlib.Path, pathlib.Path], list[list[str]]]) -> Contender:
    found = path and shutil.which(path)
    if not found:
        return Contender(label, command, f"there is no program {path}")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    return Contender(label, command, "", (version.splitlines() or [""])[0])


def copies() -> list[Contender]:
    flushed = 'cp -r "$1" "$2" && sync -f "$2"'
    return [
        program("cp", "cp", lambda source, output: [["cp", "-r", str(source), str(output)]]),
        program("cp, flushed", "cp", lambda source, output: [["sh", "-c", flushed, "sh", str(source), str(output)]]),
    ]


class Operation(NamedTuple):
    name: str
    model: str
    contenders: list[Contender]


def operations(lanecast: str, anamnesis: str) -> list[Operation]:
    def ours(*words: str) -> Contender:
        verb, *options = words
        return program("lanecast", lanecast, lambda source, output: [[lanecast, verb, str(source), str(output), *options, "--quiet"]])

    def amn(source: pathlib.Path, output: pathlib.Path) -> list[list[str]]:
        # It takes one file at a time, and no folder.
        return [[anamnesis, "remember", str(path), "--to", "bf16", "--output", str(output / path.name)] for path in shards(source)]

    cast = python_child("torch", "torch", "torch", torch_cast)
    dequantize = python_child("torch", "torch", "torch", torch_dequantize)
    quantize = python_child("torch", "torch", "torch", torch_quantize)
    convert = "compressed_tensors.entrypoints.convert"
    return [
        Operation("cast bfloat16 to float16", "llama", [*copies(), cast, ours("convert", "--to", "float16")]),
        Operation(
            "decode block fp8 to bfloat16",
            "deepseek-v3",
            [
                *copies(),
                dequantize,
                python_child("compressed-tensors", "compressed-tensors", convert, compressed_tensors_dequantize),
                program("anamnesis", anamnesis, amn),
                ours("dequantize", "--to", "bfloat16"),
            ],
        ),
        Operation(
            "encode bfloat16 to block fp8",
            "llama",
            [
                *copies(),
                quantize,
                python_child("llm-compressor", "llmcompressor", "llmcompressor", llm_compressor_quantize),
                ours("quantize", "--scheme", "fp8-block", "--layout", "compressed-tensors"),
            ],
        ),
    ]


# Values, read by NumPy alone.


def float8_values() -> np.ndarray:
    """The value of every code of float8_e4m3fn."""
    codes = np.arange(256)
    exponent, mantissa = codes >> 3 & 15, codes & 7
    values = np.where(exponent == 0, mantissa / 8 * 2.0**-6, (1 + mantissa / 8) * 2.0 ** (exponent - 7.0))
    values[codes & 0x7F == 0x7F] = math.nan
    return np.where(codes >> 7 == 1, -values, values)


FLOAT8 = float8_values()


def stored(folder: pathlib.Path) -> dict[str, tuple[pathlib.Path, int, dict]]:
    """The tensors of a folder: the file, where its data begin, and the entry of the header."""
    found = {}
    for path in shards(folder):
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(length))
        header.pop("__metadata__", None)
        found.update({name: (path, 8 + length, entry) for name, entry in header.items()})
    return found


def read(of: tuple[pathlib.Path, int, dict]) -> np.ndarray:
    """The elements as float64, codes as the floats that they are."""
    path, data, entry = of
    begin, end = entry["data_offsets"]
    raw = np.fromfile(path, np.uint8, end - begin, offset=data + begin)
    match entry["dtype"]:
        case "BF16":
            values = (raw.view("<u2").astype(np.uint32) << 16).view(np.float32)
        case "F16":
            values = raw.view("<f2")
        case "F32":
            values = raw.view("<f4")
        case "F8_E4M3":
            values = FLOAT8[raw]
        case other:
            raise ValueError(f"{path}: the dtype {other} is not read")
    return values.astype(np.float64).reshape(entry["shape"])


def weights(folder: pathlib.Path) -> Iterator[tuple[str, Callable[[], np.ndarray]]]:
    """The names of the logical tensors, and functions that read them."""
    tensors = stored(folder)
    ends = ("_scale_inv", "_scale")
    for name, of in tensors.items():
        if any(name.endswith(end) and name.removesuffix(end) in tensors for end in ends):
            continue
        scale = next((tensors[name + end] for end in ends if name + end in tensors), None)

        def values(of=of, scale=scale) -> np.ndarray:
            codes = read(of)
            if scale is None:
                return codes
            spread = read(scale).repeat(TILE, 0)[: codes.shape[0]].repeat(TILE, 1)[:, : codes.shape[1]]
            return codes * spread

        yield name, values


def error(source: pathlib.Path, output: pathlib.Path) -> float:
    """The root mean square of the differences, divided by that of the values."""
    want, have = dict(weights(source)), dict(weights(output))
    if want.keys() != have.keys():
        raise ValueError(f"other tensors: {sorted(want.keys() ^ have.keys())[:3]}")
    squares = differences = 0.0
    for name, values in want.items():
        exact = values()
        squares += float(np.square(exact).sum())
        differences += float(np.square(have[name]() - exact).sum())
    return math.sqrt(differences / squares)


# The measurement.


class Run(NamedTuple):
    seconds: float
    work: float
    memory: int


#: Starts a process, and writes its seconds, memory and status to a file. Linux counts the memory of the process that starts another one as that
#: of the new one, too, and this one has little: figures of less than 10 MB or so are its own.
LAUNCHER = """
import os, sys, time
before = time.perf_counter()
pid = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
with open(sys.argv[1], "w") as file:
    print(time.perf_counter() - before, usage.ru_maxrss, os.waitstatus_to_exitcode(status), file=file)
"""


def run(commands: list[list[str]], log: pathlib.Path) -> Run:
    """Runs processes one after another. The memory is that of the largest."""
    seconds, memory = 0.0, 0
    work = None
    figures = log.with_suffix(".figures")
    for words in commands:
        with log.open("wb") as file:
            launch = [sys.executable, "-I", "-S", "-c", LAUNCHER, str(figures), *words]
            subprocess.run(launch, stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=True)
        taken, resident, status = figures.read_text(encoding="utf-8").split()
        seconds += float(taken)
        text = log.read_text(errors="replace")
        if status != "0":
            raise RuntimeError(f"exit {status}: {' '.join(text.split())[-300:]}")
        # Bytes on macOS, KiB elsewhere.
        memory = max(memory, int(resident) * (1 if sys.platform == "darwin" else 1024))
        lines = [line for line in text.splitlines() if line.startswith("work ")]
        work = float(lines[-1].split()[1]) if lines else work
    return Run(seconds, seconds if work is None else work, memory)


def measure(operation: Operation, models: pathlib.Path, place: pathlib.Path, repeat: int) -> Iterator[dict]:
    source = models / operation.model
    size = sum(path.stat().st_size for path in shards(source))
    if size == 0:
        print(f"SKIPPED: {operation.name}: {source} has no .safetensors files; examples/make_models.py makes them")
        return
    runs: dict[str, list[Run]] = {}
    failed: dict[str, str] = {}
    errors: dict[str, float | None] = {}
    for contender in operation.contenders:
        if contender.missing:
            print(f"SKIPPED: {operation.name}: {contender.name}: {contender.missing}")
    for turn in range(repeat):
        for contender in operation.contenders:
            if contender.missing or contender.name in failed:
                continue
            output = place / "output"
            shutil.rmtree(output, ignore_errors=True)
            for path in source.iterdir():
                path.read_bytes()
            if contender.name == "anamnesis":
                output.mkdir()
            try:
                result = run(contender.command(source, output), place / "log")
                if turn == 0:
                    errors[contender.name] = None if contender.name.startswith("cp") else error(source, output)
            except (RuntimeError, ValueError) as reason:
                failed[contender.name] = str(reason)
                print(f"FAILED: {operation.name}: {contender.name}: {reason}")
                continue
            finally:
                shutil.rmtree(output, ignore_errors=True)
                os.sync()
            runs.setdefault(contender.name, []).append(result)
    for contender in operation.contenders:
        if contender.name in failed or contender.name not in runs:
            continue
        of = runs[contender.name]
        yield {
            "operation": operation.name, "model": operation.model, "bytes": size, "contender": contender.name, "version": contender.version,
            "seconds": statistics.median(one.seconds for one in of), "work": statistics.median(one.work for one in of),
            "memory": max(one.memory for one in of), "error": errors[contender.name], "runs": len(of),
        }  # fmt: skip


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:5])
        return
    parser = argparse.ArgumentParser(description="Times operations on whole checkpoints beside other programs.")
    parser.add_argument("models", type=pathlib.Path, help="the folder that examples/make_models.py made")
    parser.add_argument("--lanecast", default="lanecast", help="the program (default: lanecast)")
    parser.add_argument("--anamnesis", default="amn", help="the program of anamnesis (default: amn)")
    parser.add_argument("--repeat", type=int, default=3, help="the runs of each contender; the median counts (default: 3)")
    parser.add_argument("--place", type=pathlib.Path, help="where outputs are written (default: beside the models)")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="the results as JSON")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(dir=arguments.place or arguments.models) as place:
        for operation in operations(arguments.lanecast, arguments.anamnesis):
            of = list(measure(operation, arguments.models, pathlib.Path(place), arguments.repeat))
            if of:
                print(f"\n{operation.name}, {of[0]['bytes'] / 1e6:.0f} MB\n{'':20}{'time':>9}{'work':>9}{'MB/s':>8}{'memory':>11}  error")
            for row in of:
                rate = row["bytes"] / 1e6 / row["seconds"]
                loss = "" if row["error"] is None else f"{row['error']:.3e}"
                memory = f"{row['memory'] / 1e6:.0f} MB"
                print(f"{row['contender']:20}{row['seconds']:8.2f}s{row['work']:8.2f}s{rate:8.0f}{memory:>11}  {loss}")
            rows += of
    if arguments.output:
        arguments.output.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
