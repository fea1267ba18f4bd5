"""How far tuning has come: a bar if stderr is a terminal, log lines with --verbose, else nothing."""

from __future__ import annotations

import logging
import sys
from types import TracebackType
from typing import TYPE_CHECKING

from .tuning.search import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

_log = logging.getLogger(__name__)


class Progressing:
    """A context in which `report` shows the progress of a search. batches: how often it was called.

    The bar is drawn between two batches of candidates only: a thread that draws would disturb what is timed.
    """

    def __init__(self, verbose: bool) -> None:
        self.batches = 0
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._on_terminal = sys.stderr.isatty() and not verbose

    def report(self, progress: Progress) -> None:
        """Show how many candidates were timed and how fast the best of them is."""
        self.batches += 1
        best = "" if not progress.best else f"best {progress.best * 1e3:.4g} ms"
        total = "?" if progress.total < 0 else progress.total
        _log.info("%d of %s candidates timed, %s", progress.done, total, best)
        if self._bar is not None and self._task is not None:
            limit = None if progress.total < 0 else progress.total
            self._bar.update(self._task, completed=progress.done, total=limit, best=best)
            self._bar.refresh()

    def __enter__(self) -> Progressing:
        if self._on_terminal:
            self._bar, self._task = _bar()
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


def _bar() -> tuple[Bar, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("tuning"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[best]}"),
    )
    bar = Bar(*columns, console=Console(stderr=True), auto_refresh=False, transient=True)
    return bar, bar.add_task("tuning", total=None, best="")
