"""A model of a plan that runs on a cluster: what saturates first, and how long it takes.

It simulates events. The driver and the metadata server do one thing after another. All transfers share the bandwidth of the store, each up to
what its worker can cast and its share of the network card of the node. The operations and the driver's time in `TASKS` were measured, by
`python/benches/tasks.py`. Its speeds and the numbers of `Cluster` are assumptions. Run it to get the tables of docs/distributed.md.
"""

from __future__ import annotations

import functools
import heapq
import random
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

TB, GB, GIB, MIB = 1e12, 1e9, float(1 << 30), float(1 << 20)


class Phase(NamedTuple):
    """A phase of a plan: bytes written for each byte read, and GB read by a thread in a second. Tasks have ranges of what is written, if any."""

    name: str
    written: float
    speed: float


class Tasks(NamedTuple):
    """What the model takes from this package."""

    convert: Phase
    quantize: tuple[Phase, Phase]
    dequantize: Phase
    # Metadata operations of a task, without those for the files of the source: it looks at all of them, up to a number. The first task of a worker
    # opens each.
    operations: int
    looks: int
    opening: int
    # Those of one process for a task, one after the other: it looks for the marker, and removes it at the end. It reads the markers of `amax`.
    serial: int
    merge: int
    # Seconds of the driver for a task, and of a worker for a task besides its bytes.
    driver: float
    overhead: float

    def of(self, cluster: Cluster) -> float:
        """Metadata operations of a task."""
        return self.operations + min(cluster.source / cluster.file, self.looks)


TASKS = Tasks(
    convert=Phase("range", 0.5, 1.0),
    quantize=(Phase("amax", 0.0, 2.0), Phase("range", 4.5 / 16, 0.5)),
    dequantize=Phase("range", 2.0, 0.5),
    operations=22,
    looks=16,
    opening=2,
    serial=2,
    merge=1,
    driver=2e-3,
    overhead=5e-3,
)


@dataclass(frozen=True)
class Cluster:
    """A cluster, its store, and a run."""

    workers: int = 1000
    # Of a worker.
    threads: int = 8
    # Of a node: workers, and bytes per second of the network card, in each direction.
    per_node: int = 8
    card: float = 12.5 * GB
    # Of the store: bytes per second, metadata operations per second, and seconds that one takes.
    reads: float = 400 * GB
    writes: float = 200 * GB
    metadata: float = 50e3
    latency: float = 0.5e-3
    # Of the run: bytes of the source, in files of these bytes, and bytes of a task.
    source: float = 100 * TB
    file: float = 50 * GB
    range_size: float = GIB
    # The share of workers that are slow, and how slow; whether the driver repeats late tasks.
    slow: float = 0.0
    slowness: float = 100.0
    repeats: bool = True
    # The share of attempts whose worker is killed halfway, and seconds until the scheduler has noticed.
    killed: float = 0.0
    notice: float = 30.0


class Busy(NamedTuple):
    """Seconds that each resource would take alone. The longest is the bottleneck."""

    casts: float
    cards: float
    reads: float
    writes: float
    metadata: float
    driver: float


def alone(cluster: Cluster, phase: Phase) -> Busy:
    """The calculation on paper."""
    tasks, _ = divided(cluster, phase)
    written = cluster.source * phase.written
    card = cluster.card * cluster.workers / cluster.per_node
    files = cluster.source / cluster.file
    operations = tasks * TASKS.of(cluster) + cluster.workers * TASKS.opening * files
    return Busy(
        cluster.source / (phase.speed * GB * cluster.threads * cluster.workers),
        max(cluster.source, written) / card,
        cluster.source / cluster.reads,
        written / cluster.writes,
        operations / cluster.metadata,
        tasks * TASKS.driver,
    )


def divided(cluster: Cluster, phase: Phase) -> tuple[int, float]:
    """The tasks of a phase, and the bytes that each reads."""
    size = cluster.range_size / (phase.written or 1.0)
    tasks = max(round(cluster.source / size), 1)
    return tasks, cluster.source / tasks


class Transfers:
    """Transfers at the same time: those of ordinary workers, and of slow ones. Each has its limit, and together they have one.

    All transfers of a kind have the same rate. So what one has moved since the start of the phase is a clock, on which each ends at a time that is
    known when it begins.
    """

    def __init__(self, limits: tuple[float, float], together: float) -> None:
        self.limits, self.together = limits, together
        self.moved, self.rates = [0.0, 0.0], [0.0, 0.0]
        self.ends: tuple[list[tuple[float, int]], list[tuple[float, int]]] = ([], [])

    def add(self, slow: bool, size: float, attempt: int) -> None:
        """Begins a transfer."""
        heapq.heappush(self.ends[slow], (self.moved[slow] + size, attempt))
        self.share()

    def share(self) -> None:
        """Divides the bandwidth."""
        fast, slow = map(len, self.ends)
        even = self.together / max(fast + slow, 1)
        self.rates[1] = min(self.limits[1], even)
        self.rates[0] = min(self.limits[0], (self.together - slow * self.rates[1]) / max(fast, 1))

    def next(self) -> float:
        """Seconds until one ends."""
        return min((max(ends[0][0] - moved, 0.0) / rate for ends, moved, rate in zip(self.ends, self.moved, self.rates) if ends), default=float("inf"))

    def advance(self, seconds: float) -> Iterator[int]:
        """Lets time pass, up to the end of the next transfer, and yields those that end."""
        ended = []
        for kind, ends in enumerate(self.ends):
            self.moved[kind] += self.rates[kind] * seconds
            while ends and ends[0][0] <= self.moved[kind] * (1 + 1e-12):
                ended.append(heapq.heappop(ends)[1])
        if ended:
            self.share()
        yield from ended


