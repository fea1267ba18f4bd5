"""LLVM behind a few verbs: optimise, assemble, compile, load, and naming the machine.

The only user of llvmlite.binding, which is imported by the first call that needs it. Every module is parsed
into a context of its own, which dies with it: LLVM's global context would keep 28 KiB per kernel for ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from .. import locks
from ..arguments import shown
from ..errors import CompileError, TargetError
from ..machine import host, lookup
from ..machine.target import Target
from . import heap, requirements
from .described import described
from .told import Told, told

if TYPE_CHECKING:
    from llvmlite import binding

    from ..machine.gpu_target import GpuTarget

    Compiling = tuple[binding.TargetMachine, binding.ModuleRef]

# IR arrives planned: nothing here may reorder lanes, vectorise or unroll. Code generation merges addresses
# and hoists invariants itself: behind GVN or InstCombine kernels came out the same or longer, 3 ms later.
OPT_LEVEL = 2
VECTORISED_LEVEL = 3  # of what LLVM is to make the most of by itself


def host_target() -> Target:
    """This machine. TargetError where no kernel runs on it."""
    return _host()[0]


def resolve(name: Target | str | None) -> Target:
    """The target meant by `target=`: None, "host", "native" = this machine. TargetError for unknown names."""
    if isinstance(name, Target):
        return name
    if not (name is None or isinstance(name, str)):
        raise TargetError(f"target {shown(name)} is neither a Target nor the name of one")
    if name is None or name.strip().lower() in ("host", "native"):
        return host_target()
    return lookup.find(name)


def runs_here(wanted: Target) -> bool:
    """True where code compiled for this target may be executed in this process."""
    try:
        own, features = _host()
    except TargetError:
        return False
    return wanted.key == own.key or (wanted.triple == own.triple and not host.missing(wanted, features))


@contextmanager
def uninterrupted() -> Iterator[None]:
    """LLVM for this thread alone. Signals arrive behind the block or function: a KeyboardInterrupt inside llvmlite,
    between its freeing an object and noting that, has the object freed twice; in a destructor it is swallowed."""
    with locks.LLVM, locks.imported(".interrupts", __package__).held():
        yield


VECTORS = ("always_inliner", "simplify_cfg")
SCALARS = ("sroa", "instruction_combine", "simplify_cfg")
"""Passes of modules without locals in memory, and of those that `integer_code` made."""


@uninterrupted()
def compile_object(ir_text: str, wanted: Target | GpuTarget, passes: Sequence[str] = VECTORS) -> bytes:
    """Relocatable object code of a module, position independent, for linking and for `load`.

    Raises CompileError where LLVM rejects the module, TargetError for a CPU name that is not in our tables.
    """
    with _optimised(ir_text, wanted, passes) as (machine, module):
        return machine.emit_object(module)


@uninterrupted()
def assembly(ir_text: str, wanted: Target | GpuTarget, passes: Sequence[str] = VECTORS) -> str:
    """The assembly text that `compile_object` encodes, or `compile_scalar` with its passes; errors as there."""
    with _optimised(ir_text, wanted, passes) as (machine, module):
        return machine.emit_assembly(module)


@uninterrupted()
def compile_vectorised(ir_text: str, wanted: Target) -> bytes:
    """Object code as LLVM's own optimiser makes it: all of -O3, both vectorisers; errors as for `compile_object`."""
    with _vectorised(ir_text, wanted) as (machine, module):
        return machine.emit_object(module)


@uninterrupted()
def compile_scalar(ir_text: str, wanted: Target) -> bytes:
    """Object code of code without vectors whose locals are in memory, as `integer_code` makes it: made in a tenth of
    the time of `compile_vectorised`, and no slower; errors as for `compile_object`."""
    with _optimised(ir_text, wanted, SCALARS) as (machine, module):
        return machine.emit_object(module)


@uninterrupted()
def bitcode(ir_text: str, wanted: Target | GpuTarget) -> bytes:
    """The module as it was built, verified, as LLVM bitcode; errors as for `compile_object`."""
    with _parsed(ir_text, wanted) as (_, module):
        return module.as_bitcode()


def llvm_version() -> str:
    """LLVM's version, which is part of every key of stored object code."""
    return _told().version


@lru_cache(maxsize=1)
def _told() -> Told:
    return told(_asked)  # without `locks.CODE`: see `meanwhile`


