"""Calls of emitted contractions in one program on another machine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from contraction_calls import Call
from emulators import Machine, run
from fused_cases import Array, Case

from ttc_llvm.contractions import emission
from ttc_llvm.machine.target import Target
from ttc_llvm.native import artifact
from ttc_llvm.problem import names
from ttc_llvm.problem.contraction import OPERANDS
from ttc_llvm.problem.contraction_interface import Entry

HERE = Path(__file__).parent
C_TYPES = {"s": "float", "d": "double"}
CANARY = 0x5A


@dataclass(frozen=True)
class Job:
    """A case, and how its object is called."""

    case: Case
    call: Call

    @property
    def name(self) -> str:
        """The entry."""
        return Entry(self.case.stated, self.call.sizes, self.call.parts > 0).name

    @cached_property
    def words(self) -> list[list[int] | None]:
        """What it takes of extents and strides, None = NULL."""
        stated = self.case.stated
        sizes = [[extent for _, extent in stated.size]] if self.call.sizes else []
        strides = [list(stated.strides(name)) if self.call.strides else None for name in OPERANDS]
        return [*sizes, *strides]

    @cached_property
    def memory(self) -> list[tuple[Array, int]]:
        """The bytes of A, B and C, from their first to their last element, and where all indices are 0."""
        found = []
        for x in self.case.arrays:
            low = sum(min(0, (n - 1) * step) for n, step in zip(x.shape, x.strides, strict=True)) if x.size else 0
            high = sum(max(0, (n - 1) * step) for n, step in zip(x.shape, x.strides, strict=True)) if x.size else 0
            memory = np.full(high - low + x.itemsize if x.size else 0, CANARY, np.uint8)
            if x.size:
                np.ndarray(x.shape, x.dtype, memory, -low, x.strides)[...] = x
            found.append((memory, -low))
        return found

    def input(self, big: bool) -> bytes:
        """Scalars and tensors in the byte order of the machine."""
        kind = np.dtype("f4" if self.case.dtype in "sc" else "f8").newbyteorder(">" if big else "<")
        given = b""
        for scalar in map(complex, (self.case.alpha, self.case.beta)):
            given += np.array([scalar.real, scalar.imag], kind).tobytes().ljust(16, b"\0")
        return given + b"".join(self._ordered(memory, big).tobytes() for memory, _ in self.memory)

    def _ordered(self, memory: Array, big: bool) -> Array:
        """Bytes of numbers in that order."""
        real = memory.view("f4" if self.case.dtype in "sc" else "f8")
        return real.byteswap() if big else real

    def check(self, got: bytes, big: bool) -> None:
        """AssertionError unless all of C is as it must be, and what lies between its elements as it was."""
        case, (before, first) = self.case, self.memory[2]
        memory = self._ordered(np.frombuffer(got, np.uint8).copy(), big).view(np.uint8).copy()
        c = case.arrays[2]
        if not c.size:
            return
        found = np.ndarray(c.shape, c.dtype, memory, first, c.strides)
        assert not case.misses(found), f"{case.stated}: C is wrong\n{self.call}"
        found[...] = c
        assert memory.tobytes() == before.tobytes(), f"{case.stated}: something else was written\n{self.call}"


def execute(machine: Machine, target: Target, jobs: Sequence[Job], folder: Path) -> None:
    """Build one program of all jobs for this machine, run it there, and check what it computed."""
    objects = []
    for job in jobs:
        spec = emission.spec(job.case.stated, None, [target])
        objects.append(artifact.write(spec, folder, overwrite=True)[0])
    big = target.is_big_endian
    (folder / "input").write_bytes(b"".join(job.input(big) for job in jobs))
    _run(machine, jobs, objects, folder)
    data, at = (folder / "output").read_bytes(), 0
    for job in jobs:
        size = job.memory[2][0].nbytes
        job.check(data[at : at + size], big)
        at += size
    assert at == len(data)


def _run(machine: Machine, jobs: Sequence[Job], objects: Sequence[Path], folder: Path) -> None:
    data = (folder / "input", folder / "output")
    if machine.compiler == "wasm-ld":
        exports = [f"--export={job.name}" for job in jobs]
        run("wasm-ld", "--no-entry", *exports, "--export=__heap_base", *objects, "-o", folder / "all.wasm")
        (folder / "calls.json").write_text(json.dumps([_described(job) for job in jobs]))
        run("node", HERE / "contraction_driver.mjs", folder / "all.wasm", folder / "calls.json", *data)
        return
    (folder / "calls.h").write_text(_calls(jobs))
    flags = ("-std=gnu99", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{folder}")
    run(machine.compiler, *flags, HERE / "contraction_driver.c", *objects, "-o", folder / "driver")
    run(*machine.emulator, folder / "driver", *data)


def _described(job: Job) -> dict[str, Any]:
    dtype = job.case.dtype
    return {
        "name": job.name, "bytes": [memory.nbytes for memory, _ in job.memory], "first": [x for _, x in job.memory],
        "words": job.words, "complex": dtype in "cz", "real": 4 if dtype in "sc" else 8,
    }  # fmt: skip


def _calls(jobs: Sequence[Job]) -> str:
    headers = dict.fromkeys(f'#include "{names.stem(job.case.stated)}.h"' for job in jobs)
    rows = [f"    {{call_{k}, {{{_list(job, 0)}}}, {{{_list(job, 1)}}}}}," for k, job in enumerate(jobs)]
    bodies = [_body(number, job) for number, job in enumerate(jobs)]
    return "\n".join([*headers, *bodies, "static const struct call calls[] = {", *rows, "};", ""])


def _list(job: Job, part: int) -> str:
    return ", ".join(str((memory.nbytes, first)[part]) for memory, first in job.memory)


def _body(number: int, job: Job) -> str:
    dtype, lines, given = job.case.dtype, list[str](), list[str]()
    places = ["scalars", "(const char *)scalars + 16"]
    kind = C_TYPES.get(dtype)
    scalars = [f"*(const {kind} *)({x})" if kind else f"(const void *)({x})" for x in places]
    for k, values in enumerate(job.words):
        listed = ", ".join(map(str, values or [0]))
        lines += [] if values is None else [f"    static const int64_t w{k}[] = {{{listed}}};"]
        given.append("0" if values is None else f"w{k}")
    head = ", ".join(["(const void *)a", "(const void *)b", "(void *)c", *scalars, *given])
    parts = [f", {part}, {job.call.parts}, 0, 0" for part in range(job.call.parts, -2, -1)] if job.call.parts else [""]
    calls = [f"    {job.name}({head}{part});" for part in parts]
    signature = f"static void call_{number}(const void *scalars, const char *a, const char *b, char *c)"
    return "\n".join([signature, "{", *lines, *calls, "}"])
