"""Entries of one name in one process on other machines: every library calls its own."""

from __future__ import annotations

from pathlib import Path

import emulators
import pytest
from batch import emit
from emissions import module_text, spec
from emulators import MACHINES, run

from ttc_llvm.machine import lookup
from ttc_llvm.machine.table import TRIPLES
from ttc_llvm.machine.target import Target
from ttc_llvm.native import artifact, elf, linker
from ttc_llvm.native.archive import Member
from ttc_llvm.problem import interface, names
from ttc_llvm.problem.problem import Problem

NATIVE = Path(__file__).parent.parent / "native"
PROBLEM = Problem((1, 0), (24, 17), "d")
STEM = names.stem(PROBLEM)
THERE = {machine.name: machine for machine in MACHINES}


def shared(wanted: Target, made: Path, folder: Path) -> Path:
    """The shared library of the folder's object."""
    member = Member(f"{STEM}.o", (folder / f"{STEM}.o").read_bytes())
    made.write_bytes(linker.shared([member], made.name, linker.command(wanted)))
    return made


@pytest.mark.parametrize(
    ("machine", "name"), [("neon", "neon"), ("power8", "pwr8"), ("power8-be", "pwr8-be"), ("riscv-128", "rvv")]
)
def test_plugins_call_their_own_there(machine: str, name: str, tmp_path: Path) -> None:
    """One object in two plug-ins; and linked into a shared library of each."""
    there = emulators.found(THERE[machine])
    wanted = emulators.objective(name, there)
    made = emit(PROBLEM, wanted, tmp_path)
    flags = ("-fPIC", "-shared", f"-I{tmp_path}", f'-DHEADER="{STEM}.h"', f"-DNAME={STEM}", NATIVE / "plugin.c")
    run(there.compiler, NATIVE / "plugins.c", "-o", tmp_path / "plugins", "-ldl")
    for kind in ("object", "library"):
        plugins, homes = [], []
        for number in "12":
            plugins.append(tmp_path / f"{kind}{number}.so")
            own = made if kind == "object" else shared(wanted, tmp_path / f"lib{number}.so", tmp_path)
            run(there.compiler, *flags, own, f"-Wl,-rpath,{tmp_path}", "-o", plugins[-1])
            homes.append(plugins[-1].name if kind == "object" else own.name)
        printed = run(*there.emulator, tmp_path / "plugins", "1", *plugins)
        assert printed.splitlines() == [f"{home} {home} 0" for home in homes]


@pytest.mark.parametrize("triple", TRIPLES)
def test_entries_are_protected_in_elf_objects(triple: str) -> None:
    """Other kinds of objects bind calls to an image of their own accord."""
    wanted = lookup.find(triple)
    plain = spec(PROBLEM, wanted)
    every = {entry.name for entry in interface.entries(PROBLEM)}
    text = module_text(plain)
    assert {name for name in every if f"define protected void @{name}(" in text.replace('"', "")} == (
        every if wanted.is_elf else set()
    )
    if wanted.is_elf:
        made = dict(artifact.parts(plain, ("obj", "omp")).files)
        for data in made.values():
            plainly = elf.with_default_visibility(data)
            assert sum(a != b for a, b in zip(data, plainly, strict=True)) == len(elf.defined_symbols(data)) > 0
