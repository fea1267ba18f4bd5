"""Expressions of `integer_code`: values and conditions."""

from __future__ import annotations

import ast
import builtins
import linecache
from collections.abc import Callable
from contextlib import suppress
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar

from . import words
from .integer_operations import (
    BINARY,
    COMPARISONS,
    FIXED,
    INTRINSICS,
    UNARY,
    compared,
    condition,
    extended,
    given,
)
from .integer_text import Text
from .llvmlite_extensions import reference
from .values import I64, table

if TYPE_CHECKING:
    from llvmlite import ir

Function = Callable[..., int | None]


def definition(source: Function) -> ast.FunctionDef:
    """The syntax tree of a function, with the line numbers of its file. TypeError where there is no source.

    `inspect` reads every word to find where it ends, which takes longer than the translation: here it ends before the
    next line that is indented no further, but for that of its signature's end.
    """
    before = source.__code__.co_firstlineno - 1
    lines = linecache.getlines(source.__code__.co_filename, source.__globals__)[before:]
    if not lines:
        raise TypeError(f"the source of {source.__qualname__} is not there: {source.__code__.co_filename}")
    indent = len(lines[0]) - len(lines[0].lstrip())
    starts = (number for number, line in enumerate(lines) if number and line[: indent + 1].strip(" )\n"))
    own = lines[: next(starts, len(lines))]
    tree = ast.parse("\n" * before + "".join([line[indent:] or "\n" for line in own]))
    made = tree.body[0]
    assert isinstance(made, ast.FunctionDef), "lambdas have no statements"
    return made


