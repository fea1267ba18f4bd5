"""All plans of a contraction that are worth a thought: each tensor in place or copied, and what then folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product, takewhile
from math import prod

from ..problem.contraction import IndexClass
from .merged import A, B, C, Merged, follows
from .plan import ContractionPlan, Products, folds

Group = tuple[int, ...]
_SIDES = {IndexClass.M: (A, C), IndexClass.N: (B, C), IndexClass.K: (A, B)}


def plans(merged: Merged, admits: Callable[[Sequence[bool]], bool] = lambda copied: True) -> Iterator[Products]:
    """Every plan, each once; those without copies first; at least one. admits: tells whether plans that copy these of
    A, B and C are wanted."""
    if any(index.extent == 0 for index in merged.indices):  # there is nothing to multiply
        yield Products(merged, ContractionPlan((), (), (), tuple(range(len(merged.indices)))))
        return
    known = set()
    for copied in filter(admits, sorted(product((False, True), repeat=3), key=sum)):
        for m, n, k in product(*(_groups(merged, kind, copied) for kind in (IndexClass.M, IndexClass.N, IndexClass.K))):
            in_place = [side for side in ((A, m, k), (B, k, n), (C, m, n)) if not copied[side[0]]]
            if not all(folds(merged, merged.strides[tensor], *groups) for tensor, *groups in in_place):
                continue  # copies always fold
            loops = _loops(merged, (*m, *n, *k))
            for copies in product(*(_orders(merged, t, copied[t], (m, n, k)) for t in (A, B, C))):
                plan = ContractionPlan(m, n, k, loops, copies)
                if plan not in known:
                    known.add(plan)
                    yield Products(merged, plan)


def without_copies(merged: Merged) -> Products:
    """The plan of the largest products among those that need no memory."""
    in_place = takewhile(lambda products: not products.scratch(), plans(merged))
    whole = Products(merged, ContractionPlan((), (), (), _loops(merged, ())))
    return max([whole, *in_place], key=lambda products: prod(products.sizes))


def _groups(merged: Merged, kind: IndexClass, copied: Sequence[bool]) -> list[Group]:
    """Indices of a class that can be one dimension: runs in all tensors that stay in place; else all, in the order of
    one tensor or the other."""
    numbers = merged.of_class[kind]
    in_place = [tensor for tensor in _SIDES[kind] if not copied[tensor]]
    if in_place:
        return _runs(merged, numbers, in_place) or [()]
    orders = [tuple(x for x in merged.of_tensor(tensor) if x in numbers) for tensor in _SIDES[kind]]
    return list(dict.fromkeys(orders))


def _runs(merged: Merged, numbers: Group, tensors: Sequence[int]) -> list[Group]:
    """The longest sequences of indices each of which continues the next, in each of these tensors."""
    indices = merged.indices
    inner = {
        x: y for x in numbers for y in numbers if x != y and follows(indices[x], indices[y], tensors)
    }  # strides of one tensor differ, so that there is one at most
    heads = [x for x in numbers if x not in inner.values()]
    runs = []
    for head in heads:
        run = [head]
        while run[-1] in inner:
            run.append(inner[run[-1]])
        runs.append(tuple(run))
    return runs


def _orders(merged: Merged, tensor: int, copied: bool, groups: tuple[Group, Group, Group]) -> list[Group | None]:
    """The orders of a copy: what is looped over outermost, the two groups inside, either way round."""
    if not copied:
        return [None]
    m, n, k = groups
    rows, columns = ((m, k), (k, n), (m, n))[tensor]
    outer = tuple(x for x in merged.of_tensor(tensor) if x not in (*rows, *columns))
    return list(dict.fromkeys([(*outer, *rows, *columns), (*outer, *columns, *rows)]))


def _loops(merged: Merged, folded: Group) -> Group:
    """All other indices: by descending stride in C; those that are summed over last, where C stays in the caches."""
    others = [x for x in range(len(merged.indices)) if x not in folded]
    return tuple(sorted(others, key=lambda x: (merged.indices[x].kind is IndexClass.K, -merged.indices[x].strides[C])))
