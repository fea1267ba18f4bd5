"""One object for several x86-64 CPUs: the right version runs, and none that the CPU lacks an instruction of."""

from __future__ import annotations

import ctypes
import re
import shutil
from dataclasses import replace
from pathlib import Path

import emulators
import pytest
from batch import Job, run_and_compare
from emulators import Machine, run
from entry_calls import Call, check, every_kind, other_outer
from llvmlite import ir
from native_build import compiler

import ttc_llvm
from ttc_llvm.compiling import machines
from ttc_llvm.errors import TargetError
from ttc_llvm.ir_builders import cpu_select
from ttc_llvm.machine import cpu_features, lookup, table
from ttc_llvm.machine.target import Target
from ttc_llvm.native import artifact
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend, linking
from ttc_llvm.tuning.cost.model import model_plan

LIST = "x86-64-v2,haswell,znver5"
PROBLEMS = (
    Problem((2, 1, 0), (13, 17, 9), "s"),
    Problem((1, 0), (33, 65), "zc", None, (70, 33)),
    Problem((0, 2, 1), (31, 9, 12), "i8"),
)
# qemu's CPU, the version that must run there
EMULATED = (
    ("qemu64", "x86-64"),
    ("core2duo", "x86-64"),
    ("Nehalem", "x86-64-v2"),
    ("SandyBridge", "x86-64-v2"),
    ("Haswell", "haswell"),
    ("Haswell,-avx2", "x86-64-v2"),
    ("Haswell,-bmi2", "x86-64-v2"),
    ("Haswell,-xsave,-avx,-avx2", "x86-64-v2"),
    ("max", "haswell"),
)


def spec(problem: Problem, names: str = LIST) -> artifact.Spec:
    """What `ttc --generateOnly --cpu=NAMES` writes for a problem."""
    form = canonicalise(problem).canonical
    own, *others = ((machine, model_plan(form, machine, 1)) for machine in machines.chosen(names))
    return artifact.Spec(problem, *own, others=tuple(others))


def jobs() -> list[Job]:
    """Every body of every problem, specialised and of any size."""
    found = []
    for problem in PROBLEMS:
        for number, (alpha, beta, through_beta) in enumerate(every_kind(problem)):
            padded = other_outer(problem.outer_a, 3) if number % 2 else None
            found.append(Job(problem, Call(alpha, beta, padded, None, 2, through_beta, "start", seed=number)))
    return found


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the problems' objects and headers."""
    folder = tmp_path_factory.mktemp("versions")
    for problem in PROBLEMS:
        artifact.write(spec(problem), folder)
    return folder


@pytest.mark.parametrize(("cpu", "version"), EMULATED, ids=[cpu for cpu, _ in EMULATED])
def test_a_cpu_runs_its_version_and_no_other(cpu: str, version: str, built: Path, tmp_path: Path) -> None:
    """qemu stops a program at an instruction that its CPU lacks, and lists the functions that it has seen."""
    log = tmp_path / "seen"
    machine = Machine(cpu, (), "gcc", ("qemu-x86_64", "-cpu", cpu, "-d", "in_asm", "-D", str(log)), slack=256 << 10)
    emulators.found(machine)
    folder = shutil.copytree(built, tmp_path / "program")
    run_and_compare(machine, jobs(), sorted(folder.glob("*.o")), folder)
    seen = set(re.findall(r"^IN: \w+\.([\w-]+)\.run", log.read_text(), re.MULTILINE))
    assert seen == {version}


def test_all_versions_compute_here(built: Path, tmp_path: Path) -> None:
    """Natively, whatever this machine is; and linked into one library without a clash of names."""
    objects = sorted(built.glob("*.o"))
    gcc = compiler("gcc")
    library = tmp_path / "libversions.so"
    run(gcc, "-shared", "-nostdlib", "-Wl,-z,text,-z,defs,--fatal-warnings", *objects, "-o", library)
    loaded = ctypes.CDLL(str(library))

    def address(symbol: str) -> int:
        return ctypes.cast(loaded[symbol], ctypes.c_void_p).value or 0

    for problem in PROBLEMS:
        for alpha, beta, through_beta in every_kind(problem):
            check(address, problem, Call(alpha, beta, None, None, 2, through_beta))


