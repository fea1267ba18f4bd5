"""Registers to and from memory: whole vectors, masked or piecewise partial ones, non-temporal stores, prefetch."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.lowering.layout import Register
from ttc_llvm.machine.target import Target
from ttc_llvm.problem.dtypes import DType, Kind

from .carriers import carrier_type, units
from .llvmlite_extensions import external, reference, shuffle, suffix, vector_type, written
from .remainder_masks import RemainderMasks
from .values import I32, PTR, VOID, at, i32, leading
from .vector_loads import load, load_pieces

L1, L2 = 3, 2  # LLVM's locality of a prefetch: every cache level, or all but the first


@dataclass(frozen=True, slots=True)
class Access:
    """Access to a tensor's registers: element type, register width in elements, known alignment.

    masks: of remainders; crowded: a load of elements that a masked store leaves out follows soon, and would wait until
    the store is in the cache; longest: bytes of the longest load of a register or of a piece, 0 = any number.
    """

    module: ir.Module
    target: Target
    dtype: DType
    lanes: int
    align: int
    masks: RemainderMasks | None = None
    crowded: bool = False
    longest: int = 0

    @property
    def vector(self) -> ir.VectorType:
        """The carrier of one whole register."""
        return self.carrier(self.lanes)

    def carrier(self, count: int) -> ir.VectorType:
        """The vector that carries so many elements: of integers where floating-point loads may change bits."""
        found = carrier_type(self.dtype, count)
        if not self.target.integers or self.dtype.kind is not Kind.OPAQUE or self.dtype.itemsize < 4:
            return found
        return vector_type(ir.IntType(8 * min(self.dtype.itemsize, 8)), found.count)

    def load(self, b: ir.IRBuilder, pointer: ir.Value, register: Register) -> ir.Value:
        """The register's active lanes; the others are zero or undefined. Nothing outside is touched."""
        mask = self._mask(b, register)
        if mask is not None:
            return masked_load(self.module, b, self.vector, pointer, mask, self.align, "zeroinitializer")
        if len(register.elements) == self.lanes:
            return self._load_whole(b, pointer)
        return self._load_parts(b, pointer, len(register.elements))

    def load_pieces(self, b: ir.IRBuilder, pointers: Sequence[ir.Value | None], lanes: int) -> ir.Value:
        """A register of so many elements, put together from full pieces at these addresses; None = undefined."""
        parts = self._parts(lanes // len(pointers))
        places = [p for pointer in pointers for p in self._places(b, pointer, parts)] if parts > 1 else pointers
        return load_pieces(self.module, b, places, self.carrier(lanes), self.align)

    def store(
        self, b: ir.IRBuilder, value: ir.Value, pointer: ir.Value, register: Register, non_temporal: bool
    ) -> None:
        """Write the register's active lanes and nothing else; non_temporal: whole vectors, which are aligned."""
        mask = None if self.crowded and self.masks is None else self._mask(b, register)
        if mask is not None:
            masked_store(self.module, b, value, pointer, mask, self.align)
        elif len(register.elements) == self.lanes and non_temporal:
            store_non_temporal(self.module, b, value, pointer, self.lanes * self.dtype.itemsize)
        elif len(register.elements) == self.lanes:
            store(b, value, pointer, self.align)
        else:
            self._store_parts(b, value, pointer, len(register.elements))

    def _mask(self, b: ir.IRBuilder, register: Register) -> ir.Value | None:
        per_element = units(self.dtype.itemsize)
        if self.masks is not None:
            return self.masks.mask(b, register, self.lanes, per_element)
        active = len(register.elements)
        if active == self.lanes or not self.target.has_masks(self.dtype.itemsize) or active & (active - 1) == 0:
            return None
        return leading(self.lanes * per_element, active * per_element)

    def _load_whole(self, b: ir.IRBuilder, pointer: ir.Value) -> ir.Value:
        if self._parts(self.lanes) > 1:
            return self.load_pieces(b, [pointer], self.lanes)
        return load(b, pointer, self.vector, self.align)

    def _parts(self, count: int) -> int:
        """Loads that so many elements take."""
        return max(1, count * self.dtype.itemsize // self.longest) if self.longest else 1

    def _places(self, b: ir.IRBuilder, pointer: ir.Value | None, parts: int) -> list[ir.Value | None]:
        return [None if pointer is None else at(b, pointer, self.longest * part) for part in range(parts)]

    def _load_parts(self, b: ir.IRBuilder, pointer: ir.Value, active: int) -> ir.Value:
        """Powers of two, one load each, joined: no more than log2(lanes) of them."""
        whole = None
        for first, size in _parts(active):
            piece = self.carrier(size)
            part = load(b, at(b, pointer, first * self.dtype.itemsize), piece, self.align)
            whole = _inserted(b, whole, part, first * units(self.dtype.itemsize), self.vector)
        assert whole is not None
        return whole

    def _store_parts(self, b: ir.IRBuilder, value: ir.Value, pointer: ir.Value, active: int) -> None:
        per_element = units(self.dtype.itemsize)
        for first, size in _parts(active):
            lanes = range(first * per_element, (first + size) * per_element)
            part = shuffle(b, value, None, lanes)
            store(b, part, at(b, pointer, first * self.dtype.itemsize), self.align)


def _parts(active: int) -> list[tuple[int, int]]:
    parts, first = [], 0
    for bit in reversed(range(active.bit_length())):
        if active >> bit & 1:
            parts.append((first, 1 << bit))
            first += 1 << bit
    return parts


def _inserted(
    b: ir.IRBuilder, whole: ir.Value | None, part: ir.Value, first: int, vector: ir.VectorType
) -> ir.Value:
    total, count = int(vector.count), int(part.type.count)
    spread = [lane - first if first <= lane < first + count else None for lane in range(total)]
    wide = shuffle(b, part, None, spread)
    if whole is None:
        return wide
    blend = [
        lane if lane < first else total + lane if lane < first + count else None for lane in range(total)
    ]
    return shuffle(b, whole, wide, blend)


def masked_load(
    module: ir.Module, b: ir.IRBuilder, kind: ir.VectorType, where: ir.Value, mask: ir.Value, align: int, others: str
) -> ir.Value:
    """The lanes of a mask from memory; others: the vector whose other lanes are taken.

    where: the address of the first lane, behind which the others follow, or a vector of the addresses of all.
    """
    name = f"llvm.masked.{'load' if where.type == PTR else 'gather'}.{_suffixes(kind, where)}"
    f = reference(external(module, name, kind, [where.type, I32, mask.type, kind]))
    given = f"{where.type} {reference(where)}, i32 {align}, {mask.type} {reference(mask)}, {kind} {others}"
    return written(b, kind, f"call {kind} {f}({given})")


def masked_store(
    module: ir.Module, b: ir.IRBuilder, value: ir.Value, where: ir.Value, mask: ir.Value, align: int
) -> None:
    """Write the lanes of a mask. where: as for `masked_load`."""
    name = f"llvm.masked.{'store' if where.type == PTR else 'scatter'}.{_suffixes(value.type, where)}"
    f = reference(external(module, name, VOID, [value.type, where.type, I32, mask.type]))
    given = f"{where.type} {reference(where)}, i32 {align}, {mask.type} {reference(mask)}"
    written(b, VOID, f"call void {f}({value.type} {reference(value)}, {given})")


def _suffixes(kind: ir.VectorType, where: ir.Value) -> str:
    return f"{suffix(kind)}.{'' if where.type == PTR else f'v{kind.count}'}p0"


def store(b: ir.IRBuilder, value: ir.Value, pointer: ir.Value, align: int, how: str = "") -> None:
    """Write the value to memory; how: metadata at the end of the instruction."""
    written(b, VOID, f"store {value.type} {reference(value)}, ptr {reference(pointer)}, align {align}{how}")


def prefetch(module: ir.Module, b: ir.IRBuilder, pointer: ir.Value, level: int = L1) -> None:
    """Prefetch the line at the pointer into this cache level and those after it, for reading (for writing was slower
    wherever it was measured)."""
    written(b, VOID, prefetched(module, reference(pointer), level))


def prefetched(module: ir.Module, pointer: str, level: int) -> str:
    """The same instruction, as text."""
    f = reference(external(module, "llvm.prefetch.p0", VOID, [PTR, I32, I32, I32]))
    return f"call void {f}(ptr {pointer}, i32 0, i32 {level}, i32 1)"  # read, data


def store_non_temporal(module: ir.Module, b: ir.IRBuilder, value: ir.Value, pointer: ir.Value, align: int) -> None:
    """A non-temporal store of a whole vector, on its boundary."""
    store(b, value, pointer, align, non_temporal(module))


def non_temporal(module: ir.Module) -> str:
    """The end of the text of such a store."""
    return f", !nontemporal {module.add_metadata([i32(1)]).get_reference()}"


def fence(module: ir.Module, b: ir.IRBuilder) -> None:
    """Make all non-temporal stores visible before anything that follows."""
    written(b, VOID, fenced(module))


def fenced(module: ir.Module) -> str:
    """The same instruction, as text."""
    if not module.triple.startswith("x86_64"):
        return "fence seq_cst"
    return f"call void {reference(external(module, 'llvm.x86.sse.sfence', VOID, []))}()"
