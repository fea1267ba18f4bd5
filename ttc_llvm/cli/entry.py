"""The command line in any process: Ctrl-C ends it with one line and status 130, also while its modules are imported."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # as `typing` says, which nobody need wait for here
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status; nothing is raised. By default it is the process' own, which
    signals end from then on; with arguments the process is the caller's, and so are its signals."""
    try:
        from .. import interrupts

        if arguments is None:
            interrupts.begin()
        from . import command

        status = command.run(arguments)
    except KeyboardInterrupt as stop:
        exec("")  # or else one that struck inside an exec() would end the process by a signal, though it is handled
        say(str(stop) or "interrupted before there was any result")
        status = 130
    if arguments is None:
        from .. import interrupts

        interrupts.finish()
    return status


def say(message: str) -> None:
    """One line on stderr, if anybody reads it."""
    if sys.stderr is None:  # closed by the caller
        return
    try:
        print(f"ttc: {message}", file=sys.stderr, flush=True)
    except OSError:
        return
