"""Objects as they are emitted, linked into this process: every entry, run-time sizes and scalars, whole or in parts."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from random import Random

from entry_calls import Call, check, every_kind, other_outer
from fuzz_draw import ARITHMETIC, LINE, MIXED, TYPES, Met, problem
from fuzz_kernels import machine_for
from fuzz_plans import plan
from test_entries import compiled, other_sizes

from ttc_llvm.lowering.bodies import choose
from ttc_llvm.lowering.items import placed
from ttc_llvm.problem.dtypes import to_numpy
from ttc_llvm.problem.problem import Problem

TRIES = 20
CALLS = 24
OUTER = ("null", "equal", "other")
PARTS = range(5)


def goals() -> tuple[str, ...]:
    """Every feature that rounds are made for."""
    values = {
        "type": TYPES,
        "lda": OUTER,
        "ldb": OUTER,
        "entry": ("", "any", "beta", "part", "any-part", "beta-part", "any-beta", "any-beta-part"),
        "size": ("generated", "other", "empty"),
        "stores": ("streaming", "off-boundary"),
    }
    return tuple(f"{what}={value}" for what, choices in values.items() for value in choices)


def attack(rng: Random, goal: str) -> Met:
    """Compile one object, and call its entries; every size and outer size is a problem of its own."""
    for _ in range(TRIES):
        own, target = problem(rng, goal, 2_000, ARITHMETIC if "beta" in goal else MIXED), machine_for(rng, goal)
        decided = plan(rng, placed(own, target).canonical, target, goal)
        bodies = choose(own, target, decided).specialised
        streams = max((len(body.non_temporal) for body in bodies), default=0)
        found = {f"type={own.dtype}", *("stores=streaming", "stores=off-boundary")[:streams]}
        if not goal.startswith("stores") or goal in found:
            break
    loaded, done, met = compiled(own, target, decided), set(), list(found)
    for _ in range(CALLS):
        call = _call(rng, own)
        check(loaded.address, own, call)
        done.add((call.size, call.lda, call.ldb))
        met += _of_call(own, call)
    return Met(tuple(met), len(done))


def _call(rng: Random, own: Problem) -> Call:
    """Any entry, any kind of scalars, any outer sizes."""
    seed = rng.getrandbits(20)
    alpha, beta, through_beta = rng.choice(every_kind(own))
    size = None
    if rng.random() < 0.5:
        size = rng.choice([found for found in other_sizes(own, seed) if prod(found) < 20_000])
    known = own if size is None else replace(own, size=size, lda=None, ldb=None)
    generated = own if size in (None, own.size) else known
    lda = rng.choice((None, generated.outer_a, other_outer(known.size, rng.choice((0, 1, 5)))))
    ldb = rng.choice((None, generated.outer_b, other_outer(known.size_b, rng.choice((0, 1, 16)))))
    flush = rng.choice(("start", "end")), rng.choice(("start", "end"))
    residue = rng.choice((None, rng.randrange(0, LINE, to_numpy(own.b).alignment)))
    return Call(alpha, beta, lda, ldb, rng.choice(PARTS), through_beta, *flush, seed, size, residue)


def _of_call(own: Problem, call: Call) -> set[str]:
    ends = (("any", call.size is not None), ("beta", call.through_beta), ("part", call.parts > 0))
    size = "generated" if call.size in (None, own.size) else "other" if prod(call.size or ()) else "empty"
    outer = {
        f"{name}={'null' if given is None else 'equal' if given == generated else 'other'}"
        for name, given, generated in (("lda", call.lda, own.outer_a), ("ldb", call.ldb, own.outer_b))
    }
    return {f"entry={'-'.join(end for end, there in ends if there)}", f"size={size}", *outer}
