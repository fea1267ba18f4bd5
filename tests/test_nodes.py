"""Nodes of a nest know the nodes inside them: what walks and changes trees asks nobody else."""

from __future__ import annotations

import dataclasses
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_writing import written

from ttc_llvm.lowering import nodes
from ttc_llvm.lowering.lower import lower
from ttc_llvm.lowering.nest import LoopNest
from ttc_llvm.lowering.nodes import Fence, Loop, Micro, Node, Peeled, every

NESTS: st.SearchStrategy[LoopNest] = written().map(lambda drawn: lower(*drawn))


def held(node: Node) -> list[Node]:
    """The nodes in any field of a node."""
    values = [getattr(node, field.name) for field in dataclasses.fields(node)]
    flat = [one for value in values for one in (value if isinstance(value, tuple) else (value,))]
    return [one for one in flat if isinstance(one, get_args(Node))]


@given(NESTS)
def test_no_node_hides_another(nest: LoopNest) -> None:
    for node in every(nest.body):
        assert held(node) == list(node.children)


@given(NESTS)
def test_a_change_of_nothing_is_none_and_of_all_reaches_all(nest: LoopNest) -> None:
    def straight(node: Node) -> Node:
        return dataclasses.replace(node, straight=True) if isinstance(node, Micro) else node.map(straight)

    assert tuple(node.map(lambda child: child) for node in nest.body) == nest.body
    changed = tuple(map(straight, nest.body))
    micro = [node for node in every(changed) if isinstance(node, Micro)]
    assert all(node.straight for node in micro)
    assert len(micro) == sum(isinstance(node, Micro) for node in every(nest.body))


@given(NESTS)
def test_every_node_has_a_line(nest: LoopNest) -> None:
    """And a tail, a drain one more: no kind of node is left out of what is printed."""
    lines = str(nest).splitlines()[1:]
    more = sum(isinstance(node, Loop) and node.tail is not None for node in every(nest.body))
    more += sum(isinstance(node, nodes.Stage) for node in every(nest.body))
    assert len(lines) == len(list(every(nest.body))) + more


def test_every_kind_says_what_it_holds() -> None:
    micro_fields = {"body": Peeled, "edge": Peeled}
    for kind in get_args(Node):
        hints = {field.name: str(field.type) for field in dataclasses.fields(kind)}
        holding = {name for name, text in hints.items() if "Node" in text or micro_fields.get(name) is kind}
        assert set(kind.inside) == holding, kind


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(AssertionError, match="unknown node Fence"):
        nodes.assert_never(Fence())  # type: ignore[arg-type]
