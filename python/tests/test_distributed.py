"""`lanecast.distributed` on clusters of this machine, and the scripts for SLURM: the bytes are those of one process, whatever is killed, slow or run twice."""

import contextlib
import filecmp
import functools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import package
from models import plain_checkpoint

import lanecast
from lanecast import checkpoint, distributed
from lanecast.distributed import TaskError, _driver

package("numpy")
if not sys.platform.startswith("linux"):
    pytest.skip("the tests find the processes of tasks in /proc", allow_module_level=True)

HERE = pathlib.Path(__file__).parent
SCRIPTS = HERE.parents[1] / "examples/slurm"
WORKERS = 4
RANGE = 1 << 15
OPERATIONS = {
    "convert": {"to": "bfloat16"},
    "quantize": {"quantize": "nvfp4", "layout": "compressed-tensors"},
    "dequantize": {"dequantize": "bfloat16"},
    "requantize": {"requantize": "mxfp8", "layout": "compressed-tensors"},
}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A plain checkpoint and a quantized one, and what each operation makes of them in one process."""
    folder = tmp_path_factory.mktemp("models")
    plain = plain_checkpoint(folder, (384, 512), 3)
    checkpoint.quantize(plain, folder / "small", scheme="fp8-block", layout="deepseek")
    checkpoint.quantize(plain, folder / "smaller", scheme="mxfp4", layout="compressed-tensors")
    sources = {"convert": plain, "quantize": plain, "dequantize": folder / "small", "requantize": folder / "smaller"}
    reports = {
        "convert": checkpoint.convert(plain, folder / "convert", to="bfloat16"),
        "quantize": checkpoint.quantize(plain, folder / "quantize", scheme="nvfp4", layout="compressed-tensors"),
        "dequantize": checkpoint.dequantize(folder / "small", folder / "dequantize", to="bfloat16"),
        "requantize": checkpoint.requantize(folder / "smaller", folder / "requantize", scheme="mxfp8", layout="compressed-tensors"),
    }
    return sources, folder, reports


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    """Makes folders `slow` what they say, in programs that start from now on."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler for the library that makes a folder slow")
    library = tmp_path_factory.mktemp("slow") / "slow.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, HERE / "slow.c", "-ldl"], check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LD_PRELOAD", str(library))
        yield


@pytest.fixture(scope="module")
def clusters(slow):
    """Starts the cluster of a scheduler, once. Its value is `run(path, **options)`, and the options of the program."""
    started, stack = {}, contextlib.ExitStack()

    def start(name):
        if name not in started:
            started[name] = {"local": local, "ray": ray, "dask": dask}[name](stack)
        return started[name]

    with stack:
        yield start


def local(_):
    return (lambda path, **options: distributed.local.run(path, processes=WORKERS, **options)), ["--processes", str(WORKERS)]


def ray(stack):
    ray = package("ray")
    context = ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False, logging_level="warning", object_store_memory=100 << 20)
    stack.callback(ray.shutdown)
    arguments = ["--address", context.address_info["address"], "--threads", "1"]
    return (lambda path, **options: distributed.ray.run(path, num_cpus=1, **options)), arguments


def dask(stack):
    dask = package("distributed")
    cluster = stack.enter_context(dask.LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None, silence_logs=50))
    client = stack.enter_context(dask.Client(cluster))
    return (lambda path, **options: distributed.dask.run(path, client, **options)), ["--address", cluster.scheduler_address]


SCHEDULERS = pytest.mark.parametrize("scheduler", ["local", "ray", "dask"])


@pytest.fixture
def planned(models, tmp_path):
    """Plans an operation: the path of the plan, the output, and the output and the report of one process."""

    def planned(operation="convert", folder="out"):
        sources, expected, reports = models
        (tmp_path / folder).mkdir()
        output = tmp_path / folder / "model"
        plan = checkpoint.plan(sources[operation], output, range_size=RANGE, **OPERATIONS[operation])
        plan.save(tmp_path / "plan.json")
        phases = {task.phase for task in plan.tasks}
        assert len(plan.tasks) > 20 and ("amax" in phases) == (operation == "quantize")
        return tmp_path / "plan.json", output, expected / operation, reports[operation]

    return planned


def check_same(output, expected):
    """Both folders have the same files with the same bytes."""
    names = sorted(path.relative_to(expected) for path in expected.rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(output) for path in output.rglob("*") if path.is_file())
    assert filecmp.cmpfiles(output, expected, names, shallow=False) == (names, [], []) or [
        name for name in names if (output / name).read_bytes() != (expected / name).read_bytes()
    ] == []


