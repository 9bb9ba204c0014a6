"""The loop of the driver of `lanecast.distributed`, with a scheduler whose tasks end when a test says so."""

import json
import pickle
import threading
import time
from concurrent.futures import Future

import pytest

from lanecast import checkpoint, distributed
from lanecast.checkpoint import Task
from lanecast.distributed import Progress, TaskError, _driver, _task

PHASES = ("amax", "prepare", "range", "shard", "finish")


class Plan:
    """Tasks without work: as many of each phase, and the bytes of a range."""

    def __init__(self, *counts, nbytes=10):
        phases = [phase for phase, count in zip(PHASES, counts) for _ in range(count)]
        self.tasks = [Task(i, phase, nbytes if phase == "range" else 0, self.ranges(i, phase)) for i, phase in enumerate(phases)]
        self.done, self.finished = set(), 0

    def ranges(self, task, phase):
        return (("model.safetensors", 10 * task, 10 * task + 10),) * 5 if phase == "range" else ()


class Scheduler:
    """Hands each task to `work(plan, task, attempt)`, in a thread."""

    def __init__(self, plan, work, slots=2):
        self.plan, self.work, self.count = plan, work, slots
        self.lock, self.running, self.most = threading.Lock(), 0, 0
        self.started, self.stopped = [], None

    def slots(self):
        return self.count

    def submit(self, phase, task):
        assert self.plan.tasks[task].phase == phase
        future = Future()
        with self.lock:
            self.running += 1
            self.most = max(self.most, self.running)
            self.started.append(task)
            attempt = self.started.count(task)
        threading.Thread(target=self.run, args=(task, attempt, future), daemon=True).start()
        return future

    def run(self, task, attempt, future):
        try:
            error = self.work(task, attempt)
            with self.lock:
                self.running -= 1
            if error is None:
                self.plan.done.add(task)
            future.set_result(_task.Outcome(task=task, node="n1", process=7, seconds=0.0, result={}, error=error))
        except Exception as lost:
            future.set_exception(lost)

    def stop(self, futures):
        self.stopped = list(futures)


@pytest.fixture
def run(monkeypatch):
    """Runs a plan without work: `run(plan, work, ...)` returns the scheduler."""

    def run(plan, work=lambda task, attempt: None, slots=2, max_in_flight=None, retries=3, progress=None):
        def finish(_):
            plan.finished += 1
            return {"files": 1}

        monkeypatch.setattr(checkpoint, "pending", lambda _: [task.id for task in plan.tasks if task.id not in plan.done])
        monkeypatch.setattr(checkpoint, "finish", finish)
        monkeypatch.setattr(_driver.Plan, "load", lambda _: plan)
        scheduler = plan.scheduler = Scheduler(plan, work, slots)
        assert _driver.run("plan.json", lambda *_: scheduler, max_in_flight, retries, progress) == {"files": 1}
        return scheduler

    monkeypatch.setattr(_driver, "_DELAYS", (0.01, 0.02, 0.04))
    monkeypatch.setattr(_driver, "_REPORT", 0.0)
    return run


def test_phases_are_barriers(run):
    plan = Plan(3, 2, 20, 2, 1)
    early = []

    def work(task, _):
        time.sleep(0.002)
        early.extend(other.id for other in plan.tasks[:task] if PHASES.index(other.phase) < PHASES.index(plan.tasks[task].phase) and other.id not in plan.done)

    scheduler = run(plan, work)
    assert not early and sorted(scheduler.started) == list(range(27)) and plan.finished == 1
    assert scheduler.stopped == []


@pytest.mark.parametrize("slots, max_in_flight, most", [(2, None, 4), (3, None, 6), (0, None, 2), (4, 1, 1), (2, 5, 5)])
def test_tasks_in_flight(run, slots, max_in_flight, most):
    plan = Plan(0, 0, 30)

    def work(*_):
        # The first tasks wait for each other, and then for one too many.
        end = time.monotonic() + 10
        while plan.scheduler.most < most and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(0.02)

    assert run(plan, work, slots, max_in_flight).most == most


def test_a_run_goes_on(run):
    plan = Plan(2, 1, 10, 1, 1)
    plan.done = {0, 1, 2, 3, 5, 7}
    seen = []
    scheduler = run(plan, progress=seen.append)
    assert sorted(scheduler.started) == [4, 6, 8, 9, 10, 11, 12, 13]
    assert (seen[0].phase, seen[0].done, seen[0].tasks, seen[0].nbytes, seen[0].total) >= ("range", 3, 10, 30, 100)
    plan.done.add(14)
    # Nothing is pending: no scheduler is needed, and the report is that of the finished plan.
    assert run(plan).started == []


