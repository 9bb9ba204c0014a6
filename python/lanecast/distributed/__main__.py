"""``python -m lanecast.distributed PLAN``: runs a plan on a scheduler, and prints the report as JSON."""

from __future__ import annotations

import argparse
import importlib
import json
import signal
import sys
import time
from typing import Any, NoReturn

from .. import distributed
from .._errors import Error, FormatError

# Seconds between two lines of progress, on a terminal and in a log.
_TERMINAL, _LOG = 1.0, 30.0


def main(arguments: list[str] | None = None) -> int:
    """Runs the program and returns its exit code, which is that of `lanecast` for the same failure."""
    options = _options().parse_args(arguments)
    signal.signal(signal.SIGTERM, _terminate)
    show = _Line()
    try:
        report = _run(options, None if options.quiet else show)
    except KeyboardInterrupt:
        show.end()
        print("interrupted; the same command goes on from the tasks that are done", file=sys.stderr)
        return 130
    except (OSError, ValueError, Error, ImportError) as error:
        show.end()
        print(f"error: {error}", file=sys.stderr)
        return 4 if isinstance(error, FormatError) else 2 if isinstance(error, ValueError | ImportError) else 3
    show.end()
    print(json.dumps(report, indent=2))
    return 0


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m lanecast.distributed", description=__doc__.replace("``", "`"))
    parser.add_argument("plan", help="the file that `lanecast convert --plan` or `lanecast.checkpoint.plan` wrote, on storage that all machines mount")
    parser.add_argument("--scheduler", choices=["local", "ray", "dask"], default="local", help="what runs the tasks (default: local)")
    parser.add_argument("--address", metavar="ADDRESS", help="the scheduler of dask or the head of Ray; by default Ray finds its own")
    parser.add_argument("--processes", type=int, default=4, metavar="N", help="with local, how many tasks run at the same time (default: 4)")
    parser.add_argument("--threads", type=int, metavar="N", help="the threads of a task, which Ray reserves as CPUs (default: 1; with Ray, 8)")
    parser.add_argument("--memory", type=int, metavar="BYTES", help="the memory that Ray reserves for a task (default: 3 times the largest task)")
    parser.add_argument("--max-in-flight", type=int, metavar="N", help="the tasks that the scheduler has at a time (default: twice what runs at a time)")
    parser.add_argument("--retries", type=int, default=3, metavar="N", help="how often a task that failed runs again (default: 3)")
    parser.add_argument("--quiet", action="store_true", help="print no progress")
    return parser


def _run(options: argparse.Namespace, progress: distributed._driver.Callback | None) -> dict[str, Any]:
    common = {"max_in_flight": options.max_in_flight, "retries": options.retries, "progress": progress}
    match options.scheduler:
        case "ray":
            importlib.import_module("ray").init(address=options.address, log_to_driver=False, logging_level="warning")
            return distributed.ray.run(options.plan, num_cpus=options.threads, memory=options.memory, **common)
        case "dask":
            if options.address is None:
                raise ValueError("dask needs --address, such as tcp://host:8786")
            with importlib.import_module("distributed").Client(options.address) as client:
                return distributed.dask.run(options.plan, client, threads=options.threads or 1, **common)
        case _:
            return distributed.local.run(options.plan, processes=options.processes, threads=options.threads or 1, **common)


def _terminate(*_: object) -> NoReturn:
    # The workers of `local` must end with it.
    sys.exit(143)


class _Line:
    """A line of progress, which the next one replaces on a terminal."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._next, self._phase, self._open = 0.0, "", False
        self._error: str | None = None

    def __call__(self, state: distributed.Progress) -> None:
        if state.error != self._error:
            self._error = state.error
            self.end()
            print(f"warning: {state.error}; it runs again", file=sys.stderr)
        now = time.monotonic()
        if now < self._next and state.phase == self._phase and state.done < state.tasks:
            return
        self._next, self._phase = now + (_TERMINAL if self._terminal else _LOG), state.phase
        again = f", {state.repeated} repeated" if state.repeated else ""
        size = f", {state.nbytes / 1e9:.1f} of {state.total / 1e9:.1f} GB, {state.rate / 1e9:.2f} GB/s" if state.total else ""
        text = f"{state.phase}: {state.done} of {state.tasks} tasks{size}, {state.running} running{again}"
        print(f"\r\x1b[K{text}" if self._terminal else text, end="" if self._terminal else "\n", file=sys.stderr, flush=True)
        self._open = self._terminal

    def end(self) -> None:
        """Ends the open line."""
        if self._open:
            print(file=sys.stderr)
        self._open = False


if __name__ == "__main__":
    sys.exit(main())
