"""Measures what `python/examples/cluster_model.py` takes from this package.

Usage: tasks.py casts [FOLDER]     GB of the source per second of one thread, for each phase; FOLDER is in memory (default: /dev/shm)
       tasks.py operations         metadata operations of a task; needs strace
       tasks.py marker [FOLDER]    seconds of a task without bytes, most of which are for its marker (default: the current folder)
       tasks.py driver SCHEDULER   seconds of the driver's processor for a task, with local, ray or dask
"""

import collections
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

import lanecast
from lanecast import checkpoint, distributed

MODULES = ["self_attn.q_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj"]


def model(folder, files, shape):
    """A checkpoint in bfloat16 with as many files, each a layer."""
    folder.mkdir()
    random = np.random.default_rng(1)
    weight = lanecast.astype(random.standard_normal(shape).astype(np.float32) * 0.05, "bfloat16")
    index = {}
    for file in range(files):
        weights = {f"model.layers.{file}.{module}.weight": weight for module in MODULES}
        name = f"model-{file + 1:05}-of-{files:05}.safetensors"
        lanecast.save(folder / name, weights, metadata={"format": "pt"})
        index |= dict.fromkeys(weights, name)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": 0}, "weight_map": index}))
    (folder / "config.json").write_text(json.dumps({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "dtype": "bfloat16"}))
    return folder


@contextlib.contextmanager
def temporary(folder):
    path = pathlib.Path(tempfile.mkdtemp(prefix="lanecast-", dir=folder))
    try:
        yield path
    finally:
        shutil.rmtree(path)


def casts(folder):
    with temporary(folder) as path:
        plain = model(path / "plain", 2, (4096, 4096))
        checkpoint.quantize(plain, path / "fp8", scheme="fp8-block", layout="deepseek")
        for name, source, options in [
            ("convert to float8_e4m3fn", plain, {"to": "float8_e4m3fn"}),
            ("quantize to nvfp4", plain, {"quantize": "nvfp4", "layout": "compressed-tensors"}),
            ("quantize to fp8-block", plain, {"quantize": "fp8-block", "layout": "deepseek"}),
            ("dequantize fp8-block to bfloat16", path / "fp8", {"dequantize": "bfloat16"}),
        ]:
            best = collections.defaultdict(lambda: float("inf"))
            for _ in range(3):
                plan = checkpoint.plan(source, path / "out", range_size=1 << 25, **options)
                phases = collections.Counter()
                for task in plan.tasks:
                    # The first one opens the checkpoint.
                    done = checkpoint.run_task(plan, task.id, threads=1)
                    phases[task.phase] += done["seconds"]
                for phase, seconds in phases.items():
                    best[phase] = min(best[phase], seconds)
                shutil.rmtree(path / "out")
            size = sum(file.stat().st_size for file in source.glob("*.safetensors"))
            for phase in ("amax", "range"):
                if phase in best:
                    print(f"{name}, {phase}: {size / best[phase] / 1e9:.2f} GB/s of the source")


def operations(files):
    """Runs the tasks of a plan under strace, and counts what a network file system asks its server: calls that open, make, rename or flush files,
    and once in a task each other file that it looks at."""
    with temporary(None) as path:
        source = model(path / "plain", files, (256, 256))
        plan = checkpoint.plan(source, path / "out", to="float8_e4m3fn", range_size=1 << 16)
        plan.save(path / "plan.json")
        program = "import os, sys; from lanecast import checkpoint; [os.access('/task', 0) or checkpoint.run_task(sys.argv[1], int(task), threads=1) for task in sys.argv[2:]]"

        def count(phase):
            ids = [str(task.id) for task in plan.tasks if task.phase == phase]
            command = ["strace", "-f", "-qq", "-o", path / "trace", "-e", "trace=%file,fsync,fdatasync,ftruncate,flock"]
            subprocess.run([*command, sys.executable, "-c", program, path / "plan.json", *ids], check=True)
            counts = []
            for task in (path / "trace").read_text().split('"/task"')[1:]:
                acts, opened, seen = 0, set(), set()
                for call, arguments in re.findall(r"^\d+ +(\w+)\((.*)", task, re.MULTILINE):
                    names = {name for name in re.findall(r'"([^"]*)"', arguments) if name.startswith(str(path))}
                    if re.match("open|rename|mkdir|unlink", call) and names:
                        acts, opened = acts + 1, opened | names
                    elif re.match("f", call):
                        acts += 1
                    else:
                        seen |= names
                counts.append(acts + len(seen - opened))
            return counts

        count("prepare")
        first, *more = count("range")
        print(f"{files} files: {first} of the first range task of a process, {sum(more) / len(more):.1f} of each more")


def marker(folder):
    with temporary(folder) as path:
        plan = checkpoint.plan(model(path / "plain", 2, (256, 4096)), path / "out", to="float8_e4m3fn", range_size=1 << 12)
        seconds = [checkpoint.run_task(plan, task.id, threads=1)["seconds"] for task in plan.tasks if task.phase != "finish"]
        print(f"{sorted(seconds)[len(seconds) // 2] * 1e3:.2f} ms, the median of {len(seconds)} tasks of 4 KiB in {folder}")


def driver(scheduler):
    with temporary("/dev/shm") as path, contextlib.ExitStack() as stack:
        plan = checkpoint.plan(model(path / "plain", 2, (256, 4096)), path / "out", to="float8_e4m3fn", range_size=1 << 12)
        plan.save(path / "plan.json")
        if scheduler == "ray":
            import ray

            ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, logging_level="warning")
            run = lambda: distributed.ray.run(path / "plan.json", num_cpus=1)
        elif scheduler == "dask":
            from distributed import Client

            # The scheduler is a process of its own.
            command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "8786", "--no-dashboard"]
            stack.enter_context(ended(command))
            worker = [sys.executable, "-m", "distributed.cli.dask_worker", "tcp://127.0.0.1:8786", "--nthreads", "1", "--nworkers", "4", "--no-dashboard"]
            stack.enter_context(ended(worker))
            client = stack.enter_context(Client("tcp://127.0.0.1:8786"))
            client.wait_for_workers(4)
            run = lambda: distributed.dask.run(path / "plan.json", client)
        else:
            run = lambda: distributed.local.run(path / "plan.json", processes=4)
        start, processor = time.perf_counter(), time.process_time()
        run()
        seconds, processor, tasks = time.perf_counter() - start, time.process_time() - processor, len(plan.tasks)
        print(f"{scheduler}: {processor / tasks * 1e3:.2f} ms of the driver's processor for a task; {tasks / seconds:.0f} tasks per second with 4 workers on {os.cpu_count()} CPUs")


@contextlib.contextmanager
def ended(command):
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def main():
    match sys.argv[1:]:
        case ["casts", *folder]:
            casts(*folder or ["/dev/shm"])
        case ["operations"]:
            for files in (2, 12, 24, 48):
                operations(files)
        case ["marker", *folder]:
            marker(*folder or ["."])
        case ["driver", scheduler]:
            driver(scheduler)
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
