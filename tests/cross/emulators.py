"""Machines that are not this one: what builds programs for them, and what runs these."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from native_build import compiler

from ttc_llvm.machine import lookup
from ttc_llvm.machine.target import Target
from ttc_llvm.runtime import backend

CROSS = {"aarch64": "aarch64-linux-gnu", "ppc64le": "powerpc64le-linux-gnu", "ppc64": "powerpc64-linux-gnu",
         "riscv64": "riscv64-linux-gnu"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Machine:
    """name: of the test; targets: whose objects run there; compiler: of C; emulator: command before a program;
    slack: bytes behind a tensor that may be read."""

    name: str
    targets: tuple[str, ...]
    compiler: str
    emulator: tuple[str, ...] = ()
    slack: int = 0

    def __str__(self) -> str:
        return self.name


def _foreign(name: str, machine: str, cpu: str, *targets: str) -> Machine:
    prefix = CROSS[machine]
    return Machine(name, targets, f"{prefix}-gcc", (f"qemu-{machine}", "-cpu", cpu, "-L", f"/usr/{prefix}"))


def _x86(name: str, cpu: str, *targets: str) -> Machine:
    """qemu reads all of a masked vector, also of rows that do not exist, before it looks at the mask; runs of AVX code
    on this very machine show that nothing of it is needed."""
    return Machine(name, targets, "gcc", ("qemu-x86_64", "-cpu", cpu), slack=256 << 10)


def sve(bits: int) -> str:
    """A CPU of qemu whose vector registers have this length."""
    return f"max,sve-max-vq={bits // 128},sve{bits}=on"


MACHINES = (
    _x86("nehalem", "Nehalem", "x86-64-v2", "sse2"),
    _x86("haswell", "Haswell", "haswell", "x86-64-v3"),
    _x86("sandybridge", "SandyBridge", "avx"),
    _x86("bdver3", "max", "bdver3"),
    Machine("here", ("haswell", "sandybridge", "knl", "skylake-avx512", "x86-64-v4", "znver5"), "gcc"),
    _foreign("neon", "aarch64", "cortex-a57", "neon", "cortex-a72"),
    _foreign("sve-128", "aarch64", sve(128), "sve", "neoverse-v2"),
    _foreign("sve-256", "aarch64", sve(256), "sve256", "sve", "neoverse-v1"),
    _foreign("sve-512", "aarch64", sve(512), "sve512", "sve256", "a64fx"),
    _foreign("sve-1024", "aarch64", sve(1024), "sve512", "sve256"),
    _foreign("sve-2048", "aarch64", sve(2048), "sve256", "sve512", "sve"),
    _foreign("power8", "ppc64le", "power8", "pwr8"),
    _foreign("power9", "ppc64le", "power9", "pwr9", "vsx"),
    _foreign("power8-be", "ppc64", "power8", "pwr8-be"),
    _foreign("power9-be", "ppc64", "power9", "pwr9-be", "vsx-be"),
    _foreign("riscv-128", "riscv64", "rv64,v=true,vlen=128,vext_spec=v1.0", "rvv"),
    _foreign("riscv-256", "riscv64", "rv64,v=true,vlen=256,vext_spec=v1.0", "rvv256", "rvv"),
    _foreign("riscv-512", "riscv64", "rv64,v=true,vlen=512,vext_spec=v1.0", "rvv256"),
    Machine("node", ("wasm",), "wasm-ld", ("node",)),
)

# What an emulator lacks of a CPU, whose code then is built without: qemu has neither XOP nor FMA4.
WITHOUT = {"bdver3": "-xop,-fma4"}


def found(machine: Machine) -> Machine:
    """The machine, if its tools are installed; skips the test otherwise."""
    for tool in (machine.compiler, *machine.emulator[:1]):
        compiler(tool)
    return machine


def objective(name: str, machine: Machine) -> Target:
    """The target as it is compiled for a machine; skips where this very machine would have to run it and cannot."""
    wanted = lookup.find(name)
    if machine.name in WITHOUT:
        return replace(wanted, features=WITHOUT[machine.name])
    if not machine.emulator and not backend.runs_here(wanted):
        pytest.skip(f"this machine cannot run {name} code")
    return wanted


def run(*command: str | Path, status: int = 0) -> str:
    """Run a command to its end and return what it printed; AssertionError where it ends otherwise."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600)
    line = " ".join(map(str, command))
    assert done.returncode == status, f"{line}\nstatus {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout
