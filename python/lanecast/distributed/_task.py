"""What a worker does: one task of a plan, whose result is a small dictionary in any case."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from typing import Any, TypedDict

from .. import checkpoint

__all__ = ["Outcome", "attempt", "serve"]


class Outcome(TypedDict):
    """What came of an attempt: `result` if `error` is None."""

    task: int
    node: str
    process: int
    seconds: float
    result: dict[str, Any] | None
    error: str | None


def attempt(path: str, task: int, threads: int | None) -> Outcome:
    """Runs a task. An exception becomes a part of the outcome: a scheduler retries lost workers, and the driver retries tasks."""
    start = time.perf_counter()
    result, error = None, None
    try:
        result = checkpoint.run_task(path, task, threads=threads)
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    seconds = time.perf_counter() - start
    return Outcome(task=task, node=socket.gethostname(), process=os.getpid(), seconds=seconds, result=result, error=error)


def serve() -> None:
    """Is a worker of `local`, whose arguments are the plan and the threads, or 0: runs the tasks that its input names, a line each."""
    # Ctrl-C is for the driver, which ends its workers. What a library prints must not mix with the outcomes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    path, threads = sys.argv[1], int(sys.argv[2]) or None
    for line in sys.stdin:
        print(json.dumps(attempt(path, int(line), threads)), file=answers, flush=True)
