"""One object for several x86-64 CPUs: the code of each, and a choice at run time by the features of the CPU at hand.

The most demanding version wins whose every feature is there; the last version needs none and serves all. The choice is
kept in one word: threads that choose at the same time find and write the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.lowering.bodies import Version
from ttc_llvm.machine.cpu_features import OSXSAVE, PLACES, CpuidBit, needs, saved_registers
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.problem import Problem

from . import attributes, selection
from .frame import internal, reserved, returned
from .llvmlite_extensions import encoded, prefixed
from .selection import Runs
from .values import I32, PTR, at, guarded, i32

# cpuid(words, leaf, subleaf): eax, ebx, ecx and edx to memory; rbx belongs to the caller.
_CPUID = ir.FunctionType(ir.VoidType(), [PTR, I32, I32])
_CPUID_CODE = bytes.fromhex(
    "53"  # push rbx
    " 89f0 89d1 0fa2"  # mov eax, esi; mov ecx, edx; cpuid
    " 8907 895f04 894f08 89570c"  # mov [rdi], eax ... mov [rdi + 12], edx
    " 5b c3"  # pop rbx; ret
)
# xgetbv() -> the low half of XCR0
_XGETBV = ir.FunctionType(I32, [])
_XGETBV_CODE = bytes.fromhex("31c9 0f01d0 c3")  # xor ecx, ecx; xgetbv; ret
UNKNOWN = -1  # in place of a version's number, before the first call
_EXTENDED = 0x80000000  # leaves from here on are counted on their own
_STRUCTURED = 7  # the leaf whose eax counts its subleaves


def add_runs(module: ir.Module, problem: Problem, versions: Sequence[Version]) -> Runs:
    """Add the functions that entries call: they run one of all versions, the most demanding first, the last for all
    CPUs."""
    found = [_version(module, problem, version) for version in versions]
    switch = switches(module, [version.target for version in versions])
    return Runs(switch("run", [runs.plain for runs in found]), switch("run.i64", [runs.wide for runs in found]))


def switches(module: ir.Module, targets: Sequence[Target]) -> Callable[[str, Sequence[ir.Function]], ir.Function]:
    """Add the choice among machines; what makes functions of a name that run the one of so many which was chosen."""
    choose = add_choose(module, targets)
    chosen = ir.GlobalVariable(module, I32, "cpu.chosen")
    chosen.linkage, chosen.initializer = "internal", i32(UNKNOWN)
    return partial(_add_switch, module, choose, chosen)


def _version(module: ir.Module, problem: Problem, version: Version) -> Runs:
    """All functions of one version, named and compiled for its CPU."""
    known = set(module.globals)
    with prefixed(module, f"{version.target.cpu}."):
        runs = selection.add_runs(module, problem, version.bodies, version.target)
    added = [function for function in module.functions if function.name not in known]
    attributes.compiled_for(added, version.target)
    return runs


def _add_switch(
    module: ir.Module, choose: ir.Function, chosen: ir.GlobalVariable, name: str, versions: Sequence[ir.Function]
) -> ir.Function:
    """`run`, which jumps to the chosen version, and `run.first`, which chooses: all arguments stay where they are."""
    signature, labels = versions[0].ftype, [argument.name for argument in versions[0].args]
    run, first = (internal(module, signature, full, labels) for full in (name, f"{name}.first"))
    b = ir.IRBuilder(first.append_basic_block("entry"))
    b.store_atomic(b.call(choose, []), chosen, "monotonic", 4)
    _leave_for(b, run)
    b = ir.IRBuilder(run.append_basic_block("entry"))
    unknown = run.append_basic_block("unknown")
    switch = b.switch(b.load_atomic(chosen, "monotonic", 4, "chosen", typ=I32), unknown)
    b.position_at_end(unknown)
    _leave_for(b, first)
    for number, version in enumerate(versions):
        block = run.append_basic_block(f"version{number}")
        switch.add_case(i32(number), block)
        b.position_at_end(block)
        _leave_for(b, version)
    return run


def _leave_for(b: ir.IRBuilder, function: ir.Function) -> None:
    """End by a jump to a function of the same signature."""
    found = b.call(function, list(b.function.args), tail="musttail")
    returned(b, found)


# --- the choice ------------------------------------------------------------------------------------------


def add_choose(module: ir.Module, targets: Sequence[Target]) -> ir.Function:
    """`cpu.choose() -> i32`: the number of the version to run on the CPU at hand."""
    choose = internal(module, ir.FunctionType(I32, []), "cpu.choose", ())
    b = ir.IRBuilder(choose.append_basic_block("entry"))
    b.ret(_found(_Ask.on(module, b), targets))
    return choose


@dataclass(frozen=True, slots=True)
class _Ask:
    """Questions to the CPU, at the builder's place."""

    b: ir.IRBuilder
    cpuid: ir.Function
    xgetbv: ir.Function
    memory: ir.Value

    @classmethod
    def on(cls, module: ir.Module, b: ir.IRBuilder) -> _Ask:
        """With the functions that ask."""
        cpuid = encoded(module, _CPUID, "cpuid", _CPUID_CODE)
        xgetbv = encoded(module, _XGETBV, "xgetbv", _XGETBV_CODE)
        return cls(b, cpuid, xgetbv, reserved(b, 16, 16, "words"))

    def leaf(self, leaf: int, subleaf: int) -> list[ir.Value]:
        """eax, ebx, ecx, edx."""
        b = self.b
        b.call(self.cpuid, [self.memory, i32(leaf), i32(subleaf)])
        return [b.load(at(b, self.memory, 4 * register), typ=I32, align=4) for register in range(4)]

    def saved(self, features: ir.Value) -> ir.Value:
        """The low half of XCR0, 0 where it may not be asked."""
        b, before = self.b, self.b.block
        with guarded(b, _has(b, features, 1 << OSXSAVE.bit), "saved"):
            state, asked = b.call(self.xgetbv, []), b.block
        found = b.phi(I32, "saved")
        found.add_incoming(i32(0), before)
        found.add_incoming(state, asked)
        return found


