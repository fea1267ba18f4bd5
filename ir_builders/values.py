"""Small LLVM values: types, constants, byte addresses and counted loops. Folds integers before they become IR."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache

from llvmlite import ir

from .llvmlite_extensions import reference, shuffle, vector_type, written

I1, I8, I32, I64 = (ir.IntType(bits) for bits in (1, 8, 32, 64))
PTR = ir.PointerType()
VOID = ir.VoidType()
NULL = ir.Constant(PTR, None)
KERNEL_TYPE = ir.FunctionType(VOID, [PTR] * 5 + [I64] * 2)  # A, B, scalars, params, scratch, begin, end
F32, F64 = ir.FloatType(), ir.DoubleType()

Int = int | ir.Value  # an integer known now, or an i64 at run time


def i64(value: Int) -> ir.Value:
    """The i64 value of an Int."""
    return _known(value) if isinstance(value, int) else value


def spelled(value: Int) -> str:
    """An Int as text names it."""
    if isinstance(value, int):
        return str(value)
    assert value.type == I64, f"{value} is no i64: text does not say so, LLVM would"
    return reference(value)


@lru_cache(maxsize=1024)
def _known(value: int) -> ir.Constant:
    """Constants are shared: each keeps its text, and making it is most of the time to print one."""
    return ir.Constant(I64, value)


@lru_cache(maxsize=256)
def i32(value: int) -> ir.Constant:
    """The same of 32 bits: flags of intrinsics."""
    return ir.Constant(I32, value)


@lru_cache(maxsize=256)
def leading(lanes: int, active: int) -> ir.Constant:
    """A mask of so many lanes whose first ones are active."""
    return ir.Constant(ir.VectorType(I1, lanes), [int(lane < active) for lane in range(lanes)])


def mul(b: ir.IRBuilder, x: Int, y: Int) -> Int:
    """x * y, folded where both are known or one is 0 or 1."""
    if isinstance(x, int) and isinstance(y, int):
        return x * y
    for known, other in ((x, y), (y, x)):
        if isinstance(known, int) and known in (0, 1):
            return known * other if known == 0 and isinstance(other, int) else (0 if known == 0 else other)
    return written(b, I64, f"mul nsw i64 {spelled(x)}, {spelled(y)}")


def add(b: ir.IRBuilder, x: Int, y: Int) -> Int:
    """x + y, folded where both are known or one is 0."""
    if isinstance(x, int) and isinstance(y, int):
        return x + y
    if isinstance(x, int) and x == 0:
        return y
    if isinstance(y, int) and y == 0:
        return x
    return written(b, I64, f"add nsw i64 {spelled(x)}, {spelled(y)}")


def operated(b: ir.IRBuilder, operation: str, x: ir.Value, y: ir.Value) -> ir.Value:
    """An operation of two values of one type."""
    return written(b, x.type, f"{operation} {x.type} {reference(x)}, {reference(y)}")


def less(b: ir.IRBuilder, x: Int, y: Int) -> ir.Value:
    """x - y, which may wrap."""
    return written(b, I64, f"sub i64 {spelled(x)}, {spelled(y)}")


def chosen(b: ir.IRBuilder, condition: ir.Value, x: Int, y: Int) -> ir.Value:
    """x where the condition holds, else y."""
    return written(b, I64, f"select i1 {reference(condition)}, i64 {spelled(x)}, i64 {spelled(y)}")


def minimum(b: ir.IRBuilder, x: Int, y: Int) -> Int:
    """The smaller of two signed integers."""
    if isinstance(x, int) and isinstance(y, int):
        return min(x, y)
    return b.select(b.icmp_signed("<", i64(x), i64(y)), i64(x), i64(y))


def steps(b: ir.IRBuilder, extent: Int, step: int) -> Int:
    """The number of steps over an extent, the last one included that may be shorter."""
    return -(-extent // step) if isinstance(extent, int) else b.udiv(b.add(extent, i64(step - 1)), i64(step))


def at(b: ir.IRBuilder, pointer: ir.Value, offset: Int, name: str = "") -> ir.Value:
    """pointer + offset bytes."""
    if isinstance(offset, int) and offset == 0:
        return pointer
    return _moved(b, pointer, offset, "getelementptr inbounds", name)


def beyond(b: ir.IRBuilder, pointer: ir.Value, offset: Int) -> ir.Value:
    """pointer + offset bytes, which may lie outside the tensor."""
    return _moved(b, pointer, offset, "getelementptr", "")


def _moved(b: ir.IRBuilder, pointer: ir.Value, offset: Int, how: str, name: str) -> ir.Value:
    kind = pointer.type if pointer.type.is_opaque else PTR  # of its address space; tables have a type of their own
    return written(b, kind, f"{how} i8, {kind} {reference(pointer)}, i64 {spelled(offset)}", name)


def splat(b: ir.IRBuilder, scalar: ir.Value, lanes: int, name: str = "") -> ir.Value:
    """A vector with the scalar in every lane."""
    vector = vector_type(scalar.type, lanes)
    single = written(b, vector, f"insertelement {vector} undef, {scalar.type} {reference(scalar)}, i32 0")
    return shuffle(b, single, None, [0] * lanes, name=name)


def table(module: ir.Module, kind: ir.IntType, values: Sequence[int], name: str, align: int = 0) -> ir.GlobalVariable:
    """Constants of a module; an equal table that it has is shared. align: in bytes, 0 = as the type is."""
    array = ir.ArrayType(kind, len(values))
    text = "[" + ", ".join([f"{kind} {value}" for value in values]) + "]"
    how = True, "private", align or None
    for known in (value for value in module.global_values if isinstance(value, ir.GlobalVariable)):
        if (known.global_constant, known.linkage, known.align) == how and str(known.initializer) == text:
            return known
    found = ir.GlobalVariable(module, array, module.get_unique_name(name))
    found.initializer = ir.FormattedConstant(array, text)
    found.global_constant, found.linkage, found.align = how
    return found


@contextmanager
def counted(
    b: ir.IRBuilder, limit: Int, step: int, name: str, first: Int = 0, mark: ir.Value | None = None
) -> Iterator[ir.Value]:
    """`for (i = first; i + step <= limit; i += step)`: whole steps only. mark: the loop's metadata."""
    before = b.block
    function = b.function
    head = function.append_basic_block(f"{name}.head")
    body = function.append_basic_block(f"{name}.body")
    done = function.append_basic_block(f"{name}.done")
    b.branch(head)
    b.position_at_end(head)
    i = b.phi(I64, name=name)
    i.add_incoming(i64(first), before)
    following = written(b, I64, f"add nsw i64 {reference(i)}, {step}", f"{name}.next")
    b.cbranch(written(b, I1, f"icmp sle i64 {reference(following)}, {spelled(limit)}"), body, done)
    b.position_at_end(body)
    yield i
    i.add_incoming(following, b.block)
    again = b.branch(head)
    if mark is not None:
        again.set_metadata("llvm.loop", mark)
    b.position_at_end(done)


@contextmanager
def guarded(b: ir.IRBuilder, condition: ir.Value, name: str) -> Iterator[None]:
    """Run the body only if the condition holds."""
    body = b.function.append_basic_block(f"{name}.then")
    done = b.function.append_basic_block(f"{name}.end")
    b.cbranch(condition, body, done)
    b.position_at_end(body)
    yield
    b.branch(done)
    b.position_at_end(done)
