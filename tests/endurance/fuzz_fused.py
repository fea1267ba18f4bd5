"""Fused contractions: every plan of a random contraction on several threads, and objects of it for several machines,
through all entries. Tensors lie between guard pages; each element has a bound of its error."""

from __future__ import annotations

from functools import partial
from random import Random

from contraction_calls import Call, linked, run
from fused_cases import Case
from fuzz_draw import Met, asked

from ttc_llvm.machine import lookup
from ttc_llvm.runtime import backend

TRIES = 40  # draws for a goal
CASES = 6  # computed by an object
THREADS = (1, 2, 3, 4)
MACHINES = ("host", "avx512", "avx2", "avx", "sse2")  # of objects
ROOMS = (0, 1, 17_000, 100_000, 8 << 20)  # bytes of scratch
ENTRIES = ("", "any", "part", "any-part")


def goals() -> tuple[str, ...]:
    """Every feature that rounds are made for on this machine."""
    values = {
        "dtype": "sdcz", "alpha": ("zero", "one", "any"), "beta": ("zero", "one", "any"),
        "strides": ("backward", "broadcast", "odd"), "extent": ("0", "1", "long"), "values": ("special", "conjugate"),
        "classes": ("none", "all"), "threads": THREADS, "plan": ("streams", "copies", "turned"),
        "machine": [name for name in MACHINES if name == "host" or backend.runs_here(lookup.find(name))],
        "entry": [entry or "plain" for entry in ENTRIES], "scratch": ROOMS,
    }  # fmt: skip
    return tuple(f"{what}={value}" for what, choices in values.items() for value in choices)


def attack(rng: Random, goal: str) -> Met:
    """Compute one contraction by all of its plans, or several by one object."""
    by_object = goal.startswith(("machine", "entry", "scratch")) or (not goal and rng.random() < 0.1)
    for _ in range(TRIES):
        case = Case(rng.getrandbits(40))
        found = case.features() | _of_plans(case)
        if goal.startswith("threads") or by_object or goal in ("", *found):
            break
    return _by_object(rng, goal, case) if by_object else _by_plans(rng, goal, case)


def _of_plans(case: Case) -> set[str]:
    every = case.plans()
    there = {
        "streams": any(x.plan.streams for x in every), "copies": any(any(x.plan.copies) for x in every),
        "turned": any(x.swapped for x in every),
    }  # fmt: skip
    return {f"plan={name}" for name, is_there in there.items() if is_there}


def _by_plans(rng: Random, goal: str, case: Case) -> Met:
    features, every = case.features() | _of_plans(case), case.plans()
    for products in every:
        threads = int(asked(goal, "threads") or rng.choice(THREADS))
        features.add(f"threads={threads}")
        wrong = case.check(products, threads)
        assert not wrong, f"{wrong} {threads} threads"
    return Met(tuple(features), len(every))


def _by_object(rng: Random, goal: str, case: Case) -> Met:
    """The case's own plan, and calls of other extents and strides."""
    machine = asked(goal, "machine") or rng.choice([name.partition("=")[2] for name in goals() if "machine" in name])
    target = backend.host_target() if machine == "host" else lookup.find(machine)
    plans = [None, *(x for x in case.plans() if machine == "host" and not any(x.plan.copies))]
    loaded = linked(case.stated, target, rng.choice(plans))
    met = [f"machine={machine}"]
    for number in range(CASES):
        one = case if number == 0 else Case(rng.getrandbits(40), like=case.stated)
        call = _call(rng, goal, one is case)
        wrong = one.wrong(partial(run, loaded, case.stated, one, call), f"{call} {machine}")
        assert not wrong, wrong
        entry = "-".join(name for name, there in (("any", call.sizes), ("part", call.parts)) if there)
        met += [*one.features(), f"entry={entry or 'plain'}", *[f"scratch={call.scratch}"] * bool(call.parts)]
    return Met(tuple(met), CASES)


def _call(rng: Random, goal: str, is_own: bool) -> Call:
    """Any entry for the object's own extents, those of any extents for others."""
    room = asked(goal, "scratch")
    entry = asked(goal, "entry") or ("part" if room else rng.choice(ENTRIES))
    sizes = not is_own or "any" in entry
    parts = rng.randint(1, 5) if "part" in entry else 0
    return Call(sizes, sizes or rng.random() < 0.5, parts, int(room or rng.choice(ROOMS)) if parts else 0)
