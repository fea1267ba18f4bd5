"""LLVM behind a few verbs: optimise, assemble, compile, load, and naming the machine.

The only user of llvmlite.binding, which is imported by the first call that needs it. Every module is parsed
into a context of its own, which dies with it: LLVM's global context would keep 28 KiB per kernel for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from .. import locks
from ..arguments import shown
from ..errors import CompileError, TargetError, os_errors
from ..machine import gpu_target as gpu_target
from ..machine import host, lookup
from ..machine.gpu_target import GpuTarget
from ..machine.target import Target
from . import heap

if TYPE_CHECKING:
    import llvmlite.binding as llvm

    Compiling = tuple[llvm.TargetMachine, llvm.ModuleRef]

F = TypeVar("F", bound=Callable[..., Any])

# IR arrives planned: nothing here may reorder lanes, vectorise or unroll. Code generation merges addresses
# and hoists invariants itself: behind GVN or InstCombine kernels came out the same or longer, 3 ms later.
OPT_LEVEL = 2
VECTORISED_LEVEL = 3  # of what LLVM is to make the most of by itself
LIBRARIES_PER_LINKER = 8


def host_target() -> Target:
    """This machine. TargetError where it is not an x86-64."""
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


def compile_object(ir_text: str, wanted: Target | GpuTarget) -> bytes:
    """Relocatable object code of a module, position independent, for linking and for `load`.

    Raises CompileError where LLVM rejects the module, TargetError for a CPU name that is not in our tables.
    """
    with _optimised(ir_text, wanted) as (machine, module):
        return machine.emit_object(module)


def assembly(ir_text: str, wanted: Target | GpuTarget) -> str:
    """The assembly text that `compile_object` encodes; errors as there."""
    with _optimised(ir_text, wanted) as (machine, module):
        return machine.emit_assembly(module)


def compile_vectorised(ir_text: str, wanted: Target) -> bytes:
    """Object code as LLVM's own optimiser makes it: all of -O3, both vectorisers; errors as for `compile_object`."""
    with _vectorised(ir_text, wanted) as (machine, module):
        return machine.emit_object(module)


def bitcode(ir_text: str, wanted: Target | GpuTarget) -> bytes:
    """The module as it was built, verified, as LLVM bitcode; errors as for `compile_object`."""
    with _parsed(ir_text, wanted) as (_, module):
        return module.as_bitcode()


class Loaded:
    """Machine code in this process; it is unmapped when the last reference to this object goes."""

    __slots__ = ("__weakref__", "_jit", "_library")

    def __init__(self, library: llvm.ResourceTracker, jit: llvm.LLJIT) -> None:
        self._library, self._jit = library, jit

    def address(self, symbol: str) -> int:
        """The address of a function named in `load`. Whoever keeps the address keeps this object, too."""
        return self._library[symbol]

    def function(self, symbol: str, prototype: Callable[[int], F]) -> F:
        """A function named in `load`, of a ctypes type; it keeps the code in memory."""
        made = prototype(self._library[symbol])
        made.code = self  # type: ignore[attr-defined]
        return made


def load(object_bytes: bytes, symbols: Sequence[str]) -> Loaded:
    """Link an object of this machine into the process, without optimising anything.

    symbols: the functions whose addresses will be asked for. Undefined symbols, such as memcpy, are looked up
    in the process. Raises CompileError where the bytes are no object of this machine or lack a symbol.
    """
    builder = _llvm().JITLibraryBuilder().add_object_img(object_bytes).add_current_process()
    for symbol in symbols:
        builder.export_symbol(symbol)
    with locks.LLVM:
        heap.require(heap.LEAST, "the linking of a kernel")
        jit, name = _linker()
        try:
            return Loaded(builder.link(jit, name), jit)
        except RuntimeError as error:
            raise CompileError(f"object code cannot be linked: {_one_line(error)}") from error


def llvm_version() -> str:
    """LLVM's version, which is part of every key of stored object code."""
    return ".".join(map(str, _llvm().llvm_version_info))


@lru_cache(maxsize=1)
def _llvm() -> Any:
    with locks.LLVM, os_errors("LLVM's library cannot be loaded", CompileError):
        heap.require(heap.LIBRARY, "LLVM's library", kept=False)
        import llvmlite.binding

        llvmlite.binding.initialize_all_targets()
        llvmlite.binding.initialize_all_asmprinters()
    return llvmlite.binding