class Line:
    """Something that serves one after another."""

    def __init__(self) -> None:
        self.free = 0.0

    def serve(self, now: float, seconds: float) -> float:
        """When a request that arrives now is served."""
        self.free = max(self.free, now) + seconds
        return self.free


ARRIVES, MOVES, ENDS, SEEN, LOOK = range(5)


class Run:
    """A phase that runs. An attempt is a task on a worker."""

    def __init__(self, cluster: Cluster, phase: Phase, opened: bool) -> None:
        self.cluster = cluster
        self.tasks, self.size = divided(cluster, phase)
        cast = phase.speed * GB * cluster.threads
        card = cluster.card / cluster.per_node / max(1.0, phase.written)
        writes = cluster.writes / phase.written if phase.written else float("inf")
        limit = min(cast, card)
        self.transfers = Transfers((limit, limit / cluster.slowness), min(cluster.reads, writes))
        self.files = cluster.source / cluster.file
        self.random = random.Random(1)
        self.slow = set(self.random.sample(range(cluster.workers), round(cluster.workers * cluster.slow)))
        self.unopened = set() if opened else set(range(cluster.workers))
        self.now, self.events, self.number = 0.0, list[tuple[float, int, int, int]](), 0
        self.driver, self.metadata = Line(), Line()
        self.idle, self.queue = deque(range(cluster.workers)), deque[int]()
        self.attempts: dict[int, tuple[int, int, float, bool]] = {}
        self.left, self.unsent, self.flight = set(range(self.tasks)), iter(range(self.tasks)), 0
        self.again: set[int] = set()
        self.durations: list[float] = []

    def at(self, time: float, kind: int, value: int) -> None:
        self.number += 1
        heapq.heappush(self.events, (time, self.number, kind, value))

    def seconds(self) -> float:
        """Simulates the phase, and returns how long it takes."""
        for task in self.more(2 * self.cluster.workers):
            self.send(task)
        if self.cluster.repeats:
            self.at(1.0, LOOK, 0)
        while self.left:
            until = self.transfers.next()
            event = self.events[0][0] - self.now if self.events else float("inf")
            step = min(until, event)
            self.now += step
            for attempt in self.transfers.advance(step):
                self.moved(attempt)
            while self.events and self.events[0][0] <= self.now:
                _, _, kind, value = heapq.heappop(self.events)
                self.handle(kind, value)
        return self.now

    def more(self, n: int) -> Iterable[int]:
        return [task for _, task in zip(range(n), self.unsent)]

    def send(self, task: int) -> None:
        """The driver hands a task to the scheduler. Its time for a task is counted here, with that for the result."""
        self.flight += 1
        self.at(self.driver.serve(self.now, TASKS.driver), ARRIVES, task)

    def handle(self, kind: int, value: int) -> None:
        if kind == ARRIVES:
            self.queue.append(value)
            self.start()
        elif kind == MOVES:
            _, worker, _, killed = self.attempts[value]
            self.transfers.add(worker in self.slow, self.size * (0.5 if killed else 1.0), value)
        elif kind == ENDS:
            self.ended(value)
        elif kind == SEEN:
            self.flight -= 1
            self.left.discard(value)
            for task in self.more(1):
                self.send(task)
        elif kind == LOOK:
            self.look()
            self.at(self.now + 1.0, LOOK, 0)

    def start(self) -> None:
        """Idle workers take tasks that have arrived."""
        while self.idle and self.queue:
            worker, task = self.idle.popleft(), self.queue.popleft()
            operations = TASKS.of(self.cluster) / 2
            if worker in self.unopened:
                self.unopened.remove(worker)
                operations += TASKS.opening * self.files
            self.number += 1
            self.attempts[self.number] = (task, worker, self.now, self.random.random() < self.cluster.killed)
            self.at(self.served(operations) + TASKS.overhead, MOVES, self.number)

    def served(self, operations: float) -> float:
        """When these metadata operations, one after the other, are done."""
        return max(self.metadata.serve(self.now, operations / self.cluster.metadata), self.now + operations * self.cluster.latency)

    def moved(self, attempt: int) -> None:
        """The bytes of an attempt are written, or its worker is killed."""
        _, _, _, killed = self.attempts[attempt]
        self.at(self.now + self.cluster.notice if killed else self.served(TASKS.of(self.cluster) / 2), ENDS, attempt)

    def ended(self, attempt: int) -> None:
        task, worker, start, killed = self.attempts.pop(attempt)
        self.idle.append(worker)
        if killed:
            self.unopened.add(worker)
            self.queue.appendleft(task)
        else:
            self.durations.append(self.now - start)
            self.at(max(self.driver.free, self.now), SEEN, task)
        self.start()

    def look(self) -> None:
        """The driver repeats the attempt that runs longest, if nothing else is left to do."""
        if self.queue or not self.idle or self.flight >= self.cluster.workers or not self.durations:
            return
        running = [(start, task) for task, _, start, _ in self.attempts.values() if task in self.left and task not in self.again]
        start, task = min(running, default=(self.now, -1))
        self.durations.sort()
        usual = self.durations[int(0.9 * (len(self.durations) - 1))]
        if self.now - start > max(2 * usual, 10.0):
            self.again.add(task)
            self.send(task)


