"""Expressions of `integer_code`: values and conditions."""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable
from typing import Any, ClassVar

from llvmlite import ir

from . import words
from .integer_operations import BINARY, COMPARISONS, FIXED, INTRINSICS, UNARY, condition
from .values import I8, I64, PTR, at, i64, table

Function = Callable[..., int | None]


def definition(source: Function) -> ast.FunctionDef:
    """The syntax tree of a function, with the line numbers of its file. TypeError where there is no source."""
    try:
        lines, first = inspect.getsourcelines(source)
    except OSError as error:
        raise TypeError(f"the source of {source.__qualname__} is not there: {error}") from None
    tree = ast.parse(textwrap.dedent("".join(lines)))
    ast.increment_lineno(tree, first - 1)
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
        self._places: dict[str, ir.Value] = {}
        names = (node for node in ast.walk(self._tree) if isinstance(node, ast.Name))
        stored = (name.id for name in names if isinstance(name.ctx, ast.Store))
        for name in dict.fromkeys([*(argument.arg for argument in self._tree.args.args), *stored]):
            self._places[name] = self._frame.alloca(I64, name=name)

    def _value(self, node: ast.expr) -> ir.Value:
        if isinstance(node, ast.Name) and node.id in self._places:
            return self._b.load(self._places[node.id], typ=I64)
        if not self._is_local(node) and not isinstance(node, ast.Call):
            return i64(self._integer(node))
        rule = self._RULES.get(type(node))
        if rule is None:
            raise self._refused(node)
        return rule(self, node)

    def _condition(self, node: ast.expr) -> ir.Value:
        """An i1."""
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
            left, right = self._value(node.left), self._value(node.comparators[0])
            return self._b.icmp_signed(COMPARISONS[type(node.ops[0])], left, right)
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
        return self._b.zext(self._condition(node), I64)

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
            result = self._b.and_(result, self._b.icmp_signed(COMPARISONS[type(op)], left, right))
        return self._b.zext(result, I64)

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
        if not inspect.isfunction(function) or len(inspect.signature(function).parameters) != len(arguments):
            raise self._refused(node)
        return self._b.call(self._declared(function), arguments)

    def _element(self, node: ast.Subscript) -> ir.Value:
        """An element of a tuple of the module."""
        values = self._constant(node.value)
        if not isinstance(values, tuple) or not all(isinstance(value, int) for value in values):
            raise self._refused(node)
        module = self._b.module
        start = self._b.bitcast(table(module, I64, values, "table", align=8), PTR)
        return self._b.load(at(self._b, start, self._b.mul(self._value(node.slice), i64(8))), typ=I64, align=8)

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
        parts = list(ast.walk(node))
        return any(isinstance(part, ast.Name) and part.id in self._places for part in parts) or any(
            isinstance(part, ast.Call) for part in parts
        )

    def _constant(self, node: ast.expr) -> Any:
        """The value of an expression without local names."""
        if any(isinstance(part, ast.Name) and part.id in self._places for part in ast.walk(node)):
            raise self._refused(node)
        code = compile(ast.fix_missing_locations(ast.Expression(node)), "<constant>", "eval")
        try:
            return eval(code, {**vars(builtins), **self._globals})
        except Exception as error:
            raise self._refused(node, f": {error}") from None

    def _integer(self, node: ast.expr) -> int:
        found = self._constant(node)
        if not isinstance(found, int):
            raise self._refused(node)
        return words.wrapped(int(found))

    def _refused(self, node: ast.AST, why: str = "") -> TypeError:
        file, line = inspect.getsourcefile(self._source), getattr(node, "lineno", 0)
        return TypeError(f"{file}:{line}: {ast.unparse(node)!r} is not in the subset that integer_code compiles{why}")

