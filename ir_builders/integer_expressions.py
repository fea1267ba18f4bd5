"""Expressions of `integer_code`: values and conditions."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable
from contextlib import suppress
from types import FunctionType
from typing import Any, ClassVar

from llvmlite import ir

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
    loaded,
)
from .values import I8, I64, PTR, at, i64, table

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

    def __init__(self, source: Function, function: ir.Function, declared: Callable[[Function], ir.Function]) -> None:
        self._source, self._declared = source, declared
        self._tree = definition(source)
        enclosing = zip(source.__code__.co_freevars, source.__closure__ or (), strict=True)
        self._globals = {**source.__globals__, **{name: cell.cell_contents for name, cell in enclosing}}
        self._frame = ir.IRBuilder(function.append_basic_block("frame"))
        self._b = ir.IRBuilder(function.append_basic_block("entry"))
        names = source.__code__.co_varnames
        self._places = {name: self._frame.alloca(I64, name=name) for name in names}
        self._known: dict[ast.AST, bool] = {}

    def _value(self, node: ast.expr) -> ir.Value:
        if isinstance(node, ast.Name) and node.id in self._places:
            return loaded(self._b, self._places[node.id])
        if not self._is_local(node):
            return i64(self._integer(node))
        rule = self._RULES.get(type(node))
        if rule is None:
            raise self._refused(node)
        return rule(self, node)

    def _condition(self, node: ast.expr) -> ir.Value:
        """An i1."""
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
            left, right = self._value(node.left), self._value(node.comparators[0])
            return compared(self._b, COMPARISONS[type(node.ops[0])], left, right)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self._b.not_(self._condition(node.operand))
        if isinstance(node, ast.BoolOp):
            return self._decided(node.values, isinstance(node.op, ast.And))
        return condition(self._b, self._value(node))

    def _decided(self, parts: list[ast.expr], every: bool) -> ir.Value:
        """`and` (every) or `or`: the later parts are not evaluated once it is decided."""
        done = self._b.append_basic_block("decided")
        outcomes: list[tuple[ir.Value, ir.Block]] = []
        for number, part in enumerate(parts, 1):
            outcomes.append((self._condition(part), self._b.block))
            following = done if number == len(parts) else self._b.append_basic_block("also")
            if number == len(parts):
                self._b.branch(done)
            else:
                self._b.cbranch(outcomes[-1][0], *((following, done) if every else (done, following)))
            self._b.position_at_end(following)
        result = self._b.phi(ir.IntType(1))
        for outcome, block in outcomes:
            result.add_incoming(outcome, block)
        return result

    def _truth(self, node: ast.expr) -> ir.Value:
        return extended(self._b, self._condition(node))

    def _binary(self, node: ast.BinOp) -> ir.Value:
        if type(node.op) not in BINARY:
            raise self._refused(node)
        return BINARY[type(node.op)](self._b, self._value(node.left), self._value(node.right))

    def _unary(self, node: ast.UnaryOp) -> ir.Value:
        return UNARY[type(node.op)](self._b, self._value(node.operand))

    def _compared(self, node: ast.Compare) -> ir.Value:
        values = [self._value(part) for part in (node.left, *node.comparators)]
        if any(type(op) not in COMPARISONS for op in node.ops):
            raise self._refused(node)
        result: ir.Value = ir.Constant(ir.IntType(1), 1)
        for op, left, right in zip(node.ops, values, values[1:], strict=False):
            result = self._b.and_(result, compared(self._b, COMPARISONS[type(op)], left, right))
        return extended(self._b, result)

    def _chosen(self, node: ast.IfExp) -> ir.Value:
        chosen, other, done = (self._b.append_basic_block(name) for name in ("chosen", "otherwise", "either"))
        self._b.cbranch(self._condition(node.test), chosen, other)
        outcomes = []
        for block, part in ((chosen, node.body), (other, node.orelse)):
            self._b.position_at_end(block)
            outcomes.append((self._value(part), self._b.block))
            self._b.branch(done)
        self._b.position_at_end(done)
        result = self._b.phi(I64)
        for outcome, block in outcomes:
            result.add_incoming(outcome, block)
        return result

    def _called(self, node: ast.Call) -> ir.Value:
        function = self._constant(node.func)
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise self._refused(node)
        if function is words.local:
            size = self._integer(node.args[0])
            return self._b.ptrtoint(self._frame.alloca(ir.ArrayType(I8, size), name="local"), I64)
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
        return self._b.call(self._declared(function), arguments)

    def _element(self, node: ast.Subscript) -> ir.Value:
        """An element of a tuple of the module."""
        values = self._constant(node.value)
        if not isinstance(values, tuple) or not all(isinstance(value, int) for value in values):
            raise self._refused(node)
        module = self._b.module
        start = self._b.bitcast(table(module, I64, values, "table", align=8), PTR)
        return loaded(self._b, at(self._b, start, self._b.mul(self._value(node.slice), i64(8))))

    _RULES: ClassVar[dict[type[ast.expr], Callable[..., ir.Value]]] = {
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
        if isinstance(node, ast.Name):
            return node.id in self._places
        known = self._known.get(node)
        if known is None:
            known = isinstance(node, ast.Call) or any(map(self._is_local, ast.iter_child_nodes(node)))
            self._known[node] = known
        return known

    def _constant(self, node: ast.expr) -> Any:
        """The value of an expression without local names."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and not self._is_local(node):
            with suppress(KeyError, AttributeError):  # without a compilation, as constants of modules are
                return getattr(self._globals[node.value.id], node.attr)
        if isinstance(node, ast.Name) and not self._is_local(node) and node.id in self._globals:
            return self._globals[node.id]
        if any(isinstance(part, ast.Name) and part.id in self._places for part in ast.walk(node)):
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

