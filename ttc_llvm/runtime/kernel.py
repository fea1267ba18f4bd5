"""Kernels: compiled plans in executable memory, and the bounded cache that owns them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .. import __version__, locks
from ..errors import CompileError
from ..lazy_dataclasses import dataclass
from ..logs import Log
from ..lowering import plan as plans
from ..lowering.plan import CpuPlan
from ..machine.target import Target
from ..problem.canonical import Canonical
from ..tuning.database.packing import is_image
from . import mapping
from .image import KERNEL
from .image import REVISION as REVISION
from .once import Recent

if TYPE_CHECKING:
    from ..lowering.nest import LoopNest

_log = Log(__name__)
NAME = KERNEL
CAPACITY = 256
FACTS = 3  # that an image tells: see `_facts`

Objects = Mapping[str, bytes]  # images, or object code, by `name_of`


@dataclass(frozen=True, slots=True)
class Kernel:
    """Executable code of one plan. tasks: size of its task grid, 0 where parameters decide; scratch: bytes per
    thread; alignment: bytes that B's base must be a multiple of (1 = any); code: its image, or the object behind it.
    Whoever keeps the address keeps the kernel."""

    address: int
    tasks: int
    scratch: int
    alignment: int
    code: bytes
    loaded: mapping.Loaded  # keeps the executable memory alive


def name_of(plan: CpuPlan, loads: int = 0) -> str:
    """The name of a plan's code. loads: as for `lower`."""
    return f"{plan} loads={loads}" if loads else str(plan)


def _lower(canonical: Canonical, plan: CpuPlan, target: Target, loads: int) -> LoopNest:
    with locks.IMPORTS:
        from ..lowering.lower import lower
    return lower(canonical, plan, target, loads)


def ir_text(canonical: Canonical, plan: CpuPlan, target: Target, loads: int = 0) -> str:
    """The LLVM IR of a plan's kernel, before optimisation. loads: as for `lower`."""
    return _text(_lower(canonical, plan, target, loads), target)


def _text(nest: LoopNest, target: Target) -> str:
    with locks.uncollected():
        return _builder().text(nest, target, NAME)  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _builder() -> Any:
    with locks.IMPORTS:
        from ..ir_builders import module
    return module


def compiled(canonical: Canonical, plan: CpuPlan, target: Target, loads: int = 0) -> bytes:
    """The code of a plan: an image, or where it cannot be one, an object. loads: of `lower`."""
    nest = _lower(canonical, plan, target, loads)
    code: bytes = _backend().compile_object(_text(nest, target), target)
    _log.debug("compiled %d bytes for %s: %s", len(code), canonical, plan)
    return _linking().image_of(code, (NAME,), _facts(nest)) or code


def build(canonical: Canonical, plan: CpuPlan, target: Target, code: bytes | None = None, loads: int = 0) -> Kernel:
    """Compile a plan, or take its stored code without running LLVM's optimiser: an image runs as it is. loads: of
    `lower`."""
    if code is None:
        code = compiled(canonical, plan, target, loads)
    else:
        _log.debug("loaded %d stored bytes for %s: %s", len(code), canonical, plan)
    facts = () if is_image(code) else _facts(_lower(canonical, plan, target, loads))
    code = (_linking().image_of(code, (NAME,), facts) if facts else None) or code
    load = mapping.mapped if is_image(code) else _linking().load
    loaded = load(code, symbols=(NAME,), title=f"{canonical}: {name_of(plan, loads)}")
    facts = loaded.facts or facts
    if len(facts) != FACTS:
        raise CompileError("an image of a kernel lacks the facts about it")
    tasks, scratch, alignment = facts
    return Kernel(loaded.address(NAME), tasks, scratch, alignment, code, loaded)


def _facts(nest: LoopNest) -> tuple[int, ...]:
    """What an image tells of its kernel: `tasks`, `scratch` and `alignment`."""
    return 0 if nest.params else nest.tasks, nest.passed, nest.alignment


class KernelCache:
    """The last `capacity` kernels at most, by (canonical form, plan, target)."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._kernels: Recent[Kernel] = Recent(capacity)

    def obtain(
        self, canonical: Canonical, plan: CpuPlan, target: Target, code: bytes | None = None, loads: int = 0
    ) -> Kernel:
        """The kernel of this plan, compiled (or linked from `code`) if it is not cached. loads: as for `lower`."""
        key = (canonical, plan, target.key, loads)
        return self._kernels.obtain(key, lambda: build(canonical, plan, target, code, loads))


cache = KernelCache()


def revision(plan_version: str = plans.VERSION) -> str:
    """The revision that object code shares with this program to run in it. plan_version: of the plans' texts."""
    return f"{plan_version} code{REVISION} ttc{__version__}"


def versions(plan_version: str = plans.VERSION) -> str:
    """The versions that stored object code depends on: another release may build other code."""
    return f"{revision(plan_version)} llvm{_backend().llvm_version()}"


def _backend() -> Any:
    """What only code needs that is compiled, or whose LLVM is asked for."""
    return locks.imported(".backend", __package__)


def _linking() -> Any:
    """What only code needs that is no image yet."""
    return locks.imported(".linking", __package__)
