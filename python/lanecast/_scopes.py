"""Settings that hold inside a ``with`` block."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from . import _lanecast

__all__ = ["threads", "tier"]


def threads(n: int, /) -> AbstractContextManager[None]:
    """Limits the threads of each cast inside a ``with`` block.

    The block sets a context variable, so it applies to its own thread or asyncio task only, and blocks may be nested. The argument ``threads=``
    of a call overrides it.

    Args:
        n: the maximum number of threads; 0 means one per CPU.

    Examples:
        >>> with lanecast.threads(4):
        ...     y = lanecast.astype(np.arange(6.0), "float32")
    """
    n = operator.index(n)
    if n < 0:
        raise ValueError(f"the number of threads must not be negative, but it is {n}")
    return _threads(n)


@contextmanager
def _threads(n: int) -> Iterator[None]:
    variable = _lanecast.threads_variable()
    token = variable.set(n)
    try:
        yield
    finally:
        variable.reset(token)


def tier(name: str, /) -> AbstractContextManager[None]:
    """Makes casts use an instruction-set tier inside a ``with`` block. All tiers return the same bits, so this serves tests and measurements.

    The tier is that of the process. Blocks may be nested, and threads may have blocks at the same time: of the blocks that have not ended, the
    one that began last counts. ``LANECAST_TIER`` in the environment sets the tier of a whole process.

    Args:
        name: "scalar", "avx2", "avx512", "neon" or "wasm128".

    Raises:
        ValueError: the tier is unknown, or this CPU lacks it.

    Examples:
        >>> with lanecast.tier("scalar"):
        ...     lanecast.active_tier()
        'scalar'
    """
    return _tier(name)


@contextmanager
def _tier(name: str) -> Iterator[None]:
    number = _lanecast.enter_tier(name)
    try:
        yield
    finally:
        _lanecast.leave_tier(number)
