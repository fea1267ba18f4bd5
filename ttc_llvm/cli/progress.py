"""Progress of tuning: a bar if stderr is a terminal, log lines with --verbose, else nothing."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any, TypeVar

from ..runtime.interrupts import Undo
from ..tuning.search.search import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

_log = logging.getLogger(__name__)


D = TypeVar("D", bound="Display")


class Display(Undo):
    """A bar on stderr for as long as a context lasts, or nothing.

    It is drawn when `draw` is called only: a thread that draws would disturb what is timed.
    """

    def __init__(self, shown: bool, total: int | None, done: int = 0, label: str = "") -> None:
        super().__init__(self._end)
        self._shown, self._start = shown, (total, done, label)
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def draw(self, **changes: Any) -> None:
        """Draw the bar with these changes, as rich's `Progress.update` takes them; text: what stands behind it."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, **changes)
            self._bar.refresh()

    def __enter__(self: D) -> D:
        if self._shown:
            self._bar, self._task = _bar(*self._start)
            Undo.__enter__(self)
            self._bar.start()
        return self

    def _end(self) -> None:
        if self._bar is not None:
            self._bar.stop()


class Progressing(Display):
    """A context in which `report` shows the progress of a search. batches: how often it was called."""

    def __init__(self, hidden: bool, label: str = "tuning") -> None:
        super().__init__(sys.stderr.isatty() and not hidden, None, label=label)
        self.batches = 0

    def report(self, progress: Progress) -> None:
        """Show how many candidates were timed and how fast the best of them is."""
        self.batches += 1
        best = "" if not progress.best else f"best {progress.best * 1e3:.4g} ms"
        total = "?" if progress.total < 0 else progress.total
        _log.info("%d of %s candidates timed, %s", progress.done, total, best)
        self.draw(completed=progress.done, total=None if progress.total < 0 else progress.total, text=best)


def _bar(total: int | None, done: int, label: str) -> tuple[Bar, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.fields[text]}"))
    labels = (TextColumn(label),) if label else ()
    bar = Bar(*labels, *columns, console=Console(stderr=True), auto_refresh=False, transient=True)
    return bar, bar.add_task(label, total=total, completed=done, text="")