def _found(ask: _Ask, targets: Sequence[Target]) -> ir.Value:
    """The first version that may run here; the last one where no other may."""
    b = ask.b
    required = [needs(target) for target in targets[:-1]]
    words = _words(ask, {PLACES[name] for names in required for name in names} | {OSXSAVE})
    saved = ask.saved(words[_word(OSXSAVE)])
    found: ir.Value = i32(len(targets) - 1)
    for number, names in reversed(list(enumerate(required))):
        fits = _has(b, saved, saved_registers(names))
        for word, mask in _masks(names).items():
            fits = b.and_(fits, _has(b, words[word], mask))
        found = b.select(fits, i32(number), found)
    return found


_Word = tuple[int, int, int]  # leaf, subleaf, register


def _word(place: CpuidBit) -> _Word:
    return place.leaf, place.subleaf, place.register


def _masks(names: frozenset[str]) -> dict[_Word, int]:
    """The bits that must be set, by word."""
    masks: dict[_Word, int] = {}
    for name in sorted(names):
        place = PLACES[name]
        masks[_word(place)] = masks.get(_word(place), 0) | 1 << place.bit
    return masks


def _has(b: ir.IRBuilder, word: ir.Value, mask: int) -> ir.Value:
    bits = i32(mask)
    return b.icmp_unsigned("==", b.and_(word, bits), bits)


def _words(ask: _Ask, places: set[CpuidBit]) -> dict[_Word, ir.Value]:
    """All words that these features are looked up in; 0 where the CPU does not know the leaf."""
    b, zero = ask.b, i32(0)
    basic, extended, structured = (ask.leaf(leaf, 0)[0] for leaf in (0, _EXTENDED, _STRUCTURED))
    words: dict[_Word, ir.Value] = {}
    for leaf, subleaf in sorted({(place.leaf, place.subleaf) for place in places}):
        there: ir.Value = b.icmp_unsigned(">=", extended if leaf >= _EXTENDED else basic, i32(leaf))
        if leaf == _STRUCTURED and subleaf:
            there = b.and_(there, b.icmp_unsigned(">=", structured, i32(subleaf)))
        for register, value in enumerate(ask.leaf(leaf, subleaf)):
            words[leaf, subleaf, register] = b.select(there, value, zero)
    return words
