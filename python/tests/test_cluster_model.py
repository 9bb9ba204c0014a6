"""The model of a cluster: its tables are those of the book, and it agrees with what can be calculated."""

import importlib.util
import pathlib
import sys
from dataclasses import replace

import pytest

ROOT = pathlib.Path(__file__).parents[2]
SCRIPT = ROOT / "python/examples/cluster_model.py"
PAGE = ROOT / "docs/distributed.md"
if not PAGE.exists():
    pytest.skip("the model is not a part of the sdist", allow_module_level=True)
SPEC = importlib.util.spec_from_file_location("cluster_model", SCRIPT)
model = sys.modules["cluster_model"] = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(model)

SMALL = model.Cluster(workers=40, source=200 * model.GB, file=10 * model.GB, reads=20 * model.GB, writes=20 * model.GB)
PHASES = [("convert", 0), ("dequantize", 0), ("quantize", 0), ("quantize", 1)]


def test_the_tables_are_in_the_book(capsys):
    model.main()
    tables = capsys.readouterr().out
    page = PAGE.read_text()
    assert tables.count("|---") > 30
    for table in tables.strip().split("\n\n"):
        assert table in page, f"docs/distributed.md lacks this part of the output of {SCRIPT.name}:\n{table}"


@pytest.mark.parametrize("operation, phase", PHASES)
@pytest.mark.parametrize(
    "change",
    [{}, {"threads": 1}, {"reads": 1e15, "writes": 1e15}, {"metadata": 100.0}, {"card": 1e9}, {"range_size": 64 * model.MIB}, {"workers": 7}],
    ids=str,
)
def test_no_resource_is_faster_than_it_can(operation, phase, change):
    cluster, of = replace(SMALL, **change), model.OPERATIONS[operation][phase]
    run = model.Run(cluster, of, opened=False)
    seconds, needed = run.seconds(), max(model.alone(cluster, of))
    waves = -(-run.tasks // cluster.workers) / (run.tasks / cluster.workers)
    # Begin, end and a last wave of tasks that is not full add to what the bottleneck needs.
    assert needed <= seconds * 1.001 and seconds < 2.5 * needed * waves + 20, (seconds, needed)


def test_one_worker_does_one_task_after_another():
    cluster = replace(SMALL, workers=1, source=10 * model.GB, latency=0.0, reads=1e15, writes=1e15, card=1e15)
    phase = model.TASKS.convert
    tasks, size = model.divided(cluster, phase)
    each = size / (phase.speed * model.GB * cluster.threads) + model.TASKS.overhead
    files = cluster.source / cluster.file
    operations = tasks * (model.TASKS.of(cluster)) + files * model.TASKS.opening
    want = tasks * each + operations / cluster.metadata
    assert model.Run(cluster, phase, opened=False).seconds() == pytest.approx(want, rel=0.02)


def test_late_tasks_are_repeated():
    slow = replace(SMALL, slow=0.05, slowness=1000.0, source=100 * model.GB)
    without, repeated, none = (model.simulated(cluster, model.TASKS.convert, False) for cluster in (replace(slow, repeats=False), slow, replace(slow, slow=0.0)))
    assert none < repeated < without / 2


def test_killed_attempts_run_again():
    killed = replace(SMALL, killed=0.1)
    assert model.simulated(killed, model.TASKS.convert, False) > model.simulated(SMALL, model.TASKS.convert, False)
