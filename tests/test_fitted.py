"""The cost model's data file: whole or refused, and read by names, whatever the order of columns or of decisions."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from processes import attempt

from ttc_llvm import Problem
from ttc_llvm.errors import ModelError
from ttc_llvm.lowering.plan import CpuPlan, Fetch, Store
from ttc_llvm.machine import lookup as targets
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.tuning.cost import fitted, vocabulary
from ttc_llvm.tuning.cost.features import Features, kind
from ttc_llvm.tuning.cost.model import ranked
from ttc_llvm.tuning.cost.networks import Networks

Arrays = dict[str, np.ndarray]
FILES = {"FILE": (), "CONVERSIONS": ("--dataType=uint8,float32",)}  # of the model, and what is planned by each
SHOW = Path(__file__).parent.parent / "benchmarks" / "ranking" / "show.py"
PROBLEMS = [
    Problem((1, 0), (4000, 3001), alpha=2, beta=4),
    Problem((1, 0), (4096, 3008), "d"),
    Problem((1, 0), (4001, 3001)),
    Problem((0, 2, 1), (9, 900, 700), "d"),
    Problem((0, 2, 1), (64, 900, 700), beta=1),
    Problem(tuple(reversed(range(22))), (2,) * 22),
]


def arrays() -> Arrays:
    """The package's file, array by array."""
    with np.load(fitted.FILE) as stored:
        return {name: stored[name].copy() for name in stored.files}


def archive(content: Arrays) -> bytes:
    packed = BytesIO()
    np.savez(packed, **content)  # type: ignore[arg-type]
    return packed.getvalue()


def refusal(tmp_path: Path, data: bytes) -> str:
    """What reading a file of these bytes says."""
    path = tmp_path / "model.npz"
    path.write_bytes(data)
    with pytest.raises(ModelError) as refused:
        fitted.read(path)
    message = str(refused.value)
    assert message.startswith(f"the cost model's file {path} ")
    assert "\n" not in message
    return message


def put(array: str, field: str, row: int, value: object) -> Callable[[Arrays], None]:
    def change(content: Arrays) -> None:
        content[array][field][row] = value

    return change


def renamed(word: bytes, into: bytes) -> Callable[[Arrays], None]:
    def change(content: Arrays) -> None:
        words = content["words"]["word"]
        assert (words == word).any()
        words[words == word] = into

    return change


def without(name: str) -> Callable[[Arrays], None]:
    def change(content: Arrays) -> None:
        del content[name]

    return change


def newer(content: Arrays) -> None:
    content["fitted"]["vocabulary"] += 1


def without_version(content: Arrays) -> None:
    content["fitted"] = content["fitted"][["plans", "problems"]]


def without_fact(content: Arrays) -> None:
    content["words"] = content["words"][content["words"]["word"] != b"waiting"]


def without_an_input(content: Arrays) -> None:
    content["inputs"] = content["inputs"][1:]


def input_twice(content: Arrays) -> None:
    content["inputs"]["name"][1] = content["inputs"]["name"][0]


def lost_entries(content: Arrays) -> None:
    content["entries"] = content["entries"][:-1]


def table_twice(content: Arrays) -> None:
    tables = content["tables"]
    alike = np.flatnonzero(tables["sized"] & (tables["entries"] == tables["entries"][tables["sized"]][0]))
    tables[alike[1]] = tables[alike[0]]
    content["entries"] = content["entries"][: content["tables"]["entries"].sum()]


def network_of_nothing(content: Arrays) -> None:
    content["weights1"][2, 3, 4] = np.nan


def endless(content: Arrays) -> None:
    content["inputs"]["mean"][0] = np.inf


def narrow(content: Arrays) -> None:
    content["weights1"] = content["weights1"][:, :, :-1]


def misread(content: Arrays) -> None:
    content["tables"]["sized"][:] = False


def two_versions(content: Arrays) -> None:
    content["fitted"] = np.array([content["fitted"]] * 2)


def without_a_column(content: Arrays) -> None:
    content["entries"] = content["entries"][["bucket"]]


BROKEN: list[tuple[Callable[[Arrays], None], str]] = [
    (newer, f"has vocabulary {vocabulary.VERSION + 1}, and this program knows vocabulary {vocabulary.VERSION} only"),
    (without_version, "names no vocabulary"),
    (without("fitted"), "names no vocabulary"),
    (without("entries"), "it has no column 'entries'"),
    (without("biases2"), "it has no column 'biases2'"),
    (two_versions, "cannot be read"),
    (without_a_column, "cannot be read: no field of name weight"),
    (without_fact, "says nothing of fact 'waiting'"),
    (renamed(b"blocks joined", b"blocks glued"), "speaks of mode 'blocks glued', which this program does not know"),
    (renamed(b"Zen 5", b"Zen 6"), "speaks of family 'Zen 6', which this program does not know"),
    (put("words", "column", 0, b"turbo"), "turbo"),
    (put("entries", "weight", 17, np.nan), "has a weight that is no number"),
    (network_of_nothing, "has a parameter of its networks that is no number"),
    (endless, "has a parameter of its networks that is no number"),
    (put("inputs", "scale", 5, 0), "has networks whose layers do not fit 76 inputs and each other"),
    (narrow, "has networks whose layers do not fit 76 inputs and each other"),
    (without_an_input, "has networks whose layers do not fit 75 inputs and each other"),
    (input_twice, "has networks whose layers do not fit 75 inputs and each other"),
    (lost_entries, " entries, and tables of "),
    (table_twice, "has two tables of one fact"),
    (misread, "has buckets that are no words"),
]


