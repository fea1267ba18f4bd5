"""Metadata that lets LLVM vectorise a loop without a proof that its accesses are independent."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from .llvmlite_extensions import reference


class _Distinct(ir.MDValue):  # llvmlite writes no distinct nodes, and none that refer to themselves
    def __init__(self, module: ir.Module, operands: Sequence[ir.Value], is_loop: bool) -> None:
        super().__init__(module, operands, name=str(len(module.metadata)))
        self._is_loop = is_loop

    def descr(self, buf: list[str]) -> None:
        """Append the node's text, as llvmlite's printer asks for it."""
        own = [f"!{self.name}"] if self._is_loop else []
        operands = ", ".join([*own, *(reference(node) for node in self.operands)])
        buf.append(f"distinct !{{ {operands} }}\n")


class SimdLoop:
    """The promises of `omp simd` for a loop: its accesses do not depend on each other, and it is to be vectorised.

    loop: the `llvm.loop` metadata of its branch back.
    """

    def __init__(self, module: ir.Module) -> None:
        self._group = _Distinct(module, (), is_loop=False)
        parallel = module.add_metadata(["llvm.loop.parallel_accesses", self._group])
        enabled = module.add_metadata(["llvm.loop.vectorize.enable", ir.Constant(ir.IntType(1), 1)])
        self.loop = _Distinct(module, (parallel, enabled), is_loop=True)

    def access(self, instruction: ir.Instruction) -> ir.Instruction:
        """Note an access to memory inside the loop; returns it."""
        instruction.set_metadata("llvm.access.group", self._group)
        return instruction
