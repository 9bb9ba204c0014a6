"""Runs the tasks of a checkpoint's plan on many machines: with Ray, with dask, or in processes of this machine.

    >>> from lanecast import checkpoint, distributed
    >>> plan = checkpoint.plan("/shared/model", "/shared/small", quantize="nvfp4", layout="modelopt")  # doctest: +SKIP
    >>> plan.save("/shared/plan.json")  # doctest: +SKIP
    >>> distributed.ray.run("/shared/plan.json", num_cpus=8)  # doctest: +SKIP

A task gets the path of the plan and its number. It reads its part of the source, writes its part of the output at its place, and leaves a marker,
all on a file system that every machine mounts at the same path. The markers are the truth: whatever is killed, forgotten or run twice, the same
call goes on from the tasks without a marker, and the bytes are those of one machine.

The functions ``run`` have these arguments in common:

* ``max_in_flight``: the tasks that the scheduler has at a time. The default is twice what the workers run at the same time.
* ``retries``: how often a task that failed runs again, each time later, before ``TaskError`` is raised.
* ``progress``: is called about once a second with a ``Progress``. An exception that it raises ends the run.

An exception, also ``KeyboardInterrupt``, ends the tasks that run; with dask, they run to their end. What is done stays done.

``python -m lanecast.distributed PLAN`` does the same.
"""

from . import dask, local, ray
from ._driver import Progress, TaskError

__all__ = ["Progress", "TaskError", "dask", "local", "ray"]
