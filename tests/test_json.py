"""What commands print with `--json` is what the schema of the documentation says, word for word."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ttc_llvm import cli
from ttc_llvm.cli import report
from ttc_llvm.cli.options import SUBCOMMANDS

REFERENCE = Path(__file__).parent.parent / "docs" / "reference"
SCHEMA = json.loads((REFERENCE / "ttc.schema.json").read_text())
TYPES: Mapping[str, Any] = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int,
    "number": (int, float),
}  # fmt: skip
TINY = ("--perm=1,0", "--size=48,32", "--emit=")
pytestmark = pytest.mark.usefixtures("own_place")


def faults(value: Any, schema: Any, where: str = "") -> Iterator[str]:
    """Where a value is not what a schema says; a field that it does not name is a fault, too."""
    known: set[str] | None = set()
    for part in _parts(schema):
        if ("enum" in part and value not in part["enum"]) or ("const" in part and value != part["const"]):
            yield f"{where} = {value!r} is another value"
        if "type" in part and not _is_any(value, part["type"]):
            yield f"{where} = {value!r} is no {part['type']}"
        if "anyOf" in part and all(list(faults(value, one)) for one in part["anyOf"]):
            yield f"{where} = {value!r} is none of what it may be"
        if isinstance(value, list) and "items" in part:
            for number, item in enumerate(value):
                yield from faults(item, part["items"], f"{where}[{number}]")
        if isinstance(value, dict):
            fields = part.get("properties", {})
            known = None if known is None or "additionalProperties" in part or "anyOf" in part else known | set(fields)
            yield from (f"{where}.{name} is missing" for name in part.get("required", ()) if name not in value)
            for name, item in value.items():
                yield from faults(item, fields.get(name, part.get("additionalProperties", {})), f"{where}.{name}")
    if isinstance(value, dict) and known and schema:
        yield from (f"{where}.{name} is not described" for name in value if name not in known)


def _parts(schema: Any) -> Iterator[Any]:
    """A schema, and those that it refers to."""
    yield schema
    for one in (*schema.get("allOf", ()), *([schema] if "$ref" in schema else [])):
        inner = SCHEMA["$defs"][one["$ref"].rpartition("/")[2]] if "$ref" in one else one
        yield from _parts(inner)


def _is_any(value: Any, names: str | list[str]) -> bool:
    wanted = [names] if isinstance(names, str) else names
    if isinstance(value, bool):
        return "boolean" in wanted
    return any(isinstance(value, TYPES[name]) for name in wanted)


def check(kind: str, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """The object that a command prints, which is of this kind."""
    assert cli.main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == f"ttc_llvm/{kind}/{report.SCHEMAS[kind]}"
    assert next(iter(found)) == "schema"
    assert list(faults(found, SCHEMA["$defs"][kind])) == []
    return found


@pytest.mark.parametrize(
    "options",
    [
        ("--maxImplementations=3",),
        ("--generateOnly",),
        ("--maxImplementations=2", "--order=C", "--dataType=z", "--alpha=1+2j", "--lda=50,40", "--conjugate"),
        ("--maxImplementations=2", "--compiler=llvm"),
        ("--generateOnly", "--cpu=haswell,skylake-avx512"),
        ("--generateOnly", "--cpu=sm_80"),
    ],
)
def test_compilations(options: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    check("compile", capsys, *TINY, *options)


def test_contractions(capsys: pytest.CaptureFixture[str]) -> None:
    stated = "--einsum=ik,kj->ij", "--size=i:3,k:4,j:5", "--dataType=z", "--conjugate-b"
    check("contraction", capsys, *stated, "--cpu=haswell", "--order=F")
    check("contraction", capsys, *stated, "--maxImplementations=2")


def test_libraries(capsys: pytest.CaptureFixture[str]) -> None:
    Path("all.txt").write_text("--perm=1,0 --size=48,32\n--perm=2,1,0 --size=4,5,6 --maxImplementations=1\n")
    with open("all.txt", "a") as stream:
        stream.write("--einsum=ik,kj->ij --size=i:3,k:4,j:5 --maxImplementations=1\n")
    check("library", capsys, "--manifest=all.txt", "--maxImplementations=2", "--name=both")
    check("library", capsys, "--manifest=all.txt", "--cpu=haswell", "--generateOnly", "--name=both", "--force")


def test_groups(capsys: pytest.CaptureFixture[str]) -> None:
    Path("blocks.txt").write_text("--perm=1,0 --size=48,32\n--perm=2,1,0 --size=4,5,6\n--perm=1,0 --size=48,32\n")
    assert check("group", capsys, "--manifest=blocks.txt", "--cpu=sm_80")["group"]["blocks"] == 3


def test_this_machine(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "ceilings_gibs" in check("info", capsys, "info")
    monkeypatch.delenv("TTC_DATABASE")
    Path("damaged").write_bytes(bytes(range(256)) * 9)
    assert "error" in check("info", capsys, "info", "--no-ceilings", "--database=damaged")["database"]


def test_devices_of_this_machine(gpu: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(check("info", capsys, "info", "--no-ceilings")["gpus"], dict)


def test_targets(capsys: pytest.CaptureFixture[str]) -> None:
    check("targets", capsys, "info", "--targets")


def test_stored_solutions(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("solutions", capsys, "database", "list")["solutions"] == []
    for words in (("--maxImplementations=3",), ("--generateOnly", "--beta=1", "--order=C")):
        assert cli.main([*TINY, *words, "--quiet"]) == 0
    (one, _) = check("solutions", capsys, "database", "list")["solutions"]
    shown = check("solution", capsys, "database", "show", one["id"])
    assert shown["extra"]["asked"]["size"] == [48, 32] and shown["object_bytes"]


# --- the schema itself ----------------------------------------------------------------------------------------


def test_every_kind_has_its_schema() -> None:
    kinds = [one["$ref"].rpartition("/")[2] for one in SCHEMA["oneOf"]]
    assert kinds == list(report.SCHEMAS)
    assert set(SUBCOMMANDS) >= {"info", "database"}


def test_every_field_is_described() -> None:
    def fields(schema: Any) -> Iterator[tuple[str, Any]]:
        if isinstance(schema, dict):
            yield from schema.get("properties", {}).items()
            for part in schema.values():
                yield from fields(part)
        for part in schema if isinstance(schema, list) else ():
            yield from fields(part)

    found = list(fields(SCHEMA))
    assert len(found) > 100
    assert [name for name, one in found if not any("description" in part for part in _parts(one))] == []


def test_the_page_names_every_kind() -> None:
    page = (REFERENCE / "json.md").read_text()
    assert [kind for kind, version in report.SCHEMAS.items() if f"`ttc_llvm/{kind}/{version}`" not in page] == []
    assert "ttc.schema.json" in page


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda found: found.update(extra=1), ".extra is not described"),
        (lambda found: found.pop("plan"), ".plan is missing"),
        (lambda found: found.update(source="luck"), ".source = 'luck' is another value"),
        (lambda found: found["problem"].update(perm=[1, "0"]), ".problem.perm[1] = '0' is no integer"),
        (lambda found: found["measurement"].update(odd=True), ".measurement.odd is not described"),
        (lambda found: found.update(elapsed_s=True), ".elapsed_s = True is no number"),
    ],
)
def test_the_check_finds_faults(change: Any, fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = check("compile", capsys, *TINY, "--maxImplementations=2")
    change(found)
    assert list(faults(found, SCHEMA["$defs"]["compile"])) == [fault]
