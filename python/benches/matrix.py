"""Times `lanecast.astype` beside the casts of NumPy (with ml_dtypes), PyTorch, NumKong and JAX, over a matrix of dtypes.

    python matrix.py RESULTS.tsv [--sizes 1024,65536,8388608] [--only float32:bfloat16,int8:*] [--peers numpy,torch] [--seconds 0.1]

Each library casts one of its own arrays, which hold the same numbers, to a new array. lanecast casts the same arrays: each library is compared
with lanecast from its arrays to its arrays. Only NumKong, whose tensors lanecast does not make, is compared with lanecast on arrays of NumPy.
JAX counts as done when the result is there (`block_until_ready`). The benchmark first checks the dtype and the
number of elements of each result. Then, in each round, every entrant runs once, and the result is the median over the rounds. Entrants that
are far behind run in fewer rounds. A turn begins when the threads of the entrant before it are asleep: PyTorch's wait for more work in a busy
loop, for about 5 ms, and would hold the CPU that the next entrant's second thread needs. If lanecast is more than 5 % behind any
peer, the pair is measured again, four times as long, and the second measurement replaces the first in the summary. RESULTS.tsv has both.

For each size, the summary has the number of pairs that each peer supports, the geometric mean of the ratio of lanecast's time to the
peer's time, and the pairs in which lanecast is behind; the same for the worst of the ratios of each pair. At the end it has the peak memory of a cast relative to the size of its result,
which RESULTS.tsv.memory has for each pair.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import math
import os
import statistics
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import entrants
import numpy as np

import lanecast

BEHIND = 1.05
#: Short calls are repeated until a turn takes at least this long.
TURN_SECONDS = 20e-6
#: Entrants that take SLOW times as long as the fastest, and longer than SLOW_SECONDS, run in two rounds only; one if longer than
#: VERY_SLOW_SECONDS.
SLOW = 5
SLOW_SECONDS = 1e-3
VERY_SLOW_SECONDS = 50e-3
#: The other threads are asleep if the CPU time of the process, divided by the time that passes, is less than this. It is measured for
#: LOOK_SECONDS at a time, LOOKS times at most.
ASLEEP = 1.2
LOOK_SECONDS = 50e-6
LOOKS = 1000


class Row(NamedTuple):
    source: str
    target: str
    elements: int
    measurement: int
    entrant: str
    microseconds: float
    rounds: int
    remark: str

    def text(self) -> str:
        time_text = "" if math.isnan(self.microseconds) else f"{self.microseconds:.3f}"
        cells = (self.source, self.target, self.elements, self.measurement, self.entrant, time_text, self.rounds, self.remark)
        return "\t".join(map(str, cells))


def turn(call: Callable[[], Any], repeat: int) -> float:
    """Times a call, in seconds."""
    start = time.perf_counter()
    for _ in range(repeat):
        call()
    seconds = (time.perf_counter() - start) / repeat
    wait_for_threads()
    return seconds


def wait_for_threads() -> None:
    """Waits until this is the only thread of the process that is busy. It does not sleep, so that the clock of its CPU stays high."""
    for _ in range(LOOKS):
        start, used = time.perf_counter(), time.process_time()
        while (passed := time.perf_counter() - start) < LOOK_SECONDS:
            pass
        if time.process_time() - used < ASLEEP * passed:
            return


def rounds_of(calls: dict[str, Callable[[], Any]], seconds: float) -> dict[str, list[float]]:
    """Times all calls in turn, round by round. Returns the seconds of each call in each round."""
    times = {name: [turn(call, 1)] for name, call in calls.items()}
    fastest = min(min(values) for values in times.values())
    slow = [name for name, values in times.items() if values[0] > max(SLOW * fastest, SLOW_SECONDS)]
    names = [name for name in calls if name not in slow]
    repeats = {name: max(1, math.ceil(TURN_SECONDS / values[0])) for name, values in times.items()}
    for name in slow:
        if times[name][0] < VERY_SLOW_SECONDS:
            times[name].append(turn(calls[name], 1))
    start = time.perf_counter()
    done = 1
    while done < 3 or (done < 100 and time.perf_counter() - start < seconds):
        for name in names:
            value = turn(calls[name], repeats[name])
            # The first round timed a single call, which is too short to count.
            times[name] = [value] if done == 1 and repeats[name] > 1 else [*times[name], value]
        # Change the order, so that entrants do not always follow the same one.
        names = names[1:] + names[:1] if done % 2 else names[::-1]
        done += 1
    return times


def memory_held(call: Callable[[], Any]) -> tuple[float, float]:
    """The peak memory of a cast relative to the size of its result: traced by Python, and measured by the system (Linux only).

    The system's figure is below 1 if an allocator reuses memory all the same.
    """
    tracemalloc.start()
    result = call()
    traced = tracemalloc.get_traced_memory()[1] / result.nbytes
    tracemalloc.stop()
    del result
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # resets the peak
    except OSError:
        return traced, math.nan
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)  # so that the allocator has no memory left to reuse
    before = status("VmRSS")
    result = call()
    return traced, (status("VmHWM") - before) / result.nbytes


def status(key: str) -> int:
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith(key + ":"))
    return int(line.split()[1]) * 1024


def pairs(only: str) -> Iterator[tuple[str, str]]:
    """The pairs that `--only` selects, grouped by source."""
    wanted = [item.split(":") for item in only.split(",") if item]
    for item in wanted:
        if len(item) != 2 or any(name not in (*entrants.NAMES, "*") for name in item):
            sys.exit(f"--only: {':'.join(item)!r} must be FROM:TO, with dtypes {', '.join(entrants.NAMES)} or *")
    for source in entrants.NAMES:
        for target in entrants.NAMES:
            named = any(a in (source, "*") and b in (target, "*") for a, b in wanted)
            if source != target and (named or not wanted):
                yield source, target


class Matrix:
    """Runs the measurements and writes them to a file."""

    def __init__(self, peers: list[entrants.Entrant], threads: int, seconds: float, file: Any) -> None:
        self.peers, self.seconds, self.file = peers, seconds, file
        names = dict.fromkeys(["lanecast", *(peer.own for peer in peers)])
        self.entrants = [*(entrants.OWN[name](threads) for name in names), *peers]
        self.memory: dict[tuple[str, str], tuple[float, float]] = {}

    def write(self, row: Row) -> None:
        print(row.text(), file=self.file, flush=True)

    def measure(self, source: str, target: str, n: int, measurement: int, sources: dict[str, Any]) -> dict[str, float]:
        """Times the entrants that support the pair, in seconds."""
        calls = {}
        for entrant in self.entrants:
            try:
                if isinstance(sources[entrant.name], Exception):
                    raise sources[entrant.name]
                call = entrant.cast(sources[entrant.name], target)
                result = call()
            except Exception as error:
                if entrant.name == "lanecast":
                    raise
                self.write(Row(source, target, n, measurement, entrant.name, math.nan, 0, f"cannot: {first_line(error)}"))
                continue
            found = entrant.described(result)
            if found != (entrant.dtype_name(target), n):
                raise AssertionError(f"{entrant.name}: {source} to {target} made {found}")
            del result
            calls[entrant.name] = call
        times = rounds_of(calls, self.seconds * (4 if measurement > 1 else 1))
        seconds = {name: statistics.median(values) for name, values in times.items()}
        for name, value in seconds.items():
            self.write(Row(source, target, n, measurement, name, value * 1e6, len(times[name]), ""))
        if n == entrants.LARGE and measurement == 1:
            self.memory[source, target] = memory_held(calls["lanecast"])
        return seconds

    def size(self, n: int, chosen: list[tuple[str, str]]) -> dict[tuple[str, str], dict[str, float]]:
        """Measures the pairs at one size, and those in which lanecast is behind a second time."""
        found = {}
        behind: list[tuple[str, str]] = chosen
        for measurement in (1, 2):
            held, sources = "", {}
            for source, target in behind:
                if source != held:
                    held, sources = source, {}
                    for entrant in self.entrants:
                        try:
                            sources[entrant.name] = entrant.source(source, n)
                        except Exception as error:
                            sources[entrant.name] = error
                found[source, target] = self.measure(source, target, n, measurement, sources)
            behind = [pair for pair in behind if max(self.ratios(found[pair]).values(), default=0) > BEHIND]
        return found

    def ratios(self, seconds: dict[str, float]) -> dict[str, float]:
        """The ratio of lanecast's time to that of each peer."""
        have = [peer for peer in self.peers if peer.name in seconds and peer.own in seconds]
        return {peer.name: seconds[peer.own] / seconds[peer.name] for peer in have}


