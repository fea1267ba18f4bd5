"""Signals that end a command: whom they interrupt, what waits for them, and what is undone first.

KeyboardInterrupt is raised inside whatever happens to run: an import, which reports another error, a destructor, which
prints it, or somebody's `except:`. A process that is a command's own (`begin`) is therefore ended by the handler
itself, and the exception is raised only where somebody has a use for what was done so far (`raised`). In other
programs signals do what they did before.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import FrameType
from typing import Any, cast

from ..errors import TtcError
from ..lazy_dataclasses import dataclass, field

STATUS = 130
BEFORE = "interrupted before there was any result"
ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
SWALLOWED_SECONDS = 0.01  # after which an interrupt is raised anew that a destructor has swallowed


@dataclass(slots=True)
class _State:
    """own: signals end this process; raising: blocks of `raised` around the code that runs; seen: one was raised; line:
    what is said before the end; undo: what has to be done before it, the newest last."""

    own: bool = False
    raising: int = 0
    seen: bool = False
    line: str = BEFORE
    undo: dict[int, Callable[[], object]] = field(default_factory=dict)


_state = _State()


def begin() -> None:
    """From now on the process is a command's own: signals that end it undo what is left, and Ctrl-C says one line and
    ends it with status 130. Signals that are ignored stay so. Only for a main thread."""
    if threading.current_thread() is not threading.main_thread():
        return
    _state.own = True
    for number in ENDING:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, _struck)
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, lambda number, frame: _struck(signal.SIGINT, frame))
        sys.unraisablehook = _unraisable


def finish() -> None:
    """The command has done what it was asked for: what is left is undone, and Ctrl-C says no more."""
    _state.line = ""
    if _state.own:
        _undo()


def _struck(number: int, _: FrameType | None) -> None:
    if number == signal.SIGINT and _state.raising and not _state.seen:
        _state.seen = True
        raise KeyboardInterrupt
    for other in ENDING:
        signal.signal(other, signal.SIG_IGN)
    _undo()
    if number == signal.SIGINT:
        with suppress(OSError):
            os.write(2, f"ttc: {_state.line}\n".encode() if _state.line else b"")
        os._exit(STATUS)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _unraisable(found: Any) -> None:
    """Destructors and callbacks of other languages cannot raise: Python prints what they do raise, and goes on."""
    if isinstance(found.exc_value, KeyboardInterrupt):
        _state.seen = False
        signal.setitimer(signal.ITIMER_REAL, SWALLOWED_SECONDS)
    else:
        sys.__unraisablehook__(found)


# --- what blocks ask for ------------------------------------------------------------------------------------------


@contextmanager
def raised() -> Iterator[None]:
    """The first Ctrl-C inside raises KeyboardInterrupt, also out of code that turns it into an error of its own;
    another one ends the process."""
    _state.raising += 1
    try:
        yield
    except TtcError:
        raise
    except Exception as error:
        if _state.seen:
            raise KeyboardInterrupt from error
        raise
    finally:
        _state.raising -= 1


@contextmanager
def held(*, later: bool = False) -> Iterator[None]:
    """Signals that end a program arrive behind the block. Only the main thread can and need do this.

    later: a moment later, for destructors: Python prints what is raised in one, and goes on.
    """
    arrived: list[int] = []
    again = _raise_later if later else signal.raise_signal
    try:
        with _handled(ENDING, lambda number, _: arrived.append(number)):
            yield
    finally:
        with ExitStack() as others:  # a handler may raise: the others are told all the same
            for number in reversed(arrived):
                others.callback(again, number)


def _raise_later(number: int) -> None:
    """The signal once more, for the main thread, when the caller has returned: that starting a thread takes longer
    than it waits is no matter."""
    gate = threading.Event()

    def strike() -> None:
        gate.wait()
        time.sleep(SWALLOWED_SECONDS)
        signal.pthread_kill(cast(int, threading.main_thread().ident), number)

    threading.Thread(target=strike, daemon=True).start()
    gate.set()


@contextmanager
def unheard() -> Iterator[None]:
    """Processes and threads that are started inside never hear Ctrl-C, which a terminal sends to all of them; our own
    arrives behind the block."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def noted() -> Iterator[list[int]]:
    """Every Ctrl-C of the block, which does what it does without it: a search ends at one without telling."""
    seen: list[int] = []
    before = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        if callable(before):
            before(number, frame)

    with _handled((signal.SIGINT,) if callable(before) else (), note):
        yield seen


@contextmanager
def _handled(numbers: tuple[int, ...], handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Another handler inside, where the thread may have one; the ones before come back."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in numbers if signal.getsignal(number) is not None}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


class Undo:
    """Work that is done when the block ends, and before a signal ends a command inside it: it may be done twice."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work

    def __enter__(self) -> Undo:
        _state.undo[id(self)] = self._work
        return self

    def __exit__(self, *error: object) -> None:
        self._work()
        _state.undo.pop(id(self), None)


def at_end(work: Callable[[], object]) -> None:
    """Register work to do before a command's own process ends; nothing in other programs."""
    if _state.own:
        _state.undo[id(work)] = work


def _undo() -> None:
    for work in reversed([*_state.undo.values()]):
        with suppress(Exception):
            work()
    _state.undo.clear()
