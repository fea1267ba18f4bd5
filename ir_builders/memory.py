"""Registers to and from memory: whole vectors, masked or piecewise partial ones, streaming stores, prefetch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from llvmlite import ir

from ttc_llvm.dtypes import DType, Kind
from ttc_llvm.layout import Register, unflatten
from ttc_llvm.target import Target

from .scale import carrier_type, units
from .seam import load_pieces, shuffle
from .values import I8, I32, Int, at, i32, i64, leading, splat, zero

L1, L2 = 3, 2  # LLVM's locality of a prefetch: every cache level, or all but the first


@dataclass(slots=True)
class Ragged:
    """The axes of a block that may be short at run time: their lengths, and the masks built so far."""

    block: tuple[int, ...]
    lengths: dict[int, ir.Value]  # axis -> i64
    masks: dict[tuple[tuple[int, ...], int, int], ir.Value] = field(default_factory=dict)
    below: dict[tuple[int, tuple[int, ...]], ir.Value] = field(default_factory=dict)
    exist: dict[tuple[int, int], ir.Value] = field(default_factory=dict)

    def exists(self, b: ir.IRBuilder, k: int, register: Register) -> ir.Value | None:
        """Whether any of a register's elements lies below an axis' length; None where the first one always does."""
        least = min(unflatten(element, self.block)[k] for element in register.elements) if k in self.lengths else 0
        if least == 0:
            return None
        if (k, least) not in self.exist:
            self.exist[(k, least)] = b.icmp_unsigned("<", i64(least), self.lengths[k])
        return self.exist[(k, least)]

    def inside(self, b: ir.IRBuilder, k: int, register: Register, offset: Int) -> Int:
        """A register's offset along an axis; 0 where all of its elements lie beyond that axis' length. None of its
        lanes is active, but processors take hundreds of cycles to find out where its address is not mapped."""
        exists = None if offset == 0 else self.exists(b, k, register)
        return offset if exists is None else b.select(exists, i64(offset), i64(0))

    def mask(self, b: ir.IRBuilder, register: Register, lanes: int, per_element: int) -> ir.Value:
        """The lanes of a register whose elements exist: every ragged index below its length."""
        key = (register.elements, lanes, per_element)
        if key not in self.masks:
            self.masks[key] = self._build(b, register, lanes, per_element)
        return self.masks[key]

    def _build(self, b: ir.IRBuilder, register: Register, lanes: int, per_element: int) -> ir.Value:
        indices = [unflatten(e, self.block) for e in register.elements]
        total = lanes * per_element
        bits = 32 if total <= 16 else 8 if max(self.block) < 255 else 16
        lane_type, never = ir.IntType(bits), (1 << bits) - 1
        mask: ir.Value | None = None
        for k in self.lengths:
            column = [index[k] for index in indices for _ in range(per_element)]
            column += [never] * (total - len(column))  # lanes without an element are below no length
            below = self._below(b, k, tuple(column), lane_type)
            mask = below if mask is None else b.and_(mask, below)
        assert mask is not None
        return mask

    def _below(self, b: ir.IRBuilder, k: int, column: tuple[int, ...], lane_type: ir.IntType) -> ir.Value:
        """Which lanes' index along an axis is below its length; rows of a block share most of these."""
        if (k, column) not in self.below:
            bound = splat(b, b.trunc(self.lengths[k], lane_type), len(column))
            known = ir.Constant(bound.type, list(column))
            self.below[(k, column)] = b.icmp_unsigned("<", known, bound)
        return self.below[(k, column)]


