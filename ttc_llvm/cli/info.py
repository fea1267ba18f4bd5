"""`ttc info`: versions, this machine as plans see it, its ceilings, and the database."""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..compiling.trial import Mode, Trial
from ..errors import CompileError, DatabaseError, GpuError, TargetError
from ..gpu import devices
from ..machine import gpu_target as gpu_target
from ..machine import lookup, table
from ..machine.target import Target
from ..problem.canonical import canonicalise
from ..problem.problem import Problem
from ..problem.wording import target_fields
from ..runtime import affinity, backend, runtime
from ..tuning.database.folders import choose_path
from ..tuning.database.solution_file import SolutionFile
from ..tuning.measurement import BUSY
from ..tuning.search.available import available_memory
from ..tuning.search.speed import SpeedLog
from ..tuning.space.peak import Ceiling
from .options import with_examples
from .report import print_object, print_rows

CEILING_BYTES = 128 << 20  # per tensor, or an eighth of the free memory
CACHE_FACTS = ("l1", "l2", "ways", "l2_ways", "line", "page")
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def add_parser(subparsers: Any) -> None:
    """Add `info` to the sub-commands of a parser."""
    help = "versions, target, caches, ceilings, database"
    parser = subparsers.add_parser(
        "info", help=help, description=help, epilog=with_examples("", "ttc info --no-ceilings --json")
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument(
        "--targets", action="store_true", help="only the machines that code can be generated for"
    )
    parser.add_argument("--no-ceilings", action="store_true", help="measure nothing")
    parser.add_argument("--database", metavar="PATH", help="default: $TTC_DATABASE, or the user's cache")


def run(args: argparse.Namespace) -> int:
    """Print what is known of this installation and machine; returns the exit status."""
    facts = targets() if args.targets else gather(not args.no_ceilings, args.database)
    if args.json and args.targets:
        print_object("targets", {"targets": facts})
    elif args.json:
        print_object("info", facts)
    else:
        ceilings = f"{_LABELS['ceilings_gibs']} ({BUSY})" if facts.pop("busy", False) else _LABELS["ceilings_gibs"]
        labels = _LABELS | {"ceilings_gibs": ceilings}
        print_rows([(labels.get(key, key), _lines(value)) for key, value in facts.items()])
    return 0


def targets() -> dict[str, Any]:
    """Every row of the tables of CPUs and GPUs: its facts, and the spellings that lead to it."""
    return {
        name: {
            "triple": row.triple,
            "vector bits": row.vector_bits,
            "cpus": list(table.CPUS.get(name, ())),
            "aliases": [alias for alias, (found, _) in table.ALIASES.items() if found == name],
            "triples": [triple for triple, found in table.TRIPLES.items() if found == name],
        }
        for name, row in ((name, table.row(name)) for name in table.ROWS)
    } | {
        name: {
            "triple": gpu_target.find(name).triple,
            "threads": gpu_target.find(name).max_threads,
            "aliases": [
                alias for alias in gpu_target.spellings() if gpu_target.find(alias).name == name != alias
            ],
        }
        for name in gpu_target.names()
    }


_LABELS = {
    "huge_pages": "huge pages",
    "free_bytes": "free memory, bytes",
    "ceilings_gibs": "ceilings",
}
_UNITS = {"l1": "bytes", "l2": "bytes", "line": "bytes", "page": "bytes"} | {
    c.value: "GiB/s" for c in Ceiling
}


def gather(ceilings: bool, database: str | None) -> dict[str, Any]:
    """Everything that `ttc info` says, in order. ceilings: measure them, which takes a second."""
    try:
        here, problem = backend.host_target(), ""
    except (CompileError, TargetError) as error:
        here, problem = None, str(error)
    facts: dict[str, Any] = {
        "ttc_llvm": __version__,
        **_llvm(),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "target": problem if here is None else target_fields(here),
        "caches": None if here is None else {name: getattr(here, name) for name in CACHE_FACTS},
        "cpus": sorted(affinity.process_mask() or ()),
        "threads": runtime.num_threads(),
        "huge_pages": _huge_pages(),
        "free_bytes": available_memory(),
        "gpus": _gpus(),
        "database": _database(database),
        "architectures": [*lookup.spellings(), *gpu_target.spellings()],
    }
    if ceilings and here is not None:
        facts["ceilings_gibs"], facts["busy"] = measure_ceilings(here, runtime.num_threads())
    return facts


def _llvm() -> dict[str, str]:
    """The versions of LLVM's parts; why there are none, where that is so."""
    try:
        return {"llvmlite": importlib.metadata.version("llvmlite"), "llvm": backend.llvm_version()}
    except (CompileError, TargetError) as error:
        return {"llvmlite": "cannot be used", "llvm": str(error)}
    except importlib.metadata.PackageNotFoundError:
        return {"llvmlite": "is not installed", "llvm": "is not there"}


def measure_ceilings(machine: Target, threads: int) -> tuple[dict[str, float], bool]:
    """GiB/s of our own SAXPY, streaming copy and ordinary copy of float tensors that fit no cache; and whether this
    machine is busy."""
    free = available_memory()
    size = CEILING_BYTES if free is None else min(CEILING_BYTES, free // 8)
    elements = max(size, 1 << 20) // 4
    update = Problem((0,), (elements,), "s", alpha=2.0, beta=0.5)
    trial = Trial(canonicalise(update).canonical, machine, threads, Mode.COLD, update.alpha, update.beta)
    logs = {which.value: SpeedLog(trial.samplers(which), trial.waited) for which in Ceiling}
    for log in (*logs.values(), *logs.values()):
        log.measure()
    found = {name: round(log.ceiling or 0.0, 2) for name, log in logs.items()}
    return found, any(log.is_busy(0.0) for log in logs.values())


def _gpus() -> dict[str, Any] | str:
    """CUDA devices by number, or why there are none."""
    try:
        return {str(found.ordinal): _gpu(found) for found in devices.present()}
    except GpuError as error:
        return str(error)


def _gpu(found: devices.Device) -> dict[str, Any]:
    try:
        code = str(found.target)
    except TargetError as error:
        code = str(error)
    return {"name": found.name, "target": code, "memory": found.memory, "l2": found.l2}


def _huge_pages() -> str:
    try:
        words = HUGE_PAGES.read_text().split()
    except OSError:
        return "unknown"
    return next((word.strip("[]") for word in words if word.startswith("[")), "unknown")


def _database(given: str | None) -> dict[str, Any]:
    try:
        file = SolutionFile(choose_path(given))
    except DatabaseError as error:
        return {"path": None, "error": str(error)}
    try:
        return {"path": str(file.path), "solutions": len(file.rows())}
    except DatabaseError as error:
        return {"path": str(file.path), "error": str(error)}


def _lines(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [f"{name} {_text(one)} {_UNITS.get(name, '')}".rstrip() for name, one in value.items()]
    return [_text(value)]


def _text(value: Any) -> str:
    if isinstance(value, str) and value.startswith(("+", "-")):  # features: those that are there
        return " ".join(feature for feature in value.split(",") if not feature.startswith("-"))
    if isinstance(value, (list, tuple)):
        return " ".join(map(str, value)) or "-"
    if isinstance(value, dict):
        return ", ".join(f"{name} {one}" for name, one in value.items())
    return "-" if value in (None, "") else str(value)
