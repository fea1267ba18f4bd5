"""The object behind a library's plans: its functions, kernels of any size, and the table of the library's problems.

    NAME_plan_create(out, rank, perm, size, strides_a, strides_b, types, threads)
    NAME_plan_execute(plan, A, B, alpha, beta), NAME_plan_execute_part(..., part, parts)
    NAME_plan_parts(plan), NAME_plan_destroy(plan), NAME_plan_error_text(code)
    NAME_plan_lookup(rank, perm, size, strides_a, strides_b, types)
    NAME_group_create(out, count, plans, threads), NAME_group_check(group, A, B, alpha, beta, wrong)
    NAME_group_execute(group, A, B, alpha, beta), NAME_group_execute_part(..., part, parts)
    NAME_group_parts(group), NAME_group_destroy(group)

It calls the entries of the library's other objects, and malloc and free.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.dtypes import DType, Kind
from ttc_llvm.problem.interface import PLAIN, Entry, Symbols
from ttc_llvm.problem.problem import Problem

from .. import attributes, cpu_select, vector_length
from ..carriers import parts_per_element
from ..entries import declared, seen
from ..frame import internal, opaque, real_type, reserved
from ..integer_code import add_functions
from ..llvmlite_extensions import prefixed
from ..module import add_kernel
from ..values import I8, I32, I64, NULL, PTR, VOID, at
from . import execution, gathered, groups, plans, tables
from . import fields as f
from .kernels import Moved, variants
from .nests import lowered
from .served_types import Types, served

PLAN, OPERANDS = (PTR,), (PTR,) * 4
SHAPE = (I32, PTR, PTR, PTR, PTR, PTR)  # rank, perm, size, strides_a, strides_b, types
ADAPTER = ir.FunctionType(VOID, [*OPERANDS, I32, I32])


def build(name: str, problems: Sequence[Problem], targets: Sequence[Target], symbols: Symbols = PLAIN) -> ir.Module:
    """The module of a library's plan functions. name: what theirs begin with, the prefix of symbols included; targets:
    the machines, the most demanding first. Plans have two tensors: none runs an entry in place, or of a sum."""
    base, apart = targets[-1], [one for one in problems if not (one.inplace or one.terms)]
    module = attributes.new_module(base, f"{name}_plan")
    tables.declare_memory(module)
    for problem in apart:
        declared(module, _entry(problem, symbols))
    with prefixed(module, f"{name}.plan."):
        known = served(problems)
        made = _Built(module, name, base, symbols, _libraries(module, apart, known, targets, symbols))
    made.add()
    attributes.traceable(module, base)
    return module


def _libraries(
    module: ir.Module, problems: Sequence[Problem], known: Sequence[Types], targets: Sequence[Target], symbols: Symbols
) -> ir.Function:
    """`library() -> address` of the tables for the CPU at hand."""
    adapters = [_adapter(module, _entry(problem, symbols)).name for problem in problems]
    words, count = tables.records(problems, known, adapters)
    tables.constant(module, "problems", words)
    shared = next(reversed(module.globals))
    names = [_library(module, known, target, (shared, count)) for target in targets]
    function = internal(module, ir.FunctionType(I64, []), "library", ())
    b = ir.IRBuilder(function.append_basic_block("entry"))
    b.call(_long_enough(module, targets[-1]), [])
    places = [b.ptrtoint(opaque(module.globals[name]), I64) for name in names]
    if len(targets) == 1:
        b.ret(places[0])
        return function
    kept = ir.GlobalVariable(module, I64, "chosen")  # to ask the CPU takes microseconds in virtual machines
    kept.linkage, kept.initializer = "internal", I64(0)
    found = b.load_atomic(kept, "monotonic", 8, "kept", typ=I64)
    with b.if_then(b.icmp_signed("!=", found, I64(0))):
        b.ret(found)
    number, chosen = b.call(cpu_select.add_choose(module, targets), []), places[-1]
    for other, place in reversed(list(enumerate(places[:-1]))):
        chosen = b.select(b.icmp_signed("==", number, I32(other)), place, chosen)
    b.store_atomic(chosen, kept, "monotonic", 8)
    b.ret(chosen)
    return function


def _long_enough(module: ir.Module, target: Target) -> ir.Function:
    """`fits()`, which stops the program where scalable registers are shorter than kernels expect."""
    fits = internal(module, ir.FunctionType(VOID, []), "fits", ())
    ir.IRBuilder(fits.append_basic_block("entry")).ret_void()
    return vector_length.guarded_run(module, fits, target)


def _library(module: ir.Module, known: Sequence[Types], target: Target, problems: tuple[str, int]) -> str:
    """The name of the constant with the tables for one machine."""
    before = set(module.globals)
    with prefixed(module, f"{target.cpu}."):
        tiles = _run_tiles(module) if target.streams else ""
        words = tables.library(known, target, partial(_set, module, target), problems, tiles)
    added = [one for one in module.functions if one.name not in before]
    attributes.compiled_for(added, target)
    attributes.length_known(added, target)
    tables.constant(module, f"{target.cpu}.tables", words)
    return next(reversed(module.globals))


def _run_tiles(module: ir.Module) -> str:
    """The name of the function that runs tasks of gathered calls: lines are copied by the registers of the machine."""
    before = set(module.globals)
    add_functions(module, [gathered.run_tiles])
    added = [one for name, one in module.globals.items() if name not in before and isinstance(one, ir.Function)]
    added[0].linkage = "internal"
    return str(added[0].name)


def _set(module: ir.Module, target: Target, moved: Moved) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """The kernels of a set, by variant: name and grid."""
    found: list[tuple[str, tuple[int, ...]]] = [("", (0,) * f.AXES)] * f.VARIANTS
    for number, built in variants(moved, target).items():
        nest = lowered(built, target)
        if nest.scratch > f.SCRATCH:
            continue
        label = f"{moved.a}{moved.b}.{moved.kinds}{'.conj' * moved.conjugate}.{f.NAMES[number]}"
        kernel = add_kernel(module, nest, target, label, internal=True)
        steps = dict(built.plan.grid(tuple(axis.extent for axis in built.canonical.axes)))
        found[number] = kernel.name, tuple(steps.get(k, 0) for k in range(f.AXES))
    return tuple(found)


# --- entries of the library -----------------------------------------------------------------------------


def _entry(problem: Problem, symbols: Symbols) -> Entry:
    """The entry that a plan calls."""
    return Entry(problem, beta=problem.compute.kind is not Kind.OPAQUE, part=True, symbols=symbols)


def _adapter(module: ir.Module, called: Entry) -> ir.Function:
    """`(A, B, alpha, beta, part, parts)`: a problem's entry, whose scalars come by pointer, NULL for 1 and 0."""
    entry, compute = declared(module, called), called.problem.compute
    function = internal(module, ADAPTER, f"entry.{entry.name}", ("a", "b", "alpha", "beta", "part", "parts"))
    a, b_, alpha, beta, part, parts = function.args
    b = ir.IRBuilder(function.append_basic_block("entry"))
    scalars = [_scalar(b, compute, *one) for one in ((alpha, 1.0), (beta, 0.0))] if called.beta else []
    b.call(entry, [a, b_, *scalars, NULL, NULL, part, parts])
    b.ret_void()
    return function