def test_failed_tasks_run_again(run):
    seen = []
    scheduler = run(Plan(0, 1, 8), lambda task, attempt: f"OSError: {attempt}" if task == 3 and attempt < 4 else None, progress=seen.append)
    assert scheduler.started.count(3) == 4 and len(scheduler.started) == 12
    assert seen[-1].repeated == 3 and "task 3 of the phase range" in seen[-1].error and seen[-1].error.endswith("n1 (process 7): OSError: 3")


def test_lost_workers_count_as_failures(run):
    def work(task, attempt):
        if attempt < 3:
            raise ConnectionError("gone")

    assert run(Plan(0, 0, 3), work).started.count(1) == 3
    with pytest.raises(TaskError, match=r"task 0 .*: the scheduler lost its worker: ConnectionError: gone \(attempt 2; ") as caught:
        run(Plan(0, 0, 1), work, retries=1)
    assert caught.value.task == 0 and caught.value.node is None


def test_a_task_that_fails_too_often(run):
    plan = Plan(0, 1, 8, 1)
    with pytest.raises(TaskError) as caught:
        run(plan, lambda task, attempt: "OSError: no space" if task == 5 else time.sleep(0.001), retries=2)
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.task, error.node) == (5, "n1 (process 7)") and plan.finished == 0
    ranges = "model.safetensors bytes 50..60, " * 3
    assert str(error).startswith(f"task 5 of the phase range ({ranges}and 2 more) on n1 (process 7): OSError: no space (attempt 3; ")
    assert str(error).endswith("of 8 tasks of the phase range are done; remove the cause and run the plan again: it goes on from there)")
    assert plan.scheduler.started.count(5) == 3 and 9 not in plan.scheduler.started


def test_late_tasks_run_twice(run, monkeypatch):
    monkeypatch.setattr(_driver, "_LATE_SECONDS", 0.5)
    plan, hangs, started = Plan(0, 0, 12, 1), threading.Event(), time.monotonic()
    try:
        scheduler = run(plan, lambda task, attempt: hangs.wait(20) and None if (task, attempt) == (4, 1) else None, 4)
    finally:
        hangs.set()
    assert scheduler.started.count(4) == 2 and len(scheduler.started) == 14 and time.monotonic() - started < 10
    # The attempt that hangs is ended.
    assert len(scheduler.stopped) == 1


def test_one_slow_task_that_ends_hides_no_other(run, monkeypatch):
    """A slow worker ends a task after a while. The next one that it has is late all the same."""
    monkeypatch.setattr(_driver, "_LATE_SECONDS", 0.05)
    plan, hangs, started = Plan(0, 0, 20), threading.Event(), time.monotonic()

    def work(task, attempt):
        if task == 0:
            time.sleep(4)
        if (task, attempt) == (1, 1):
            hangs.wait(20)

    try:
        scheduler = run(plan, work, 4, 3)
    finally:
        hangs.set()
    assert scheduler.started.count(1) == 2 and time.monotonic() - started < 7.5


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_exception_ends_the_run(run, error):
    plan, ends = Plan(0, 0, 8), threading.Event()

    def progress(state):
        if state.done == 2:
            raise error

    try:
        with pytest.raises(error):
            run(plan, lambda task, _: None if task < 2 else ends.wait(20) and None, progress=progress)
    finally:
        ends.set()
    assert len(plan.scheduler.stopped) >= 2 and plan.finished == 0


def test_progress(run):
    seen = []
    run(Plan(0, 0, 10, 2), lambda *_: time.sleep(0.002), progress=seen.append)
    assert all(isinstance(state, Progress) for state in seen)
    last = [state for state in seen if state.phase == "range"][-1]
    assert (last.done, last.tasks, last.nbytes, last.total, last.repeated, last.error) == (10, 10, 100, 100, 0, None) and last.rate > 100
    done = [state.done for state in seen if state.phase == "range"]
    assert done == sorted(done) and seen[-1].phase == "shard"


def test_arguments_are_checked(tmp_path):
    for wrong in ({"retries": -1}, {"max_in_flight": 0}, {"processes": 0}):
        with pytest.raises(ValueError, match="retries|max_in_flight|processes"):
            distributed.local.run(tmp_path / "none.json", **wrong)
    with pytest.raises(FileNotFoundError):
        distributed.local.run(tmp_path / "none.json")


def test_an_attempt_never_raises(tmp_path):
    outcome = _task.attempt(str(tmp_path / "none.json"), 0, 1)
    assert outcome["error"].startswith("FileNotFoundError: ") and outcome["result"] is None and outcome["process"] > 0
    json.dumps(outcome)