def first_line(error: BaseException) -> str:
    lines = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:80]}".replace("\t", " ")


def summary(n: int, found: dict[tuple[str, str], dict[str, float]], ratios: dict[tuple[str, str], dict[str, float]], peers: list[str]) -> None:
    print(f"\n{n} elements, {len(found)} pairs")
    for peer in peers:
        known = [of[peer] for of in ratios.values() if peer in of]
        if known:
            slower = sum(ratio > BEHIND for ratio in known)
            mean = statistics.geometric_mean(known)
            print(f"  {peer:10} {len(known):4} pairs, time ratio {mean:.3f} (geometric mean), lanecast is behind in {slower}")
        else:
            print(f"  {peer:10}    0 pairs")
    worst = {pair: max(of, key=lambda peer: of[peer]) for pair, of in ratios.items() if of}
    if not worst:
        return
    of_worst = {pair: ratios[pair][peer] for pair, peer in worst.items()}
    behind = sorted((pair for pair in worst if of_worst[pair] > BEHIND), key=lambda pair: -of_worst[pair])
    mean = statistics.geometric_mean(of_worst.values())
    print(f"  the worst  {len(worst):4} pairs, time ratio {mean:.3f}, lanecast is behind by more than 5 % in {len(behind)}")
    for pair in behind:
        times = " ".join(f"{name} {value * 1e6:.2f}" for name, value in found[pair].items())
        print(f"    {pair[0]} to {pair[1]}: {of_worst[pair]:.2f} times the time of {worst[pair]} (us: {times})")