def _scalar(b: ir.IRBuilder, compute: DType, pointer: ir.Value, absent: float) -> ir.Value:
    """A scalar as entries take it, the real number `absent` where the pointer is NULL."""
    part, count, size = real_type(compute), parts_per_element(compute), compute.real_bits // 8
    memory = reserved(b, count * size, 16, "absent")
    for k in range(count):
        b.store(ir.Constant(part, absent if k == 0 else 0.0), at(b, memory, k * size), align=size)
    found = b.select(b.icmp_unsigned("==", pointer, NULL), memory, pointer)
    return b.load(found, typ=part, align=size) if count == 1 else found


# --- functions of C -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Built:
    """A module with its kernels and tables; `add` adds the functions that C calls."""

    module: ir.Module
    name: str
    target: Target
    symbols: Symbols
    library: ir.Function

    def add(self) -> None:
        """All of them."""
        code = self._code()
        self._function("plan_create", I32, (PTR, *SHAPE, I32), code["create"], True)
        self._function("plan_lookup", PTR, SHAPE, code["lookup"], True)
        self._function("plan_destroy", VOID, PLAN, code["destroy"], True)
        self._function("plan_parts", I32, PLAN, code["parts"])
        self._function("plan_execute_part", I32, (*PLAN, *OPERANDS, I32, I32), code["execute"])
        self._function("plan_execute", I32, (*PLAN, *OPERANDS), code["execute"], more=(0, 1))
        self._function("group_create", I32, (PTR, I64, PTR, I32), code["create_group"], True)
        self._function("group_destroy", VOID, PLAN, code["destroy_group"], True)
        self._function("group_parts", I32, PLAN, code["group_parts"], True)
        self._function("group_check", I32, (*PLAN, *OPERANDS, PTR), code["check_group"], True)
        self._function("group_execute_part", I32, (*PLAN, *OPERANDS, I32, I32), code["execute_group"], True)
        self._function("group_execute", I32, (*PLAN, *OPERANDS), code["execute_group"], True, more=(0, 1))
        self._error_text()

    def _code(self) -> dict[str, ir.Function]:
        """The functions of integers, internal to the module."""
        sources = (
            plans.create, plans.lookup, plans.destroy, plans.parts, execution.execute, groups.create_group,
            groups.destroy_group, groups.group_parts, groups.check_group, groups.execute_group,
        )  # fmt: skip
        before = set(self.module.globals)
        with prefixed(self.module, f"{self.name}.plan."):
            add_functions(self.module, sources)
        added = [value for name, value in self.module.globals.items() if name not in before]
        for function in added:
            if isinstance(function, ir.Function):
                function.linkage = "internal"
        names = {one.__name__: f"{self.name}.plan.{one.__name__}" for one in sources}
        return {one.name.rpartition(".")[2]: one for one in self.module.functions if one.name in names.values()}

    def _function(
        self, name: str, result: ir.Type, kinds: Sequence[ir.Type], code: ir.Function,
        library: bool = False, more: Sequence[int] = (),
    ) -> None:  # fmt: skip
        """A function of C's types in front of one of integers. library: it takes the tables first; more: the last
        arguments."""
        made = ir.Function(self.module, ir.FunctionType(result, kinds), f"{self.name}_{name}")
        made.attributes.add("nounwind")
        seen(made, self.target, self.symbols)
        b = ir.IRBuilder(made.append_basic_block("entry"))
        given: list[ir.Value] = [b.call(self.library, [])] if library else []
        given += [b.ptrtoint(x, I64) if x.type == PTR else x if x.type == I64 else b.sext(x, I64) for x in made.args]
        found = b.call(code, [*given, *(I64(value) for value in more)])
        if result == VOID:
            b.ret_void()
        else:
            b.ret(b.inttoptr(found, PTR) if result == PTR else b.trunc(found, I32))

    def _error_text(self) -> None:
        """`NAME_plan_error_text(code)`: a sentence, also for numbers that are no code."""
        made = ir.Function(self.module, ir.FunctionType(PTR, [I32]), f"{self.name}_plan_error_text")
        made.attributes.add("nounwind")
        seen(made, self.target, self.symbols)
        b = ir.IRBuilder(made.append_basic_block("entry"))
        other = made.append_basic_block("other")
        switch = b.switch(made.args[0], other)
        for code, (_, text) in enumerate((*f.ERRORS, ("", "a number that is no code of these functions"))):
            block = other if code == len(f.ERRORS) else made.append_basic_block("text")
            if code < len(f.ERRORS):
                switch.add_case(I32(code), block)
            b.position_at_end(block)
            b.ret(self._text(text))

    def _text(self, text: str) -> ir.Value:
        data = bytearray(text.encode() + b"\0")
        array = ir.ArrayType(I8, len(data))
        made = ir.GlobalVariable(self.module, array, self.module.get_unique_name(f"{self.name}.plan.text"))
        made.initializer, made.linkage, made.global_constant = ir.Constant(array, data), "internal", True
        return opaque(made)
