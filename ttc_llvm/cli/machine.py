"""The machine that a command compiles for, and the CPUs on which it times."""

from __future__ import annotations

from ..compiling import machines
from ..errors import OptionError, TargetError
from ..machine import lookup
from ..machine.target import Target
from ..runtime import affinity as affinities
from ..runtime import backend
from ..runtime.affinity import Affinity
from .reading import Command


def targets(command: Command) -> tuple[Target, ...]:
    """The machines that the object is for, first the one that plans are made for."""
    name = command.cpu if command.cpu is not None else command.architecture
    if name is not None and not all(part.strip() for part in name.split(",")):
        raise TargetError("the name of the architecture or CPU is empty")
    found = machines.chosen(name)
    if command.architecture is not None and command.cpu is not None:
        found = _on_architecture(command.architecture, command.cpu, found)
    return tuple(map(lookup.scalar, found[:1])) if command.no_vec else found


def _on_architecture(architecture: str, cpu: str, found: tuple[Target, ...]) -> tuple[Target, ...]:
    """CPUs of that architecture, or on that triple."""
    if lookup.is_triple(architecture):
        return tuple(lookup.on_triple(machine, architecture) for machine in found)
    wanted = backend.resolve(architecture)
    if any(_registers(wanted) != _registers(machine) for machine in found):
        raise OptionError(
            f"--architecture={architecture} contradicts --cpu={cpu}: give one of them, or a CPU of that architecture"
        )
    return found


def _registers(machine: Target) -> tuple[object, ...]:
    """What tells one instruction set from another."""
    return machine.triple.partition("-")[0], machine.vector_bits, machine.small_vector_bits, machine.masked


def affinity(command: Command) -> Affinity:
    """The affinity that a command asks for, else the usual one."""
    return affinities.usual() if command.affinity is None else affinities.parse(command.affinity)
