"""Machine code of our kernels on executors that nobody here wrote: `executors.py` says which, and what they get wrong.

    TTC_TINYGRAD=/path/tinygrad TTC_PTX_EMULATOR=/path/libgpuocelot.so TTC_EXECUTIONS=500 \\
        pytest tests/gpu/test_gpu_executors.py
"""

from __future__ import annotations

import os
from typing import Any

import executors
import pytest
from case import Case
from device import scalars_of
from gpu_strategies import gpu_executions
from guarded_case import GuardedCase, Place
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ttc_llvm.gpu import kernel as gpu_kernel
from ttc_llvm.lowering.gpu import lower as gpu_lower
from ttc_llvm.lowering.gpu.launch import GpuImage
from ttc_llvm.lowering.gpu.plan import GpuPlan
from ttc_llvm.machine.gpu_target import GpuTarget
from ttc_llvm.problem.canonical import Canonical
from ttc_llvm.problem.problem import Problem
from ttc_llvm.tuning.gpu import candidates as gpu_candidates

ELEMENTS = 2_000


def _targets() -> list[Any]:
    """Every machine that an executor knows; skipped where none is named."""
    return [
        pytest.param(name, marks=[] if variable in os.environ else pytest.mark.skip(f"{variable} names no executor"))
        for variable, names in executors.TARGETS.items()
        for name in names
    ]


def in_child(work: Any) -> None:
    """Do something in a child process, which an executor may end. AssertionError says how."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            work()
        except BaseException as error:
            os.write(writer, f"{type(error).__name__}: {error}"[:60_000].encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told = pipe.read().decode(errors="replace")
    status = os.waitpid(child, 0)[1]
    assert not status and not told, told or f"the executor ends the process (status {status})"


def built(c: Canonical, plan: GpuPlan, target: GpuTarget) -> GpuImage:
    """What an executor gets."""
    return gpu_kernel.build(c, plan, target, mark=lambda text: executors.marked(text, target))


def check(case: Case, plan: GpuPlan, target: GpuTarget, flush: tuple[str, str] = ("end", "end")) -> None:
    """Run a case's machine code and compare every byte of B's storage."""
    c = case.placed.canonical
    made = GuardedCase.of(case, *map(Place, flush))
    image = built(c, plan, target)
    if not image.launch.fits(*made.bases):
        plan = gpu_lower.unaligned(c, plan)
        image = built(c, plan, target)

    def run() -> None:
        executors.execute(image, *made.bases, scalars_of(case, image.launch))
        made.check(f"\n{case}\n{c}\n{plan}\n{target}")

    if target.is_nvidia:
        in_child(run)
    else:
        run()


PICKED = {
    "floats": Problem((1, 0), (70, 50)),
    "update": Problem((2, 0, 1), (17, 9, 12), alpha=2.0, beta=3.0),
    "doubles": Problem((1, 0), (33, 40), "d", alpha=2.0),
    "conjugates": Problem((0, 2, 1), (6, 11, 20), "z", alpha=2.0, beta=1.0, conjugate=True),
    "packed": Problem((1, 0), (64, 96), "i8"),
    "halves": Problem((1, 0), (64, 40), "bf16"),
    "ragged": Problem((1, 0), (61, 95), "i8"),
    "image": Problem((1, 2, 0), (3, 40, 16), "i8"),
    "planes": Problem((2, 0, 1), (40, 16, 3), "i8"),
    "mixed": Problem((1, 0), (31, 50), "sd"),
    "clear": Problem((1, 0), (31, 50), "s", alpha=0.0, beta=2.0),
}


@pytest.mark.parametrize("name", _targets())
@pytest.mark.parametrize("which", PICKED)
def test_picked_problems(which: str, name: str) -> None:
    target, case = executors.machine(name), Case.of(PICKED[which], 3)
    check(case, gpu_candidates.model_plan(case.placed.canonical, target), target)


@pytest.mark.parametrize("name", _targets())
@settings(
    max_examples=executors.EXECUTIONS, deadline=None, suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)  # fmt: skip
@given(st.data())
def test_random_plans_of_random_problems(name: str, data: st.DataObject) -> None:
    case, plan, _ = data.draw(gpu_executions((name,), ELEMENTS))
    flush = data.draw(st.sampled_from(("start", "end")))
    check(case, plan, executors.machine(name), (flush, flush))
