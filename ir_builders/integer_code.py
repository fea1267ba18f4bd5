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
from .integer_operations import BINARY, compared
from .integer_text import Held
from .llvmlite_extensions import reference, written_body
from .values import I64


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
        super().__init__(source, function.module, declared)
        self._function = function
        self._loops: list[tuple[str, str]] = []  # where `continue` and `break` go
        for argument, name in zip(function.args, self._tree.args.args, strict=True):
            argument.name = f"given.{name.arg}"
            self._b.write(name.arg, reference(argument))

    def write(self) -> None:
        """Translate the whole body."""
        self._block(self._tree.body)
        if not self._b.is_ended:
            self._b.give("0")
        written_body(self._function, str(self._b))

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if self._b.is_ended:  # behind a return, break or continue
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
        self._b.give("0" if node.value is None else self._value(node.value))

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
        old = self._b.read(node.target.id)
        self._set(node.target, BINARY[type(node.op)](self._b, old, self._value(node.value)))

    def _set(self, target: ast.expr, value: str) -> None:
        if not isinstance(target, ast.Name):
            raise self._refused(target)
        self._b.write(target.id, value)

    def _if(self, node: ast.If) -> None:
        b, ends = self._b, list[Held]()
        chosen, other, done = (b.new(name) for name in ("then", "else", "endif"))
        held = b.decide(self._condition(node.test), chosen, other)
        for block, statements in ((chosen, node.body), (other, node.orelse)):
            b.begin(block, held)
            self._block(statements)
            if not b.is_ended:
                ends.append(b.held)
                b.branch(done)
        if ends:
            b.begin(done, dict(set(held.items()).intersection(*(end.items() for end in ends))))

    def _while(self, node: ast.While) -> None:
        if node.orelse:
            raise self._refused(node)
        head, body, done = (self._b.new(name) for name in ("while", "do", "done"))
        self._b.branch(head)
        self._b.begin(head)
        self._b.begin(body, self._b.decide(self._condition(node.test), body, done))
        self._loop(node.body, head, done)
        self._b.begin(done)

    def _for(self, node: ast.For) -> None:
        b, (first, limit, step) = self._b, self._range(node)
        assert isinstance(node.target, ast.Name)
        head, body, following, done = (b.new(name) for name in ("for", "do", "next", "done"))
        counter = b.counter()
        b.write(counter, first)
        b.branch(head)
        b.begin(head)
        i = b.read(counter)
        b.begin(body, b.decide(compared(b, "slt" if step > 0 else "sgt", i, limit), body, done))
        self._set(node.target, i)
        self._loop(node.body, following, done)
        b.begin(following)
        b.write(counter, b.value(f"add i64 {i}, {step}"))
        b.branch(head)
        b.begin(done)

    def _range(self, node: ast.For) -> tuple[str, str, int]:
        made = node.iter
        named = isinstance(made, ast.Call) and isinstance(made.func, ast.Name) and made.func.id == "range"
        if not isinstance(made, ast.Call) or not named or node.orelse or not isinstance(node.target, ast.Name):
            raise self._refused(node)
        first = self._value(made.args[0]) if len(made.args) > 1 else "0"
        limit = self._value(made.args[1 if len(made.args) > 1 else 0])
        step = self._integer(made.args[2]) if len(made.args) > 2 else 1
        if step == 0:
            raise self._refused(node)
        return first, limit, step

    def _loop(self, statements: Sequence[ast.stmt], again: str, done: str) -> None:
        self._loops.append((again, done))
        self._block(statements)
        if not self._b.is_ended:
            self._b.branch(again)
        self._loops.pop()

    def _continue(self, node: ast.Continue) -> None:
        self._b.branch(self._loops[-1][0])

    def _break(self, node: ast.Break) -> None:
        self._b.branch(self._loops[-1][1])

    def _pass(self, node: ast.Pass) -> None:
        pass

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
