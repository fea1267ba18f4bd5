"""The tables of a library as words of a constant: what its functions read (`fields`)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

from llvmlite import ir

from ttc_llvm.machine.target import Target
from ttc_llvm.problem import dtypes
from ttc_llvm.problem.interface import Entry
from ttc_llvm.problem.layouts import column_major
from ttc_llvm.problem.problem import Problem

from ..llvmlite_extensions import external
from ..values import I64, PTR
from . import fields as f
from . import shapes
from .kernels import KINDS, Moved
from .served_types import ARITHMETIC, Types

Word = int | tuple[str, int]  # a number, or a global's name and an offset
STREAMED_CACHES = 2  # A and B of so many times L2 are written past the caches
ITEMS = (1, 2, 4, 8, 16)  # bytes of what is moved as one element


def moves(types: Sequence[Types], target: Target) -> tuple[int, ...]:
    """Bytes of all elements that plain moves of these types come down to."""
    units = {dtypes.unit(one.a).itemsize for one in types if one.moved(f.COPY) is None}
    longest = 0 if target.natural else target.vector_bits // 8
    return tuple(size for size in ITEMS if size in units or any(unit < size <= longest for unit in units))


Sets = Callable[[Moved], tuple[tuple[str, tuple[int, ...]], ...]]  # by variant: kernel and grid; "" where there is none


def library(
    types: Sequence[Types], target: Target, sets: Sets, problems: tuple[str, int], tiles: str
) -> list[Word]:
    """The words of a library for one machine, at the start of a constant `name` of their own.

    sets: the kernels of a set; problems: the name of the constant of `records`, and its number of buckets; tiles: the
    name of the function that runs gathered calls, "" = there is none."""
    words: list[Word] = [0] * (f.LIBRARY_BYTES // 8)
    lists: list[Word] = []
    made: dict[Moved, int] = {}

    def put(moved: Moved) -> Word:
        if moved not in made:
            made[moved] = len(lists)
            for kernel, grid in sets(moved):
                lists.extend([(kernel, 0) if kernel else 0, *grid])
        return (SELF, f.LIBRARY_BYTES + 8 * made[moved])

    for size in moves(types, target):
        item = dtypes.carrier(size)
        words[f.MOVES // 8 + ITEMS.index(size)] = put(Moved(item, item, KINDS[f.COPY]))
    records: list[Word] = []
    for one in types:
        kernels = [one.moved(kind) for kind in range(f.KINDS)]
        arithmetic = ARITHMETIC[dtypes.compute_type(one.a, one.b).name] if one.has_scalars else f.NO_SCALARS
        records += [*_letters(one.name, target), one.a.itemsize, one.b.itemsize, arithmetic]
        records += [one.layout_kind(kind) for kind in range(f.KINDS)]
        records += [0 if moved is None else put(moved) for moved in kernels]
    values: dict[int, Word] = {
        f.ITEM_BYTES: 0 if target.natural else min(ITEMS[-1], target.vector_bits // 8),
        f.LINE: max(target.line, target.vector_bits // 8), f.STREAMED_BYTES: STREAMED_CACHES * target.l2,
        f.TYPES_COUNT: len(types), f.TYPES_LIST: (SELF, f.LIBRARY_BYTES + 8 * len(lists)),
        f.BUCKETS: (problems[0], 0), f.BUCKET_MASK: problems[1] - 1, f.ALLOCATE: ("malloc", 0), f.FREE: ("free", 0),
        f.RUN_TILES: (tiles, 0) if tiles else 0,
    }  # fmt: skip
    for place, value in values.items():
        words[place // 8] = value
    return [*words, *lists, *records]


SELF = ""  # the constant that a word is in


def _letters(name: str, target: Target) -> list[Word]:
    data = name.encode().ljust(f.NAME_BYTES, b"\0")
    order = "big" if target.is_big_endian else "little"
    return [int.from_bytes(data[k : k + 8], order) for k in range(0, f.NAME_BYTES, 8)]  # type: ignore[arg-type]


# --- problems -------------------------------------------------------------------------------------------


def records(problems: Sequence[Problem], types: Sequence[Types], entries: Sequence[str]) -> tuple[list[Word], int]:
    """The words of the library's problems, buckets first, and the number of buckets. entries: names of functions."""
    known = [(p, entry) for p, entry in zip(problems, entries, strict=True) if Types.of(p) in types]
    count = 1 << max(0, (2 * len(known) - 1).bit_length())
    words: list[Word] = [0] * count
    for problem, entry in known:
        number = types.index(Types.of(problem))
        bucket = _hashed(number, problem) & (count - 1)
        lists = (problem.perm, problem.size, column_major(problem.outer_a), column_major(problem.outer_b))
        head: list[Word] = [words[bucket], (entry, 0), number, Entry(problem).work.most_threads, len(problem.perm)]
        words[bucket] = (SELF, 8 * len(words))
        words += [*head, *(number for numbers in lists for number in numbers)]
    return words, count


def _hashed(number: int, problem: Problem) -> int:
    rank = len(problem.perm)
    perm, size = (ctypes.c_int32 * rank)(*problem.perm), (ctypes.c_int64 * rank)(*problem.size)
    return shapes.hashed(number, rank, ctypes.addressof(perm), ctypes.addressof(size))


def constant(module: ir.Module, name: str, words: Sequence[Word]) -> None:
    """Define these words under a name that is internal to the module."""
    array = ir.ArrayType(I64, len(words))
    made = ir.GlobalVariable(module, array, name)
    made.initializer = ir.FormattedConstant(array, f"[{', '.join(_spelled(module, made, word) for word in words)}]")
    made.linkage, made.global_constant, made.align = "internal", True, 16


def _spelled(module: ir.Module, own: ir.GlobalVariable, word: Word) -> str:
    if isinstance(word, int):
        return f"i64 {word}"
    name, offset = word
    found = module.globals[name] if name else own
    place = f"ptr {found.get_reference()}"
    return f"i64 ptrtoint ({f'ptr getelementptr (i8, {place}, i64 {offset})' if offset else place} to i64)"


def declare_memory(module: ir.Module) -> None:
    """Declare the functions of the C library that plans take their memory from."""
    external(module, "malloc", PTR, [I64])
    external(module, "free", ir.VoidType(), [PTR])
