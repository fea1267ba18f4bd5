"""This machine as a target: its CPU and features, as LLVM reports them on x86-64, and Linux on AArch64."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .. import locks
from ..errors import TargetError
from ..machine import host, lookup
from ..machine.target import Target
from .told import Told

Features = Mapping[str, bool]


def described(answers: Told) -> tuple[Target, Features]:
    """The target, and whether each feature that code may need is there. TargetError where no kernel runs."""
    architecture = answers.triple.partition("-")[0]
    if architecture not in host.SERVED:
        raise TargetError(f"LLVM takes this machine for {answers.triple}: {host.WHERE}")
    cpu, switches, found = _DESCRIBED[architecture](answers)
    enabled = frozenset(name for name, there in found.items() if there)
    return lookup.for_features(cpu, enabled, switches, triple=answers.triple, **host.caches()), found


def _by_llvm(answers: Told) -> tuple[str, str, Features]:
    found = {switch[1:]: switch[0] == "+" for switch in answers.features.split(",")}
    # Else LLVM splits 512-bit vectors on CPUs that lower their clock.
    whole = ",-prefer-256-bit" if found.get("avx512f") else ""
    return answers.cpu, answers.features + whole, found


def _by_linux(_: Told) -> tuple[str, str, Features]:
    """LLVM does not say how long SVE's registers are, and takes features from a text that emulators lack."""
    arm_features = locks.imported("..machine.arm_features", __package__)
    processor = locks.imported(".hwcap", __package__).processor()
    found = arm_features.features(processor.capabilities, processor.sve_bits)
    return processor.cpu, arm_features.switches(found), {**found, **arm_features.lengths(processor.sve_bits)}


_DESCRIBED: Mapping[str, Callable[[Told], tuple[str, str, Features]]] = {"x86_64": _by_llvm, "aarch64": _by_linux}