@dataclass(frozen=True, slots=True)
class Access:
    """How a side's registers are reached: element type, register width in elements, tail rule, known alignment.
    crowded: what a masked store leaves out is read soon, and that load would wait until the store is in the cache."""

    module: ir.Module
    target: Target
    dtype: DType
    lanes: int
    align: int
    ragged: Ragged | None = None
    crowded: bool = False

    @property
    def vector(self) -> ir.VectorType:
        """The carrier of one whole register."""
        return self.carrier(self.lanes)

    def carrier(self, count: int) -> ir.VectorType:
        """The vector that carries so many elements: integers where floating-point registers change what they load."""
        found = carrier_type(self.dtype, count)
        if not self.target.integers or self.dtype.kind is not Kind.OPAQUE or self.dtype.itemsize < 4:
            return found
        return ir.VectorType(ir.IntType(8 * min(self.dtype.itemsize, 8)), found.count)

    def load(self, b: ir.IRBuilder, pointer: ir.Value, register: Register) -> ir.Value:
        """The register's active lanes; the others are zero or undefined. Nothing outside is touched."""
        mask = self._mask(b, register)
        if mask is not None:
            name = f"llvm.masked.load.{suffix(self.vector)}.p0"
            return _masked_load(self.module, b, name, self.vector, pointer, mask, self.align)
        if len(register.elements) == self.lanes:
            return b.load(pointer, typ=self.vector, align=self.align)
        return self._load_parts(b, pointer, len(register.elements))

    def load_pieces(self, b: ir.IRBuilder, pointers: Sequence[ir.Value | None], lanes: int) -> ir.Value:
        """A register of so many elements, put together from full pieces at these addresses; None = undefined."""
        return load_pieces(self.module, b, pointers, self.carrier(lanes), self.align)

    def store(
        self, b: ir.IRBuilder, value: ir.Value, pointer: ir.Value, register: Register, streaming: bool
    ) -> None:
        """Write the register's active lanes and nothing else; streaming: past the caches, whole aligned vectors."""
        mask = None if self.crowded and self.ragged is None else self._mask(b, register)
        if mask is not None:
            name = f"llvm.masked.store.{suffix(self.vector)}.p0"
            _masked_store(self.module, b, name, value, pointer, mask, self.align)
        elif len(register.elements) == self.lanes and streaming:
            stream(self.module, b, value, pointer, self.lanes * self.dtype.itemsize)
        elif len(register.elements) == self.lanes:
            b.store(value, pointer, align=self.align)
        else:
            self._store_parts(b, value, pointer, len(register.elements))

    def _mask(self, b: ir.IRBuilder, register: Register) -> ir.Value | None:
        per_element = units(self.dtype.itemsize)
        if self.ragged is not None:
            return self.ragged.mask(b, register, self.lanes, per_element)
        active = len(register.elements)
        if (
            active == self.lanes
            or not self.target.has_masks(self.dtype.itemsize)
            or active & (active - 1) == 0
        ):
            return None
        return leading(self.lanes * per_element, active * per_element)

    def _load_parts(self, b: ir.IRBuilder, pointer: ir.Value, active: int) -> ir.Value:
        """Powers of two, one load each, joined: no more than log2(lanes) of them."""
        whole = None
        for first, size in _parts(active):
            piece = self.carrier(size)
            address = at(b, pointer, first * self.dtype.itemsize)
            part = b.load(address, typ=piece, align=self.align)
            whole = _inserted(b, whole, part, first * units(self.dtype.itemsize), self.vector)
        assert whole is not None
        return whole

    def _store_parts(self, b: ir.IRBuilder, value: ir.Value, pointer: ir.Value, active: int) -> None:
        per_element = units(self.dtype.itemsize)
        for first, size in _parts(active):
            lanes = range(first * per_element, (first + size) * per_element)
            part = shuffle(b, value, None, lanes)
            b.store(part, at(b, pointer, first * self.dtype.itemsize), align=self.align)


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


def suffix(vector: ir.VectorType) -> str:
    """A vector type in an intrinsic's name."""
    lane = str(vector.element)
    return f"v{vector.count}" + {"float": "f32", "double": "f64"}.get(lane, lane)


def intrinsic(module: ir.Module, name: str, result: ir.Type, arguments: list[ir.Type]) -> ir.Function:
    """The declaration of an LLVM intrinsic, made once per module."""
    known = module.globals.get(name)
    if isinstance(known, ir.Function):
        return known
    return ir.Function(module, ir.FunctionType(result, arguments), name)


def _masked_load(
    module: ir.Module,
    b: ir.IRBuilder,
    name: str,
    vector: ir.VectorType,
    pointer: ir.Value,
    mask: ir.Value,
    align: int,
) -> ir.Value:
    f = intrinsic(module, name, vector, [pointer.type, I32, mask.type, vector])
    return b.call(f, [pointer, i32(align), mask, zero(vector)])


def _masked_store(
    module: ir.Module,
    b: ir.IRBuilder,
    name: str,
    value: ir.Value,
    pointer: ir.Value,
    mask: ir.Value,
    align: int,
) -> None:
    f = intrinsic(module, name, ir.VoidType(), [value.type, pointer.type, I32, mask.type])
    b.call(f, [value, pointer, i32(align), mask])


def beyond(b: ir.IRBuilder, pointer: ir.Value, offset: Int) -> ir.Value:
    """pointer + offset bytes, which may lie outside the tensor: for prefetching only."""
    return b.gep(pointer, [i64(offset)], source_etype=I8)


def prefetch(module: ir.Module, b: ir.IRBuilder, pointer: ir.Value, level: int = L1) -> None:
    """Ask for the line at the pointer in this cache level and those behind it, for reading (asking for ownership of
    B's lines was slower wherever it was measured)."""
    f = intrinsic(module, "llvm.prefetch.p0", ir.VoidType(), [pointer.type, I32, I32, I32])
    b.call(f, [pointer, i32(0), i32(level), i32(1)])  # read, data


def stream(module: ir.Module, b: ir.IRBuilder, value: ir.Value, pointer: ir.Value, align: int) -> None:
    """A store past the caches: of a whole vector, on its boundary."""
    b.store(value, pointer, align=align).set_metadata("nontemporal", module.add_metadata([i32(1)]))


def fence(module: ir.Module, b: ir.IRBuilder, target: Target) -> None:
    """Make all streaming stores visible before anything that follows."""
    if target.triple.startswith("x86_64"):
        b.call(intrinsic(module, "llvm.x86.sse.sfence", ir.VoidType(), []), [])
    else:
        b.fence("seq_cst")
