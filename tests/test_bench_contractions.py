"""`ttc bench --suite=tccg`: the cases, what is measured, and what is refused."""

from __future__ import annotations

import json
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ttc_llvm import Contraction, VerificationError, cli
from ttc_llvm.bench import contraction_cases, contraction_peers, contraction_runner
from ttc_llvm.cli import bench_contractions
from ttc_llvm.contractions import search
from ttc_llvm.lazy_dataclasses import replace
from ttc_llvm.runtime import backend


@pytest.fixture
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(bench_contractions.CHILD, "1")


def test_the_48_cases_follow_the_benchmarks_rule() -> None:
    found = contraction_cases.cases(["tccg"], 24 << 20, ["d"], [])
    assert len({one.id for one in found}) == len({one.stated.spec for one in found}) == 48
    by_name = {one.name.partition("-")[2]: one.stated for one in found}
    last = by_name["ccsd-t-abcijk-ekbc-ijea"]
    assert last.spec == "cbke,aeji->kjicba"
    assert last.extents == {"c": 12, "b": 12, "k": 12, "e": 24, "a": 24, "j": 12, "i": 24}
    for one in found:
        sizes = [np.prod(one.stated.shape(name)) * 8 for name in "abc"]
        assert 12 << 20 < max(sizes) < 100 << 20, one.id


@pytest.mark.parametrize("suite", contraction_cases.SUITES)
@pytest.mark.parametrize("largest", [1, 1000])
def test_tensors_of_few_bytes_have_elements(suite: str, largest: int) -> None:
    assert all(one.stated.multiplications for one in contraction_cases.cases([suite], largest, ["z"], []))


@pytest.mark.parametrize("suite", contraction_cases.SUITES)
@pytest.mark.parametrize("dtype", "sdcz")
def test_every_suite_has_cases_of_every_type(suite: str, dtype: str) -> None:
    found = contraction_cases.cases([suite], 1 << 16, [dtype], [])
    assert {str(one.stated.dtype) for one in found} == {dtype}
    assert all(one.stated.multiplications > 0 for one in found)