def chosen_here(targets: tuple[Target, ...]) -> int:
    """The number of the version that this very machine takes."""
    module = ir.Module("choice", context=ir.Context())
    module.triple = table.X86
    choose = cpu_select.add_choose(module, targets)
    choose.linkage = ""
    code = linking.load(backend.compile_object(str(module), lookup.find("x86-64")), ["cpu.choose"])
    call = ctypes.CFUNCTYPE(ctypes.c_int32)(code.address("cpu.choose"))
    return int(call())


@pytest.mark.parametrize("cpu", sorted(lookup.cpus("x86")))
def test_this_machine_takes_a_version_exactly_if_it_can_run_it(cpu: str) -> None:
    """Our own instructions find out what LLVM finds out, for every CPU of the table."""
    wanted = lookup.find(cpu)
    assert chosen_here((wanted, lookup.find("x86-64"))) == (0 if backend.runs_here(wanted) else 1)


def test_the_most_demanding_version_comes_first() -> None:
    here = backend.host_target()
    for names in (LIST, "znver5,haswell,x86-64-v2", "haswell,x86-64-v2,znver5"):
        found = machines.chosen(names)
        assert {machine.cpu for machine in found} == {"x86-64", "x86-64-v2", "haswell", "znver5"}
        assert [m.cpu for m in cpu_features.by_demand(found)] == ["znver5", "haswell", "x86-64-v2", "x86-64"]
        assert backend.runs_here(found[0]) and found[0].vector_bits <= here.vector_bits


def test_a_version_for_all_machines_is_added_once() -> None:
    assert [m.cpu for m in machines.chosen("sse2,haswell")].count("x86-64") == 1
    assert [m.cpu for m in machines.chosen("haswell,haswell")] == ["haswell"]
    assert [m.cpu for m in machines.chosen("haswell")] == ["haswell"]
    assert [m.name for m in machines.chosen("native")] == ["host"]
    assert machines.chosen(("avx2", lookup.find("avx512")))[-1].cpu == "x86-64"


def test_objects_hold_nothing_of_this_machine_alone_unless_asked(tmp_path: Path) -> None:
    """By default there is a version for all machines; `native` and named CPUs have only their own."""
    problem = PROBLEMS[0]
    for wanted, versions in ((None, 2), ("native", 1), ("haswell", 1)):
        solution = ttc_llvm.compile(problem, 1, target=wanted, database=tmp_path / "solutions.db")
        text = solution.write(tmp_path / str(wanted), ["llvm"])[0].read_text()
        assert len(set(re.findall(r'define internal void @"\w+\.([\w-]+\.)?run"', text))) == versions + (versions > 1)
    assert len(ttc_llvm.compile(problem, 1, database=tmp_path / "solutions.db").others) == 1


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("haswell,neon", "neon cannot share an object with other CPUs: only x86-64"),
        ("haswell,hasswell", "near matches are haswell"),
        ("haswell,", "unknown architecture or CPU ''"),
        ((), "the list of CPUs is empty"),
        (("haswell", 5), "target 5 is neither"),
    ],
)
def test_lists_that_no_object_can_serve(names: str, message: str) -> None:
    with pytest.raises(TargetError, match=message):
        machines.chosen(names)


def test_machines_of_different_systems_share_no_object() -> None:
    other = replace(lookup.find("haswell"), triple="x86_64-apple-darwin")
    with pytest.raises(TargetError, match="cannot share an object"):
        machines.chosen((lookup.find("znver5"), other))


@pytest.mark.full
@pytest.mark.parametrize("names", ["x86-64-v2,x86-64-v3,x86-64-v4", "sandybridge,bdver3,znver1", "knl,skylake"])
def test_other_lists_compute_on_every_emulated_cpu(names: str, tmp_path: Path) -> None:
    objects = [artifact.write(spec(problem, names), tmp_path)[0] for problem in PROBLEMS]
    for cpu, _ in EMULATED:
        machine = Machine(cpu, (), "gcc", ("qemu-x86_64", "-cpu", cpu), slack=256 << 10)
        run_and_compare(machine, jobs(), objects, tmp_path)
