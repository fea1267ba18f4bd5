"""Many calls of many objects in one program: what it is given, what it is built from, and what it must give back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import reference
from case import Case, expected, fill, windows
from emulators import Machine, run
from entry_calls import Call
from reference import Array

from ttc_llvm.lowering.items import placed
from ttc_llvm.machine.target import Target
from ttc_llvm.native import artifact
from ttc_llvm.problem import names
from ttc_llvm.problem.dtypes import DType, Kind
from ttc_llvm.problem.problem import Problem
from ttc_llvm.tuning.cost.model import model_plan

HERE = Path(__file__).parent
SCALAR_BYTES = 16  # room for each of alpha and beta


@dataclass(frozen=True)
class Job:
    """One call of the object generated for a problem, with its data."""

    problem: Problem
    call: Call

    @cached_property
    def case(self) -> Case:
        """The transposition that the call asks for."""
        c = self.call
        p = self.problem if c.size is None else replace(self.problem, size=c.size, lda=None, ldb=None)
        lda = c.lda or p.lda
        actual = replace(p, alpha=c.alpha, beta=c.beta, lda=lda, ldb=lda if p.inplace else c.ldb or p.ldb)
        return Case.of(actual, c.seed)

    @cached_property
    def tensors(self) -> tuple[Array, Array, Array]:
        """A, B before the call, and B as it must be behind it."""
        case = self.case
        a, b = (
            np.zeros(window.span * t.itemsize, np.uint8).view(reference.numpy_type(t))
            for window, t in zip(windows(case), (case.a, case.b), strict=True)
        )
        if self.problem.inplace:  # A is spare, and filled where the tensor must not be read
            fill(case, *((b, a) if case.alpha else (a, b)))
            return a, b, expected(case, b, b)
        fill(case, a, b)
        return a, b, expected(case, a, b)

    @property
    def name(self) -> str:
        """The entry that is called."""
        return self.call.entry(self.problem).name

    @property
    def sizes(self) -> dict[str, tuple[int, ...] | None]:
        """What the entry takes of extents and leading dimensions; None = NULL."""
        own = {"lda": self.call.lda} | ({} if self.problem.inplace else {"ldb": self.call.ldb})
        return own if self.call.size is None else {"size": self.call.size, **own}

    @property
    def scalars(self) -> list[complex]:
        """What the entry takes of alpha and beta."""
        if self.problem.compute.kind is Kind.OPAQUE:
            return []
        return [self.call.alpha, self.call.beta][: 1 + self.call.through_beta]

    def input(self, big: bool) -> bytes:
        """Scalars, A and B in the byte order of the machine."""
        a, b, _ = self.tensors
        compute, order = self.problem.compute, ">" if big else "<"
        given = b""
        for scalar in self.scalars:
            parts = [complex(scalar).real, complex(scalar).imag][: 1 + (compute.kind is Kind.COMPLEX)]
            given += np.array(parts, f"{order}f{compute.real_bits // 8}").tobytes().ljust(SCALAR_BYTES, b"\0")
        return given.ljust(2 * SCALAR_BYTES, b"\0") + _ordered(a, big) + _ordered(b, big)

    def check(self, got: bytes, big: bool) -> None:
        """AssertionError unless A is as it was and B as it must be, padding included."""
        a, b, wanted = self.tensors
        first, second = got[: a.nbytes], got[a.nbytes :]
        assert first == _ordered(a, big), f"A was written\n{self}"
        result = np.frombuffer(_ordered(np.frombuffer(second, b.dtype), big), b.dtype)
        assert reference.same(result, wanted, self.case.b, self.case.plain), f"B is wrong\n{self}"

    @property
    def nbytes(self) -> int:
        """Bytes that the program writes about this call."""
        a, b, _ = self.tensors
        return a.nbytes + b.nbytes


def _ordered(x: Array, big: bool) -> bytes:
    """The elements' bytes on a machine of that byte order; the operation is its own inverse."""
    return (x.byteswap() if big and x.dtype.kind != "V" else x).tobytes()


# --- the program ------------------------------------------------------------------------------------------


def execute(machine: Machine, target: Target, jobs: Sequence[Job], folder: Path) -> None:
    """Build one program of all jobs for this machine, run it there, and compare everything it wrote."""
    objects = [emit(problem, target, folder) for problem in dict.fromkeys(job.problem for job in jobs)]
    run_and_compare(machine, jobs, objects, folder, target.is_big_endian)


