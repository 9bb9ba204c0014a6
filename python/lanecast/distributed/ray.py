"""Runs a plan on a Ray cluster. Every node mounts the folders of the plan; nothing goes through the object store but small dictionaries.

    >>> import ray
    >>> ray.init("auto")  # doctest: +SKIP
    >>> lanecast.distributed.ray.run("/shared/plan.json", num_cpus=8)  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterable
from typing import Any

from . import _driver, _task
from ._driver import Callback, Path
from ..checkpoint import Plan

__all__ = ["run"]

# The CPUs of a task where the nodes have as many.
_CPUS = 8


def run(
    path: Path,
    /,
    *,
    num_cpus: int | None = None,
    memory: int | None = None,
    max_in_flight: int | None = None,
    retries: int = 3,
    progress: Callback | None = None,
) -> dict[str, Any]:
    """Runs all tasks of a plan that are not done, and finishes it.

    Without `ray.init` before it, Ray connects to the cluster that `RAY_ADDRESS` names or that runs on this machine, else it starts one.
    This process needs the folders of the plan, too.

    Args:
        path: the plan.
        num_cpus: the CPUs that Ray reserves for a task, and the threads of the task. The default is 8, or as many as the largest node has.
        memory: the bytes of memory that Ray reserves for a task. The default is three times the bytes of the largest task.
        max_in_flight, retries, progress: see `lanecast.distributed`. Ray runs the task of a lost worker again as often as `retries` says.

    Returns:
        The report of `lanecast.checkpoint.finish`.

    Raises:
        TaskError: a task failed too often.
    """
    return _driver.run(path, lambda path, plan: _Pool(path, plan, num_cpus, memory, retries), max_in_flight, retries, progress)


class _Pool:
    def __init__(self, path: str, plan: Plan, num_cpus: int | None, memory: int | None, retries: int) -> None:
        ray = importlib.import_module("ray")
        if not ray.is_initialized():
            ray.init()
        self._ray, self._path = ray, path
        largest = max((node.get("CPU", 0) for node in self._nodes()), default=0)
        self._cpus = num_cpus or min(_CPUS, int(largest) or _CPUS)
        self._memory = 3 * max(task.nbytes for task in plan.tasks) if memory is None else memory
        if not self.slots():
            need = f"{self._cpus} CPUs and {self._memory} bytes of memory"
            warnings.warn(f"no node of the Ray cluster has {need} (num_cpus, memory); the tasks wait for one", stacklevel=4)
        self._attempt = ray.remote(
            num_cpus=self._cpus, memory=self._memory, max_retries=retries, scheduling_strategy="SPREAD"
        )(_task.attempt)

    def _nodes(self) -> list[dict[str, float]]:
        return [node["Resources"] for node in self._ray.nodes() if node["Alive"]]

    def slots(self) -> int:
        need = {"CPU": self._cpus, "memory": self._memory}
        return sum(int(min(node.get(name, 0) // max(n, 1) for name, n in need.items())) for node in self._nodes())

    def submit(self, phase: str, task: int) -> Any:
        ref = self._attempt.options(name=f"lanecast-{phase}").remote(self._path, task, self._cpus)
        future = ref.future()
        future.lanecast_ref = ref
        return future

    def stop(self, futures: Iterable[Any]) -> None:
        for future in futures:
            self._ray.cancel(future.lanecast_ref)
