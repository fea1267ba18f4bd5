"""Attributes of functions that describe the machine that runs them, beyond the module's triple."""

from __future__ import annotations

from collections.abc import Iterable

from llvmlite import ir

from ttc_llvm.machine.target import Target

from .llvmlite_extensions import attribute

GROUP_BITS = 128  # of which an AArch64 vector register holds so many


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
