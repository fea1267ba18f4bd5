"""All functions of fused contractions of one data type, as an LLVM module."""

from __future__ import annotations

from llvmlite import ir

from ttc_llvm.lowering.micro_kernel import MicroKernel
from ttc_llvm.machine.target import Target

from .. import integer_code
from ..attributes import length_known, new_module
from ..integer_expressions import Function
from . import calls, macro_kernel
from .micro_kernel import add_micro_kernels
from .pack import Group, add_packer, add_run_packer, add_turned_packer
from .scatter import add_scatter
from .streaming import add_flush, add_stream


def build(kernel: MicroKernel, target: Target) -> ir.Module:
    """A module with `macro_kernel.multiply`."""
    module = new_module(target)
    integer_code.add_functions(module, [macro_kernel.multiply], register_functions(module, kernel, target))
    length_known(module.functions, target)
    return module


def register_functions(module: ir.Module, kernel: MicroKernel, target: Target) -> dict[Function, ir.Function]:
    """The functions of registers, added to a module, by what stands for them in `calls`."""
    rows = Group(kernel.dtype, kernel.group, kernel.rows)
    columns = Group(kernel.dtype, kernel.columns, kernel.columns)
    whole, part = add_micro_kernels(module, kernel)
    return {
        calls.multiply_tile: whole,
        calls.multiply_part: part,
        calls.scatter_tile: add_scatter(module, kernel),
        calls.stream_tile: add_stream(module, kernel, target),
        calls.flush_tile: add_flush(module, kernel, target),
        calls.pack_rows: add_packer(module, target, rows, "pack_rows"),
        calls.pack_turned: add_turned_packer(module, target, rows, kernel.piece, "pack_turned"),
        calls.pack_runs: add_run_packer(module, target, rows, kernel.piece, "pack_runs"),
        calls.pack_columns: add_packer(module, target, columns, "pack_columns"),
    }
