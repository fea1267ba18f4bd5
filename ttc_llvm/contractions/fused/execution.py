"""A fused plan that runs."""

from __future__ import annotations

from math import prod

from ... import locks
from ...lazy_dataclasses import replace
from ...lowering.micro_kernel import MicroKernel, blocks
from ...problem import dtypes
from ...problem.contraction import Contraction, IndexClass
from ...runtime import backend, stored_code
from ...runtime.once import once
from ..copies import copies
from ..merged import C
from .job import job
from .plan import Fused
from .run import FusedRun, Prepared

SOURCES = (
    *(f"fused/{name}" for name in (
        "arithmetic", "axes", "build", "calls", "fields", "layout", "macro_kernel", "micro_kernel", "pack", "packing",
        "past_caches", "rows_of_c", "scatter", "streaming", "tiles", "turning",
    )),
    "memory", "micro_tile", "micro_tile_code",
)  # fmt: skip
SMALL = 1 << 17  # multiplications that one thread has done by the time that another is awake


class FusedExecution(FusedRun):
    """Runs one fused plan of a contraction."""

    def __init__(
        self, contraction: Contraction, products: Fused, threads: int | None = None, waits: bool = True
    ) -> None:
        super().__init__(prepared(contraction, products), threads, waits)
        self.products = products


def prepared(contraction: Contraction, products: Fused) -> Prepared:
    """The plan as its runs read it."""
    merged, kernel = products.merged, micro_kernel(products.merged.dtype)
    words, near = job(products, kernel), through_caches(products)
    return Prepared(
        spec=contraction.spec,
        dtype=dtypes.to_numpy(contraction.element).char,
        revision=revision(merged.dtype),
        backwards=merged.reversed,
        conjugate=merged.conjugate,
        swapped=products.swapped,
        alone=prod(products.sizes) * products.batches < SMALL,
        nothing=merged.elements(C) == 0,
        no_sum=any(x.kind is IndexClass.K and x.extent == 0 for x in merged.indices),
        job=words,
        cached=words if near is products else job(near, kernel),
        copies=copies(contraction, products),
    )


def through_caches(products: Fused) -> Fused:
    """The same plan without non-temporal stores, for C where it is read, or on no boundary of vectors."""
    plan = products.plan
    if not plan.streams:
        return products
    made = blocks(micro_kernel(products.merged.dtype), backend.host_target(), products.sizes)
    block = made.rows, plan.block[1], plan.block[2]
    return replace(products, plan=replace(plan, block=block, streams=False))


@once
def micro_kernel(dtype: str) -> MicroKernel:
    """The micro-kernel of this machine."""
    return MicroKernel.of(dtype, backend.host_target())


@once
def revision(dtype: str) -> str:
    """The revision of the code for a data type."""
    return f"{stored_code.revision(*SOURCES)} {micro_kernel(dtype)}"


def compiled(dtype: str) -> bytes:
    """The code of this machine for a data type, NumPy's letter."""
    with locks.IMPORTS:
        from ...ir_builders import llvmlite_extensions
        from ...ir_builders.fused import build
    target = backend.host_target()
    kernel = MicroKernel.of(dtypes.from_numpy(dtype).name, target)  # without `locks.CODE`: see `stored_code.Native`
    with locks.uncollected():
        text = llvmlite_extensions.spent(build.build(kernel, target))
    return backend.compile_scalar(text, target)
