"""Addresses of one thread in one tensor or in shared memory: a pointer of its own, and constants from there."""

from __future__ import annotations

from llvmlite import ir

from ..values import I8, I32, I64
from .sums import Arithmetic, Sum


class Place:
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