class Expressions:
    """The part of a function's translation that makes values. declared: the IR function of a Python one."""

    def __init__(self, source: Function, module: ir.Module, declared: Callable[[Function], ir.Function]) -> None:
        self._source, self._declared = source, declared
        self._tree = definition(source)
        enclosing = zip(source.__code__.co_freevars, source.__closure__ or (), strict=True)
        self._globals = {**source.__globals__, **{name: cell.cell_contents for name, cell in enclosing}}
        names = source.__code__.co_varnames
        self._b, self._locals = Text(module, names), frozenset(names)
        self._known: dict[ast.AST, bool] = {}

    def _value(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name) and node.id in self._locals:
            return self._b.read(node.id)
        if not self._is_local(node):
            return str(self._integer(node))
        rule = self._RULES.get(type(node))
        if rule is None:
            raise self._refused(node)
        return rule(self, node)

    def _condition(self, node: ast.expr) -> str:
        """A bit."""
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
            left, right = self._value(node.left), self._value(node.comparators[0])
            return compared(self._b, COMPARISONS[type(node.ops[0])], left, right)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self._b.value(f"xor i1 {self._condition(node.operand)}, true")
        if isinstance(node, ast.BoolOp):
            return self._decided(node.values, isinstance(node.op, ast.And))
        return condition(self._b, self._value(node))

    def _decided(self, parts: list[ast.expr], every: bool) -> str:
        """`and` (every) or `or`: the later parts are not evaluated once it is decided."""
        b, *_, last = self._b, *parts
        done, outcomes, held = b.new("decided"), list[str](), dict[str, str]()
        for number, part in enumerate(parts):
            found = self._condition(part)
            outcomes.append(f"[{found}, %{b.block}]")
            held = held if number else {**b.held}
            if part is last:
                b.branch(done)
            else:
                following = b.new("also")
                b.begin(following, b.decide(found, *((following, done) if every else (done, following))))
        b.begin(done, held)
        return b.value(f"phi i1 {', '.join(outcomes)}")

    def _truth(self, node: ast.expr) -> str:
        return extended(self._b, self._condition(node))

    def _binary(self, node: ast.BinOp) -> str:
        if type(node.op) not in BINARY:
            raise self._refused(node)
        return BINARY[type(node.op)](self._b, self._value(node.left), self._value(node.right))

    def _unary(self, node: ast.UnaryOp) -> str:
        return UNARY[type(node.op)](self._b, self._value(node.operand))

    def _compared(self, node: ast.Compare) -> str:
        values = [self._value(part) for part in (node.left, *node.comparators)]
        if any(type(op) not in COMPARISONS for op in node.ops):
            raise self._refused(node)
        result = "true"
        for op, left, right in zip(node.ops, values, values[1:], strict=False):
            result = self._b.value(f"and i1 {result}, {compared(self._b, COMPARISONS[type(op)], left, right)}")
        return extended(self._b, result)

    def _chosen(self, node: ast.IfExp) -> str:
        b, outcomes = self._b, list[str]()
        chosen, other, done = (b.new(name) for name in ("chosen", "otherwise", "either"))
        held = b.decide(self._condition(node.test), chosen, other)
        for block, part in ((chosen, node.body), (other, node.orelse)):
            b.begin(block, held)
            found = self._value(part)
            outcomes.append(f"[{found}, %{b.block}]")
            b.branch(done)
        b.begin(done, held)
        return b.value(f"phi i64 {', '.join(outcomes)}")

    def _called(self, node: ast.Call) -> str:
        function = self._constant(node.func)
        if node.keywords:
            raise self._refused(node)
        if function is words.local:
            return self._b.local(f"[{self._integer(node.args[0])} x i8]")
        if function in FIXED and len(node.args) == FIXED[function][0]:
            to, of = (self._value(argument) for argument in node.args[:2])
            return FIXED[function][1](self._b, to, of, *map(self._integer, node.args[2:]))
        arguments = [self._value(argument) for argument in node.args]
        if function in INTRINSICS:
            count, emit = INTRINSICS[function]
            if not arguments or count not in (None, len(arguments)):
                raise self._refused(node)
            return emit(self._b, *arguments)
        if not isinstance(function, FunctionType) or function.__code__.co_argcount != len(arguments):
            raise self._refused(node)
        return self._b.value(f"call i64 {reference(self._declared(function))}({given(arguments)})")

    def _element(self, node: ast.Subscript) -> str:
        """An element of a tuple of the module."""
        values = self._constant(node.value)
        if not isinstance(values, tuple) or not all(isinstance(value, int) for value in values):
            raise self._refused(node)
        start = reference(table(self._b.module, I64, values, "table", align=8))
        place = self._b.value(f"getelementptr inbounds i64, ptr {start}, i64 {self._value(node.slice)}")
        return self._b.value(f"load i64, ptr {place}, align 8")

    _RULES: ClassVar[dict[type[ast.expr], Callable[..., str]]] = {
        ast.BinOp: _binary,
        ast.UnaryOp: _unary,
        ast.Compare: _compared,
        ast.BoolOp: _truth,
        ast.IfExp: _chosen,
        ast.Call: _called,
        ast.Subscript: _element,
    }

    # --- constants ----------------------------------------------------------------------------------------

    def _is_local(self, node: ast.AST) -> bool:
        """True where a part of the expression is known only when it runs."""
        kind = type(node)
        if kind is ast.Name:
            return node.id in self._locals  # type: ignore[attr-defined]
        if kind is ast.Constant or kind is ast.Call:
            return kind is ast.Call
        known = self._known.get(node)
        if known is None:
            parts = [node.value] if isinstance(node, ast.Attribute) else ast.iter_child_nodes(node)
            self._known[node] = known = any(map(self._is_local, parts))
        return known

    def _constant(self, node: ast.expr) -> Any:
        """The value of an expression without local names."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and not self._is_local(node):
            with suppress(KeyError, AttributeError):  # without a compilation, as names are
                return getattr(self._globals[node.value.id], node.attr)
        if isinstance(node, ast.Name) and not self._is_local(node):
            known = self._globals if node.id in self._globals else vars(builtins)
            if node.id in known:
                return known[node.id]
        if any(isinstance(part, ast.Name) and part.id in self._locals for part in ast.walk(node)):
            raise self._refused(node)
        try:
            return eval(compile(ast.Expression(node), "<constant>", "eval"), self._globals)
        except Exception as error:
            raise self._refused(node, f": {error}") from None

    def _integer(self, node: ast.expr) -> int:
        found = self._constant(node)
        if not isinstance(found, int):
            raise self._refused(node)
        return words.wrapped(int(found))

    def _refused(self, node: ast.AST, why: str = "") -> TypeError:
        file, line = self._source.__code__.co_filename, getattr(node, "lineno", 0)
        return TypeError(f"{file}:{line}: {ast.unparse(node)!r} is not in the subset that integer_code compiles{why}")