def busy(output):
    """The processes, except this one, that have a file of the work on an output open."""
    found = set()
    for process in filter(str.isdecimal, os.listdir("/proc")):
        # It may have ended.
        with contextlib.suppress(OSError):
            links = [os.readlink(f"/proc/{process}/fd/{fd}") for fd in os.listdir(f"/proc/{process}/fd")]
            if any(link.startswith(f"{output}.lanecast-") for link in links):
                found.add(int(process))
    return found - {os.getpid()}


def markers(output):
    """How many tasks have a marker."""
    return len(list(output.parent.glob(f"{output.name}.lanecast-*/done/*.json")))


def wait_for(condition):
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


@SCHEDULERS
@pytest.mark.parametrize("operation", OPERATIONS)
def test_bytes(clusters, planned, scheduler, operation):
    path, output, expected, report = planned(operation)
    seen = []
    got = clusters(scheduler)[0](path, progress=seen.append)
    check_same(output, expected)
    assert got == report
    last = {state.phase: state for state in seen}
    assert all((state.done, state.nbytes, state.repeated) == (state.tasks, state.total, 0) for state in last.values())
    # Once more, nothing is left to do.
    assert clusters(scheduler)[0](path) == report


@SCHEDULERS
def test_killed_workers(clusters, planned, scheduler):
    path, output, expected, _ = planned("quantize", "slow")
    killed, ended = [], threading.Event()

    def kill():
        while not ended.wait(0.02) and len(killed) < 4:
            for process in list(busy(output))[:1]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
                    killed.append(process)
            # Replacements have to start before the next one.
            ended.wait(0.1)

    thread = threading.Thread(target=kill)
    run, _ = clusters(scheduler)
    thread.start()
    try:
        run(path)
    finally:
        ended.set()
        thread.join()
    assert len(killed) >= 2
    check_same(output, expected)


@SCHEDULERS
def test_two_drivers(clusters, planned, scheduler):
    """All tasks run twice, also at the same time."""
    path, output, expected, report = planned("quantize", "slow")
    other = subprocess.Popen([sys.executable, "-m", "lanecast.distributed", path, "--quiet"], stdout=subprocess.PIPE)
    got = clusters(scheduler)[0](path)
    assert got == json.loads(other.communicate()[0]) == report and other.returncode == 0
    check_same(output, expected)


# dask runs a task to its end, whatever its driver does.
@pytest.mark.parametrize(
    "scheduler, ends",
    [("local", signal.SIGKILL), ("local", signal.SIGINT), ("ray", signal.SIGKILL), ("ray", signal.SIGINT), ("dask", signal.SIGKILL)],
)
def test_a_driver_that_ends(clusters, planned, scheduler, ends):
    path, output, expected, _ = planned("convert", "slow")
    run, arguments = clusters(scheduler)
    command = [sys.executable, "-m", "lanecast.distributed", path, "--scheduler", scheduler, *arguments]
    # A shell starts what runs in the background with SIGINT ignored.
    default = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    driver = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=default)
    wait_for(lambda: markers(output) > 8)
    driver.send_signal(ends)
    said = driver.communicate()[1]
    if ends == signal.SIGINT:
        assert driver.returncode == 130 and "interrupted; the same command goes on" in said
        wait_for(lambda: not busy(output))
    assert not output.exists()
    seen = []
    run(path, progress=seen.append)
    assert seen[0].done > 4
    check_same(output, expected)


def test_resources_of_ray(clusters, planned):
    """Tasks that no node has room for wait, and a warning says what for. By default, a task takes the CPUs of the largest node, up to 8."""
    # Ray counts ten-thousandths in 64 bits: more bytes than this would be few.
    clusters("ray")
    path, output, expected, report = planned()

    class Waits(Exception):
        pass

    def end(state):
        if state.running:
            raise Waits

    with pytest.warns(UserWarning, match=rf"no node of the Ray cluster has {WORKERS} CPUs and {1 << 45} bytes of memory"), pytest.raises(Waits):
        distributed.ray.run(path, memory=1 << 45, progress=end)
    assert markers(output) == 0
    assert distributed.ray.run(path) == report
    check_same(output, expected)


