"""Functions of 64-bit integers, written in a subset of Python, as LLVM IR.

Bookkeeping around kernels (looking up layouts, planning them, keeping freed memory) must run without the interpreter.
It is written as plain functions whose every value is an integer, with `words` for memory and calls, and translated
from their syntax trees:

- parameters and results are integers; a function without `return` yields 0;
- statements: `x = e`, `x, y = e, f`, `x += e`, `if`, `while`, `for x in range(...)`, `break`, `continue`, `return`,
  `pass`, calls;
- expressions: integers, names, `+ - * // % << >> & | ^ - ~`, comparisons, `and or not`, `a if c else b`, `min`, `max`,
  `abs`, calls of `words` and of other such functions, `TABLE[i]` for a tuple of integers of the module;
- what has no local name is a constant: it is evaluated when the function is translated.

Arithmetic wraps; `//` and `%` round towards minus infinity, as Python's; `and` and `or` yield 0 or 1; all parts of
chained comparisons are evaluated; shifts are by 0 to 63, `>>` keeps the sign. The range of a `for` is evaluated once,
its step is a constant. Anything else is a TypeError that names file and line. Locals are kept in memory here:
`backend.compile_scalar` moves them into registers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from llvmlite import ir

from .integer_expressions import Expressions, Function
from .integer_operations import BINARY, compared, loaded, stored
from .values import I64, i64


def add_functions(
    module: ir.Module, functions: Sequence[Function], given: Mapping[Function, ir.Function] = MappingProxyType({})
) -> None:
    """Define these functions in a module under their own names, and internally all that they call. given: what stands
    for some of those, functions of words that the module has."""
    known: dict[Function, ir.Function] = {**given}
    waiting: list[Function] = []

    def declared(source: Function) -> ir.Function:
        if source not in known:
            count = source.__code__.co_argcount
            public = source in functions
            name = source.__name__ if public else module.get_unique_name(source.__name__)
            made = ir.Function(module, ir.FunctionType(I64, [I64] * count), name)
            made.linkage = "" if public else "internal"
            made.attributes.add("nounwind")
            known[source] = made
            waiting.append(source)
        return known[source]

    for function in functions:
        declared(function)
    while waiting:
        source = waiting.pop()
        _Body(source, known[source], declared).write()


class _Body(Expressions):
    """One function's body."""

    def __init__(self, source: Function, function: ir.Function, declared: Callable[[Function], ir.Function]) -> None:
        super().__init__(source, function, declared)
        self._loops: list[tuple[ir.Block, ir.Block]] = []  # where `continue` and `break` go
        for argument, name in zip(function.args, self._tree.args.args, strict=True):
            argument.name = f"given.{name.arg}"
            stored(self._b, argument, self._places[name.arg])

    def write(self) -> None:
        """Translate the whole body."""
        entry = self._b.block
        self._block(self._tree.body)
        if not self._b.block.is_terminated:
            self._b.ret(i64(0))
        self._frame.branch(entry)

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if self._b.block.is_terminated:  # behind a return, break or continue
                return
            rule = self._STATEMENTS.get(type(statement))
            if rule is None:
                raise self._refused(statement)
            rule(self, statement)

    def _call(self, node: ast.Expr) -> None:
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        if not is_text:
            self._value(node.value)

    def _return(self, node: ast.Return) -> None:
        self._b.ret(i64(0) if node.value is None else self._value(node.value))

    def _assign(self, node: ast.Assign) -> None:
        target, value = node.targets[0], node.value
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple):
            if not isinstance(value, ast.Tuple) or len(value.elts) != len(target.elts):
                raise self._refused(node)
            pairs = list(zip(target.elts, value.elts, strict=True))
        if len(node.targets) != 1:
            raise self._refused(node)
        values = [self._value(given) for _, given in pairs]
        for (name, _), made in zip(pairs, values, strict=True):
            self._set(name, made)

    def _annotated(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            raise self._refused(node)
        self._set(node.target, self._value(node.value))

    def _updated(self, node: ast.AugAssign) -> None:
        if not isinstance(node.target, ast.Name) or type(node.op) not in BINARY:
            raise self._refused(node)
        old = loaded(self._b, self._places[node.target.id])
        self._set(node.target, BINARY[type(node.op)](self._b, old, self._value(node.value)))

    def _set(self, target: ast.expr, value: ir.Value) -> None:
        if not isinstance(target, ast.Name):
            raise self._refused(target)
        stored(self._b, value, self._places[target.id])

    def _if(self, node: ast.If) -> None:
        chosen, other = self._new("then"), self._new("else")
        self._b.cbranch(self._condition(node.test), chosen, other)
        ends = []
        for block, statements in ((chosen, node.body), (other, node.orelse)):
            self._b.position_at_end(block)
            self._block(statements)
            if not self._b.block.is_terminated:
                ends.append(self._b.block)
        if ends:
            done = self._new("endif")
            for end in ends:
                self._b.position_at_end(end)
                self._b.branch(done)
            self._b.position_at_end(done)

    def _while(self, node: ast.While) -> None:
        if node.orelse:
            raise self._refused(node)
        head, body, done = self._new("while"), self._new("do"), self._new("done")
        self._b.branch(head)
        self._b.position_at_end(head)
        self._b.cbranch(self._condition(node.test), body, done)
        self._loop(node.body, body, head, done)
        self._b.position_at_end(done)

    def _for(self, node: ast.For) -> None:
        first, limit, step = self._range(node)
        assert isinstance(node.target, ast.Name)
        counter = self._frame.alloca(I64)
        head, body, following, done = (self._new(name) for name in ("for", "do", "next", "done"))
        stored(self._b, first, counter)
        self._b.branch(head)
        self._b.position_at_end(head)
        i = loaded(self._b, counter)
        self._b.cbranch(compared(self._b, "slt" if step > 0 else "sgt", i, limit), body, done)
        self._b.position_at_end(body)
        self._set(node.target, i)
        self._loop(node.body, body, following, done)
        self._b.position_at_end(following)
        stored(self._b, self._b.add(i, i64(step)), counter)
        self._b.branch(head)
        self._b.position_at_end(done)

    def _range(self, node: ast.For) -> tuple[ir.Value, ir.Value, int]:
        made = node.iter
        named = isinstance(made, ast.Call) and isinstance(made.func, ast.Name) and made.func.id == "range"
        if not isinstance(made, ast.Call) or not named or node.orelse or not isinstance(node.target, ast.Name):
            raise self._refused(node)
        first = self._value(made.args[0]) if len(made.args) > 1 else i64(0)
        limit = self._value(made.args[1 if len(made.args) > 1 else 0])
        step = self._integer(made.args[2]) if len(made.args) > 2 else 1
        if step == 0:
            raise self._refused(node)
        return first, limit, step

    def _loop(self, statements: Sequence[ast.stmt], body: ir.Block, again: ir.Block, done: ir.Block) -> None:
        self._loops.append((again, done))
        self._b.position_at_end(body)
        self._block(statements)
        if not self._b.block.is_terminated:
            self._b.branch(again)
        self._loops.pop()

    def _continue(self, node: ast.Continue) -> None:
        self._b.branch(self._loops[-1][0])

    def _break(self, node: ast.Break) -> None:
        self._b.branch(self._loops[-1][1])

    def _pass(self, node: ast.Pass) -> None:
        pass

    def _new(self, name: str) -> ir.Block:
        return self._b.append_basic_block(name)

    _STATEMENTS: ClassVar[dict[type[ast.stmt], Callable[..., None]]] = {
        ast.Expr: _call,
        ast.Return: _return,
        ast.Assign: _assign,
        ast.AnnAssign: _annotated,
        ast.AugAssign: _updated,
        ast.If: _if,
        ast.While: _while,
        ast.For: _for,
        ast.Continue: _continue,
        ast.Break: _break,
        ast.Pass: _pass,
    }
