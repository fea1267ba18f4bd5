"""The program: `ttc`, and `python -m ttc_llvm`. Ctrl-C ends it with one line and status 130 from the first of its own
lines on; before, while Python itself starts, the signal or a traceback of Python's does."""

import os
import sys
from _signal import SIGINT, default_int_handler, getsignal, signal


def _stop(number: int, frame: object) -> None:
    try:
        os.write(2, b"ttc: interrupted before there was any result\n")
    finally:
        os._exit(130)


def main() -> int:
    """Run the process' own command line and return its exit status; nothing is raised."""
    if getsignal(SIGINT) is default_int_handler:  # not where a shell's background job ignores it
        signal(SIGINT, _stop)
    from .cli import main

    return main()


if __name__ == "__main__":
    sys.exit(main())
