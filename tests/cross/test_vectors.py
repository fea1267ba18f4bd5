"""What LLVM makes of micro-tiles for other machines: their own vector instructions, no spills, no scalar masks."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from pathlib import Path

import pytest
from batch import emit
from emissions import shared_text
from emulators import CROSS, run
from native_build import compiler

from ttc_llvm.ir_builders import module
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.plan import CpuPlan
from ttc_llvm.machine import lookup
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.problem.kinds import COPY, Alpha, Beta, Kinds
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend

UPDATE = Kinds(Alpha.ANY, Beta.ANY)
RAGGED = (253, 251)

# Loads and stores of vector registers on the stack, by back end: where a body keeps what it has no register for.
SPILLS = {
    "aarch64": r"\b(str|ldr|stp|ldp)\s+[qz]\d+.*\[sp",
    "ppc64": r"\b(?:stxv|lxv|stvx|lvx)\w*\s+\d+, (?:\S*\(1\)|1, \d+)",
    "riscv64": r"\bv[sl]\d+r\S*\.v\s+v\d+, \((sp|s0)\)",
    "wasm32": r"\bglobal\.set\s+__stack_pointer",
}


@lru_cache(maxsize=64)
def assembly(
    machine: str, dtype: str, block: tuple[int, int], kinds: Kinds = COPY, size: tuple[int, int] = (256, 256)
) -> str:
    """The kernel of a 2-D transposition in tiles of 4 x 4 blocks."""
    wanted = lookup.find(machine)
    c = canonicalise(Problem((1, 0), size, dtype), kinds).canonical
    plan = CpuPlan((4 * block[0], 4 * block[1]), block, (1, 0), (1, 0), 1)
    return backend.assembly(str(module.build(lower(c, plan, wanted), wanted)), wanted)


def tile(text: str, load: str) -> Counter[str]:
    """How often each instruction stands in the block between labels that loads most: the micro-tile's loop."""
    blocks = re.split(r"^[.\w$]+:.*$", text, flags=re.MULTILINE)
    found = [Counter(re.findall(r"^\s+([a-z][\w.]*)", block, re.MULTILINE)) for block in blocks]
    return max(found, key=lambda one: count(one, load))


def count(found: Counter[str], pattern: str) -> int:
    return sum(number for name, number in found.items() if re.fullmatch(pattern, name))


SQUARES = [
    # machine, dtype, block, what exchanges elements, how many of these at most, loads, stores, of which each so many
    ("neon", "s", (4, 4), r"zip[12]|trn[12]|mov", 8, r"ldr|ldp", r"str|stp", 4),
    ("neon", "d", (2, 2), r"zip[12]|trn[12]", 2, r"ldr|ldp", r"str|stp", 2),
    ("neon", "i16", (8, 8), r"zip[12]|trn[12]|mov", 24, r"ldr|ldp", r"str|stp", 8),
    ("neon", "i8", (16, 16), r"zip[12]|trn[12]|mov", 68, r"ldr|ldp", r"str|stp", 16),
    ("sve", "s", (4, 4), r"zip[12]|trn[12]|mov", 8, r"ldr|ldp|ld1w", r"str|stp|st1[wd]", 4),
    ("sve256", "s", (8, 8), r"trn[12]|splice", 24, r"ldr|ldp|ld1w", r"st1[wd]", 8),
    ("sve256", "d", (4, 4), r"trn[12]|splice", 8, r"ldr|ldp|ld1d", r"st1d", 4),
    ("sve256", "i16", (16, 16), r"trn[12]|splice", 64, r"ldr|ldp|ld1h", r"st1[hwd]", 16),
    ("sve512", "s", (16, 16), r"trn[12]|splice", 80, r"ldr|ldp|ld1w", r"st1[wd]", 16),
    ("pwr8", "s", (4, 4), r"xxmrg[hl][wd]|xxpermdi|xxswapd", 16, r"lxvd2x", r"stxvd2x", 4),
    ("pwr9", "s", (4, 4), r"xxmrg[hl][wd]|xxpermdi", 8, r"lxvx?", r"stxvx?", 4),
    ("pwr9", "i16", (8, 8), r"vmrg[hl]h|xxmrg[hl][wd]", 24, r"lxvx?", r"stxvx?", 8),
    ("pwr9", "i8", (16, 16), r"vmrg[hl][bh]|xxmrg[hl][wd]", 64, r"lxvx?", r"stxvx?", 16),
    ("pwr8-be", "i16", (8, 8), r"vmrg[hl]h|xxmrg[hl][wd]", 24, r"lxvw4x|lxvd2x", r"stxvw4x|stxvd2x", 8),
    ("pwr8-be", "d", (2, 2), r"xxmrg[hl]d|xxpermdi", 2, r"lxvd2x", r"stxvd2x", 2),
    ("rvv", "s", (4, 4), r"vssseg4e32\.v", 1, r"vle32\.v", r"vssseg4e32\.v", 4),
    ("rvv", "i8", (16, 16), r"vssseg8e8\.v", 2, r"vle8\.v", r"vssseg8e8\.v", 16),
    ("rvv256", "d", (4, 4), r"vssseg4e64\.v", 1, r"vle64\.v", r"vssseg4e64\.v", 4),
    ("rvv256", "s", (8, 8), r"vssseg8e32\.v", 1, r"vle32\.v", r"vssseg8e32\.v", 8),
    ("wasm", "s", (4, 4), r"i8x16\.shuffle", 8, r"v128\.load", r"v128\.store", 4),
    ("wasm", "i8", (16, 16), r"i8x16\.shuffle", 64, r"v128\.load", r"v128\.store", 16),
]
IDS = [f"{row[0]}-{row[1]}" for row in SQUARES]


