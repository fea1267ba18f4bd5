"""Assembly, read again: its blocks, which of them is the micro-tile, and how many instructions of each class it has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from enum import Enum

from ..lazy_dataclasses import dataclass


class Class(Enum):
    """Classes of instructions by purpose; the value is its name in reports."""

    LOAD = "loads"
    SHUFFLE = "shuffles"
    ARITHMETIC = "arithmetic"
    STORE = "stores"
    STREAM = "non-temporal stores"
    PREFETCH = "prefetches"
    MASK = "masks"
    MOVE = "register moves"
    STACK = "stack"
    SCALAR_LOAD = "scalar loads"
    SCALAR_STORE = "scalar stores"
    ADDRESS = "address"
    CONTROL = "loop control"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Syntax:
    """The syntax of one instruction set: the first pattern that an instruction matches gives its class.

    vector: a vector register or instruction; memory: an operand in memory; comment: what begins one.
    """

    comment: str
    vector: re.Pattern[str]
    memory: re.Pattern[str]
    classes: tuple[tuple[Class, re.Pattern[str]], ...]


def _table(*rows: tuple[Class, str]) -> tuple[tuple[Class, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(pattern)) for kind, pattern in rows)


# Operands are in AT&T order: a store's memory operand comes last. An instruction is one line, its blanks single.
_X86 = Syntax(
    "#",
    re.compile(r"%[xyz]mm|vzero"),
    re.compile(r"\(%|\(,"),
    _table(
        (Class.PREFETCH, r"prefetch"),
        (Class.STREAM, r"v?movnt(?!dqa )|.?fence"),
        (Class.CONTROL, r"j\w+ |cmp[bwlq]? |test[bwlq]? |ret|call|nop|endbr|vzero"),
        (Class.STACK, r"push|pop|(v?mov|kmov).*\(%rsp\)|sub[lq]? .*%rsp$|add[lq]? .*%rsp$"),
        (Class.MASK, r"k\w+ .*%k|v?movmsk|v?p?cmp|v?p?test|v?pmaxu|vpmov\w2m|vpmovm2"),
        (Class.STORE, r"v?(p?mov|p?mask|extract|p?scatter|pextr|pcompress).*%[xyz]mm.*, [^,(]*\([^)]*\)( \{%k\d\})?$"),
        (Class.LOAD, r"v?(p?mov|lddqu|pmask|mask|p?broadcast|p?insert|p?gather|p?expand|pins).*\([^)]*\).*%[xyz]mm"),
        (Class.SHUFFLE, r"v?(p?unpck|p?shuf|p?perm|p?blend|p?insert|extract|p?align|p?broadcast|mov[lh][lh]|movddup"
         r"|mov[sd][lh]?dup|pack|psrldq|pslldq|pextr|pins|pcompress|pexpand|pmov[sz]x|prol|pror)"),
        (Class.MOVE, r"v?(mov[adou]\w*|movdq\w+|movs[sd]) %[xyz]mm\d+, %[xyz]mm|v?p?xor\w* (%[xyz]mm\d+), \2"
         r"|v?mov[dq] %"),
        (Class.ARITHMETIC, r"v?(p?add|p?sub|p?mul|fn?m(add|sub)|div|p?xor|p?and|p?or|ptern|cvt|ps[lr][la]).*%[xyz]mm"),
        (Class.SCALAR_LOAD, r"(mov[bwlq]|mov[sz]\w+|movabs\w*) .*\(.*\), %[a-z0-9]+$"),
        (Class.SCALAR_STORE, r"mov[bwlq] [%$][^,]+, .*\(.*\)$"),
        (Class.OTHER, r".*%[xyz]mm"),
        (Class.ADDRESS, r"lea|add|sub|inc|dec|i?mul|sh[lr]|sa[lr]|mov|cmov|set|and|or|xor|neg|not|i?div|c[dq]|bt|ro[lr]"
         r"|sbb|adc|bzhi|pext|pdep"),
    ),
)  # fmt: skip
_ARM = Syntax(
    "//",
    re.compile(r"\b[vq]\d+|\bz\d+"),
    re.compile(r"\["),
    _table(
        (Class.PREFETCH, r"prf"),
        (Class.STREAM, r"stnp|dmb|dsb"),
        (Class.CONTROL, r"b |b\.|cb|tb|ret|cmp|ccmp|tst|bl|nop|subs|cset"),
        (Class.STACK, r".*\[sp"),
        (Class.STORE, r"st\w* .*\b[bhsdqvz]\d+"),
        (Class.LOAD, r"ld\w* .*\b[bhsdqvz]\d+"),
        (Class.SHUFFLE, r"zip|uzp|trn|tbl|tbx|ext |rev|dup|ins|mov v\d+\.\w\[|mov [bhsdw]\d+, v|[us]mov"),
        (Class.MOVE, r"mov v|fmov|movi"),
        (Class.ARITHMETIC, r"f\w+ |.* v\d+"),
        (Class.SCALAR_LOAD, r"ld"),
        (Class.SCALAR_STORE, r"st"),
        (Class.ADDRESS, r"add|sub|mul|madd|msub|ls[lr]|asr|adr|mov|and|orr|eor|cs|[us]?bf|[us]m|[su]xt|neg|[us]div|ci"),
    ),
)  # fmt: skip
SYNTAX: Mapping[str, Syntax] = {"x86_64": _X86, "aarch64": _ARM}


@dataclass(frozen=True, slots=True)
class Counted:
    """Instructions of a stretch of code. folded: memory operands of instructions that are no loads."""

    lines: tuple[str, ...]
    counts: Mapping[Class, int]
    folded: int

    @property
    def total(self) -> int:
        """All of them."""
        return len(self.lines)


@dataclass(frozen=True, slots=True)
class Block:
    """Code between a label and the next. loops: it ends by going back to its own label."""

    label: str
    lines: tuple[str, ...]
    loops: bool


def blocks(assembly: str, syntax: Syntax) -> tuple[Block, ...]:
    """The basic blocks of the code in an assembly text; data and directives are left out."""
    found: list[tuple[str, list[str]]] = [("entry", [])]
    for line in assembly.splitlines():
        text = " ".join(line.partition(syntax.comment)[0].split())
        label = re.fullmatch(r"([.\w$]+):", text)
        if label:
            found.append((label[1], []))
        elif text and not text.startswith("."):
            found[-1][1].append(text)
    return tuple(Block(label, tuple(lines), _loops(label, lines)) for label, lines in found if lines)


def _loops(label: str, lines: list[str]) -> bool:
    return any(line.split()[-1] == label for line in lines if not line.startswith("lea"))


def micro_tile(found: tuple[Block, ...], syntax: Syntax) -> Block:
    """The innermost loop that works on most vectors; where none loops, the block that does."""
    candidates = [block for block in found if block.loops and _vectors(block, syntax)] or list(found)
    return max(candidates, key=lambda block: (_vectors(block, syntax), len(block.lines)))


def _vectors(block: Block, syntax: Syntax) -> int:
    return sum(bool(syntax.vector.search(line)) for line in block.lines)


def count(lines: tuple[str, ...], syntax: Syntax) -> Counted:
    """The number of instructions of each class; classes without any are left out."""
    classes = [classify(line, syntax) for line in lines]
    counts = Counter(classes)
    direct = (Class.SHUFFLE, Class.ARITHMETIC)
    folded = sum(
        kind in direct and bool(syntax.memory.search(line)) for kind, line in zip(classes, lines, strict=True)
    )
    return Counted(lines, {kind: counts[kind] for kind in Class if counts[kind]}, folded)


def classify(line: str, syntax: Syntax) -> Class:
    """The class of one instruction."""
    return next((kind for kind, pattern in syntax.classes if pattern.match(line)), Class.OTHER)


@dataclass(frozen=True, slots=True)
class MachineCode:
    """A kernel's code. label: of the micro-tile's block; micro: its instructions; whole: those of the kernel."""

    label: str
    micro: Counted
    whole: Counted


def read(assembly: str, triple: str) -> MachineCode | None:
    """Statistics of an assembly text; None for a machine that is not in the table, or where there is no
    code."""
    syntax = SYNTAX.get(triple.partition("-")[0])
    found = () if syntax is None else blocks(assembly, syntax)
    if syntax is None or not found:
        return None
    tile = micro_tile(found, syntax)
    every = tuple(line for block in found for line in block.lines)
    return MachineCode(tile.label, count(tile.lines, syntax), count(every, syntax))
