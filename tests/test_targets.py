"""Which machines there are, what each name means, and what plans they get."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from processes import attempt

from ttc_llvm import cli
from ttc_llvm.errors import TargetError
from ttc_llvm.lowering.plan import CpuPlan
from ttc_llvm.machine import cpu_features, lookup, table
from ttc_llvm.machine import gpu_target as gpu_target
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.problem.problem import Problem
from ttc_llvm.tuning.cost.model import model_plan

BIG = Problem((2, 1, 0), (384, 355, 384), "s")


@pytest.mark.parametrize(
    ("name", "triple", "cpu", "bits"),
    [
        ("haswell", "x86_64-unknown-linux-gnu", "haswell", 256),
        ("bdver3", "x86_64-unknown-linux-gnu", "bdver3", 256),
        ("knl", "x86_64-unknown-linux-gnu", "knl", 512),
        ("skylake-avx512", "x86_64-unknown-linux-gnu", "skylake-avx512", 512),
        ("x86-64-v2", "x86_64-unknown-linux-gnu", "x86-64-v2", 128),
        ("x86-64-v3", "x86_64-unknown-linux-gnu", "x86-64-v3", 256),
        ("x86-64-v4", "x86_64-unknown-linux-gnu", "x86-64-v4", 512),
        (" NEON ", "aarch64-unknown-linux-gnu", "generic", 128),
        ("arm", "aarch64-unknown-linux-gnu", "generic", 128),
        ("sve", "aarch64-unknown-linux-gnu", "generic", 128),
        ("neoverse-v1", "aarch64-unknown-linux-gnu", "neoverse-v1", 256),
        ("a64fx", "aarch64-unknown-linux-gnu", "a64fx", 512),
        ("power", "powerpc64le-unknown-linux-gnu", "pwr8", 128),
        ("pwr9", "powerpc64le-unknown-linux-gnu", "pwr9", 128),
        ("pwr9-be", "powerpc64-unknown-linux-gnu", "pwr9", 128),
        ("rvv", "riscv64-unknown-linux-gnu", "generic-rv64", 128),
        ("spacemit-x60", "riscv64-unknown-linux-gnu", "spacemit-x60", 256),
        ("wasm", "wasm32-unknown-unknown", "generic", 128),
        ("aarch64-linux-musl", "aarch64-linux-musl", "generic", 128),
        ("powerpc64-linux-gnu", "powerpc64-linux-gnu", "pwr8", 128),
        ("x86_64-apple-darwin", "x86_64-apple-darwin", "x86-64", 128),
    ],
)
def test_one_table_knows_every_spelling(name: str, triple: str, cpu: str, bits: int) -> None:
    found = lookup.find(name)
    assert (found.triple, found.cpu, found.vector_bits) == (triple, cpu, bits)
    assert found.is_big_endian == (triple.startswith("powerpc64-"))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hasswell", "unknown architecture or CPU 'hasswell': near matches are haswell"),
        ("pwr99", "near matches are pwr9"),
        ("x86-64-v5", "unknown architecture or CPU 'x86-64-v5': near matches are x86-64-v4, x86-64-v3, x86-64-v2"),
        ("riscv32-linux-gnu", "unknown triple 'riscv32-linux-gnu': near matches are riscv64-linux-gnu"),
        ("neoverse-n9", "near matches are neoverse-n2, neoverse-n1"),
        ("riscv64-linux", "near matches are"),
        ("powerpc64el-linux-gnu", "unknown triple 'powerpc64el-linux-gnu': near matches are powerpc64le-linux-gnu"),
        ("mips-none-elf-eabi-2", "unknown triple"),
        ("knc", "its successor is knl"),
        ("sm_90", "it is a GPU"),
        ("", "unknown architecture"),
    ],
)
def test_unknown_names_list_near_ones(name: str, message: str) -> None:
    with pytest.raises(TargetError, match=message) as caught:
        lookup.find(name)
    assert "\n" not in str(caught.value)


def test_a_cpu_on_another_triple_of_its_back_end() -> None:
    assert lookup.on_triple(lookup.find("pwr9"), "powerpc64-linux-gnu").is_big_endian
    with pytest.raises(TargetError, match="pwr9 is no CPU of riscv64-linux-musl: that is riscv64, not ppc64"):
        lookup.on_triple(lookup.find("pwr9"), "riscv64-linux-musl")


def test_rows_and_cpus_hang_together() -> None:
    cpus = [cpu for names in table.CPUS.values() for cpu in names]
    assert {*table.CPUS, *table.TRIPLES.values()} <= set(table.ROWS)
    assert len(cpus) == len(set(cpus)) and set(table.DIFFERENCES) <= set(cpus)
    assert not set(table.ALIASES) & {*table.ROWS, *cpus}
    for name in lookup.spellings():
        found = lookup.find(name)
        lines = found.line * found.ways, found.line * found.l2_ways
        assert found.l1 % lines[0] == found.l2 % lines[1] == 0
        assert found.l2 >= found.l1 and found.vector_bits in (128, 256, 512)


KNOWN = """
import llvmlite.binding as llvm
from ttc_llvm.machine import lookup, table
llvm.initialize_all_targets(); llvm.initialize_all_asmprinters()
for machine in map(lookup.find, [*table.ROWS, *(cpu for cpus in table.CPUS.values() for cpu in cpus)]):
    target = llvm.Target.from_triple(machine.triple)
    target.create_target_machine(cpu=machine.cpu, features=machine.features).emit_assembly(llvm.parse_assembly(""))
