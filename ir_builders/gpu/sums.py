"""Offsets as sums of thread-dependent terms and a constant, as i32 or i64 instructions; and addresses of one thread in
one tensor or in shared memory: a pointer of its own, and constants from there."""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass

from ..values import I8, I32, I64


@dataclass(frozen=True, slots=True)
class Sum:
    """terms, which depend on the thread, plus a constant."""

    terms: tuple[ir.Value, ...] = ()
    constant: int = 0

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.terms + other.terms, self.constant + other.constant)

    def plus(self, constant: int) -> Sum:
        """The sum moved by a constant."""
        return Sum(self.terms, self.constant + constant)


class Arithmetic:
    """Offsets as i32 or i64; whatever was computed once is not computed again."""

    def __init__(self, b: ir.IRBuilder, kind: ir.IntType = I32) -> None:
        self.b, self.kind = b, kind
        self._known: dict[tuple[object, ...], ir.Value] = {}

    def const(self, value: int) -> ir.Constant:
        """A constant of this width."""
        return ir.Constant(self.kind, value)

    def times(self, value: Sum, factor: int) -> Sum:
        """A sum, scaled."""
        if not factor:
            return Sum()
        terms = tuple(self._once("mul", term, factor) for term in value.terms)
        return Sum(terms, value.constant * factor)

    def divided(self, value: Sum, by: int) -> tuple[Sum, Sum]:
        """Quotient and remainder of a sum that is not negative. Sums whose constants differ by multiples of the divisor
        have quotients that differ by constants: many sums have few terms among them."""
        if by == 1:
            return value, Sum()
        whole, rest = divmod(value.constant, by)
        if not value.terms:
            return Sum((), whole), Sum((), rest)
        start = self.total(Sum(value.terms, rest))
        return Sum((self._once("udiv", start, by),), whole), Sum((self._once("urem", start, by),))

    def total(self, value: Sum) -> ir.Value:
        """The value of a sum."""
        found: ir.Value | None = None
        for term in value.terms:
            found = term if found is None else self._added(found, term)
        if found is None:
            return self.const(value.constant)
        return found if not value.constant else self._added(found, self.const(value.constant))

    def clamped(self, value: Sum, limit: ir.Value) -> Sum:
        """A position, but not beyond the last of so many."""
        key = ("clamp", *map(id, value.terms), value.constant, _identity(limit))
        if key not in self._known:
            position = self.total(value)
            last = self.b.sub(limit, self.const(1), flags=("nsw", "nuw"))
            inside = self.b.icmp_unsigned("<", position, last)
            self._known[key] = self.b.select(inside, position, last)
        return Sum((self._known[key],))

    def widened(self, value: Sum) -> Sum:
        """A sum of i32 terms, none of them negative, in this width."""
        if self.kind is I32:
            return value
        return Sum(tuple(self._zext(term) for term in value.terms), value.constant)

    def _zext(self, value: ir.Value) -> ir.Value:
        key = ("zext", id(value))
        if key not in self._known:
            self._known[key] = self.b.zext(value, self.kind)
        return self._known[key]

    def _once(self, operation: str, value: ir.Value, by: int) -> ir.Value:
        key = (operation, id(value), by)
        if key not in self._known:
            if operation == "mul" and by == 1:
                return value
            flags = ("nsw",) if operation == "mul" else ()
            self._known[key] = getattr(self.b, operation)(value, self.const(by), flags=flags)
        return self._known[key]

    def _added(self, left: ir.Value, right: ir.Value) -> ir.Value:
        key = ("add", id(left), _identity(right))
        if key not in self._known:
            self._known[key] = self.b.add(left, right, flags=("nsw",))
        return self._known[key]


def _identity(value: ir.Value) -> tuple[str, object]:
    """The identity of a value: instructions live as long as their module, constants do not."""
    return ("constant", value.constant) if isinstance(value, ir.Constant) else ("value", id(value))


class Addresses:
    """Byte offsets from one base. sums: how they are computed; signed: some may be negative."""

    def __init__(self, b: ir.IRBuilder, base: ir.Value, sums: Arithmetic, signed: bool = False) -> None:
        self.b, self.base, self.sums, self.signed = b, base, sums, signed
        self._threads: dict[tuple[int, ...], ir.Value] = {}

    def at(self, offset: Sum) -> ir.Value:
        """The address of an offset. Same terms, same pointer: only the constant differs."""
        key = tuple(sorted(map(id, offset.terms)))
        if key not in self._threads:
            self._threads[key] = self._moved(offset.terms)
        pointer = self._threads[key]
        if not offset.constant:
            return pointer
        return self._gep(pointer, ir.Constant(I64, offset.constant))

    def _moved(self, terms: tuple[ir.Value, ...]) -> ir.Value:
        if not terms:
            return self.base
        total = self.sums.total(Sum(terms))
        if self.sums.kind is I32:
            total = self.b.sext(total, I64) if self.signed else self.b.zext(total, I64)
        return self._gep(self.base, total)

    def _gep(self, pointer: ir.Value, offset: ir.Value) -> ir.Value:
        return self.b.gep(pointer, [offset], inbounds=True, source_etype=I8)
