"""An expression of `einsum`: the labels of each operand's axes and of the result's, read from NumPy's two forms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..arguments import count, integer, sequence, shown
from ..errors import ProblemError
from ..lazy_dataclasses import dataclass

Labels = tuple[int, ...]
NAMES = "abcdefghijklmnopqrstuvwxyz"
LETTERS = NAMES.upper() + NAMES  # of labels 0 to 51, as in NumPy
FIRST_OF_ELLIPSIS = len(LETTERS)  # the axes that an ellipsis stands for have labels of their own, counted from the last
DOTS = -1  # where an ellipsis stood, until ranks are known


@dataclass(frozen=True, slots=True)
class Expression:
    """Labels of the operands' axes and of the result's, which has each label once. numbered: they were given as
    numbers, not as letters."""

    inputs: tuple[Labels, ...]
    output: Labels
    numbered: bool = False


def name_of(operand: int) -> str:
    """An operand's name in messages: a, b, c .."""
    return NAMES[operand] if operand < len(NAMES) else f"operand {operand}"


def spelled(label: int, numbered: bool) -> str:
    """A label as its caller has named it."""
    if label < FIRST_OF_ELLIPSIS:
        return str(label) if numbered else LETTERS[label]
    return f"{label - FIRST_OF_ELLIPSIS + 1} from the end of the ellipsis"


def split(given: Sequence[Any]) -> tuple[list[Any], list[list[int]], list[int] | None]:
    """The operands of a call of `einsum`, their labels, and the result's, None where it is implied.

    given: as `np.einsum` takes them: a text and the operands, or operands and lists of labels in turn. DOTS stands for
    an ellipsis. Raises ProblemError for all else.
    """
    if not given:
        raise ProblemError("einsum takes a spec and operands, as in einsum('ij,jk->ik', a, b)")
    if isinstance(given[0], str):
        inputs, output = _of_text(given[0])
        operands = list(given[1:])
        if len(operands) != len(inputs):
            asked, found = count(len(inputs), "operand"), len(operands)
            raise ProblemError(f"spec {shown(given[0])} has {asked}, but {found} {'is' if found == 1 else 'are'} given")
        return operands, inputs, output
    operands = list(given[: len(given) // 2 * 2 : 2])
    lists = [_of_list(name_of(k), labels) for k, labels in enumerate(given[1::2])]
    if not operands:
        raise ProblemError(f"einsum takes operands behind a spec, or each with its labels, not {shown(given[0])} alone")
    return operands, lists, _of_list("the result", given[-1]) if len(given) % 2 else None


def _of_text(spec: str) -> tuple[list[list[int]], list[int] | None]:
    text = "".join(spec.split())
    left, arrow, right = text.partition("->")
    return [_labels(spec, part) for part in left.split(",")], _labels(spec, right) if arrow else None


def _labels(spec: str, part: str) -> list[int]:
    labels: list[int] = []
    for piece in part.replace("...", "\0"):
        if piece == "\0":
            labels.append(DOTS)
        elif piece in LETTERS:
            labels.append(LETTERS.index(piece))
        else:
            raise ProblemError(f"spec {shown(spec)} has {piece!r}: labels are letters of ASCII, '...' or '->'")
    if labels.count(DOTS) > 1:
        raise ProblemError(f"spec {shown(spec)} has more than one ellipsis in {shown(part)}")
    return labels


def _of_list(name: str, given: Any) -> list[int]:
    labels = []
    for item in sequence(f"the labels of {name}", given, ProblemError, "integers"):
        if isinstance(item, bool):  # an integer elsewhere; NumPy refuses it here, too
            raise ProblemError(f"a label of {name} {item} is not an integer")
        label = DOTS if item is Ellipsis else integer(f"a label of {name}", item, ProblemError)
        if item is not Ellipsis and not 0 <= label < FIRST_OF_ELLIPSIS:
            raise ProblemError(f"label {label} of {name} is not in 0..{FIRST_OF_ELLIPSIS - 1}")
        labels.append(label)
    if labels.count(DOTS) > 1:
        raise ProblemError(f"the labels of {name} hold more than one ellipsis")
    return labels


def expression(
    inputs: Sequence[Sequence[int]], output: Sequence[int] | None, ranks: Sequence[int], numbered: bool = False
) -> Expression:
    """The expression for operands of these ranks. ProblemError where labels and axes do not fit."""
    pairs = [*zip(inputs, ranks, strict=True)]
    expanded = [_expanded(name_of(k), *pair) for k, pair in enumerate(pairs)]
    widest = max((rank - len(labels) + 1 for labels, rank in pairs if DOTS in labels), default=0)
    dots = tuple(range(FIRST_OF_ELLIPSIS + widest - 1, FIRST_OF_ELLIPSIS - 1, -1))
    return Expression(tuple(expanded), _result(expanded, output, dots, numbered), numbered)


def _expanded(name: str, labels: Sequence[int], rank: int) -> Labels:
    """Labels for each axis."""
    missing = rank - len([label for label in labels if label != DOTS])
    if missing < 0 or (missing and DOTS not in labels):
        both = count(rank, "axis", "axes"), count(len(labels) - labels.count(DOTS), "label")
        raise ProblemError(f"{name} has {both[0]}, but {both[1]}")
    dots = range(FIRST_OF_ELLIPSIS + missing - 1, FIRST_OF_ELLIPSIS - 1, -1)
    return _replaced(labels, dots)


def _replaced(labels: Iterable[int], dots: Iterable[int]) -> Labels:
    found: list[int] = []
    for label in labels:
        found.extend(dots if label == DOTS else [label])
    return tuple(found)


def _result(inputs: Sequence[Labels], output: Sequence[int] | None, dots: Labels, numbered: bool) -> Labels:
    known = [label for labels in inputs for label in labels]
    if output is None:  # what stands once, in alphabetical order, behind the ellipsis
        return (*dots, *sorted(label for label in set(known) if known.count(label) == 1 and label not in dots))
    found = _replaced(output, dots)
    if dots and DOTS not in output:
        raise ProblemError("the result has no ellipsis: its axes would be summed over, which einsum does not do")
    for label in found:
        if label not in known:
            raise ProblemError(f"index {spelled(label, numbered)} of the result stands in no operand")
        if found.count(label) > 1:
            raise ProblemError(f"index {spelled(label, numbered)} stands more than once in the result")
    return found


def extents(stated: Expression, shapes: Sequence[Sequence[int]]) -> dict[int, int]:
    """The extent of each label; where one operand has 1, the others'. ProblemError where they differ otherwise, or in
    one operand."""
    found: dict[int, tuple[int, int]] = {}
    for operand, (labels, shape) in enumerate(zip(stated.inputs, shapes, strict=True)):
        own: dict[int, int] = {}
        for label, extent in zip(labels, shape, strict=True):
            if (once := own.setdefault(label, extent)) != extent:
                raise ProblemError(_differ(spelled(label, stated.numbered), once, operand, extent, operand))
            before, where = found.get(label, (1, operand))
            if extent != before and 1 not in (extent, before):
                raise ProblemError(_differ(spelled(label, stated.numbered), before, where, extent, operand))
            if label not in found or before == 1:
                found[label] = extent, operand
    return {label: extent for label, (extent, _) in found.items()}


def _differ(label: str, before: int, where: int, extent: int, operand: int) -> str:
    if where == operand:
        return f"index {label} has extents {before} and {extent} in {name_of(operand)}"
    return f"index {label} has extent {before} in {name_of(where)} and {extent} in {name_of(operand)}"
