"""The one display of this package: how far a search has come, on a terminal or in a notebook. Nothing else here prints.

It is drawn when it is called only, by the thread that times: one that draws by itself would disturb what is timed.
"""

from __future__ import annotations

import html
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol, TypeVar

from .. import locks
from ..logs import INFO, Log
from ..runtime.interrupts import Undo
from ..tuning.search.progress import Progress, Report

_log = Log("ttc_llvm")
_shown = threading.Lock()  # held while there is a display: two at once would write over each other
SOON = 0.2  # seconds that the cost model's plan takes at most before anything is shown


class Bar(Protocol):
    """A bar somewhere."""

    def update(self, text: str, done: int | None, total: int | None) -> None:
        """Draw it anew."""

    def stop(self) -> None:
        """Take it away."""


def is_terminal() -> bool:
    """True where stderr is a terminal."""
    with suppress(Exception):  # whatever a program has put in its place
        return bool(sys.stderr.isatty())
    return False


def is_notebook() -> bool:
    """True in a process that a notebook runs its cells in."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


D = TypeVar("D", bound="Display")


class Display(Undo):
    """A bar on a terminal or in a notebook for as long as a context lasts, or nothing. label: what stands before it."""

    def __init__(self, shown: bool, total: int | None, done: int = 0, label: str = "") -> None:
        super().__init__(self._end)
        self._wanted, self._total, self._done, self._label = shown, total, done, label
        self._bar: Bar | None = None
        self._owns = False

    def draw(self, text: str = "", *, done: int | None = None, total: int | None = None) -> None:
        """Draw the bar. text: what stands behind it; done, total: as before where they are not given."""
        self._done = self._done if done is None else done
        self._total = self._total if total is None else total
        if not self._owns:
            return
        with suppress(OSError, ValueError):  # a terminal that has gone away ends no search
            self._bar = self._bar or (_Cell if is_notebook() else _Terminal)(self._label)
            self._bar.update(text, self._done, self._total)

    def __enter__(self: D) -> D:
        if self._wanted:
            self._owns = _shown.acquire(blocking=False)
            Undo.__enter__(self)
        return self

    def _end(self) -> None:
        if not self._owns:
            return
        self._owns = False
        with suppress(OSError, ValueError):
            if self._bar is not None:
                self._bar.stop()
        _shown.release()


class SearchDisplay(Display):
    """A context in which `report` shows how far a search has come. timed: whether anything was timed."""

    def __init__(self, shown: bool, label: str = "tuning") -> None:
        super().__init__(shown, None, label=label)
        self.timed = False
        self._began = time.monotonic()

    def report(self, progress: Progress) -> None:
        """Show the phase, how many candidates were timed and how fast the best of them is."""
        self.timed = self.timed or progress.done > 0
        if progress.total == 1 and time.monotonic() < self._began + SOON:
            return
        best = "" if not progress.best else f", best {progress.best * 1e3:.4g} ms"
        total = None if progress.total < 0 else progress.total
        self.draw(f"{progress.phase}{best}", done=progress.done, total=total)


@contextmanager
def reporting(progress: Report | bool | None) -> Iterator[Report | None]:
    """Who is told of a search: the caller's function; or a display, where there is a place for one, nobody has asked
    for none, and no log says the same."""
    if callable(progress):
        yield progress
        return
    wanted = progress is not False and (is_notebook() or is_terminal()) and not _log.is_enabled_for(INFO)
    if not wanted:
        yield None
        return
    with SearchDisplay(True) as display:
        yield display.report


# --- places -----------------------------------------------------------------------------------------------


class _Terminal:
    """A bar of rich's on stderr."""

    def __init__(self, label: str) -> None:
        with locks.IMPORTS:
            from rich import progress
            from rich.console import Console

        columns = progress.BarColumn(), progress.MofNCompleteColumn(), progress.TimeElapsedColumn()
        labels = (progress.TextColumn(label, markup=False),) if label else ()
        texts = progress.TextColumn("{task.fields[text]}", markup=False)
        self._bar = progress.Progress(
            *labels, *columns, texts, console=Console(stderr=True), auto_refresh=False, transient=True,
            redirect_stdout=False,
        )  # fmt: skip
        self._task = self._bar.add_task(label, total=None, text="")
        self._bar.start()

    def update(self, text: str, done: int | None, total: int | None) -> None:
        self._bar.update(self._task, completed=done, total=total, text=text)
        self._bar.refresh()

    def stop(self) -> None:
        self._bar.stop()


class _Cell:
    """A bar of the browser's in a notebook's cell, and a line of text where there is no browser."""

    def __init__(self, label: str) -> None:
        show: Callable[..., Any] = locks.imported("IPython.display").display
        self._label, self._began = label, time.monotonic()
        self._handle = show({"text/plain": label}, raw=True, display_id=True)

    def update(self, text: str, done: int | None, total: int | None) -> None:
        seconds = time.monotonic() - self._began
        line = f"{self._label} {done or 0}/{'?' if total is None else total}, {seconds:.0f} s, {text}"
        most = "" if total is None else f' value="{done or 0}" max="{max(total, 1)}"'
        bar = f"<progress{most}></progress> {html.escape(line)}"
        self._handle.update({"text/plain": line, "text/html": bar}, raw=True)

    def stop(self) -> None:
        self._handle.update({"text/plain": "", "text/html": ""}, raw=True)
