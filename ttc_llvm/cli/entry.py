"""The command line in any process: Ctrl-C ends it with one line and status 130, also while its modules are imported."""

from __future__ import annotations

from .messages import say

TYPE_CHECKING = False  # as `typing` says, which nobody need wait for here
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status; nothing is raised. By default it is the process' own, which
    signals end from then on; with arguments the process is the caller's, and so are its signals."""
    try:
        from ..runtime import interrupts

        if arguments is None:
            interrupts.begin()
        from . import command

        status = command.run(arguments)
    except KeyboardInterrupt as stop:
        exec("")  # or else one that struck inside an exec() would end the process by a signal, though it is handled
        say(str(stop) or "interrupted before there was any result")
        status = 130
    if arguments is None:
        from ..runtime import interrupts

        interrupts.finish()
    return status
