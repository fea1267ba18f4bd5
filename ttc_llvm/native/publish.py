"""Files that appear together: written aside, then renamed; what goes wrong half-way is undone."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ..errors import OptionError, os_errors
from ..runtime import interrupts
from ..runtime.interrupts import Undo
from . import marks


class Link(str):
    """A symbolic link as the content of a file: the name beside it that it leads to."""


Content = bytes | Link


def made(folder: Path, option: str) -> None:
    """Make the folder that an option names: long work must not end at a mistyped one. Raises OptionError."""
    with os_errors(f"{option}={folder} cannot be made"):
        folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OptionError(f"{option}={folder} cannot be written")


def publish(folder: Path, files: Sequence[tuple[str, Content]], overwrite: bool = False) -> tuple[Path, ...]:
    """Write files, given as (path below the folder, content), all or none; returns their paths.

    overwrite: also in the place of what is not ours, for which OptionError is raised otherwise: see `marks.check`.

    Everything is first written to a temporary folder beside them. Then each file takes its place by a rename,
    so that readers see an old file or a new one, whole. Where a rename fails, those before it are undone.
    Signals that end a program wait for the renames. Folders are made where they are missing. OptionError where the
    folder cannot be written.
    """
    marks.check(folder, (name for name, _ in files), overwrite)
    made = _missing(folder)
    staged = folder / f".ttc.{secrets.token_hex(4)}.tmp"
    with (
        os_errors(f"directory {folder} cannot be written"),
        Undo(partial(_discard, made)),
        Undo(partial(shutil.rmtree, staged, ignore_errors=True)),
    ):
        return _published(folder, staged, files)


def _missing(folder: Path) -> list[Path]:
    """The folder and those above it that do not exist, the innermost first."""
    return [path for path in (folder, *folder.parents) if not os.path.lexists(path)]


def _published(folder: Path, staged: Path, files: Sequence[tuple[str, Content]]) -> tuple[Path, ...]:
    staged.mkdir(parents=True)
    for name, data in files:
        path = staged / "new" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(data, Link):
            path.symlink_to(data)
        else:
            path.write_bytes(data)
    with interrupts.held():
        _rename(folder, staged, [name for name, _ in files])
    return tuple(folder / name for name, _ in files)


def _rename(folder: Path, staged: Path, names: Sequence[str]) -> None:
    with contextlib.ExitStack() as undo:
        for number, name in enumerate(names):
            place = folder / name
            undo.callback(_discard, _missing(place.parent))
            place.parent.mkdir(parents=True, exist_ok=True)
            undo.callback(_restore, place, _kept(place, staged / str(number)))
            os.replace(staged / "new" / name, place)
        undo.pop_all()


def _kept(place: Path, aside: Path) -> Path | None:
    """A second name for the file or link that is there now; None where there is none."""
    if place.is_symlink():
        aside.symlink_to(os.readlink(place))
        return aside
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


def _discard(folders: Sequence[Path]) -> None:
    """Remove those that are empty, the innermost first."""
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()
