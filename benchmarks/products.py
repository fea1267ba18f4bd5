"""The micro-kernel of contractions beside the machine, and square products of our own beside its BLAS, in one run.

python benchmarks/products.py [--dtype=float64,float32] [--terms=64,256] [--square=1024,2048] [--rounds=9]

Multiply-adds of registers alone, as many independent ones as a tile of C has; the micro-kernel on packed operands in
the caches; square products of a fused plan and of `numpy.matmul`, both with `out=`, in turns. One thread: set
`OPENBLAS_NUM_THREADS=1`, and unset what holds BLAS back. The user's database is neither read nor written.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import ir

import ttc_llvm
from ttc_llvm.contractions.blocks import executed
from ttc_llvm.contractions.fused import space, stored_speeds
from ttc_llvm.contractions.merged import merge
from ttc_llvm.ir_builders import integer_code
from ttc_llvm.ir_builders.attributes import new_module
from ttc_llvm.ir_builders.fused import build
from ttc_llvm.ir_builders.fused.arithmetic import Arithmetic, vector
from ttc_llvm.ir_builders.fused.calls import ADD, multiply_tile
from ttc_llvm.ir_builders.values import I64, PTR, at, i64
from ttc_llvm.ir_builders.vector_loads import load
from ttc_llvm.ir_builders.words import load64
from ttc_llvm.lowering.micro_kernel import MicroKernel
from ttc_llvm.operands.addresses import data_address
from ttc_llvm.problem import dtypes
from ttc_llvm.runtime import backend, linking

LONG = 1 << 18  # terms of a measurement
ROWS, COLUMNS = 8, 8  # tiles of packed operands
# Words that `tiles` reads: addresses of packed rows and columns, C, the offsets of a tile's rows and of columns, and
# factors; tiles, terms, and bytes of a term of both.
A, B, C, OF_ROWS, OF_COLUMNS, SCALARS, TILES_M, TILES_N, WIDTH, TERMS, TERM_A, TERM_B = range(0, 96, 8)


def tiles(given: int) -> int:
    """All tiles of packed rows by packed columns, each added to its place in C."""
    k, of_rows, scalars = load64(given + TERMS), load64(given + OF_ROWS), load64(given + SCALARS)
    term_a, term_b, width = load64(given + TERM_A), load64(given + TERM_B), load64(given + WIDTH)
    for j in range(load64(given + TILES_N)):
        b, of_columns = load64(given + B) + j * k * term_b, load64(given + OF_COLUMNS) + 8 * j * width
        for i in range(load64(given + TILES_M)):
            a, c = load64(given + A) + i * k * term_a, load64(given + C) + i * term_a
            multiply_tile(k, a, b, c, of_rows, of_columns, scalars, ADD)
    return 0


def compiled(kernel: MicroKernel) -> Any:
    """Native code with `tiles` and `peak`."""
    target = backend.host_target()
    module = new_module(target)
    integer_code.add_functions(module, [tiles], build.register_functions(module, kernel, target))
    _add_peak(module, kernel)
    return linking.load(backend.compile_scalar(str(module), target), ("tiles", "peak"))


def _add_peak(module: ir.Module, kernel: MicroKernel) -> None:
    """`peak(terms, place)`: multiply-adds of registers alone; each sum is kept at last."""
    function = ir.Function(module, ir.FunctionType(I64, [I64, I64]), "peak")
    b = ir.IRBuilder(function.append_basic_block("entry"))
    place, kind = b.inttoptr(function.args[1], PTR), vector(kernel)
    arithmetic, x = Arithmetic(module, b, kernel, place), load(b, place, kind, 4)
    before, body = b.block, b.append_basic_block("body")
    b.branch(body)
    b.position_at_end(body)
    term, sums = b.phi(I64), [b.phi(kind) for _ in range(kernel.vectors * kernel.width)]
    added = [arithmetic.added(x, x, value) for value in sums]
    following = b.sub(term, i64(1))
    for phi, first, then in zip((term, *sums), (function.args[0], *[x] * len(sums)), (following, *added), strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(then, body)
    done = b.append_basic_block("done")
    b.cbranch(b.icmp_signed(">", following, i64(0)), body, done)
    b.position_at_end(done)
    for number, value in enumerate(added):
        b.store(value, at(b, place, number * kernel.lanes * kernel.dtype.real_bits // 8), align=4)
    b.ret(i64(0))


def seconds(calls: list[Callable[[], Any]], rounds: int) -> list[list[float]]:
    """The times of each call, in turns."""
    found: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for times, call in zip(found, calls, strict=True):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
    return found


def in_caches(dtype: str, terms: list[int], rounds: int) -> None:
    """Print the speed of registers alone, and of the micro-kernel for each number of terms."""
    kernel = MicroKernel.of(dtypes.from_numpy(np.dtype(dtype)).name, backend.host_target())
    code, size, flops = compiled(kernel), kernel.dtype.itemsize, 2 * kernel.lanes * kernel.vectors * kernel.width
    run, peak = (ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * count)(code.address(name)) for name, count in
                 (("tiles", 1), ("peak", 2)))  # fmt: skip
    place = _aligned(kernel.tile_bytes)
    calls, repeats, held = [lambda: peak(LONG, data_address(place))], [1], []
    for k in terms:
        a, b = (_aligned(count * k * size) for count in (ROWS * kernel.rows, COLUMNS * kernel.columns))
        c = _aligned(ROWS * kernel.rows * COLUMNS * kernel.columns * size)
        of_rows = np.arange(kernel.rows) * size
        of_columns = np.arange(COLUMNS * kernel.columns) * ROWS * kernel.rows * size
        scalars = np.ones(12, "f4" if kernel.dtype.real_bits == 32 else "f8")
        given = np.array([*map(data_address, (a, b, c, of_rows, of_columns, scalars)), ROWS, COLUMNS, kernel.columns,
                          k, kernel.rows * size, kernel.columns * size])  # fmt: skip
        held += [a, b, c, of_rows, of_columns, scalars, given]
        repeats.append(max(1, LONG // (ROWS * COLUMNS * k)))
        calls.append(lambda given=given, count=repeats[-1]: [run(data_address(given)) for _ in range(count)])
    seconds(calls, 1)
    found = [min(times) for times in seconds(calls, rounds)]
    best = flops * LONG / found[0]
    print(f"{dtype}: multiply-adds of registers {best / 1e9:.1f} GFlop/s")
    for k, count, took in zip(terms, repeats[1:], found[1:], strict=True):
        speed = flops * ROWS * COLUMNS * k * count / took
        print(f"{dtype}: packed operands, {k:4} terms {speed / 1e9:8.1f} GFlop/s  {speed / best:.3f} of these")


def square(dtype: str, n: int, rounds: int) -> None:
    """Print the speed of a square product of ours and of NumPy's BLAS."""
    a, b = (np.random.default_rng(seed).random((n, n)).astype(dtype) for seed in range(2))
    ours, theirs = np.empty_like(a), np.empty_like(a)
    stated = ttc_llvm.Contraction("ik,kj->ij", {x: n for x in "ijk"}, dtype)
    speeds = stored_speeds.measured(stated.dtype)
    plans = [one for one in space.plans(merge(stated)) if not any(one.plan.copies)]
    run = executed(stated, min(plans, key=lambda one: speeds.seconds(one, 1)), 1).run
    calls = [lambda: run(a, b, ours), lambda: np.matmul(a, b, out=theirs)]
    seconds(calls, 1)
    np.testing.assert_allclose(ours, theirs, rtol=1e-3 if dtype == "float32" else 1e-9)
    mine, other = seconds(calls, rounds)
    pairs = [y / x for x, y in zip(mine, other, strict=True)]
    best = [2 * n**3 / min(times) / 1e9 for times in (mine, other)]
    print(f"{dtype}: square {n}: {best[0]:.1f} GFlop/s, BLAS {best[1]:.1f}: {best[0] / best[1]:.3f},"
          f" median of pairs {statistics.median(pairs):.3f}")  # fmt: skip


def _aligned(size: int) -> Any:
    """Bytes of small numbers, on a page."""
    raw = np.zeros(size + 4096, np.uint8)
    return raw[-data_address(raw) % 4096 :][:size]


def main() -> None:
    """Print all lines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dtype", default="float64,float32")
    parser.add_argument("--terms", default="64,256")
    parser.add_argument("--square", default="1024,1536,2048")
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TTC_DATABASE"] = str(Path(folder) / "solutions.sqlite3")
        for dtype in given.dtype.split(","):
            in_caches(dtype, [int(k) for k in given.terms.split(",")], given.rounds)
            for n in map(int, given.square.split(",")):
                square(dtype, n, given.rounds)


if __name__ == "__main__":
    main()
