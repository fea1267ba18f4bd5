"""The fitted part of the cost model, tables of weights and networks: a data file, and one of conversions.

A file is a NumPy archive, which holds arrays and no code. Its columns have names, its rows speak the words of
`vocabulary.py`: no meaning depends on a position. `benchmarks/ranking/show.py` prints it.

| array | what it holds |
|---|---|
| `fitted`: `vocabulary`, `plans`, `problems` | the words' version; what everything was fitted to |
| `words`: `column`, `word` | all words, by the column that they stand in, where their number in this list is |
| `tables`: `class`, `mode`, `fact`, `family` | whose a table of weights is |
| .. `sized`, `entries` | whether its buckets are sizes, or words; how many entries it has |
| `entries`: `bucket`, `weight` | of all tables, one after the other; weights in log(time) |
| `inputs`: `name`, `mean`, `scale` | of the networks |
| `weights0` .., `biases0` .. | per layer, as `networks.Networks` has them |
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from ttc_llvm import locks
from ttc_llvm.errors import ModelError
from ttc_llvm.lazy_dataclasses import dataclass

from .networks import Networks
from .vocabulary import FACTS, FAMILY, KINDS, MODES, VERSION

FILE = Path(__file__).with_name("cost_model.npz")
CONVERSIONS = FILE.with_name("conversions.npz")  # the same of problems between two types
LAYERS = range(3)
WORDS = {"class": KINDS, "mode": ("", *MODES), "fact": FACTS, "family": ("", *FAMILY)}  # every one, and no others
BUCKET = "bucket"
FITTED = [(name, "<i4") for name in ("vocabulary", "plans", "problems")]
TABLES = [*((column, "<i2") for column in WORDS), ("sized", "?"), ("entries", "<i2")]
ENTRIES = [(BUCKET, "<i2"), ("weight", "<f8")]

UNREADABLE = (  # raised by NumPy and `zipfile` where a file is none of ours
    *(OSError, BadZipFile, zlib.error, EOFError, NotImplementedError, SyntaxError),
    *(ValueError, TypeError, AttributeError, LookupError, ArithmeticError),
)

Bucket = int | str
Table = Mapping[Bucket, float]
Owner = tuple[str, str, str, str]  # class of problems, mode, fact, family of processors: "" where it is none's own
Place = tuple[int, int, bool]  # of a table: its entries, from and to, and whether buckets are sizes
Numbers = dict[str, dict[str, int]]  # of words, by column
Arrays = dict[str, np.ndarray]


class Tables:
    """Tables of weights by whose they are, each made when it is asked for: few are, of thousands."""

    def __init__(self, numbers: Numbers, places: dict[tuple[int, ...], Place], entries: np.ndarray) -> None:
        self._numbers, self._places, self._entries = numbers, places, entries
        self._buckets = {number: word for word, number in numbers[BUCKET].items()}
        self._known: dict[Owner, Table] = {}

    def __getitem__(self, owner: Owner) -> Table:
        """Weights in log(time) by bucket; empty where nothing is known."""
        found = self._known.get(owner)
        if found is None:
            key = tuple(self._numbers[column].get(word, -1) for column, word in zip(WORDS, owner, strict=True))
            found = self._known[owner] = self._table(*self._places.get(key, (0, 0, True)))
        return found

    def __iter__(self) -> Iterator[Owner]:
        """All that there is a table of, in the order of the file."""
        words = [{number: word for word, number in self._numbers[column].items()} for column in WORDS]
        for key in self._places:
            kind, mode, fact, family = (known[number] for known, number in zip(words, key, strict=True))
            yield kind, mode, fact, family

    def _table(self, start: int, end: int, sized: bool) -> Table:
        buckets, weights = (self._entries[name][start:end].tolist() for name in (BUCKET, "weight"))
        return dict(zip(buckets if sized else [self._buckets[number] for number in buckets], weights, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """plans, problems: how many both were fitted to."""

    tables: Tables
    networks: Networks
    plans: int
    problems: int


@cache
def fitted(converts: bool = False) -> Fitted:
    """The fitted part of this package's model; ModelError where its file cannot be used. converts: that of problems
    between two types."""
    with locks.IMPORTS:  # NumPy imports what reads archives when it is first needed
        return read(CONVERSIONS if converts else FILE)


@lru_cache(maxsize=8)
def networks(columns: tuple[str, ...], converts: bool) -> Networks:
    """The networks that are part of this package, for inputs in this order; ModelError where they have other ones."""
    return fitted(converts).networks.reading(columns)


def read(path: Path) -> Fitted:
    """The content of a file; ModelError where it is damaged, incomplete, or of another vocabulary."""
    try:
        arrays = _arrays(path)
        _check_version(arrays)
        return _fitted(arrays)
    except _unreadable() as error:
        raise ModelError(f"the cost model's file {path} cannot be read: {_shown(error)}") from error
    except _Refused as refused:
        raise ModelError(f"the cost model's file {path} {refused}") from None


def _unreadable() -> tuple[type[Exception], ...]:
    """What is raised where a file is none of ours; `tokenize` is not imported before something is."""
    with locks.IMPORTS:
        from tokenize import TokenError
    return (*UNREADABLE, TokenError)


class _Refused(Exception):
    """What is wrong with a file that can be read."""


def _arrays(path: Path) -> Arrays:
    with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def _shown(error: Exception) -> str:
    return f"it has no column {error}" if isinstance(error, KeyError) else str(error).partition("\n")[0]


def _check_version(arrays: Arrays) -> None:
    if "fitted" not in arrays or "vocabulary" not in (arrays["fitted"].dtype.names or ()):
        raise _Refused("names no vocabulary")
    found = int(arrays["fitted"]["vocabulary"])
    if found != VERSION:
        raise _Refused(f"has vocabulary {found}, and this program knows vocabulary {VERSION} only")


def _fitted(arrays: Arrays) -> Fitted:
    plans, problems = (int(arrays["fitted"][name]) for name in ("plans", "problems"))
    return Fitted(_tables(arrays), _networks(arrays), plans, problems)


def _tables(arrays: Arrays) -> Tables:
    numbers, tables, entries = _numbers(arrays["words"]), arrays["tables"], arrays["entries"]
    sized, counts = tables["sized"], tables["entries"]
    ends = np.cumsum(counts)
    if entries.shape != (ends[-1],) or counts.min() < 1:
        raise _Refused(f"has {len(entries)} entries, and tables of {ends[-1]}")
    _check_numbers("weight", entries["weight"])
    if not np.isin(entries[BUCKET][np.repeat(~sized, counts)], [*numbers[BUCKET].values()]).all():
        raise _Refused("has buckets that are no words")
    places = zip((ends - counts).tolist(), ends.tolist(), sized.tolist(), strict=True)
    found = dict(zip(tables[[*WORDS]].tolist(), places, strict=True))
    if len(found) != len(tables):
        raise _Refused("has two tables of one fact")
    return Tables(numbers, found, entries)


def _numbers(words: np.ndarray) -> Numbers:
    """The numbers of words by column; of what the program speaks of, all must be there, and no others."""
    numbers: Numbers = {column: {} for column in (*WORDS, BUCKET)}
    for number, (column, word) in enumerate(words.tolist()):
        numbers[column.decode()][word.decode()] = number
    for column, known in WORDS.items():
        if unknown := {*numbers[column]} - {*known}:
            raise _Refused(f"speaks of {column} {min(unknown)!r}, which this program does not know")
        if missing := {*known} - {*numbers[column]}:
            raise _Refused(f"says nothing of {column} {min(missing)!r}")
    return numbers


def _check_numbers(what: str, values: np.ndarray) -> None:
    if not np.isfinite(values).all():
        raise _Refused(f"has a {what} that is no number")


def _networks(arrays: Arrays) -> Networks:
    inputs = arrays["inputs"]
    mean, scale = (inputs[name].astype(np.float32) for name in ("mean", "scale"))
    weights, biases = (
        tuple(arrays[f"{name}{layer}"].astype(np.float32) for layer in LAYERS) for name in ("weights", "biases")
    )
    columns = tuple(name.decode() for name in inputs["name"].tolist())
    found = Networks(columns, mean, scale, weights, biases)
    for values in (mean, scale, *weights, *biases):
        _check_numbers("parameter of its networks", values)
    _check_shapes(found)
    return found


def _check_shapes(found: Networks) -> None:
    inputs, count = len({*found.columns}), len(found.weights[0])
    sizes = (inputs, *(bias.shape[-1] for bias in found.biases))
    weights, biases = [(count, *pair) for pair in pairwise(sizes)], [(count, 1, size) for size in sizes[1:]]
    shapes = [values.shape for values in (found.mean, *found.weights, *found.biases)]
    if shapes != [(inputs,), *weights, *biases] or sizes[-1] != 1 or not found.scale.all():
        raise _Refused(f"has networks whose layers do not fit {inputs} inputs and each other")


def write(path: Path, tables: Mapping[Owner, Table], networks: Networks, plans: int, problems: int) -> None:
    """Store what was fitted: the same bytes for the same values. A table's buckets are all sizes or all words."""
    numbers: dict[tuple[str, str], int] = {}

    def numbered(column: str, word: Bucket) -> int:
        return word if isinstance(word, int) else numbers.setdefault((column, word), len(numbers))

    entries = [(numbered(BUCKET, bucket), weight) for table in tables.values() for bucket, weight in table.items()]
    rows = [
        (*map(numbered, WORDS, owner), isinstance(next(iter(table)), int), len(table))
        for owner, table in tables.items()
    ]
    arrays: Arrays = {
        "fitted": np.array((VERSION, plans, problems), FITTED),
        "words": _named({"column": [column for column, _ in numbers], "word": [word for _, word in numbers]}),
        "tables": np.array(rows, TABLES),
        "entries": np.array(entries, ENTRIES),
        "inputs": _named({"name": networks.columns, "mean": networks.mean, "scale": networks.scale}),
    }
    for name, layers in (("weights", networks.weights), ("biases", networks.biases)):
        arrays |= {f"{name}{layer}": values.astype("<f2") for layer, values in enumerate(layers)}
    packed = BytesIO()
    np.savez(packed, **arrays)  # type: ignore[arg-type]
    path.write_bytes(packed.getvalue())


def _named(columns: Mapping[str, Sequence[str] | np.ndarray]) -> np.ndarray:
    """An array with these columns: texts, or numbers of half precision."""
    typed = {name: np.array(found, "S" if isinstance(found[0], str) else "<f2") for name, found in columns.items()}
    made = np.empty(len(next(iter(typed.values()))), [(name, column.dtype) for name, column in typed.items()])
    for name, column in typed.items():
        made[name] = column
    return made
