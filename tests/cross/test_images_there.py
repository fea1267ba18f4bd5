"""Images of AArch64 objects, mapped and run on an emulator: relocations, kernels, the workers' code and its atomics."""

from __future__ import annotations

import mmap
import re
from collections.abc import Callable
from pathlib import Path

import emulators
import pytest
from emulators import MACHINES, run
from test_images import ADD, COUNT

from ttc_llvm.arrays import layout_code
from ttc_llvm.ir_builders import dispatch, flush, integer_code, pool_layout, result_handler, result_pool
from ttc_llvm.ir_builders.attributes import new_module
from ttc_llvm.machine import lookup
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend, image, image_linker, kernel
from ttc_llvm.runtime.stored_code import compiled_functions
from ttc_llvm.tuning.cost.model import model_plan

HERE = Path(__file__).parent
COPY = """
declare ptr @memcpy(ptr, ptr, i64)
define ptr @copy(ptr %to, ptr %of, i64 %n) {
  %r = call ptr @memcpy(ptr %to, ptr %of, i64 %n)
  ret ptr %r
}
"""
SIZE = (37, 21, 50)
NEON, MODERN = lookup.find("neon"), lookup.find("neoverse-n1")


def linked(code: bytes, *names: str) -> bytes:
    found = image_linker.linked(code, names)
    assert found is not None
    return found


def described(name: str, code: bytes) -> str:
    """C source of an image."""
    head, body = image.parsed(code)
    symbols = "".join(f'{{"{symbol}", {place}}}, ' for symbol, place in head.symbols.items())
    slots = "".join(
        f"{{{place}, {to}, 0}}, " if isinstance(to, int) else f'{{{place}, 0, "{to}"}}, ' for place, to in head.slots
    )
    three = ", ".join(map(str, head.starts)), ", ".join(map(str, head.sizes))
    return f"""static const unsigned char {name}_body[] = {{{", ".join(map(str, body))}}};
static const struct symbol {name}_symbols[] = {{{symbols}{{0, 0}}}};
static const struct slot {name}_slots[] = {{{slots}{{0, 0, 0}}}};
static const struct image image_{name} = {{{name}_body, {{{three[0]}}}, {{{three[1]}}}, {head.total}, {head.page},
    {name}_symbols, {name}_slots}};
"""


def workers(target: Target) -> str:
    return str(dispatch.build(target.triple))


@pytest.mark.parametrize(("cpu", "page"), [("neon", 4), ("neon", 64), ("neoverse-n1", 16), ("sve256", 4)])
def test_images_run_there(cpu: str, page: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """page: in KiB, of the machine that the images are made on."""
    monkeypatch.setattr(mmap, "PAGESIZE", page << 10)
    there = emulators.found(next(one for one in MACHINES if one.name == "sve-256"))
    target, canonical = lookup.find(cpu), canonicalise(Problem((2, 1, 0), SIZE, "s")).canonical
    plan = model_plan(canonical, target, 1)
    code = kernel.compiled(canonical, plan, target)
    tasks, scratch, _ = image.parsed(code)[0].facts
    small = linked(backend.compile_object(ADD + COUNT + COPY, target), "add", "count", "copy")
    numbers = {"I": SIZE[0], "J": SIZE[1], "K": SIZE[2], "TASKS": tasks, "SCRATCH": scratch, "BLOCK": flush.BLOCK,
               **{name: getattr(pool_layout, name) for name in ("POOL_BYTES", "CONFIG", "WORD", "STOP")}}  # fmt: skip
    native = linked(backend.compile_object(workers(target), target), "work", "submit", "wake")
    drop = linked(backend.compile_object(str(flush.build(target)), target), "flush")
    assert flush._ARM_DROP in drop and flush._ARM_FINISH in drop
    lines = [f"enum {{ {', '.join(f'{name} = {value}' for name, value in numbers.items())} }};"]
    images = {"small": small, "kernel": code, "workers": native, "flush": drop}
    lines += [described(name, made) for name, made in images.items()]
    (tmp_path / "images.h").write_text("\n".join(lines))
    flags = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{tmp_path}")
    run(there.compiler, *flags, HERE / "image.c", "-o", tmp_path / "program")
    assert run(*there.emulator, tmp_path / "program") == "ok\n"


# --- native code of integers: what each module of ours becomes on AArch64 -------------------------------------------


def integers(target: Target, *functions: Callable[..., int | None]) -> str:
    module = new_module(target)
    integer_code.add_functions(module, functions)
    return str(module)


@pytest.mark.parametrize("target", [NEON, MODERN], ids=str)
def test_native_code_needs_no_linker_there(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    handler = backend.compile_scalar(integers(target, *result_handler.FUNCTIONS), target)
    assert image_linker.linked(handler, result_handler.NAMES) is not None
    assert image_linker.linked(backend.compile_object(workers(target), target), ("work", "submit")) is not None
    monkeypatch.setattr(backend, "host_target", lambda: target)
    assert image_linker.linked(compiled_functions(layout_code._HOMES), [*layout_code._HOMES]) is not None


def instructions(text: str, target: Target) -> list[str]:
    """The mnemonics of a module."""
    return re.findall(r"^\t([a-z]\w*)", backend.assembly(text, target), re.MULTILINE)


def test_what_threads_share_is_read_and_written_in_order() -> None:
    """Loads that an earlier atomic must not overtake are LDAR: LDAPR, which `acquire` may become, passes STLR."""
    pool = (result_pool.taken, result_pool.kept, result_pool.release, result_pool.stop, result_pool.watch)
    for text in (integers(MODERN, *pool), workers(MODERN)):
        found = set(instructions(text, MODERN))
        assert "ldar" in found, found
        assert found & {"casal", "ldaddal", "swpal"}
    assert "ldapr" not in instructions(integers(MODERN, *pool), MODERN)
    older = set(instructions(integers(NEON, *pool), NEON))
    assert {"ldar", "ldaxr", "stlxr", "stlr"} <= older
