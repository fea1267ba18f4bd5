"""Shared libraries: the objects go through a linker that is found on the PATH.

Entries of objects are protected. A program that is not position independent cannot take the address of a shared
library's protected function, so in libraries entries have default visibility, and the linker binds calls inside. What
tells two libraries with entries of one name apart is the symbols' version: the library's name. OpenMP's functions may
be missing where a library is loaded: its threaded entries then run on one thread.
"""

from __future__ import annotations

import platform
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..errors import ArtifactError, os_errors
from ..machine.target import Target
from ..runtime import children
from . import elf
from .archive import Member

DRIVERS = ("cc", "gcc", "clang")  # compilers that call a linker; the others are linkers
LINKERS = ("ld.lld", "ld")
VERSIONS = "versions"  # a linker script: every symbol has the version that it names
FLAGS = (
    "-z", "text", "-z", "noexecstack", "--build-id=none", "-Bsymbolic-functions", f"--version-script={VERSIONS}"
)  # fmt: skip


def command(target: Target) -> tuple[str, ...]:
    """The linker for a target and what it always gets. ArtifactError, one sentence, where there is none."""
    names = _candidates(target)
    for name in names:
        found = shutil.which(name)
        if found is not None:
            return (found, *_flags(name))
    raise ArtifactError(
        f"a shared library for {target.triple} needs a linker, but none of {', '.join(names)} is on the PATH:"
        " a static library needs none"
    )


def shared(objects: Sequence[Member], soname: str, linker: Sequence[str]) -> bytes:
    """The shared library of these objects. linker: what `command` has found. ArtifactError where it fails."""
    visible = {member.name: elf.with_default_visibility(member.data) for member in objects}
    files = {name: elf.with_openmp(data, elf.WEAK) for name, data in visible.items()}
    versions = {VERSIONS: f"{_version(soname)} {{ *; }};\n".encode()}
    return made([*linker, *_soname(linker, soname), *files, "-o", soname], files | versions, soname)


def made(command: Sequence[str], files: Mapping[str, bytes], name: str) -> bytes:
    """The file of this name that a tool makes of others. ArtifactError, with the tool's words, where it cannot.

    It runs in a folder of its own: names without folders let nothing of this run get into what it makes.
    """
    with os_errors(f"{command[0]} cannot be run to make {name}", ArtifactError), children.folder() as folder:
        for file, data in files.items():
            (folder / file).write_bytes(data)
        done = children.run(command, folder)
        if done.returncode:
            said = " ".join((done.stderr or done.stdout).split())[:400]
            raise ArtifactError(f"{command[0]} cannot make {name}: {said or f'status {done.returncode}'}")
        return (folder / name).read_bytes()


def _candidates(target: Target) -> tuple[str, ...]:
    """Names to look for: the machine's own tools, or those of a cross compiler's name."""
    arch = target.triple.partition("-")[0]
    if arch == platform.machine():
        return (*DRIVERS, *LINKERS)
    # musl's tools where they are; glibc's serve as well: nothing of a C library gets into the result.
    prefixes = tuple(dict.fromkeys((f"{arch}-linux-{target.triple.rpartition('-')[2]}", f"{arch}-linux-gnu")))
    free = () if target.is_big_endian else ("ld.lld",)  # which links big-endian POWER as ELFv2 only
    return (*(f"{prefix}-gcc" for prefix in prefixes), *free, *(f"{prefix}-ld" for prefix in prefixes))


def _flags(name: str) -> tuple[str, ...]:
    if _is_linker(name):
        return ("-shared", *FLAGS)
    return ("-shared", "-nostdlib", f"-Wl,{','.join(FLAGS)}")


def _soname(linker: Sequence[str], soname: str) -> tuple[str, ...]:
    return ("-soname", soname) if _is_linker(linker[0]) else (f"-Wl,-soname,{soname}",)


def _version(soname: str) -> str:
    """A library's name in the letters that linkers take."""
    return re.sub(r"[^A-Za-z0-9_.]", "_", soname)


def _is_linker(name: str) -> bool:
    return Path(name).name.endswith(LINKERS)