@pytest.mark.parametrize(("machine", "dtype", "block", "exchange", "most", "load", "store", "rows"), SQUARES, ids=IDS)
def test_a_square_is_loads_exchanges_and_stores(
    machine: str, dtype: str, block: tuple[int, int], exchange: str, most: int, load: str, store: str, rows: int
) -> None:
    """Every row is loaded and stored by vector instructions, and as few exchange elements as there are stages."""
    text = assembly(machine, dtype, block)
    found = tile(text, load)
    assert 0 < count(found, exchange) <= most
    segments = "seg" in store
    pairs = count(found, "ldp|stp")  # of which each is two
    assert count(found, load) + count(found, "ldp") >= rows
    assert count(found, store) + pairs >= (most if segments else rows)
    assert not re.findall(SPILLS[lookup.find(machine).family], text)


ARITHMETIC = [(m, d, b, load) for m, d, b, _, _, load, *_ in SQUARES if d in "sd"]


@pytest.mark.parametrize(("machine", "dtype", "block", "load"), ARITHMETIC, ids=[f"{r[0]}-{r[1]}" for r in ARITHMETIC])
def test_an_update_is_vector_arithmetic_without_spills(
    machine: str, dtype: str, block: tuple[int, int], load: str
) -> None:
    text = assembly(machine, dtype, block, UPDATE)
    vector = {
        "aarch64": r"fmul", "ppc64": r"xvmul[sd]p", "riscv64": r"vfmul\.v[fv]", "wasm32": r"f(32x4|64x2)\.mul",
    }[lookup.find(machine).family]  # fmt: skip
    assert count(tile(text, load), vector) == 2 * block[1]  # alpha * A and beta * B of every register
    assert not re.findall(SPILLS[lookup.find(machine).family], text)


MASKED = {
    "sve": (r"ld1w", r"st1w"),
    "sve256": (r"ld1w", r"st1w"),
    "sve512": (r"ld1w", r"st1w"),
    "rvv": (r"vle32\.v", r"vsse32\.v"),
    "rvv256": (r"vle32\.v", r"vsse32\.v"),
}


NARROW = r"tbz|tbnz|fsw|fsh|sb|strb|str[hw]?b"


@pytest.mark.parametrize("machine", MASKED)
@pytest.mark.parametrize("kinds", [COPY, UPDATE], ids=str)
def test_edges_shared_by_three_axes_are_masked_vector_accesses(machine: str, kinds: Kinds) -> None:
    """One function for all edges, whose every row is loaded and stored under a mask, and no element by itself."""
    load, store = MASKED[machine]
    wanted = lookup.find(machine)
    edge = wanted.lanes(4)
    text = backend.assembly(shared_text(wanted, "s", edge, kinds), wanted)
    found = Counter(re.findall(r"^\s+([a-z][\w.]*)", text[text.index("ragged0:") :], re.MULTILINE))
    assert count(found, load) >= 2 * edge and count(found, store) == 2 * edge
    assert not count(found, NARROW)


@pytest.mark.parametrize("machine", MASKED)
@pytest.mark.parametrize("kinds", [COPY, UPDATE], ids=str)
def test_edges_of_two_axes_are_vector_accesses(machine: str, kinds: Kinds) -> None:
    """Bodies of their own, and no element by itself."""
    edge = lookup.find(machine).lanes(4)
    text = assembly(machine, "s", (edge, edge), kinds, RAGGED)
    assert "ragged0" not in text
    assert not count(Counter(re.findall(r"^\s+([a-z][\w.]*)", text, re.MULTILINE)), NARROW)


UNMASKED = ("neon", "pwr8", "pwr9", "pwr8-be", "wasm")


@pytest.mark.parametrize("machine", UNMASKED)
def test_machines_without_masks_take_narrower_tiles_at_edges(machine: str) -> None:
    text = assembly(machine, "s", (4, 4), COPY, RAGGED)
    assert "llvm.masked" not in text and len(text.splitlines()) < 1500
    assert not re.findall(SPILLS[lookup.find(machine).family], text)


def test_bdver3_is_assembled_as_it_is(tmp_path: Path) -> None:
    """With XOP and FMA4, which no emulator has; what runs on one is built without."""
    compiler("objdump")
    made = emit(Problem((1, 0), (33, 65), "i8"), lookup.find("bdver3"), tmp_path)
    listing = run("objdump", "-d", made)
    assert "(bad)" not in listing and re.search(r"\bvp\w+ ", listing)


@pytest.mark.parametrize("machine", ["aarch64", "ppc64le", "ppc64", "riscv64"])
def test_objects_need_nothing_of_other_machines(machine: str, tmp_path: Path) -> None:
    """Nothing undefined, and the entries are all that is seen; POWER's table of contents is the linker's own."""
    nm = compiler(f"{CROSS[machine]}-nm")
    spelling = {"aarch64": "sve256", "ppc64le": "pwr9", "ppc64": "pwr8-be", "riscv64": "rvv256"}[machine]
    for problem in (Problem((2, 1, 0), (8, 16, 16), "s"), Problem((1, 2, 0), (20, 30, 7), "zc")):
        made = emit(problem, lookup.find(spelling), tmp_path)
        assert set(run(nm, "-u", made).split()) <= {"U", ".TOC."}
