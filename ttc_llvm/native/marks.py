"""The mark of what we write, by which a file counts as ours and may be replaced without being asked.

Texts have it in a comment. Code has it as LLVM's `ident`: a line of .comment in ELF objects, which linkers carry into
libraries, an entry of WebAssembly's producers, a string of bitcode, and for Mach-O, which has no such thing, a section
for debuggers. Nothing of it is in memory at run time. The words alone
are no mark: others may write of us, and link what we made.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

from .. import __version__
from ..errors import ArtifactError, OptionError
from . import archive, elf
from .whole_file import read

WORDS = "written by ttc_llvm"
MARK = f"{WORDS} {__version__}"
REPLACED = "it is replaced with overwrite=True, --force on the command line"
_BROKEN = rb"[\s*!]+"  # comments break lines between words
_VERSIONED = WORDS.encode().replace(b" ", _BROKEN) + _BROKEN + rb"[0-9][\w.+-]*"
_TITLED = rb"(?:[^:]{1,300}:_(?:(?:entries|kernels)_of_[^:]{1,300}?,_)?)?".replace(b"_", _BROKEN)
_TEXTS = re.compile(  # the title of a comment, a line of code, the head of a page or a picture
    rb"\A(?:/[/*]|#|!) " + _TITLED + _VERSIONED + rb"\.?$"
    rb'|^(?:\t\.(?:ident|asciz)\t|![0-9]+ = !\{!)"' + _VERSIONED + rb'"\}?$'
    rb'|\A<!DOCTYPE html>\n[^\n]*<meta name="generator" content="' + _VERSIONED + rb'">'
    rb"|\A<\?xml [^\0]{1,2000}^ *<dc:title>" + _VERSIONED + rb"</dc:title>$",
    re.MULTILINE,
)
_BINARIES = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b", b"\0asm", b"\xcf\xfa\xed\xfe", b"\x89PNG")
_ENTRY = re.compile(  # entries; AMD's kernels; functions of plans and groups; a library's version
    r"\w*[a-z0-9](Transpose[0-9]|Contract_)\w*(\.kd)?"
    r"|\w+_plan_(create|destroy|execute|execute_part|parts|lookup|error_text)"
    r"|\w+_group_(create|destroy|execute|execute_part|parts|check)|[\w.]+\.so[.0-9]*"
)
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
        if overwrite or (_is_version(path) if kind == stat.S_IFLNK else _is_ours(path, known)):
            continue
        what = "a link" if kind == stat.S_IFLNK else "there, and not written by ttc_llvm"
        raise OptionError(f"{path} is {what}: {REPLACED}")


def _is_version(path: Path) -> bool:
    """True for the link of a shared library of ours to the file of its version beside it."""
    to = os.readlink(path)
    return to.startswith(f"{path.name}.") and "/" not in to and os.path.isfile(path) and _is_ours(path, None)


def check_file(path: Path, overwrite: bool, known: Known | None = None) -> None:
    """The same for a file that somebody has named: a link is followed, and what is no file, such as a pipe, is fine."""
    place = Path(os.path.realpath(path))
    if place.is_file() and not overwrite and not _is_ours(place, known):
        raise OptionError(f"{path} is there, and not written by ttc_llvm: {REPLACED}")


def _is_ours(path: Path, known: Known | None) -> bool:
    try:
        data = read(path)
    except OSError:
        return False
    if not data:
        return True
    if known is not None:
        return known(data)
    return _is_marked(data) or _is_cubin(data, path.stem)


def _is_marked(data: bytes) -> bool:
    """True for texts that have the mark where we put it, and for code that has it and defines nothing of others."""
    if not data.startswith((elf.MAGIC, archive.MAGIC, *_BINARIES)):
        return _TEXTS.search(data) is not None
    return WORDS.encode() in data and (data.startswith(_BINARIES) or _is_all_ours(data))


def _is_all_ours(data: bytes) -> bool:
    """True for an object or a library with our entries alone: linkers carry the mark into what users link of theirs."""
    try:
        found = (elf.defined_symbols if elf.is_elf(data) else archive.symbols)(data)
    except ArtifactError:
        return False
    return bool(found) and all(map(_ENTRY.fullmatch, found))


def _is_cubin(data: bytes, stem: str) -> bool:
    """NVIDIA's assembler keeps no note: a cubin is known by its kernels, which begin with the file's name."""
    if not elf.is_elf(data) or data[18:20] != _CUBIN:
        return False
    try:
        return any(name.startswith(f"{stem}_") for name in elf.defined_symbols(data))
    except ArtifactError:
        return False
