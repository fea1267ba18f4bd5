"""The machines that an object is for: one, or several x86-64 CPUs among which it chooses at run time."""

from __future__ import annotations

from collections.abc import Sequence

from .. import arguments
from ..errors import TargetError
from ..machine import lookup
from ..machine.cpu_features import by_demand, needs
from ..machine.target import Target
from ..runtime import backend

Wanted = Target | str | Sequence[Target | str] | None
BASELINE = "x86-64"  # what every machine of that kind runs


def chosen(wanted: Wanted) -> tuple[Target, ...]:
    """The machines meant by `target=`, first the one that plans are made and timed for.

    None = this machine, and any other of its kind by a second version, so that an object never holds code that only
    this machine runs. "native" or "host" = this machine alone. Several (a sequence, or a text with commas) = these
    and a version for all other machines of their kind, if none of them serves those; plans are made for the most
    demanding one that runs here. TargetError for unknown names, and for several that are not all x86-64 of one system.
    """
    if wanted is None:
        own = backend.host_target()
        return (own, *_rest((own,)))
    names = _names(wanted)
    if not names:
        raise TargetError("the list of CPUs is empty")
    found = {machine.key: machine for machine in map(backend.resolve, names)}
    if len(found) == 1:
        return tuple(found.values())
    machines = by_demand(_alike(tuple(found.values())))
    here = next((machine for machine in machines if backend.runs_here(machine)), machines[0])
    return (here, *(machine for machine in machines if machine is not here), *_rest(machines))


def _names(wanted: Target | str | Sequence[Target | str]) -> list[Target | str]:
    if isinstance(wanted, Target):
        return [wanted]
    if isinstance(wanted, str):
        return [part.strip() for part in wanted.split(",")]
    try:
        return list(arguments.sequence("target", wanted, TargetError))
    except TargetError:
        given = arguments.shown(wanted)
        raise TargetError(f"target {given} is neither a Target nor the name of one") from None


def _alike(machines: tuple[Target, ...]) -> tuple[Target, ...]:
    """The same machines; TargetError unless one object can serve them all."""
    first = machines[0]
    for machine in machines:
        if machine.family != "x86":
            raise TargetError(
                f"{machine} cannot share an object with other CPUs: only x86-64 programs choose among several"
            )
        if machine.triple != first.triple:
            raise TargetError(f"{machine} ({machine.triple}) cannot share an object with {first} ({first.triple})")
    return machines


def _rest(machines: tuple[Target, ...]) -> tuple[Target, ...]:
    """A version for machines that run none of these; none where one of these serves all."""
    first = machines[0]
    if first.family != "x86":
        return ()
    everywhere = lookup.find(BASELINE)
    if any(needs(machine) <= needs(everywhere) for machine in machines):
        return ()
    return (lookup.on_triple(everywhere, first.triple),) if first.triple in lookup.triples() else (everywhere,)
