"""The suites of contractions: the 48 of the TCCG benchmark, tensor networks, attention, random ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from math import prod
from random import Random

from ..errors import OptionError
from ..lazy_dataclasses import dataclass
from ..problem.contraction import Contraction

LARGEST = 24 << 20  # bytes of a case's largest tensor

# Indices of C, A and B, column-major, as the benchmark writes them (Springer, Bientinesi 2018, table 1).
_TCCG: Mapping[str, Sequence[str]] = {
    "intensli": (
        "abj-bka-kj", "ajb-kba-jk", "abjc-cbka-kj", "ajbc-ckba-jk", "abjc-kbac-jk", "abjcd-dkbac-jk", "adbjc-cbdka-kj",
        "ajbdc-ckbad-jk",
    ),
    "ao2mo": ("aqrs-pa-pqrs", "abrs-qb-aqrs", "abcs-rc-abrs"),
    "ccsd": (
        "ij-ik-kj", "ij-ikl-ljk", "ij-kil-lkj", "ijk-ikl-lj", "ijk-il-jlk", "ijk-ilk-jl", "ijk-ilk-lj", "ijk-ilmk-mjl",
        "ijkl-imjn-lnkm", "ijkl-imjn-nlmk", "ijkl-imkn-jnlm", "ijkl-imkn-njml", "ijkl-imln-jnkm", "ijkl-imln-njmk",
        "ijkl-imnj-nlkm", "ijkl-imnk-njml", "ijkl-minj-nlmk", "ijkl-mink-jnlm", "ijkl-minl-njmk",
    ),
    "ccsd-t": (
        "abcijk-ijma-mkbc", "abcijk-ijmb-mkac", "abcijk-ijmc-mkab", "abcijk-ikma-mjbc", "abcijk-ikmb-mjac",
        "abcijk-ikmc-mjab", "abcijk-jkma-mibc", "abcijk-jkmb-miac", "abcijk-jkmc-miab", "abcijk-eiab-jkec",
        "abcijk-eiac-jkeb", "abcijk-eibc-jkea", "abcijk-ejab-ikec", "abcijk-ejac-ikeb", "abcijk-ejbc-ikea",
        "abcijk-ekab-ijec", "abcijk-ekac-ijeb", "abcijk-ekbc-ijea",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ContractionCase:
    """A contraction to be measured. suite, name: unique together; stated: of tensors in C order."""

    suite: str
    name: str
    stated: Contraction

    @property
    def id(self) -> str:
        """The name of the case on the command line and in results."""
        return f"{self.suite}/{self.name}/{self.stated.dtype}"


def _tccg(largest: int, dtype: str, itemsize: int) -> Iterator[ContractionCase]:
    number = 0
    for group, every in _TCCG.items():
        for text in every:
            c, a, b = text.split("-")
            size = _sizes((c, a, b), largest / itemsize, {"j": 24} if group == "intensli" else {})
            spec = f"{a[::-1]},{b[::-1]}->{c[::-1]}"  # column-major, backwards, is C order
            yield ContractionCase("tccg", f"{number:02d}-{group}-{text}", Contraction(spec, size, dtype))
            number += 1


def _sizes(operands: tuple[str, str, str], elements: float, fixed: Mapping[str, int]) -> dict[str, int]:
    """The benchmark's rule: the extents of the largest tensor are about equal, multiples of 24 along the indices that
    are contiguous in a tensor, of 4 along others."""
    side = elements ** (1 / max(map(len, operands)))
    found = dict(fixed)
    for index in sorted(set("".join(operands)) - found.keys()):
        if index in [operand[0] for operand in operands]:
            found[index] = max(24, int((side + 23) / 24) * 24)
        else:
            up, down = max(4, int((side + 3) / 4) * 4), max(4, int(side / 4) * 4)
            found[index] = up if abs(side - up) < abs(side - down) else down
    return found


def _networks(largest: int, dtype: str, itemsize: int) -> Iterator[ContractionCase]:
    """One step of a DMRG sweep, a matrix product operator on a state, and a corner of a PEPS; the bonds are as wide as
    the largest tensor allows."""
    elements = largest // itemsize
    wide = int((elements / 48) ** 0.5)
    middle = int((elements / 4) ** 0.25)
    shapes = {
        "dmrg-left": ("awb,bsc->awsc", {"a": wide, "w": 12, "b": wide, "s": 4, "c": wide}),
        "dmrg-operator": ("awsc,wxst->axtc", {"a": wide, "w": 12, "s": 4, "c": wide, "x": 12, "t": 4}),
        "mps-mpo": ("asb,wxst->awtbx", {"a": wide // 4, "s": 4, "b": wide // 4, "w": 12, "x": 12, "t": 4}),
        "peps-corner": ("abc,bdef->adecf", {"a": middle, "b": middle, "c": middle, "d": 4, "e": 4, "f": middle}),
    }
    for name, (spec, size) in shapes.items():
        yield ContractionCase("networks", name, Contraction(spec, {k: max(1, n) for k, n in size.items()}, dtype))


def _attention(largest: int, dtype: str, itemsize: int) -> Iterator[ContractionCase]:
    """Scores and their application, batches and heads in the layouts of frameworks."""
    heads, depth = 16, 64
    batch, sequence = 2, int((largest / itemsize / 2 / heads) ** 0.5) // 16 * 16 or 16
    size = {"b": batch, "h": heads, "q": sequence, "k": sequence, "d": depth}
    shapes = {
        "scores-bshd": "bqhd,bkhd->bhqk", "values-bshd": "bhqk,bkhd->bqhd",
        "scores-bhsd": "bhqd,bhkd->bhqk", "values-bhsd": "bhqk,bhkd->bhqd",
    }  # fmt: skip
    for name, spec in shapes.items():
        yield ContractionCase("attention", name, Contraction(spec, size, dtype))


def _random(largest: int, dtype: str, itemsize: int) -> Iterator[ContractionCase]:
    """50 contractions of up to three indices a class, in any order, with extents that differ by up to 16 times; the
    same for all types. `random()` alone draws them, whose numbers no version of Python changes."""
    draw = Random(35).random
    for number in range(50):
        counts = [choices[int(draw() * len(choices))] for choices in ((0, 0, 0, 1), (1, 2, 3), (1, 2, 3), (1, 1, 2))]
        letters = iter("abcdefghi")
        batch, m, n, k = ([next(letters) for _ in range(count)] for count in counts)
        sides = [sorted(side, key=lambda _: draw()) for side in (batch + m + k, batch + k + n, batch + m + n)]
        weights = {index: 16 ** draw() for index in batch + m + n + k}
        scale = min(
            (largest / itemsize / prod(weights[index] for index in side)) ** (1 / len(side)) for side in sides
        )
        size = {index: max(1, int(weight * scale)) for index, weight in weights.items()}
        a, b, c = map("".join, sides)
        yield ContractionCase("random", f"{number:02d}-{a}-{b}-{c}", Contraction(f"{a},{b}->{c}", size, dtype))


SUITES: Mapping[str, Callable[[int, str, int], Iterator[ContractionCase]]] = {
    "tccg": _tccg,
    "networks": _networks,
    "attention": _attention,
    "random": _random,
}


def cases(suites: Sequence[str], largest: int, dtypes: Sequence[str], wanted: Sequence[str]) -> list[ContractionCase]:
    """The cases of these suites and types. largest: bytes of a case's largest tensor; wanted: names or patterns, none =
    all. OptionError where a pattern matches nothing."""
    items = {"s": 4, "d": 8, "c": 8, "z": 16}
    every = [one for dtype in dtypes for suite in suites for one in SUITES[suite](largest, dtype, items[dtype])]
    for text in wanted:
        if not any(_means(text, one) for one in every):
            raise OptionError(f"cases {text[:60]!r} match nothing: names and patterns such as '*-ccsd-*' do")
    return [one for one in every if not wanted or any(_means(text, one) for text in wanted)]


def _means(text: str, case: ContractionCase) -> bool:
    names = (case.name, case.name.partition("-")[0], f"{case.suite}/{case.name}", case.id)
    return any(fnmatchcase(name, text) for name in names)
