"""The loop of the driver, which is the same for all schedulers.

*Law.* The markers of the tasks are the truth. The driver keeps nothing: it may die at any point, and the next run reads what is pending.

A phase starts when all tasks of the phase before it are done. A scheduler is a *pool*: it takes numbers of tasks, returns futures of their
outcomes, and runs the tasks of lost workers again. The driver repeats tasks that failed, later and later, and tasks that take much longer than
others and keep a phase from its end. So a task may run twice, also at the same time.
"""

from __future__ import annotations

import collections
import functools
import heapq
import itertools
import os
import queue
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol

from .. import checkpoint
from .._errors import Error
from ..checkpoint import Plan, Task
from ._task import Outcome

__all__ = ["Callback", "Path", "Pool", "Progress", "TaskError", "run"]

Path = str | os.PathLike[str]

# Seconds before the first, second, ... repetition of a failed task. The last one exceeds the minute that an NFS client may keep the attributes
# of a folder, in which it does not see new markers.
_DELAYS = (1.0, 8.0, 64.0)
# A task is late if it takes this many times as long as this share of those that have ended in its phase, and at least these seconds. A slow
# worker ends tasks, too: the longest says nothing.
_LATE, _USUAL, _LATE_SECONDS = 2.0, 0.9, 10.0
# Seconds between two calls of `progress`, and between two counts of the workers.
_REPORT, _COUNT = 1.0, 5.0
# Seconds over which the rate is measured.
_WINDOW = 30.0


class TaskError(Error):
    """A task failed too often. The message names the task, its ranges, its node and the last error.

    Attributes:
        task: the number of the task.
        node: the name of the node of the last attempt; None if its worker was lost.
    """

    task: int
    node: str | None

    def __init__(self, message: str, task: int, node: str | None) -> None:
        super().__init__(message)
        self.task, self.node = task, node

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.task, self.node)


class Progress(NamedTuple):
    """The state of a run.

    Attributes:
        phase: the name of the phase.
        done: the tasks of the phase that are done, with those of earlier runs.
        tasks: all tasks of the phase.
        nbytes: the bytes that the done tasks cover.
        total: the bytes that all tasks of the phase cover.
        rate: bytes per second of this run, over the last half minute.
        running: the attempts that the scheduler has.
        repeated: the attempts of this run that repeat one that failed or is late.
        error: what failed last; None if nothing did.
    """

    phase: str
    done: int
    tasks: int
    nbytes: int
    total: int
    rate: float
    running: int
    repeated: int
    error: str | None


Callback = Callable[[Progress], object]


class Future(Protocol):
    """What `submit` returns."""

    def add_done_callback(self, function: Callable[[Any], object], /) -> object: ...
    def result(self) -> Outcome: ...


class Pool(Protocol):
    """A scheduler with its workers."""

    def slots(self) -> int:
        """How many tasks the workers run at the same time."""

    def submit(self, phase: str, task: int) -> Future:
        """Hands a task to the scheduler."""

    def stop(self, futures: Iterable[Any]) -> None:
        """Ends tasks that nobody waits for, and what the pool itself started."""


def run(
    path: Path,
    connect: Callable[[str, Plan], Pool],
    max_in_flight: int | None,
    retries: int,
    progress: Callback | None,
) -> dict[str, Any]:
    """Runs what is pending of a plan on the pool that `connect` returns for it, and finishes it here."""
    if retries < 0:
        raise ValueError(f"the number of retries must not be negative, but it is {retries}")
    if max_in_flight is not None and max_in_flight < 1:
        raise ValueError(f"at least one task must be in flight, but max_in_flight is {max_in_flight}")
    path = os.path.abspath(path)
    pending = set(checkpoint.pending(path))
    plan = Plan.load(path)
    phases = [list(tasks) for _, tasks in itertools.groupby(plan.tasks, key=lambda task: task.phase)]
    phases = [tasks for tasks in phases if tasks[0].phase != "finish" and not pending.isdisjoint(task.id for task in tasks)]
    if phases:
        driver = _Driver(connect(path, plan), max_in_flight, retries, progress)
        try:
            for tasks in phases:
                driver.run(tasks, pending)
        finally:
            driver.stop()
    return checkpoint.finish(path)


class _Attempt(NamedTuple):
    task: int
    start: float
    future: Future


