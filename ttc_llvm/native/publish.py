"""Files that appear together: written aside, then renamed; what goes wrong half-way is undone."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

from ..errors import OptionError

HELD = (signal.SIGINT, signal.SIGTERM)


def publish(folder: Path, files: Sequence[tuple[str, bytes]]) -> tuple[Path, ...]:
    """Write files, given as (path below the folder, content), all or none; returns their paths.

    Everything is first written to a temporary folder beside them. Then each file takes its place by a rename,
    so that readers see an old file or a new one, whole. Where a rename fails, those before it are undone.
    Ctrl-C and SIGTERM wait for the renames. Folders are made where they are missing. OptionError where the
    folder cannot be written.
    """
    made = _missing(folder)
    staged = folder / f".ttc.{secrets.token_hex(4)}.tmp"
    try:
        return _published(folder, staged, files)
    except BaseException as error:
        for empty in made:
            with contextlib.suppress(OSError):
                empty.rmdir()
        if isinstance(error, OSError):
            reason = error.strerror or error
            raise OptionError(f"directory {folder} cannot be written: {reason}") from error
        raise


def _missing(folder: Path) -> list[Path]:
    """The folder and those above it that do not exist, the innermost first."""
    return [path for path in (folder, *folder.parents) if not path.exists()]


def _published(folder: Path, staged: Path, files: Sequence[tuple[str, bytes]]) -> tuple[Path, ...]:
    try:
        staged.mkdir(parents=True)
        for name, data in files:
            path = staged / "new" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        with _signals_held():
            _rename(folder, staged, [name for name, _ in files])
        return tuple(folder / name for name, _ in files)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _rename(folder: Path, staged: Path, names: Sequence[str]) -> None:
    with contextlib.ExitStack() as undo:
        for number, name in enumerate(names):
            place = folder / name
            for empty in _missing(place.parent):
                undo.callback(_discard, empty)
            place.parent.mkdir(parents=True, exist_ok=True)
            undo.callback(_restore, place, _kept(place, staged / str(number)))
            os.replace(staged / "new" / name, place)
        undo.pop_all()


def _kept(place: Path, aside: Path) -> Path | None:
    """A second name for the file that is there now; None where there is none."""
    if not place.is_file():
        return None
    try:
        os.link(place, aside)
    except OSError:  # a file system without links
        shutil.copy2(place, aside)
    return aside


def _restore(place: Path, kept: Path | None) -> None:
    with contextlib.suppress(OSError):
        if kept is None:
            place.unlink(missing_ok=True)
        else:
            os.replace(kept, place)


def _discard(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Signals that end a program arrive after the block. Only the main thread can and need do this."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        arrived.append(number)

    before = {number: signal.signal(number, note) for number in HELD if signal.getsignal(number) is not None}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for late in arrived:
            signal.raise_signal(late)
