"""New modules, and attributes of their functions, that describe the machine that runs them."""

from __future__ import annotations

from collections.abc import Iterable

from llvmlite import ir

from ttc_llvm.machine.target import Target

from .llvmlite_extensions import attribute
from .values import i32

_FLAGS, _MINIMUM = "llvm.module.flags", 8  # linked modules have a flag that all of them have
GROUP_BITS = 128  # of which an AArch64 vector register holds so many


def new_module(target: Target, name: str = "ttc_llvm") -> ir.Module:
    """An empty module for this machine."""
    module = ir.Module(name, context=ir.Context())
    module.triple = target.triple
    return module


def length_known(functions: Iterable[ir.Function], target: Target) -> None:
    """Say how long the machine's scalable registers are at least, so that vectors of that length are one register.

    Functions that check the length must not have it: LLVM would leave the check out.
    """
    if target.scalable and target.family == "aarch64":
        for function in functions:
            if function.blocks:
                attribute(function, f"vscale_range({target.vector_bits // GROUP_BITS},0)")


def compiled_for(functions: Iterable[ir.Function], target: Target) -> None:
    """Have these functions compiled for another CPU than their module."""
    for function in functions:
        if function.blocks:
            attribute(function, f'"target-cpu"="{target.cpu}"')
            if target.features:
                attribute(function, f'"target-features"="{target.features}"')


def traceable(module: ir.Module, target: Target) -> None:
    """Have unwinding tables for all functions of an object, by which profilers and debuggers find their callers, and on
    x86-64 code that programs with indirect-branch tracking and shadow stacks (IBT, SHSTK) can be linked with."""
    for function in module.functions:
        if function.blocks and "naked" not in function.attributes:
            function.attributes.add("uwtable")
    if target.family == "x86" and target.is_elf:
        for name in ("cf-protection-branch", "cf-protection-return"):
            module.add_named_metadata(_FLAGS, [i32(_MINIMUM), ir.MetaDataString(module, name), i32(1)])