def test_markers_that_appear_late(planned, monkeypatch, tmp_path):
    """As on a network file system, whose clients see new files after a while. A `shard` task that misses markers runs again."""
    monkeypatch.setattr(_driver, "_DELAYS", (0.2,))
    path, output, expected, report = planned()
    ranges = [task.id for task in checkpoint.Plan.load(path).tasks if task.phase == "range"]
    late, seen, ended = tmp_path / "late", [], threading.Event()
    late.mkdir()

    def hide():
        """Hides markers until a task has missed them."""
        while not ended.wait(0.01) and not (seen and seen[-1].error):
            for id in ranges:
                for marker in output.parent.glob(f"{output.name}.lanecast-*/done/{id}.json"):
                    marker.rename(late / marker.name)
                    folder = marker.parent
        for marker in late.iterdir():
            marker.rename(folder / marker.name)

    thread = threading.Thread(target=hide)
    thread.start()
    try:
        assert distributed.local.run(path, processes=WORKERS, retries=50, progress=seen.append) == report
    finally:
        ended.set()
        thread.join()
    check_same(output, expected)
    assert seen[-1].repeated > 0 and "tasks of the phase range are pending" in seen[-1].error


def test_the_error_names_the_task(models, planned, tmp_path, monkeypatch):
    monkeypatch.setattr(_driver, "_DELAYS", (0.0,))
    sources, _, _ = models
    shutil.copytree(sources["convert"], tmp_path / "source")
    output = tmp_path / "output"
    checkpoint.plan(tmp_path / "source", output, to="bfloat16", range_size=RANGE).save(tmp_path / "plan.json")
    file = tmp_path / "source/model-00001-of-00002.safetensors"
    file.write_bytes(file.read_bytes() + b"\0")
    with pytest.raises(TaskError, match=rf"task \d+ of the phase \w+ .*on {os.uname().nodename} \(process \d+\): .*{file.name}"):
        distributed.local.run(tmp_path / "plan.json", processes=2, retries=1)
    assert not output.exists()
    ran = subprocess.run([sys.executable, "-m", "lanecast.distributed", tmp_path / "plan.json", "--retries", "0"], capture_output=True, text=True)
    assert ran.returncode == 3 and "error: task" in ran.stderr and file.name in ran.stderr


@pytest.fixture
def submit(tmp_path):
    """Runs `submit PLAN ...`, and returns the log of the stand-in."""
    if not SCRIPTS.exists():
        pytest.skip("the examples are not a part of the sdist")
    state = tmp_path / "slurm"
    programs = tmp_path / "programs"
    state.mkdir()
    programs.mkdir()
    program = programs / "lanecast"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m lanecast "$@"\n')
    program.chmod(0o755)
    path = f"{HERE / 'slurm'}:{programs}:{os.environ['PATH']}"

    def submit(plan, *arguments, during=lambda state: None, **variables):
        environment = {**os.environ, "PATH": path, "SLURM_STAND_IN": str(state), **variables}
        run = subprocess.Popen([SCRIPTS / "submit", plan, *arguments], env=environment, stdout=subprocess.PIPE, text=True)
        during(state)
        said = run.communicate()[0]
        assert run.returncode == 0
        return said, (state / "log").read_text(), (state / "output").read_text()

    return submit


def test_phases_follow_each_other(submit, planned, tmp_path):
    path, output, expected, _ = planned("quantize")
    said, log, _ = submit(path, "3", "2", "--", "--partition=short")
    check_same(output, expected)
    assert [line.split()[0] for line in said.splitlines()] == ["amax:", "prepare:", "range:", "shard:", "finish:"]
    assert [line.split()[1] for line in log.splitlines()] == ["0-2%2"] * 3 + ["0-1%2", "alone"] and "--partition=short" in (tmp_path / "slurm/options").read_text()


def test_elements_are_killed_and_requeued(submit, slow, planned, tmp_path):
    path, output, expected, _ = planned("convert", "slow")

    def kill(state):
        for done in (8, 20):
            wait_for(lambda: markers(output) >= done)
            (state / "kill").touch()
            wait_for(lambda: not (state / "kill").exists())

    _, log, _ = submit(path, "4", "2", during=kill)
    check_same(output, expected)
    assert log.count("runs again") == 2 and len(list((tmp_path / "slurm").glob("killed.*"))) == 2


def test_a_failed_phase_ends_the_run_and_a_later_one_goes_on(submit, models, planned, tmp_path):
    path, output, expected, _ = planned()
    file = models[0]["convert"] / "model-00002-of-00002.safetensors"
    file.rename(tmp_path / "away")
    try:
        _, log, said = submit(path, "2", LANECAST_RETRIES="1")
    finally:
        (tmp_path / "away").rename(file)
    assert "never starts" in log and log.count("runs again") == 2 and file.name in said and not output.exists()
    submit(path, "2")
    check_same(output, expected)