@pytest.mark.parametrize(("change", "sentence"), BROKEN)
def test_what_is_incomplete_or_of_another_program_is_refused(
    change: Callable[[Arrays], None], sentence: str, tmp_path: Path
) -> None:
    content = arrays()
    change(content)
    assert sentence in refusal(tmp_path, archive(content))


def test_a_file_that_is_missing_or_holds_code_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"cannot be read: .*No such file"):
        fitted.read(tmp_path / "model.npz")
    content = arrays() | {"words": np.array([print], object)}
    assert "pickle" in refusal(tmp_path, archive(content))


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    whole = fitted.FILE.read_bytes()
    for length in (*range(0, len(whole), len(whole) // 40), len(whole) - 1):
        assert "cannot be read" in refusal(tmp_path, whole[:length])


def test_flipped_bits_are_refused_or_harmless(tmp_path: Path) -> None:
    """Every part of the archive has a checksum; what has none, as the dates, says nothing."""
    whole, path = fitted.FILE.read_bytes(), tmp_path / "model.npz"
    sound, refused = show(fitted.FILE), 0
    for place in range(3, len(whole), len(whole) // 60):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        try:
            assert show(path) == sound
        except ModelError:
            refused += 1
    assert refused > 50


def show(path: Path) -> list[object]:
    """What a file says, to be compared."""
    model = fitted.read(path)
    networks = model.networks
    parts = (networks.mean, networks.scale, *networks.weights, *networks.biases)
    tables = [(owner, model.tables[owner]) for owner in model.tables]
    return [tables, networks.columns, [part.tobytes() for part in parts], model.plans, model.problems]


def test_what_is_written_is_what_is_read_and_always_the_same_bytes(tmp_path: Path) -> None:
    model, paths = fitted.fitted(), [tmp_path / "first.npz", tmp_path / "second.npz"]
    tables = {owner: model.tables[owner] for owner in model.tables}
    assert sum(map(len, tables.values())) > 20_000
    for path in paths:
        fitted.write(path, tables, model.networks, model.plans, model.problems)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert show(paths[0]) == show(fitted.FILE)


def test_columns_may_come_in_any_order(tmp_path: Path) -> None:
    content, path = arrays(), tmp_path / "model.npz"
    order = np.random.default_rng(0).permutation(len(content["inputs"]))
    content["inputs"], content["weights0"] = content["inputs"][order], content["weights0"][:, order]
    words = np.random.default_rng(1).permutation(len(content["words"]))
    places = np.argsort(words)
    for column in fitted.WORDS:
        content["tables"][column] = places[content["tables"][column]]
    named = np.repeat(~content["tables"]["sized"], content["tables"]["entries"])
    content["entries"]["bucket"][named] = places[content["entries"]["bucket"][named]]
    content["words"] = content["words"][words]
    path.write_bytes(archive(content))
    found, sound = fitted.read(path), fitted.fitted()
    assert found.networks.columns != sound.networks.columns
    assert [found.tables[owner] for owner in sound.tables] == [sound.tables[owner] for owner in sound.tables]
    same, networks = found.networks.reading(sound.networks.columns), sound.networks
    assert same.columns == networks.columns
    assert [one.tobytes() for one in (same.mean, same.scale, *same.weights)] == [
        one.tobytes() for one in (networks.mean, networks.scale, *networks.weights)
    ]


@pytest.mark.parametrize("change", ["one less", "one more", "another name"])
def test_networks_read_exactly_the_inputs_that_they_know(change: str) -> None:
    networks: Networks = fitted.fitted().networks
    names = networks.columns
    given = {"one less": names[:-1], "one more": (*names, "turbo"), "another name": (*names[:-1], "turbo")}[change]
    with pytest.raises(ModelError, match="know 76 inputs, and plans have"):
        networks.reading(given)


def test_every_decision_has_a_word() -> None:
    assert set(vocabulary.FETCHES) == set(Fetch)
    assert set(vocabulary.STAGINGS) == set(vocabulary.STORES) == set(Store)
    assert set(vocabulary.STAGINGS.values()) <= set(vocabulary.STAGED)
    assert len(set(vocabulary.MODES)) == len(vocabulary.MODES) == len(Fetch) * len(vocabulary.STORED)


@pytest.mark.parametrize("target", ["sse2", "znver4", "znver5", "cascadelake", "neoverse-v1"])
def test_plans_have_no_facts_and_inputs_but_those_of_the_vocabulary(target: str) -> None:
    machine, met = targets.find(target), set()
    for problem in PROBLEMS:
        canonical = canonicalise(problem).canonical
        features = Features(canonical, machine)
        assert kind(canonical) in vocabulary.KINDS
        for plan in itertools.islice(ranked(canonical, machine, 2), 40):
            assert set(features.columns(plan)) == set(fitted.fitted().networks.columns)
            for (mode, fact, family), _ in features.owned(plan):
                assert mode in vocabulary.MODES and family in ("", *vocabulary.FAMILY)
                met.add(fact)
    assert met <= set(vocabulary.FACTS)
    assert len(met) > 20


def test_an_input_means_what_its_name_says() -> None:
    canonical, machine = canonicalise(PROBLEMS[1]).canonical, targets.find("znver4")
    features = Features(canonical, machine)
    plan = CpuPlan((64, 64), (8, 8), (1, 0), (0, 1), 2, 3, Store.COMBINED, Fetch.FAR, (512, 512))
    found = dict(zip(features.columns(plan), features.numbers(plan), strict=True))
    mode, _ = features(plan)
    ones = {name for name, number in found.items() if number == 1 and name.split()[0] in ("family", "mode", "staging")}
    assert ones == {"family Zen", "staging carry", f"mode {mode}"}
    assert (found["distance"], found["item a"], found["update"], found["panel"], found["axes"]) == (2, 3, 0, 1, 2)
    assert (found["tile size"], found["block elements"]) == (15, 6)


RENAMED = """
import itertools, sys
from ttc_llvm.lowering.plan import Fetch, Store
for enum in (Fetch, Store) if sys.argv[1] == "renamed" else ():
    enum._member_names_.reverse()
    for member in enum:
        member._value_ = f"other {member._value_}"
from ttc_llvm import Problem; from ttc_llvm.machine import lookup
from ttc_llvm.problem.canonical import canonicalise
from ttc_llvm.tuning.cost.cost import Model
from ttc_llvm.tuning.cost.model import ranked
SHAPES = ((1, 0), (4001, 3001), 0), ((0, 2, 1), (64, 900, 700), 0), ((2, 1, 0), (384, 355, 384), 1)
for problem in (Problem(perm, size, beta=beta) for perm, size, beta in SHAPES):
    for machine in map(lookup.find, ("znver4", "cascadelake")):
        form = canonicalise(problem).canonical
        plans = list(itertools.islice(ranked(form, machine, 2), 40))
        for plan, cost in zip(plans, Model(form, machine, 2).costs(plans)):
            print(plan.tile, plan.block, plan.order, plan.store.name, plan.fetch.name, cost.hex())
"""


def test_neither_names_nor_order_of_decisions_matter() -> None:
    """The model's words are its own: decisions that are renamed, and stand in another order, cost the same."""
    said = []
    for how in ("renamed", "as they are"):
        done = attempt(sys.executable, "-c", RENAMED, how)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout.splitlines())
    assert len(said[0]) == 240
    assert said[0] == said[1]
    assert {"COMBINED", "FAR"} <= {word for line in said[0] for word in line.split()}


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_one_line_of_the_command(tmp_path: Path, name: str) -> None:
    """Of conversions where the problem is one, which read no other."""
    broken = tmp_path / "model.npz"
    broken.write_bytes(fitted.FILE.read_bytes()[:1000])
    program = (
        "import sys; from pathlib import Path; from ttc_llvm import cli; from ttc_llvm.tuning.cost import fitted\n"
        f"fitted.{name} = Path({str(broken)!r})\n"
        f"sys.exit(cli.main([*sys.argv[1:], '--perm=1,0', '--generateOnly', '--output-dir={tmp_path}']))"
    )
    for other, arguments in FILES.items():
        env = {"TTC_DATABASE": str(tmp_path / "db.sqlite3")}
        done = attempt(sys.executable, "-c", program, "--size=4000,3000", *arguments, env=env)
        assert done.returncode == (2 if other == name else 0)
        if other == name:
            assert done.stderr.count("\n") == 1
            assert f"the cost model's file {broken} cannot be read" in done.stderr


def test_the_file_is_shown_as_text(tmp_path: Path) -> None:
    done = attempt(sys.executable, SHOW)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "vocabulary 1; fitted to 174449 plans of 1981 problems"
    assert "table columns copy | base | : 1.387" in lines
    assert sum(line.startswith("input ") for line in lines) == 76
    only = attempt(sys.executable, SHOW, "--only=rows update | rows stores: waste").stdout
    assert only == "table rows update | rows stores: waste | 0: -0.067 1: -0.038 2: -0.002 3: 0.019 4: 0.084\n"
    conversions = attempt(sys.executable, SHOW, fitted.CONVERSIONS).stdout
    assert conversions.startswith("vocabulary 1; fitted to 184143 plans of 2117 problems\n")
    (tmp_path / "model.npz").write_bytes(b"")
    wrong = attempt(sys.executable, SHOW, tmp_path / "model.npz")
    assert (wrong.returncode, wrong.stdout, wrong.stderr.count("\n")) == (2, "", 1)


def test_nothing_is_read_before_the_first_plan() -> None:
    program = "import ttc_llvm.tuning.cost.model, ttc_llvm.tuning.cost.fitted as f; print(f.fitted.cache_info())"
    assert "currsize=0" in attempt(sys.executable, "-c", program).stdout