@lru_cache(maxsize=1)
def _host() -> tuple[Target, Mapping[str, bool]]:
    binding = _llvm()
    triple = binding.get_process_triple()
    if not triple.startswith("x86_64"):
        machine = triple.partition("-")[0]
        raise TargetError(f"this machine is {machine}: kernels can be generated and run on x86-64 only")
    features = binding.get_host_cpu_features()
    enabled = frozenset(name for name, there in features.items() if there)
    switches = features.flatten()  # sorted by name
    if "avx512f" in enabled:
        switches += ",-prefer-256-bit"  # else LLVM splits 512-bit vectors on CPUs that lower their clock
    own = lookup.for_features(binding.get_host_cpu_name(), enabled, switches, triple=triple, **host.caches())
    return own, MappingProxyType(dict(features))


@lru_cache(maxsize=16)
def _machine(triple: str, cpu: str, features: str, abi: str, family: str) -> llvm.TargetMachine:
    if cpu not in (gpu_target.names() if gpu_target.is_gpu(cpu) else lookup.cpus(family)):  # LLVM ends the process
        raise TargetError(f"{shown(cpu)} is no CPU of {family} that LLVM is known to know")
    try:
        described = _llvm().Target.from_triple(triple)
    except RuntimeError as error:
        raise TargetError(f"LLVM cannot generate code for {triple}: {_one_line(error)}") from None
    machine: llvm.TargetMachine = described.create_target_machine(
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
    """A verified module in a fresh context, and the machine it is for; both locks of compilation are held."""
    binding = _llvm()
    with locks.LLVM:
        heap.require_for(ir_text)
        machine = _machine(wanted.triple, wanted.cpu, wanted.features, wanted.abi, wanted.family)
        with binding.create_context() as context:
            try:
                module = binding.parse_assembly(ir_text, context=context)
            except RuntimeError as error:
                raise CompileError(f"LLVM cannot parse the module: {_one_line(error)}") from error
            with module:
                module.triple = wanted.triple
                module.data_layout = str(machine.target_data)
                try:
                    module.verify()
                    yield machine, module
                except RuntimeError as error:
                    raise CompileError(f"LLVM rejects the module: {_one_line(error)}") from error


@contextmanager
def _optimised(ir_text: str, wanted: Target | GpuTarget) -> Iterator[Compiling]:
    binding = _llvm()
    with (
        _parsed(ir_text, wanted) as (machine, module),
        binding.create_pipeline_tuning_options(OPT_LEVEL) as options,
        # For one run: its instrumentation lies on the run's stack, and a second would follow pointers to it.
        # llvmlite leaks 1.6 KiB of each.
        binding.create_pass_builder(machine, options) as builder,
        binding.create_new_module_pass_manager() as passes,  # one run each: LLVM moves passes out of it
    ):
        passes.add_simplify_cfg_pass()
        passes.run(module, builder)
        yield machine, module


@contextmanager
def _vectorised(ir_text: str, wanted: Target) -> Iterator[Compiling]:
    binding = _llvm()
    with (
        _parsed(ir_text, wanted) as (machine, module),
        binding.create_pipeline_tuning_options(VECTORISED_LEVEL) as options,
    ):
        options.loop_vectorization = options.slp_vectorization = True
        options.loop_interleaving = options.loop_unrolling = True
        with binding.create_pass_builder(machine, options) as builder, builder.getModulePassManager() as passes:
            passes.run(module, builder)
        yield machine, module


_jits: list[tuple[llvm.LLJIT, int]] = []


def _linker() -> tuple[llvm.LLJIT, str]:
    """A linker and an unused library name; called with the lock held.

    A linker costs 1 ms and 160 KiB and keeps 8 KiB of every library it has ever held. Eight libraries share
    one, and it goes with the last of them: memory is bounded by the kernels that are alive.
    """
    jit, used = _jits.pop() if _jits else (None, LIBRARIES_PER_LINKER)
    if jit is None or used == LIBRARIES_PER_LINKER:
        # JITLink puts code and constants side by side, so that 32-bit offsets between them always reach.
        jit, used = _llvm().create_lljit_compiler(use_jit_link=True, suppress_errors=True), 0
    _jits.append((jit, used + 1))
    return jit, f"library{used}"


def _one_line(error: Exception) -> str:
    """LLVM's message: a headline, in parse errors followed by place and reason, then the source line."""
    headline, _, rest = str(error).strip().partition("\n")
    return " ".join([headline, rest.partition("\n")[0]]).strip()
