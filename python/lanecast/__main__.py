"""The program ``lanecast``: ``python -m lanecast`` and the command that the package installs."""

from __future__ import annotations

import signal
import sys

from . import _lanecast


def main() -> int:
    """Runs the program with the arguments of the process and returns its exit code."""
    # The program handles the signal itself. Python's handler would wait until the program has returned.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _lanecast.run_program(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
