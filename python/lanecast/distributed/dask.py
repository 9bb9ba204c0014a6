"""Runs a plan on a dask cluster. Every worker mounts the folders of the plan; nothing but small dictionaries goes through dask.

    >>> from dask.distributed import Client
    >>> client = Client("tcp://scheduler:8786")  # doctest: +SKIP
    >>> lanecast.distributed.dask.run("/shared/plan.json", client)  # doctest: +SKIP

Start workers with one thread each (`dask worker --nthreads 1`), since a task takes its own `threads`.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

from . import _driver, _task
from ._driver import Callback, Path

__all__ = ["run"]


def run(
    path: Path,
    client: Any,
    /,
    *,
    threads: int | None = 1,
    max_in_flight: int | None = None,
    retries: int = 3,
    progress: Callback | None = None,
) -> dict[str, Any]:
    """Runs all tasks of a plan that are not done, and finishes it. This process needs the folders of the plan, too.

    Args:
        path: the plan.
        client: a `dask.distributed.Client` that is not asynchronous.
        threads: the threads of a task; None means one per CPU.
        max_in_flight, retries, progress: see `lanecast.distributed`. dask runs the task of a lost worker again as often as its setting
            `distributed.scheduler.allowed-failures` says.

    Returns:
        The report of `lanecast.checkpoint.finish`.

    Raises:
        TaskError: a task failed too often.
    """
    return _driver.run(path, lambda path, plan: _Pool(path, client, threads), max_in_flight, retries, progress)


class _Pool:
    def __init__(self, path: str, client: Any, threads: int | None) -> None:
        self._path, self._client, self._threads = path, client, threads
        # dask returns an old result for a key that it knows. The markers are the truth, so every attempt has its own key.
        self._run, self._attempts = uuid.uuid4().hex, 0

    def slots(self) -> int:
        return sum(self._client.nthreads().values())

    def submit(self, phase: str, task: int) -> Any:
        self._attempts += 1
        key = (f"lanecast-{phase}-{self._run}", task, self._attempts)
        return self._client.submit(_task.attempt, self._path, task, self._threads, key=key, pure=False)

    def stop(self, futures: Iterable[Any]) -> None:
        self._client.cancel(list(futures))