@pytest.mark.usefixtures("_in_this_process")
@pytest.mark.parametrize(
    ("suites", "wanted", "dtype"), [("tccg", "1*", "s"), ("networks,attention", "*bhsd,*mpo", "z")]
)
def test_it_measures(
    suites: str, wanted: str, dtype: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "here.jsonl"
    flags = ["--bytes=16K", "--rounds=2", "--peers=numpy", f"--dtype={dtype}", f"--output={file}", "--threads=1"]
    assert cli.main(["bench", f"--suite={suites}", f"--cases={wanted}", *flags]) == 0
    out = capsys.readouterr().out
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(lines) == (10 if suites == "tccg" else 3)
    for line in lines:
        assert line["id"] in out
        assert line["seconds"].keys() == {"ttc", "gemm", "numpy"}
        assert line["flops"] == (8 if dtype == "z" else 2) * np.prod([*line["size"].values()])
        assert line["gflops"] > 0
    assert "of gemm: " in out
    assert "x numpy: " in out


@pytest.mark.usefixtures("_in_this_process")
def test_a_wrong_element_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def planned(stated: Contraction, threads: int, effort: int, known: bool) -> Any:
        found = search.planned(stated, threads, effort, known)
        run = found.run

        def wrong(a: Any, b: Any, c: Any) -> None:
            run(a, b, c)
            c.flat[-1] += 1e-9

        monkeypatch.setattr(found, "run", wrong)
        return found

    stated = Contraction("ij,jk->ik", {"i": 5, "j": 6, "k": 7})
    monkeypatch.setattr(contraction_runner, "planned", planned)
    case = contraction_cases.ContractionCase("own", "matrix", stated)
    how = contraction_runner.ContractionSettings({}, 1, 1, 1, {})
    with pytest.raises(VerificationError, match="own/matrix/d: an element of the contraction is wrong"):
        list(contraction_runner.measured([case], how))


@pytest.mark.parametrize(("threads", "wanted"), [(1, "ab ab ba"), (2, "ab -aa-bb -bb-aa")])
def test_runs_on_several_threads_are_timed_with_none_of_others_awake(
    threads: int, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = list[str]()
    monkeypatch.setattr(contraction_runner, "rest", lambda: done.append("-"))
    how = contraction_runner.ContractionSettings({}, 1, threads, 2, {})
    found = contraction_runner._rounds({name: partial(done.append, name) for name in "ab"}, how)
    assert "".join(done) == wanted.replace(" ", "")
    assert [len(seconds) for seconds in found.values()] == [2, 2]


@pytest.mark.parametrize("name", contraction_peers.PEERS)
def test_peers_fill_the_result(name: str) -> None:
    package, make = contraction_peers.PEERS[name]
    pytest.importorskip(package)
    stated = Contraction("bij,kjb->bki", {"b": 2, "i": 3, "j": 4, "k": 5})
    a, b, out = np.random.rand(2, 3, 4), np.random.rand(5, 4, 2), np.full((2, 5, 3), np.nan)
    make(stated, a, b, out, 1)()
    assert np.allclose(out, np.einsum(stated.spec, a, b))


def test_it_runs_in_a_process_that_takes_the_machine_for_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def run(command: list[str], env: dict[str, str], check: bool) -> Any:
        seen.append((command, env))
        return subprocess.CompletedProcess(command, 3)

    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setenv("BLIS_ARCH_TYPE", "skx")
    monkeypatch.setattr(subprocess, "run", run)
    words = ["bench", "--suite=tccg", "--threads=2", "--bytes=1M", "--database=here.db"]
    assert cli.main(words) == 3
    [(command, environment)] = seen
    assert command[1:] == ["-m", "ttc_llvm", *words]
    assert environment["TTC_DATABASE"] == "here.db"
    assert "OPENBLAS_CORETYPE" not in environment
    assert environment["OPENBLAS_NUM_THREADS"] == environment["OMP_NUM_THREADS"] == "2"


@pytest.mark.parametrize(
    ("told", "bits", "wanted"),
    [("generic", 512, "skx"), ("generic", 256, "haswell"), ("generic", 128, "generic"), ("zen3", 512, "zen3")],
)
def test_tblis_takes_no_generic_kernels(told: str, bits: int, wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, str]] = []

    def run(command: list[str], env: dict[str, str], **_: Any) -> Any:
        asked.append(env)
        return subprocess.CompletedProcess(command, 0, "", f"libblis: selecting sub-configuration '{told}'.\n")

    monkeypatch.setattr(contraction_peers, "find_spec", lambda name: name)
    monkeypatch.setattr(subprocess, "run", run)
    machine = replace(backend.host_target(), vector_bits=bits, family="x86")
    monkeypatch.setattr(backend, "host_target", lambda: machine)
    assert contraction_peers.tblis_kernels({"HOME": "/"}) == {"BLIS_ARCH_TYPE": wanted}
    assert contraction_peers.tblis_kernels({"BLIS_ARCH_TYPE": "knl"}) == {}
    assert [env["BLIS_ARCH_DEBUG"] for env in asked] == ["1"]


def test_it_tells_which_kernels_tblis_was_told_to_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLIS_ARCH_TYPE", "skx")
    assert contraction_peers.blas_kernels()[-1] == "tblis skx"
    monkeypatch.delenv("BLIS_ARCH_TYPE")
    assert not any("tblis" in one for one in contraction_peers.blas_kernels())


def test_the_signal_that_ended_the_process_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BLIS_ARCH_TYPE", "skx")
    monkeypatch.setattr(subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, -11))
    assert cli.main(["bench", "--suite=tccg", "--threads=2"]) != 0
    assert capsys.readouterr().err == "ttc: error: the process that measures on 2 threads was ended by signal 11\n"


def test_it_lists(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--suite=tccg", "--list", "--cases=08"]) == 0
    assert capsys.readouterr().out.split()[:2] == ["tccg/08-ao2mo-aqrs-pa-pqrs/d", "ap,srqp->srqa"]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--suite=tccg,ttc57"], "suites of contractions (tccg, networks, attention, random) are"),
        (["--suite=tccg", "--pattern"], "--pattern is for transpositions"),
        (["--suite=tccg", "--kind=copy"], "--kind is for transpositions"),
        (["--suite=tccg", "--noTest"], "--noTest is for transpositions"),
        (["--suite=tccg", "--budget=5"], "--budget is for transpositions"),
        (["--suite=tccg", "--dtype=i32"], "contractions are of the types s, d, c and z"),
        (["--suite=tccg", "--cases=nowhere"], "cases 'nowhere' match nothing"),
        (["--suite=tccg", "--peers=hptt"], "unknown peer 'hptt'"),
        (["--suite=tccg", "--peers=nothing"], "unknown peer 'nothing'"),
        (["--suite=tccg", "--rounds=0"], "--rounds=0"),
        (["--suite=tccg", "--bytes=0"], "--bytes=0: a size such as"),
        (["--suite=tccg", "--dtype=i4"], "contractions are of the types s, d, c and z"),
        (["--suite=tccg", "--effort=x"], "--effort=x: a count from 1"),
        (["--suite=tccg", "--threads=-1"], "--threads=-1: a number from 1"),
        (["--suite=tccg", "--output=/nowhere/here.jsonl"], "/nowhere/here.jsonl cannot be written"),
    ],
)
@pytest.mark.usefixtures("_in_this_process")
def test_bad_options_are_told(flags: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", *flags]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
