"""Functions of integers compute the same compiled as in Python."""

from __future__ import annotations

import ctypes
import random
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import together

from ttc_llvm.ir_builders.attributes import new_module
from ttc_llvm.ir_builders.integer_code import add_functions
from ttc_llvm.ir_builders.words import (
    call,
    call32,
    compare_exchange,
    copy_line_past,
    fence,
    fetch_add,
    load8,
    load32,
    load64,
    load_atomic,
    local,
    move,
    pick,
    prefetch,
    rounded32,
    store8,
    store32,
    store64,
    store_release,
    touch,
    wrapped,
)  # fmt: skip
from ttc_llvm.runtime import backend, linking

PRIMES = (2, 3, 5, 7, -11)
LIMIT = 5 * 4


def compiled(*functions: Callable[..., Any]) -> list[Any]:
    """The functions as machine code."""
    target = backend.host_target()
    module = new_module(target)
    add_functions(module, functions)
    code = linking.load(backend.compile_scalar(str(module), target), [f.__name__ for f in functions])
    return [
        code.function(f.__name__, ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * f.__code__.co_argcount))
        for f in functions
    ]


def arithmetic(x: int, y: int) -> int:
    """Every operator."""
    total = x + y * 3 - (x // y if y else 1) + (x % y if y != 0 else 7)
    total = total ^ (x << 3 & y) | ~x & -y
    total += (x >> 2) + min(x, y) - max(x, y) + abs(x - y)
    a, b = total, x
    a, b = b, a
    return wrapped(b - 2 * a + PRIMES[abs(x) % 5] + LIMIT)


def conditions(x: int, y: int) -> int:
    """Short circuits, chains, nested ifs."""
    found = 0
    if x < y < 10 or (x == 3 and y // x > 1):
        found = 1
    elif not x:
        return -1
    else:
        found = 2 if x > 0 and y > 0 else 3
    return found * 10 + (x >= 0 and y <= 0) + (not y)


def loops(x: int, y: int) -> int:
    """Every loop, with break and continue."""
    total = 0
    for k in range(x % 20):
        if k % 3 == 1:
            continue
        for j in range(10, k, -2):
            if j == y % 9:
                break
            total += j * k
        k += 100
    n = y % 50
    while True:
        n = n * 3 + 1 if n % 2 else n // 2
        total += 1
        if n <= 1 or total > 1000:
            break
    while n > 0:
        n -= 1
    return total


def _gcd(x: int, y: int) -> int:
    return x if y == 0 else _gcd(y, x % y)


def calls(x: int, y: int) -> int:
    """Recursion, and memory of the function's own."""
    block = local(8 * LIMIT)
    for k in range(LIMIT):
        store64(block + 8 * k, _gcd(abs(x) + k, abs(y)))
    store8(block + 3, x)
    store32(block + 12, y)
    total = 0
    for k in range(LIMIT):
        total = wrapped(total * 31 + load64(block + 8 * k))
    return wrapped(total + load8(block + 3) + load32(block + 12))


@pytest.mark.parametrize("function", [arithmetic, conditions, loops, calls])
def test_compiled_is_as_in_python(function: Callable[[int, int], int]) -> None:
    (native,) = compiled(function)
    draw = random.Random(5)
    near = [(x, y) for x in range(-6, 7) for y in range(-6, 7)]
    for x, y in near + [(draw.randint(-(10**6), 10**6), draw.randint(-(10**6), 10**6)) for _ in range(500)]:
        assert native(x, y) == function(x, y), (x, y)


def mixed(x: int) -> int:
    """A hash, which overflows."""
    x = wrapped((x ^ (x >> 31)) * 0x7FB5D329728EA185)
    return wrapped((x ^ (x >> 27)) * -0x7E25210B43D22BB3)


def test_arithmetic_wraps() -> None:
    (native,) = compiled(mixed)
    for x in (*range(100), -1, 2**63 - 1, -(2**63), *(wrapped(17**k) for k in range(40))):
        assert native(x) == mixed(x)


def test_floats_are_rounded_to_the_nearest_even() -> None:
    def single(bits: int) -> int:
        return rounded32(bits)

    (native,) = compiled(single)
    draw = random.Random(7)
    found = [0.0, -0.0, 1.0, 1e-45, 1e-46, 3.5e38, -1e300, 1 + 2**-24, 1 + 3 * 2**-24, 5e-324, float("inf")]
    for value in found + [draw.uniform(-1, 1) * 10 ** draw.randint(-46, 39) for _ in range(2000)]:
        bits = int.from_bytes(struct.pack("<d", value), "little", signed=True)
        wanted = int.from_bytes(ctypes.c_float(value), "little")
        assert native(bits) == single(bits) == wanted, value


def lines_past(to: int, of: int, count: int) -> int:
    """Copy lines to a boundary."""
    for at in range(0, 64 * count, 64):
        prefetch(of + at + 64)  # the last one of which lies outside
        touch(of + at)
        copy_line_past(to + at, of + at)
    return fence(count)


@pytest.mark.parametrize("odd", [0, 1, 40])
def test_lines_are_copied_from_anywhere(odd: int) -> None:
    content = random.Random(odd).randbytes(64 * 9)
    of = ctypes.create_string_buffer(bytes(odd) + content)
    for function in (lines_past, compiled(lines_past)[0]):
        block = ctypes.create_string_buffer(b"\xee" * 64 * 12)
        to = -(-ctypes.addressof(block) // 64) * 64
        assert function(to, ctypes.addressof(of) + odd, 9) == 9
        assert ctypes.string_at(to, 64 * 9) == content
        assert ctypes.string_at(to + 64 * 9, 64) == b"\xee" * 64


def moves(to: int, of: int) -> int:
    """Move as many bytes as there are ways to."""
    move(to, of, 1)
    move(to + 1, of + 1, 2)
    move(to + 3, of + 3, 4)
    move(to + 7, of + 7, 8)
    move(to + 15, of + 15, 16)
    move(to + 31, of + 31, 32)
    move(to + 63, of + 63, 64)
    return 63 + 64


def test_bytes_are_moved() -> None:
    content = random.Random(3).randbytes(127)
    for function in (moves, compiled(moves)[0]):
        of, to = ctypes.create_string_buffer(content), ctypes.create_string_buffer(b"\xee" * 130)
        assert function(ctypes.addressof(to), ctypes.addressof(of)) == 127
        assert to.raw[:130] == content + b"\xee" * 3


def picks(to: int, of: int) -> int:
    """Pick items of several widths."""
    pick(to, of, 1, 3, 2)
    pick(to + 64, of, 2, 2, 0)
    pick(to + 128, of + 1, 4, 4, 1)
    pick(to + 192, of, 8, 3, 0)
    pick(to + 256, of, 16, 2, 1)
    pick(to + 320, of, 2, -3, 2)
    return 384


def test_items_are_picked() -> None:
    content = np.frombuffer(random.Random(3).randbytes(257), np.uint8)
    wanted = (
        content[2:192:3], content[:128].view("u2")[::2], content[1:].view("u4")[1::4], content[:192].view("u8")[::3],
        content[:128].view("V16")[1::2], content[:192].view("u2")[::-3],
    )  # fmt: skip
    for function in (picks, compiled(picks)[0]):
        to = ctypes.create_string_buffer(b"\xee" * 388)
        assert function(ctypes.addressof(to), content.ctypes.data) == 384
        assert to.raw[:388] == b"".join(part.tobytes() for part in wanted) + b"\xee" * 4


def adding(step: int) -> Callable[[int], int]:
    """A function that reads a constant of what encloses it."""

    def added(x: int) -> int:
        return x + step

    return added


def test_constants_of_enclosing_functions() -> None:
    for step in (3, -(1 << 40)):
        assert compiled(adding(step))[0](39) == 39 + step


def moves_some(x: int) -> int:
    """Refused: how many bytes is no constant."""
    move(x, x, x)
    return x


def locked_steps(lock: int, count: int, steps: int) -> int:
    """Add under a lock of its own making, and beside it atomically."""
    for _ in range(steps):
        while not compare_exchange(lock, 0, 1):
            pass
        store64(count, load64(count) + 1)
        store_release(lock, 0)
        fetch_add(count + 8, 3)
    return load_atomic(count)


def test_atomics_in_threads_from_cold() -> None:
    (native,) = compiled(locked_steps)
    memory = (ctypes.c_int64 * 3)()
    start = ctypes.addressof(memory)
    barrier = threading.Barrier(4)

    def work() -> None:
        barrier.wait()
        native(start, start + 8, 20_000)

    together(lambda _: work(), range(4))
    assert list(memory) == [0, 80_000, 240_000]


def forwarded(function: int, x: int) -> int:
    """Call native functions by address."""
    return call32(function, x) + call(function, x) % 1000


def test_native_functions_are_called() -> None:
    (native,) = compiled(forwarded)
    signature = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
    made = signature(lambda x: x - 5)
    address = ctypes.cast(made, ctypes.c_void_p).value
    assert native(address, 3) == -2 + 998
    assert forwarded(address or 0, 3) == -2 + 998


class Program:
    """A function at random: statements in each other, of locals that stay below 2**16, and loops that end."""

    NAMES = ("x", "y", "u", "v", "w")

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        body = ["u, v, w = y, 3, x & 7", *self._block(3, False), "return u + 70000 * (v + 70000 * w) + x - y"]
        self.text = "\n".join(["def program(x, y):", *(f"    {line}" for line in body)])

    def _block(self, depth: int, in_loop: bool) -> list[str]:
        return [line for _ in range(self._draw.randint(1, 4)) for line in self._statement(depth, in_loop)]

    def _statement(self, depth: int, in_loop: bool) -> list[str]:
        kind = self._draw.randrange(8 if depth else 3)
        name, value = self._draw.choice(self.NAMES[2:]), self._value(2)
        inner = [f"    {line}" for line in self._block(depth - 1, in_loop or kind > 5)] if depth and kind > 2 else []
        if kind < 2:
            return [f"{name} = ({value}) & 65535"]
        if kind == 2:
            leaves = self._draw.choice(("break", "continue", f"return {name}")) if in_loop else f"{name} ^= 5"
            return [f"if {self._condition()}:", f"    {leaves}"]
        if kind < 6:
            other = [f"    {line}" for line in self._block(depth - 1, in_loop)]
            return [f"if {self._condition()}:", *inner, *(["else:", *other] if kind > 3 else ())]
        steps = self._draw.choice(("4", "u % 5", "9, 2, -3", "w & 3, 6"))
        return [f"for {name} in range({steps}):", *inner]

    def _condition(self) -> str:
        parts = (f"{self._value(1)} {self._draw.choice(('<', '<=', '==', '>'))} {self._value(1)}" for _ in range(2))
        return self._draw.choice(("{}", "not {}", "{} and {}", "{} or {}")).format(*parts)

    def _value(self, depth: int) -> str:
        name, number = self._draw.choice(self.NAMES), self._draw.choice((1, 2, 7, 8, 64, 1000))
        if depth == 0:
            return self._draw.choice((name, str(number)))
        one, other = self._value(depth - 1), self._value(depth - 1)
        forms = "{} + {}", "{} - {}", "{} // {n}", "{} % {n}", "{} if {c} else {}", "min({}, {})", "{}"
        form = self._draw.choice(forms)
        condition = self._condition() if "{c}" in form and depth > 1 else "u < v"
        return f"({form.format(one, other, n=number, c=condition)})"


@pytest.mark.parametrize("seed", range(60))
def test_programs_at_random(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    (tmp_path / "program.py").write_text(text := Program(draw).text)
    space: dict[str, Any] = {}
    exec(compile(text, str(tmp_path / "program.py"), "exec"), space)
    (native,) = compiled(space["program"])
    for _ in range(40):
        x, y = draw.randint(-300, 300), draw.randrange(1 << 16)
        assert native(x, y) == space["program"](x, y), (text, x, y)


def uses_text(x: int) -> int:
    """Refused."""
    return x + len("abc")


def uses_floats(x: int) -> int:
    """Refused."""
    return int(x * 0.5)


def uses_lists(x: int) -> int:
    """Refused."""
    found = [x]
    return found[0]


def uses_with(x: int) -> int:
    """Refused."""
    with threading.Lock():
        return x


def uses_unknown(x: int) -> int:
    """Refused."""
    return x + nowhere  # type: ignore[name-defined, no-any-return] # noqa: F821


def uses_starred(x: int) -> int:
    """Refused."""
    return min(*(x, 2))


OTHERS = (uses_text, uses_floats, uses_lists, uses_with, uses_unknown, uses_starred, moves_some)


@pytest.mark.parametrize("function", OTHERS)
def test_other_code_is_refused(function: Callable[[int], int]) -> None:
    with pytest.raises(TypeError, match=r"test_integer_code\.py:\d+: .* is not in the subset"):
        add_functions(new_module(backend.host_target()), [function])


def test_functions_of_one_name_stay_two() -> None:
    (native,) = compiled(both)
    assert native(10) == (10 + 1) * 100 + 10 + 2


def _one(x: int) -> int:
    return x + 1


def _two(x: int) -> int:
    return x + 2


_two.__name__ = _one.__name__


def both(x: int) -> int:
    """Calls two functions of one name."""
    return _one(x) * 100 + _two(x)
