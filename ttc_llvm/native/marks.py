"""The mark of what we write, by which a file counts as ours and may be replaced without being asked.

Texts have it in a comment. Code has it as LLVM's `ident`: a line of .comment in ELF objects, which linkers carry into
libraries, an entry of WebAssembly's producers, a string of bitcode, and for Mach-O, which has no such thing, a section
for debuggers. Nothing of it is in memory at run time.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

from .. import __version__
from ..errors import ArtifactError, OptionError
from . import elf
from .whole_file import read

WORDS = "written by ttc_llvm"
MARK = f"{WORDS} {__version__}"
_NODE = 1_000_000  # a number that no other metadata of a module has
_CUBIN = (190).to_bytes(2, "little")  # e_machine, at byte 18


def marked(ir_text: str) -> str:
    """A module in textual IR with the mark."""
    noted = f'{ir_text}\n!llvm.ident = !{{!{_NODE}}}\n!{_NODE} = !{{!"{MARK}"}}\n'
    return noted + _mach_o() if "-darwin" in ir_text.partition("target triple")[2].partition("\n")[0] else noted


def _mach_o() -> str:
    constant = f'private constant [{len(MARK) + 1} x i8] c"{MARK}\\00", section "__DWARF,__ttc_llvm,regular,debug"'
    used = 'appending global [1 x ptr] [ptr @ttc.mark], section "llvm.metadata"'
    return f"@ttc.mark = {constant}\n@llvm.compiler.used = {used}\n"


Known = Callable[[bytes], bool]  # true for the content of a file of ours


def check(folder: Path, names: Iterable[str], overwrite: bool, known: Known | None = None) -> None:
    """OptionError where one of these files would take the place of a folder, or without `overwrite` of what is not
    ours: files that are neither empty nor known, and links. names: paths below the folder; known: by default, what
    bears the mark."""
    for path in (folder / name for name in names):
        try:
            kind = stat.S_IFMT(os.lstat(path).st_mode)
        except OSError:
            continue
        if kind not in (stat.S_IFREG, stat.S_IFLNK):
            what = "a folder" if kind == stat.S_IFDIR else "no file"
            raise OptionError(f"{path} is {what}: nothing is written in its place")
        if overwrite or (kind == stat.S_IFREG and _is_ours(path, known)):
            continue
        what = "a link" if kind == stat.S_IFLNK else "there, and not written by ttc_llvm"
        raise OptionError(f"{path} is {what}: it is replaced with overwrite=True, --force on the command line")


def check_file(path: Path, overwrite: bool, known: Known | None = None) -> None:
    """The same for a file that somebody has named: a link is followed, and what is no file, such as a pipe, is fine."""
    place = Path(os.path.realpath(path))
    if place.is_file() and not overwrite and not _is_ours(place, known):
        raise OptionError(f"{path} is there, and not written by ttc_llvm: it is replaced with --force")


def _is_ours(path: Path, known: Known | None) -> bool:
    try:
        data = read(path)
    except OSError:
        return False
    if not data:
        return True
    if known is not None:
        return known(data)
    words = rb"[\s*!]+".join(WORDS.encode().split())  # comments break lines between words
    return re.search(words, data) is not None or _is_cubin(data, path.stem)


def _is_cubin(data: bytes, stem: str) -> bool:
    """NVIDIA's assembler keeps no note: a cubin is known by its kernels, which begin with the file's name."""
    if not elf.is_elf(data) or data[18:20] != _CUBIN:
        return False
    try:
        return any(name.startswith(f"{stem}_") for name in elf.defined_symbols(data))
    except ArtifactError:
        return False
