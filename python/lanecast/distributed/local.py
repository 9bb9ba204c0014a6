"""Runs a plan in processes of this machine. It needs no scheduler, and every other scheduler has the same semantics.

A process that dies is replaced, and its task runs again.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from . import _driver, _task
from ._driver import Callback, Path
from ._task import Outcome

__all__ = ["run"]


def run(
    path: Path,
    /,
    *,
    processes: int = 4,
    threads: int | None = 1,
    max_in_flight: int | None = None,
    retries: int = 3,
    progress: Callback | None = None,
) -> dict[str, Any]:
    """Runs all tasks of a plan that are not done, and finishes it.

    Args:
        path: the plan.
        processes: how many tasks run at the same time, each in a process of its own.
        threads: the threads of a task; None means one per CPU.
        max_in_flight, retries, progress: see `lanecast.distributed`.

    Returns:
        The report of `lanecast.checkpoint.finish`.

    Raises:
        TaskError: a task failed too often.
    """
    if processes < 1:
        raise ValueError(f"the number of processes must be at least 1, but it is {processes}")
    return _driver.run(path, lambda path, plan: _Pool(path, processes, threads, retries), max_in_flight, retries, progress)


class _Pool:
    """Threads that hand tasks to processes. A thread starts a process when there is no idle one."""

    def __init__(self, path: str, processes: int, threads: int | None, retries: int) -> None:
        program = f"from {_task.__name__} import serve; serve()"
        self._command = [sys.executable, "-c", program, path, str(threads or 0)]
        self._processes, self._retries = processes, retries
        self._executor = ThreadPoolExecutor(processes)
        self._idle: queue.SimpleQueue[subprocess.Popen[str]] = queue.SimpleQueue()
        self._all: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def slots(self) -> int:
        return self._processes

    def submit(self, phase: str, task: int) -> Future[Outcome]:
        return self._executor.submit(self._run, task)

    def stop(self, futures: Iterable[Any]) -> None:
        self._stopped = True
        self._executor.shutdown(wait=False, cancel_futures=True)
        for process in list(self._all):
            process.kill()
        self._executor.shutdown()
        for process in self._all:
            process.communicate()

    def _run(self, task: int) -> Outcome:
        for _ in range(self._retries + 1):
            process = self._process()
            try:
                assert process.stdin and process.stdout
                process.stdin.write(f"{task}\n")
                process.stdin.flush()
                outcome: Outcome = json.loads(process.stdout.readline())
            except (OSError, ValueError):
                process.kill()
                status = process.wait()
                if self._stopped:
                    break
                continue
            self._idle.put(process)
            return outcome
        raise RuntimeError(f"its process ended {self._retries + 1} times, the last time with status {status}")

    def _process(self) -> subprocess.Popen[str]:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            # A session of its own: Ctrl-C reaches the driver only.
            process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
            self._all.add(process)
            return process