@uninterrupted()
def _asked() -> Told:
    binding = llvm()
    version = ".".join(map(str, binding.llvm_version_info))
    features = binding.get_host_cpu_features().flatten()  # sorted by name
    return Told(version, binding.get_process_triple(), binding.get_host_cpu_name(), features)


@lru_cache(maxsize=1)
def llvm() -> Any:
    """`llvmlite.binding`, loaded by the first call. TargetError or CompileError where it cannot be."""
    with locks.LLVM, requirements.importing():
        heap.require(heap.LIBRARY, "LLVM's library", kept=False)
        import llvmlite.binding

        llvmlite.binding.initialize_all_targets()
        llvmlite.binding.initialize_all_asmprinters()
    return llvmlite.binding


@lru_cache(maxsize=1)
def _host() -> tuple[Target, Mapping[str, bool]]:
    requirements.check()
    own, features = described(_told())
    return own, MappingProxyType({**features})


@lru_cache(maxsize=16)
def _machine(triple: str, cpu: str, features: str, abi: str, family: str) -> binding.TargetMachine:
    gpu_target = locks.imported("..machine.gpu_target", __package__)
    if cpu not in (gpu_target.names() if gpu_target.is_gpu(cpu) else lookup.cpus(family)):  # LLVM ends the process
        raise TargetError(f"{shown(cpu)} is no CPU of {family} that LLVM is known to know")
    try:
        described = llvm().Target.from_triple(triple)
    except RuntimeError as error:
        raise TargetError(f"LLVM cannot generate code for {triple}: {one_line(error)}") from None
    machine: binding.TargetMachine = described.create_target_machine(
        cpu=cpu,
        features=features,
        opt=OPT_LEVEL,
        reloc="static" if family == "wasm32" else "pic",  # the latter takes a dynamic linker there
        codemodel="default",
        abiname=abi,
    )
    return machine


@contextmanager
def _parsed(ir_text: str, wanted: Target | GpuTarget) -> Iterator[Compiling]:
    """A verified module in a fresh context, and the machine it is for."""
    binding = llvm()
    heap.require_for(ir_text)
    machine = _machine(wanted.triple, wanted.cpu, wanted.features, wanted.abi, wanted.family)
    with binding.create_context() as context:
        try:
            module = binding.parse_assembly(ir_text, context=context)
        except RuntimeError as error:
            raise CompileError(f"LLVM cannot parse the module: {one_line(error)}") from error
        with module:
            module.triple = wanted.triple
            module.data_layout = str(machine.target_data)
            try:
                module.verify()
                yield machine, module
            except RuntimeError as error:
                raise CompileError(f"LLVM rejects the module: {one_line(error)}") from error


@contextmanager
def _optimised(
    ir_text: str, wanted: Target | GpuTarget, names: Sequence[str] = VECTORS
) -> Iterator[Compiling]:
    """names: of passes."""
    binding = llvm()
    with (
        _parsed(ir_text, wanted) as (machine, module),
        binding.create_pipeline_tuning_options(OPT_LEVEL) as options,
        # For one run: its instrumentation lies on the run's stack, and a second would follow pointers to it.
        # llvmlite leaks 1.6 KiB of each.
        binding.create_pass_builder(machine, options) as builder,
        binding.create_new_module_pass_manager() as passes,  # one run each: LLVM moves passes out of it
    ):
        for name in names:
            getattr(passes, f"add_{name}_pass")()
        passes.run(module, builder)
        yield machine, module


@contextmanager
def _vectorised(ir_text: str, wanted: Target) -> Iterator[Compiling]:
    binding = llvm()
    with (
        _parsed(ir_text, wanted) as (machine, module),
        binding.create_pipeline_tuning_options(VECTORISED_LEVEL) as options,
    ):
        options.loop_vectorization = options.slp_vectorization = True
        options.loop_interleaving = options.loop_unrolling = True
        with binding.create_pass_builder(machine, options) as builder, builder.getModulePassManager() as passes:
            passes.run(module, builder)
        yield machine, module


def one_line(error: Exception) -> str:
    """LLVM's message: a headline, in parse errors followed by place and reason, then the source line."""
    headline, _, rest = str(error).strip().partition("\n")
    return " ".join([headline, rest.partition("\n")[0]]).strip()
