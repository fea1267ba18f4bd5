"""The table of GPU intrinsics: all differences between the IR of one machine and that of another.

The row `host` makes the same kernels run on a CPU, where a test harness gives each thread of a block its index, the
barrier and shared memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from ttc_llvm.lazy_dataclasses import dataclass
from ttc_llvm.lowering.gpu.launch import KernelParameter, Slot
from ttc_llvm.machine.gpu_target import GpuTarget

from ..llvmlite_extensions import attribute, external, written
from ..values import F32, F64, I32, guarded

VOID, I16 = ir.VoidType(), ir.IntType(16)
_SLOTS = {Slot.F32: F32, Slot.F64: F64}


@dataclass(frozen=True, slots=True)
class Intrinsics:
    """One row. thread, block: functions that return an index along x; barrier: waits for all threads of a block;
    convention: how kernels are called; device, shared: address spaces; tile: the function that returns shared
    memory, "" = it is a variable; scope: of the fences beside the barrier, "" = the barrier orders memory itself; only:
    what those order, as metadata; permute: the function of two registers and a selector that picks four of their eight
    bytes, the second's first, "" = LLVM finds the instruction; limit: string attributes of a kernel, `{}` being the
    threads of a block; flags: of the module: behaviour, name and value; predicated: stores take a predicate, in PTX's
    syntax; register: the constraint of a register in inline assembly, where that is not so."""

    thread: str
    block: str
    barrier: str
    convention: str
    device: int
    shared: int
    tile: str = ""
    scope: str = ""
    only: tuple[str, ...] = ()
    permute: str = ""
    limit: tuple[tuple[str, str], ...] = ()
    flags: tuple[tuple[int, str, int], ...] = ()
    predicated: bool = False
    register: str = ""


ROWS = {
    "nvvm": Intrinsics(
        "llvm.nvvm.read.ptx.sreg.tid.x",
        "llvm.nvvm.read.ptx.sreg.ctaid.x",
        "llvm.nvvm.barrier0",
        "ptx_kernel",
        device=1,
        shared=3,
        predicated=True,
    ),
    "amdgcn": Intrinsics(
        "llvm.amdgcn.workitem.id.x",
        "llvm.amdgcn.workgroup.id.x",
        "llvm.amdgcn.s.barrier",
        "amdgpu_kernel",
        device=1,
        shared=3,
        scope="workgroup",
        only=("amdgpu-synchronize-as", "local"),  # else caches of global memory are emptied, too
        permute="llvm.amdgcn.perm",
        register="v",
        limit=(("amdgpu-flat-work-group-size", "1,{}"), ("uniform-work-group-size", "true")),
        flags=((1, "amdhsa_code_object_version", 500),),  # 5: ROCm 5.2 and later load it
    ),
    "host": Intrinsics(
        "ttc_gpu_thread", "ttc_gpu_block", "ttc_gpu_barrier", "ccc", device=0, shared=0, tile="ttc_gpu_shared"
    ),
}


@dataclass(frozen=True, slots=True)
class Machine:
    """A row at work in one module. threads: per block; blocks: of a multiprocessor for which an assembler
    is to leave registers, 0 = it decides."""

    row: Intrinsics
    module: ir.Module
    threads: int
    blocks: int

    def begun(self, parameters: Sequence[KernelParameter], align: tuple[int, int]) -> ir.IRBuilder:
        """The kernel's function, named as its module, and a builder in its first block; its limit on threads is stated
        as the row does. align: bytes of which the addresses of A and B are multiples."""
        device = ir.PointerType(addrspace=self.row.device)
        kinds = [_SLOTS.get(p.slot, device) for p in parameters]
        function = ir.Function(self.module, ir.FunctionType(VOID, kinds), self.module.name)
        function.calling_convention = self.row.convention
        for argument, parameter in zip(function.args, parameters, strict=True):
            argument.name = parameter.name
        for argument, multiple in zip(function.args[:2], align, strict=True):
            argument.add_attribute("noalias")
            argument.attributes.align = multiple
        for key, value in self.row.limit:
            attribute(function, f'"{key}"="{value.format(self.threads)}"')
        for flag in self.row.flags:
            self._flag(*flag)
        if self.row.convention == "ptx_kernel":
            facts = {"maxntidx": self.threads} | ({"minctasm": self.blocks} if self.blocks else {})
            for fact, number in facts.items():
                node = self.module.add_metadata([function, fact, ir.Constant(I32, number)])
                self.module.add_named_metadata("nvvm.annotations", node)
        return ir.IRBuilder(function.append_basic_block("entry"))

    def _flag(self, behaviour: int, name: str, value: int) -> None:
        node = self.module.add_metadata([ir.Constant(I32, behaviour), name, ir.Constant(I32, value)])
        self.module.add_named_metadata("llvm.module.flags", node)

    def thread(self, b: ir.IRBuilder) -> ir.Value:
        """Index of this thread in its block."""
        return self._index(b, self.row.thread, "thread", self.threads)

    def block(self, b: ir.IRBuilder, blocks: int) -> ir.Value:
        """Index of this block among so many."""
        return self._index(b, self.row.block, "block", blocks)

    def barrier(self, b: ir.IRBuilder) -> None:
        """Wait for all threads of the block; their writes to shared memory before it are seen after it."""
        self._fence(b, "release")
        b.call(external(self.module, self.row.barrier, VOID), [])
        self._fence(b, "acquire")

    def _fence(self, b: ir.IRBuilder, order: str) -> None:
        """Order the accesses to shared memory of this thread, where the barrier does not."""
        if self.row.scope:
            only = self.module.add_metadata(list(self.row.only)).get_reference()
            written(b, VOID, f'fence syncscope("{self.row.scope}") {order}, !mmra {only}')

    def permuted(
        self, b: ir.IRBuilder, left: ir.Value, right: ir.Value, lanes: Sequence[int | None], size: int
    ) -> ir.Value:
        """A register of elements of so many bytes, picked from those of two. lanes: the left one's come first, None =
        any."""
        number, places = 0, [0 if lane is None else size * lane + k for lane in lanes for k in range(size)]
        for place in reversed(places):
            number = number << 8 | place
        function = external(self.module, self.row.permute, I32, [I32] * 3)
        return b.call(function, [right, left, ir.Constant(I32, number)])

    def await_all(self, b: ir.IRBuilder, values: Sequence[ir.Value], size: int) -> None:
        """Have all values, of so many bytes each, before the next instruction, where stores stand behind branches:
        there LLVM would load what only a store needs, and each of them would wait for memory anew."""
        if self.row.register:
            words = [word for value in values for word in _registers(b, value, size)]
            kind = ir.FunctionType(VOID, [word.type for word in words])
            b.asm(kind, "", ",".join([self.row.register] * len(words)), words, True)

    def store_where(self, b: ir.IRBuilder, exists: ir.Value, value: ir.Value, pointer: ir.Value, size: int) -> None:
        """Write a value of so many bytes to device memory, aligned to them, if the condition holds."""
        if not self.row.predicated:
            with guarded(b, exists, "store"):
                b.store(value, pointer, align=size)
            return
        words = _registers(b, value, size)
        names = ", ".join(f"${k + 2}" for k in range(len(words)))
        what, source = (f"v{len(words)}.b32", f"{{{names}}}") if len(words) > 1 else (f"b{8 * size}", names)
        arguments = [exists, pointer, *words]
        letters = ["b", "l", *("r" if word.type == I32 else "h" for word in words), "~{memory}"]
        kind = ir.FunctionType(VOID, [argument.type for argument in arguments])
        b.asm(kind, f"@$0 st.global.{what} [$1], {source};", ",".join(letters), arguments, True)

    def tile(self, b: ir.IRBuilder, size: int) -> ir.Value:
        """Shared memory of so many bytes, aligned to 16."""
        if self.row.tile:
            return b.call(external(self.module, self.row.tile, ir.PointerType()), [], name="tile")
        storage = ir.GlobalVariable(self.module, ir.ArrayType(ir.IntType(8), size), "tile", self.row.shared)
        storage.linkage = "internal"
        storage.initializer = ir.Constant(storage.value_type, ir.Undefined)
        storage.align = 16
        storage.type = ir.PointerType(addrspace=self.row.shared)  # llvmlite's would know what it points to
        return storage

    def _index(self, b: ir.IRBuilder, name: str, value: str, limit: int) -> ir.Value:
        call = b.call(external(self.module, name, I32), [], name=value)
        bounds = [ir.Constant(I32, 0), ir.Constant(I32, limit)]
        call.set_metadata("range", self.module.add_metadata(bounds))
        return call


def machine(target: GpuTarget, entry: str, threads: int, blocks: int = 0) -> Machine:
    """A module for the kernel `entry` on this GPU, and the row of its intrinsics. Numbers as for `Machine`."""
    module = ir.Module(entry, context=ir.Context())
    module.triple = target.triple
    return Machine(ROWS[target.intrinsics], module, threads, blocks)


def _registers(b: ir.IRBuilder, value: ir.Value, size: int) -> list[ir.Value]:
    """A value of so many bytes as registers of 32 bits, or as one of 16 where it has less than 4."""
    if size < 4:
        return [b.zext(b.bitcast(value, ir.IntType(8 * size)), I16)]
    if size == 4:
        return [b.bitcast(value, I32)]
    words = b.bitcast(value, ir.VectorType(I32, size // 4))
    return [b.extract_element(words, ir.Constant(I32, k)) for k in range(size // 4)]


def scalar(function: ir.Function, name: str) -> tuple[ir.Argument, ...]:
    """The parts of alpha or beta as the parameters hand them over."""
    named = {argument.name: argument for argument in function.args}
    return tuple(named[part] for part in (name, f"{name}_imag") if part in named)