def memory_summary(memory: dict[tuple[str, str], tuple[float, float]]) -> None:
    print(f"\nPeak memory of a cast of {entrants.LARGE} elements relative to the size of its result")
    for what, index in (("traced by Python", 0), ("measured by the system", 1)):
        known = {pair: held[index] for pair, held in memory.items() if not math.isnan(held[index])}
        if known:
            pair = max(known, key=lambda pair: known[pair])
            print(f"  {what}: maximum {known[pair]:.4f} ({pair[0]} to {pair[1]}), median {statistics.median(known.values()):.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", help="the tab-separated output file")
    parser.add_argument("--sizes", default=f"1024,65536,{entrants.LARGE}", help="elements, separated by commas")
    parser.add_argument("--only", default="", help="pairs FROM:TO, separated by commas; * matches every dtype")
    parser.add_argument("--peers", default=",".join(entrants.PEERS), help="libraries, separated by commas")
    parser.add_argument("--seconds", type=float, default=0.03, help="the time per pair and size; there are at least three rounds")
    parser.add_argument("--threads", type=int, default=0, help="the threads of lanecast and PyTorch; 0 means the default")
    arguments = parser.parse_args()

    warnings.simplefilter("ignore")  # about dropped imaginary parts
    lanecast.set_num_threads(arguments.threads)
    peers = []
    for name in arguments.peers.split(","):
        if name not in entrants.PEERS:
            parser.error(f"--peers: {name!r} must be one of {', '.join(entrants.PEERS)}")
        try:
            peers.append(entrants.PEERS[name](arguments.threads))
        except ImportError as error:
            print(f"SKIPPED: {name}: {error}")
    chosen = list(pairs(arguments.only))
    print(f"lanecast {lanecast.__version__} ({lanecast.active_tier()}), {', '.join(peer.version for peer in peers)}")
    print(f"{os.cpu_count()} CPUs, {lanecast.num_threads()} threads of lanecast, load {os.getloadavg()[0]:.2f}")
    start = time.perf_counter()
    with open(arguments.results, "w") as file, np.errstate(all="ignore"):
        print("\t".join(Row._fields), file=file)
        matrix = Matrix(peers, arguments.threads, arguments.seconds, file)
        for n in map(int, arguments.sizes.split(",")):
            found = matrix.size(n, chosen)
            ratios = {pair: matrix.ratios(seconds) for pair, seconds in found.items()}
            summary(n, found, ratios, [peer.name for peer in peers])
    if matrix.memory:
        memory_summary(matrix.memory)
        with open(f"{arguments.results}.memory", "w") as file:
            print("source\ttarget\ttraced\tmeasured", file=file)
            for pair, held in matrix.memory.items():
                print(*pair, *(f"{value:.4f}" for value in held), sep="\t", file=file)
    print(f"\n{time.perf_counter() - start:.0f} s, load {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