def run_and_compare(
    machine: Machine, jobs: Sequence[Job], objects: Sequence[Path], folder: Path, big: bool = False
) -> None:
    """The same with these objects. big: the machine's first byte of a number is its highest."""
    (folder / "input").write_bytes(b"".join(job.input(big) for job in jobs))
    run_there(machine, jobs, objects, folder)
    data, offset = (folder / "output").read_bytes(), 0
    for job in jobs:
        job.check(data[offset : offset + job.nbytes], big)
        offset += job.nbytes
    assert offset == len(data)


def emit(problem: Problem, target: Target, folder: Path) -> Path:
    """Write a problem's object and header, with the plan that `ttc --generateOnly` takes."""
    plan = model_plan(placed(problem, target).canonical, target, 1)
    return artifact.write(artifact.Spec(problem, target, plan), folder)[0]


def run_there(
    machine: Machine, jobs: Sequence[Job], objects: Sequence[Path], folder: Path, status: int = 0
) -> None:
    """Link a program of these objects and run it, from `input` to `output`."""
    data = (folder / "input", folder / "output")
    if machine.compiler == "wasm-ld":
        exports = [f"--export={name}" for name in sorted({job.name for job in jobs})]
        run("wasm-ld", "--no-entry", *exports, "--export=__heap_base", *objects, "-o", folder / "all.wasm")
        (folder / "calls.json").write_text(json.dumps([_described(job) for job in jobs]))
        run("node", HERE / "driver.mjs", folder / "all.wasm", folder / "calls.json", *data, status=status)
        return
    build(machine, jobs, objects, folder)
    run(*machine.emulator, folder / "driver", *data, status=status)


def build(machine: Machine, jobs: Sequence[Job], objects: Sequence[Path], folder: Path) -> None:
    """Compile and link `driver` with its calls."""
    (folder / "calls.h").write_text(calls_text(jobs))
    flags = ("-std=gnu99", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{folder}", f"-DSLACK={machine.slack}")
    run(machine.compiler, *flags, HERE / "driver.c", *objects, "-o", folder / "driver")


def calls_text(jobs: Sequence[Job]) -> str:
    """C source of all calls and their table."""
    headers = dict.fromkeys(f'#include "{names.stem(job.problem)}.h"' for job in jobs)
    bodies = [_function(number, job) for number, job in enumerate(jobs)]
    rows = [_row(number, job) for number, job in enumerate(jobs)]
    return "\n".join([*headers, *bodies, "static const struct call calls[] = {", *rows, "};", ""])


def _function(number: int, job: Job) -> str:
    lists = job.sizes
    outer = [
        f"    static const int {name}[] = {{{', '.join(map(str, values)) or 0}}};"
        for name, values in lists.items()
        if values is not None
    ]
    arguments = [*([] if job.problem.inplace else ["a"]), "b", *_c_scalars(job)]
    arguments += [name if values is not None else "0" for name, values in lists.items()]
    calls = [f"    {job.name}({', '.join([*arguments, *map(str, part)])});" for part in _parts(job.call)]
    head = f"static void call_{number}(const void *scalars, const void *a, void *b)"
    return "\n".join([head, "{", *outer, "    (void)scalars;", "    (void)a;", *calls, "}"])


def _c_scalars(job: Job) -> list[str]:
    compute = job.problem.compute
    places = [f"(const void *)((const char *)scalars + {SCALAR_BYTES * k})" for k in range(len(job.scalars))]
    if compute.kind is Kind.COMPLEX:
        return places
    return [f"*(const {_real(compute)} *)({place})" for place in places]


def _real(t: DType) -> str:
    return "float" if t.real_bits == 32 else "double"


def _parts(call: Call) -> list[list[int]]:
    """The parts in backward order, invalid ones among them; one call without parts."""
    return [[part, call.parts] for part in range(call.parts, -2, -1)] if call.parts else [[]]


def _row(number: int, job: Job) -> str:
    a, b, _ = job.tensors
    c = job.call
    ends = f"{int(c.flush_a == 'end')}, {int(c.flush_b == 'end')}, {int(c.alpha != 0)}"
    return f"    {{call_{number}, {a.nbytes}, {b.nbytes}, {ends}}},"


def _described(job: Job) -> dict[str, object]:
    a, b, _ = job.tensors
    kind = "pointer" if job.problem.compute.kind is Kind.COMPLEX else _real(job.problem.compute)
    return {
        "name": job.name, "bytes_a": a.nbytes, "bytes_b": b.nbytes, "reads_a": job.call.alpha != 0,
        "in_place": job.problem.inplace,
        "scalars": [kind] * len(job.scalars), "sizes": list(job.sizes.values()), "parts": _parts(job.call),
    }  # fmt: skip