class _Driver:
    """The attempts that the scheduler has, and what `progress` shows."""

    def __init__(self, pool: Pool, max_in_flight: int | None, retries: int, progress: Callback | None) -> None:
        self._pool, self._max_in_flight, self._retries, self._progress = pool, max_in_flight, retries, progress
        self._flight: dict[int, _Attempt] = {}
        self._ended: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._attempts = self._repeated = self._slots = 0
        self._counted = self._reported = float("-inf")
        self._error: str | None = None

    def run(self, tasks: list[Task], pending: set[int]) -> None:
        """Runs those tasks of a phase that are pending."""
        self._phase, self._tasks = tasks[0].phase, {task.id: task for task in tasks}
        self._ready = collections.deque(task.id for task in tasks if task.id in pending)
        self._left = set(self._ready)
        self._waiting: list[tuple[float, int]] = []
        self._failures: collections.Counter[int] = collections.Counter()
        self._late: set[int] = set()
        self._durations: list[float] = []
        self._total = sum(task.nbytes for task in tasks)
        self._covered = sum(task.nbytes for task in tasks if task.id not in pending)
        self._window = collections.deque([(time.monotonic(), self._covered)])
        while self._left:
            self._submit()
            self._collect(time.monotonic() + 0.2)
            self._report()
        self._report(last=True)

    def stop(self) -> None:
        """Ends the attempts that nobody waits for."""
        self._pool.stop([attempt.future for attempt in self._flight.values()])

    def _submit(self) -> None:
        now = time.monotonic()
        if now - self._counted > _COUNT:
            self._slots, self._counted = self._pool.slots(), now
        while self._waiting and self._waiting[0][0] <= now:
            self._ready.append(heapq.heappop(self._waiting)[1])
        limit = self._max_in_flight or 2 * max(self._slots, 1)
        if not self._ready and not self._waiting and len(self._flight) < min(limit, self._slots):
            self._repeat_late(now)
        while self._ready and len(self._flight) < limit:
            task = self._ready.popleft()
            future = self._pool.submit(self._phase, task)
            number = self._attempts = self._attempts + 1
            self._flight[number] = _Attempt(task, now, future)
            future.add_done_callback(functools.partial(self._notice, number))

    def _notice(self, number: int, _: Future) -> None:
        self._ended.put(number)

    def _repeat_late(self, now: float) -> None:
        """Makes the task ready that runs longest, if it is late and runs once. Free workers would have nothing else to do."""
        running = [attempt for attempt in self._flight.values() if attempt.task in self._left - self._late]
        oldest = min(running, key=lambda attempt: attempt.start, default=None)
        if not oldest or not self._durations:
            return
        self._durations.sort()
        usual = self._durations[int(_USUAL * (len(self._durations) - 1))]
        if now - oldest.start > max(_LATE * usual, _LATE_SECONDS):
            self._late.add(oldest.task)
            self._ready.append(oldest.task)
            self._repeated += 1

    def _collect(self, until: float) -> None:
        """Takes the attempts that have ended. Waits for the first one."""
        try:
            number = self._ended.get(timeout=max(until - time.monotonic(), 0))
            while True:
                self._end(self._flight.pop(number))
                number = self._ended.get_nowait()
        except queue.Empty:
            pass

    def _end(self, attempt: _Attempt) -> None:
        task = attempt.task
        try:
            outcome = attempt.future.result()
            node, error = f"{outcome['node']} (process {outcome['process']})", outcome["error"]
        except Exception as lost:
            node, error = None, f"the scheduler lost its worker: {type(lost).__name__}: {lost}"
        if task not in self._left:
            return
        if error is None:
            self._left.remove(task)
            self._durations.append(time.monotonic() - attempt.start)
            self._covered += self._tasks[task].nbytes
            return
        self._error = f"{_described(self._tasks[task])}{f' on {node}' if node else ''}: {error}"
        self._failures[task] += 1
        failed = self._failures[task]
        if failed > self._retries:
            state = f"{len(self._tasks) - len(self._left)} of {len(self._tasks)} tasks of the phase {self._phase} are done"
            remedy = "remove the cause and run the plan again: it goes on from there"
            raise TaskError(f"{self._error} (attempt {failed}; {state}; {remedy})", task, node)
        self._repeated += 1
        heapq.heappush(self._waiting, (time.monotonic() + _DELAYS[min(failed, len(_DELAYS)) - 1], task))

    def _report(self, last: bool = False) -> None:
        now = time.monotonic()
        if self._progress is None or (now - self._reported < _REPORT and not last):
            return
        self._reported = now
        self._window.append((now, self._covered))
        while len(self._window) > 2 and now - self._window[1][0] > _WINDOW:
            self._window.popleft()
        start, covered = self._window[0]
        rate = (self._covered - covered) / max(now - start, 1e-9)
        tasks = len(self._tasks)
        state = (self._phase, tasks - len(self._left), tasks, self._covered, self._total, rate)
        self._progress(Progress(*state, len(self._flight), self._repeated, self._error))


def _described(task: Task) -> str:
    """The task with its file, or with the first of its ranges."""
    ranges = [f"{file or 'weights'} bytes {start}..{end}" for file, start, end in task.ranges[:3]]
    more = [f"and {len(task.ranges) - 3} more"] if len(task.ranges) > 3 else []
    parts = ranges + more or ([task.file] if task.file else [])
    return f"task {task.id} of the phase {task.phase}" + (f" ({', '.join(parts)})" if parts else "")
