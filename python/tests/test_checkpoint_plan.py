"""`lanecast.checkpoint.plan`: tasks that write what the functions write, in one process here."""

import pickle
import signal

import pytest
from conftest import package
from models import plain_checkpoint

import lanecast
from lanecast import checkpoint

np = package("numpy")
PHASES = ["amax", "prepare", "range", "shard", "finish"]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A plain checkpoint of two files, and a quantized one."""
    folder = tmp_path_factory.mktemp("models")
    plain = plain_checkpoint(folder, (64, 128), 2)
    checkpoint.quantize(plain, folder / "codes", scheme="mxfp4", layout="compressed-tensors")
    return plain, folder / "codes"


LAYOUT = {"layout": "compressed-tensors"}
OPERATIONS = {
    "convert": ({"to": "bfloat16", "map": {"*norm*": np.float64}, "max_shard_size": 100_000}, lambda *paths, to, **options: checkpoint.convert(*paths, to=to, **options)),
    "dequantize": ({"dequantize": lanecast.float16}, lambda *paths, dequantize: checkpoint.dequantize(*paths, to=dequantize)),
    "quantize": (
        {"quantize": "nvfp4", "ignore": ["*k_proj*"], "map": {"*down_proj*": "fp8-dynamic"}, **LAYOUT},
        lambda *paths, quantize, **options: checkpoint.quantize(*paths, scheme=quantize, **options),
    ),
    "requantize": ({"requantize": "mxfp8", **LAYOUT}, lambda *paths, requantize, **options: checkpoint.requantize(*paths, scheme=requantize, **options)),
}


def source(models, operation):
    return models[operation in ("dequantize", "requantize")]


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def ids(plan, phase):
    return [task.id for task in plan.tasks if task.phase == phase]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("is_path", [False, True], ids=["plan", "path"])
def test_tasks_write_what_the_function_writes(models, tmp_path, operation, is_path):
    options, function = OPERATIONS[operation]
    src, dst = source(models, operation), tmp_path / "tasks"
    want = function(src, tmp_path / "whole", **options)
    plan = checkpoint.plan(src, dst, range_size=5000, verify=is_path, **options)
    assert (plan.operation, plan.source, plan.output) == (operation, str(src), str(dst))
    plan.save(tmp_path / "plan.json")
    assert not dst.exists() and checkpoint.Plan.load(tmp_path / "plan.json").tasks == plan.tasks
    tasks = tmp_path / "plan.json" if is_path else plan
    assert checkpoint.pending(tasks) == list(range(len(plan.tasks)))
    for threads, phase in enumerate(["amax", "prepare", "range"]):
        for id in reversed(ids(plan, phase)) if phase == "range" else ids(plan, phase):
            report = checkpoint.run_task(tasks, id, threads=threads + 1)
            assert (report["id"], report["phase"], report["skipped"], report["report"]) == (id, phase, False, None)
            assert report["bytes"] == plan.tasks[id].nbytes and report["seconds"] > 0
            assert checkpoint.run_task(tasks, id)["skipped"]
        assert checkpoint.pending(tasks, phase=phase) == []
    assert checkpoint.pending(tasks) == [*ids(plan, "shard"), len(plan.tasks) - 1] and not dst.exists()
    assert checkpoint.finish(tasks, threads=2) == want
    assert files(dst) == files(tmp_path / "whole") and checkpoint.pending(tasks) == []
    # Once more, as after the driver was killed.
    assert checkpoint.finish(tasks) == want and checkpoint.run_task(tasks, len(plan.tasks) - 1)["report"] == want


def test_the_tasks_of_a_plan(models, tmp_path):
    options, function = OPERATIONS["quantize"]
    function(models[0], tmp_path / "whole", **options)
    plan = checkpoint.plan(models[0], tmp_path / "out", range_size=5000, **options)
    assert [task.id for task in plan.tasks] == list(range(len(plan.tasks)))
    assert list(dict.fromkeys(task.phase for task in plan.tasks)) == PHASES
    names = [f"model-0000{i}-of-00002.safetensors" for i in (1, 2)]
    # The first `prepare` merges what was measured.
    assert [task.file for task in plan.tasks if task.phase == "prepare"] == [None, *names]
    assert [task.file for task in plan.tasks if task.phase == "shard"] == names
    for task in plan.tasks:
        assert task.nbytes == sum(end - start for _, start, end in task.ranges)
        assert (task.file is None) == (task.phase in ("amax", "range", "finish") or task.id == ids(plan, "prepare")[0])
    # Eight weights have a scale of the whole tensor.
    measured = [row for task in plan.tasks if task.phase == "amax" for row in task.ranges]
    assert {row[0] for row in measured} == {None} and sum(end - start for _, start, end in measured) == 8 * 64 * 128 * 4
    for name in names:
        ranges = [row for task in plan.tasks if task.phase == "range" for row in task.ranges if row[0] == name]
        assert len(ranges) > 4 and all(one[2] == two[1] for one, two in zip(ranges, ranges[1:]))
        assert ranges[-1][2] == (tmp_path / "whole" / name).stat().st_size
    assert repr(plan).startswith("<Plan quantize '") and repr(plan).endswith(f"{len(plan.tasks)} tasks>")
    with pytest.raises(TypeError, match="save it to a file"):
        pickle.dumps(plan)


@pytest.mark.parametrize(
    "options, message",
    [
        ({}, "needs one of to, dequantize, quantize or requantize, but it has none"),
        ({"to": "float16", "dequantize": "float16"}, "but it has to and dequantize"),
        ({"to": "float16", **LAYOUT}, "a plan with to= has no option layout; its options are allow_quantized, exclude, include, map"),
        ({"dequantize": "float16", "ignore": ["x"]}, "dequantize= has no option ignore"),
        ({"quantize": "nvfp4", **LAYOUT, "max_shard_size": 5}, "quantize= has no option max_shard_size"),
        ({"requantize": "mxfp8", **LAYOUT, "double_quant": True}, "requantize= has no option double_quant"),
        ({"quantize": "nvfp4"}, "quantize= needs a layout"),
    ],
    ids=str,
)
def test_options_that_do_not_fit(models, tmp_path, options, message):
    with pytest.raises(TypeError, match=message):
        checkpoint.plan(models[0], tmp_path / "out", **options)


def test_errors(models, tmp_path):
    with pytest.raises(ValueError, match="a task cannot write 0 bytes"):
        checkpoint.plan(models[0], tmp_path / "out", to="float16", range_size=0)
    with pytest.raises(FileNotFoundError):
        checkpoint.plan(tmp_path / "nothing", tmp_path / "out", to="float16")
    full = tmp_path / "full"
    full.mkdir()
    (full / "file").touch()
    with pytest.raises(FileExistsError, match="overwrite=True"):
        checkpoint.plan(models[0], full, to="float16")
    with pytest.raises(ValueError, match="quantized"):
        checkpoint.plan(models[1], tmp_path / "out", to="float16")
    assert checkpoint.plan(models[0], full, to="float16", overwrite=True).tasks
    assert checkpoint.plan(models[1], tmp_path / "out", to="float16", allow_quantized=True).tasks
    plan = checkpoint.plan(models[0], tmp_path / "out", to="float16", range_size=5000)
    last = len(plan.tasks) - 1
    for id in (-1, last + 1):
        with pytest.raises(ValueError, match=f"there is no task {id}; "):
            checkpoint.run_task(plan, id)
    with pytest.raises(ValueError, match='there is no phase "casts", but amax, prepare, range, shard, finish'):
        checkpoint.pending(plan, phase="casts")
    with pytest.raises(ValueError, match="tasks of the phase range are pending"):
        checkpoint.finish(plan)
    (tmp_path / "file").write_text("{}")
    for function in (checkpoint.Plan.load, checkpoint.pending, checkpoint.finish):
        with pytest.raises(FileNotFoundError):
            function(tmp_path / "no file")
        with pytest.raises(lanecast.FormatError, match="the file is no plan of tasks"):
            function(tmp_path / "file")


def test_bytes_that_changed_on_the_disk_are_found(models, tmp_path):
    plan = checkpoint.plan(models[0], tmp_path / "out", to="float16", range_size=5000, verify=True)
    for id in ids(plan, "range"):
        checkpoint.run_task(plan, id)
    (part,) = tmp_path.glob("out.lanecast-*/parts/0.partial")
    data = bytearray(part.read_bytes())
    data[-1] ^= 1
    part.write_bytes(data)
    with pytest.raises(lanecast.FormatError, match="0.partial"):
        checkpoint.finish(plan)
    # The tasks whose bytes changed are pending again.
    (id,) = checkpoint.pending(plan, phase="range")
    assert not checkpoint.run_task(plan, id)["skipped"]
    checkpoint.finish(plan)
    checkpoint.convert(models[0], tmp_path / "whole", to="float16")
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def test_a_process_keeps_the_plan_of_a_file(models, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "plan.json"
    checkpoint._loaded.cache_clear()
    plans = [checkpoint.plan(models[0], tmp_path / dtype, to=dtype, range_size=5000) for dtype in ("float16", "bfloat16")]
    for number, plan in enumerate(plans):
        plan.save(path)
        for id in ids(plan, "range"):
            checkpoint.run_task(path, id)
        assert checkpoint.finish("plan.json")["to"] == ("float16", "bfloat16")[number]
        # A file that another plan replaced is read.
        assert checkpoint._loaded.cache_info().misses == number + 1


def test_progress(models, tmp_path):
    plan = checkpoint.plan(models[0], tmp_path / "out", to="float16")
    (task,) = ids(plan, "range")
    steps = []
    checkpoint.run_task(plan, task, progress=lambda *step: steps.append(step))
    assert steps[-1][:2] == (plan.tasks[task].nbytes,) * 2 and steps[-1][2].endswith(".safetensors")
    plan = checkpoint.plan(models[0], tmp_path / "other", to="float16")

    def fail(*_):
        # Ctrl-C.
        signal.raise_signal(signal.SIGINT)

    # A shell starts what runs in the background with SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            checkpoint.run_task(plan, task, progress=fail)
    finally:
        signal.signal(signal.SIGINT, before)
    assert task in checkpoint.pending(plan)
    checkpoint.run_task(plan, task)
    assert checkpoint.finish(plan)["to"] == "float16"
    checkpoint.convert(models[0], tmp_path / "whole", to="float16")
    assert files(tmp_path / "other") == files(tmp_path / "whole")