@functools.cache
def simulated(cluster: Cluster, phase: Phase, opened: bool) -> float:
    """Seconds of a phase. In the first one, workers open the checkpoint."""
    return Run(cluster, phase, opened).seconds()


def serial(cluster: Cluster, phases: tuple[Phase, ...]) -> float:
    """Seconds of one process alone, before, between and after the phases."""
    tasks = [divided(cluster, phase)[0] for phase in phases]
    return (sum(tasks) * TASKS.serial + sum(tasks[:-1]) * TASKS.merge) * cluster.latency


OPERATIONS = {"convert": (TASKS.convert,), "dequantize": (TASKS.dequantize,), "quantize": TASKS.quantize}
BASE = Cluster()


def bottlenecks() -> Iterator[list[str]]:
    """The seconds of each resource alone, and those of the model, for 1,000 workers and 100 TB."""
    yield ["operation, phase", *Busy._fields, "model"]
    for name, phases in OPERATIONS.items():
        for number, phase in enumerate(phases):
            seconds = simulated(BASE, phase, number > 0)
            yield [f"{name}, {phase.name}", *(f"{needed:.0f}" for needed in alone(BASE, phase)), f"{seconds:.0f}"]
        yield [f"{name}, markers", *("" for _ in Busy._fields), f"{serial(BASE, phases):.0f}"]


def sweep(changes: dict[str, Cluster]) -> Iterator[list[str]]:
    """Runs with other numbers, for the operation `convert`."""
    phase = TASKS.convert
    yield ["convert", "tasks", "model", "first to saturate", "alone"]
    for name, cluster in changes.items():
        busy = alone(cluster, phase)._asdict()
        first = max(busy, key=lambda of: busy[of])
        yield [name, f"{divided(cluster, phase)[0]}", f"{simulated(cluster, phase, False):.0f}", first, f"{busy[first]:.0f}"]


SWEEPS = {
    "workers": {f"{workers} workers": replace(BASE, workers=workers) for workers in (100, 1000, 3000)},
    "threads of a task": {f"{threads} thread{'s' * (threads > 1)}": replace(BASE, threads=threads) for threads in (1, 8)},
    "range size": {f"{size / GIB:g} GiB": replace(BASE, range_size=size) for size in (GIB, 4 * GIB, 16 * GIB)},
    "files of the source": {f"files of {size / GB:g} GB": replace(BASE, file=size) for size in (1 * GB, 5 * GB, 50 * GB)},
    "store": {
        "one NFS server: 5 GB/s, 20,000 operations/s": replace(BASE, reads=5 * GB, writes=5 * GB, metadata=20e3),
        "100 GB/s": replace(BASE, reads=100 * GB, writes=100 * GB),
        "2,000 GB/s": replace(BASE, reads=2000 * GB, writes=2000 * GB),
        "5,000 operations/s of 2 ms": replace(BASE, metadata=5e3, latency=2e-3),
    },
    "faults": {
        "none": BASE,
        "1 % of the workers 100 times slower, not repeated": replace(BASE, slow=0.01, repeats=False),
        "1 % of the workers 100 times slower, repeated": replace(BASE, slow=0.01),
        "1 % of the attempts killed": replace(BASE, killed=0.01),
    },
}


def table(rows: Iterable[list[str]]) -> str:
    """A table of Markdown."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|---" * lines[0].count(" | ") + "|---|", *lines[1:]])


def main() -> None:
    print("Seconds, each resource alone and in the model:\n")
    print(table(bottlenecks()))
    for name, changes in SWEEPS.items():
        print(f"\nSeconds by {name}:\n")
        print(table(sweep(changes)))


if __name__ == "__main__":
    main()
