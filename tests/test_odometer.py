"""Prefetches count through the loops around them."""

from __future__ import annotations

import ctypes
import itertools

import pytest
from llvmlite import ir

from ttc_llvm.ir_builders.attributes import new_module
from ttc_llvm.ir_builders.prefetch import odometer
from ttc_llvm.ir_builders.prefetch.odometer import LoopState
from ttc_llvm.ir_builders.values import I64, PTR, VOID, at, i64
from ttc_llvm.runtime import backend, linking

STEPS = (1, 4, 3)  # of the loops, outermost first


@pytest.mark.parametrize("distance", range(1, odometer.TURNS + 1))
def test_loops_that_are_shorter_than_the_distance_carry(distance: int) -> None:
    """Extents that run time knows, with steps that do not divide them; past the end nothing is asked for."""
    target = backend.host_target()
    module = new_module(target)
    function = ir.Function(module, ir.FunctionType(VOID, [I64] * 6 + [PTR]), "moves")
    *given, out = function.args
    b = ir.IRBuilder(function.append_basic_block("entry"))
    loops = tuple(LoopState(k, given[k], given[3 + k], step, 0) for k, step in enumerate(STEPS))
    for move in odometer.moves(b, loops, distance):
        b.store(i64(move.distance), at(b, out, 8 * move.axis), align=8)
    b.ret_void()
    code = linking.load(backend.compile_scalar(str(module), target), ["moves"])
    native = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 6, ctypes.c_void_p)(code.address("moves"))
    for lengths in itertools.product((1, 2, 5), (1, 4, 5, 9), (1, 3, 4, 7)):
        places = list(itertools.product(*(range(0, n, step) for n, step in zip(lengths, STEPS, strict=True))))
        for place, later in zip(places, places[distance:], strict=False):
            found = (ctypes.c_int64 * 3)()
            native(*place, *lengths, ctypes.addressof(found))
            assert tuple(p + d for p, d in zip(place, found, strict=True)) == later, (lengths, place)