"""


def test_llvm_knows_every_cpu() -> None:
    """It ends the process, or ignores the CPU with a line, where it does not: so another process asks."""
    done = attempt(sys.executable, "-c", KNOWN)
    assert (done.returncode, done.stderr) == (0, "")


def test_targets_that_differ_have_keys_that_differ() -> None:
    keys = {lookup.find(name).key for name in table.ROWS}
    assert len(keys) == len(table.ROWS)


@pytest.mark.parametrize("name", [*table.ROWS, "bdver3", "a64fx", "pwr9", "znver5", "spacemit-x60"])
def test_plans_ask_for_nothing_that_a_machine_lacks(name: str) -> None:
    machine = lookup.find(name)
    plan = model_plan(canonicalise(BIG).canonical, machine, 1)
    assert isinstance(plan, CpuPlan)
    assert plan.non_temporal == machine.streams
    assert plan.prefetch == 0 or machine.prefetches
    assert max(plan.block) % machine.lanes(4) == 0


def test_what_cannot_be_looked_up_at_run_time_is_left_out() -> None:
    odd = replace(lookup.find("znver5"), features="+avx2,+amx-tile,-gfni,-prefer-256-bit,+sha")
    assert cpu_features.checkable(odd).features == "+avx2,-gfni,-prefer-256-bit"
    assert "gfni" not in cpu_features.needs(cpu_features.checkable(odd))


def compiled(capsys: pytest.CaptureFixture[str], tmp_path: Path, *arguments: str) -> dict[str, object]:
    """What `ttc --json` says of an untimed compilation."""
    where = (f"--database={tmp_path / 'd.db'}", f"--output-dir={tmp_path}", "--generateOnly", "--json")
    assert cli.main(["--perm=1,0", "--size=48,32", *where, *arguments]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)["target"]
    return found


def test_a_triple_and_a_cpu_on_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = compiled(capsys, tmp_path, "--architecture=powerpc64-linux-gnu", "--cpu=pwr9")
    assert (found["triple"], found["cpu"]) == ("powerpc64-linux-gnu", "pwr9")
    found = compiled(capsys, tmp_path, "--cpu=riscv64-linux-musl")
    assert (found["triple"], found["cpu"]) == ("riscv64-linux-musl", "generic-rv64")


def test_the_summary_says_whom_an_object_serves(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    where = (f"--database={tmp_path / 'd.db'}", f"--output-dir={tmp_path}", "--generateOnly", "--emit=header")
    assert cli.main(["--perm=1,0", "--size=48,32", *where, "--cpu=sse2,x86-64-v2"]) == 0
    said = capsys.readouterr().out
    assert "x86-64-v2 (x86-64-v2, 128-bit vectors); objects also serve sse2" in said
    assert "x86-64-v2, else x86-64 (x86_64-" in (tmp_path / "sTranspose10_48x32.h").read_text()


def test_every_target_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["info", "--targets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    listed = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert listed == [*table.ROWS, *gpu_target.names()]
    assert cli.main(["info", "--targets", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["targets"]
    assert found["sve512"]["cpus"] == ["a64fx"] and found["vsx-be"]["triple"] == "powerpc64-unknown-linux-gnu"
    assert "powerpc64-linux-gnu" in found["vsx-be"]["triples"]
    assert "h200" in found["sm_90"]["aliases"] and found["gfx90a"]["triple"] == "amdgcn-amd-amdhsa"
