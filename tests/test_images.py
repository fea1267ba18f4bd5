"""Linked images: what of an object becomes one, how it is mapped, and what is refused."""

from __future__ import annotations

import ctypes
import mmap
import re
import struct
from pathlib import Path

import pytest

from ttc_llvm.errors import CompileError
from ttc_llvm.lazy_dataclasses import replace
from ttc_llvm.machine import lookup
from ttc_llvm.runtime import backend, image, image_linker, linking, mapping, relocations
from ttc_llvm.tuning.database.packing import is_image

TRIPLE = 'target triple = "x86_64-unknown-linux-gnu"'
ADD = """
@table = private constant [4 x i64] [i64 5, i64 7, i64 11, i64 13]
define i64 @add(i64 %k, i64 %x) {
  %p = getelementptr [4 x i64], ptr @table, i64 0, i64 %k
  %v = load i64, ptr %p
  %r = add i64 %v, %x
  ret i64 %r
}
"""
COUNT = """
@calls = internal global i64 40
@zeros = internal global [3000 x i64] zeroinitializer, align 64
define i64 @count() {
  %v = load i64, ptr @calls
  %r = add i64 %v, 1
  store i64 %r, ptr @calls
  %last = getelementptr [3000 x i64], ptr @zeros, i64 0, i64 2999
  %z = load i64, ptr %last
  %s = add i64 %z, %r
  store i64 %s, ptr %last
  ret i64 %s
}
"""
CALLS = """
declare ptr @memcpy(ptr, ptr, i64)
declare ptr @PyLong_FromLongLong(i64)
@_Py_NoneStruct = external global i8
define ptr @copy(ptr %to, ptr %of, i64 %n) {
  %r = call ptr @memcpy(ptr %to, ptr %of, i64 %n)
  ret ptr %r
}
define ptr @number(i64 %n) {
  %r = call ptr @PyLong_FromLongLong(i64 %n)
  ret ptr %r
}
define ptr @none() {
  ret ptr @_Py_NoneStruct
}
"""
TABLE = """
define i64 @one() {
  ret i64 1
}
@functions = internal constant [1 x ptr] [ptr @one]
define i64 @first(i64 %k) {
  %p = getelementptr [1 x ptr], ptr @functions, i64 0, i64 %k
  %f = load ptr, ptr %p
  %r = call i64 %f()
  ret i64 %r
}
"""
LOST = """
declare i64 @nobody_has_this()
define i64 @f() {
  %r = call i64 @nobody_has_this()
  ret i64 %r
}
"""
INT = ctypes.c_int64


def compiled(text: str) -> bytes:
    return backend.compile_object(f"{TRIPLE}\n{text}", backend.host_target())


def made(text: str, *names: str) -> bytes:
    found = image_linker.linked(compiled(text), names)
    assert found is not None
    return found


def mappings(address: int) -> list[tuple[int, int, str]]:
    """Start, end and access of the process' mappings from this address on, as far as they are side by side."""
    found: list[tuple[int, int, str]] = []
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, access, *_ = line.split()
        start, end = (int(text, 16) for text in span.split("-"))
        if (found and start == found[-1][1]) or start <= address < end:
            found.append((start, end, access))
    return found


def everything() -> int:
    """Mappings of this process that are both writable and executable: others' closures."""
    return len(re.findall(r"^\S+ .wx", Path("/proc/self/maps").read_text(), re.MULTILINE))


def test_constants_are_reached_from_the_code() -> None:
    loaded = mapping.mapped(made(ADD, "add"))
    add = loaded.function("add", ctypes.CFUNCTYPE(INT, INT, INT))
    assert [add(k, 100) for k in range(4)] == [105, 107, 111, 113]


def test_code_is_never_writable_and_constants_never_run() -> None:
    before = everything()
    loaded = mapping.mapped(made(COUNT + ADD, "count", "add"))
    accesses = [access for _, _, access in mappings(loaded.address("add"))][:3]
    assert accesses == ["r-xp", "r--p", "rw-p"]
    assert everything() == before


def test_every_mapping_has_variables_of_its_own() -> None:
    code = made(COUNT, "count")
    assert len(code) < 1000  # zeros are not stored
    first, second = (mapping.mapped(code).function("count", ctypes.CFUNCTYPE(INT)) for _ in range(2))
    assert [first(), first(), first(), second()] == [41, 83, 126, 41]


def test_functions_and_variables_of_the_process() -> None:
    loaded = mapping.mapped(made(CALLS, "copy", "number", "none"))
    of, to = (INT * 3)(1, 2, 3), (INT * 3)()
    pointer = ctypes.c_void_p
    loaded.function("copy", ctypes.CFUNCTYPE(pointer, pointer, pointer, INT))(to, of, 24)
    assert list(to) == [1, 2, 3]
    assert loaded.function("number", ctypes.PYFUNCTYPE(ctypes.py_object, INT))(-7) == -7
    assert loaded.function("none", ctypes.CFUNCTYPE(pointer))() == id(None)


def test_code_that_calls_python_is_for_this_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    code, plain = made(CALLS, "copy", "number"), made(ADD, "add")
    monkeypatch.setattr(mapping, "interpreter", lambda: "cpython-399")
    mapping.mapped(plain)
    with pytest.raises(CompileError, match=r"an image is for cpython-.*: this is cpython-399"):
        mapping.mapped(code)


def test_code_of_another_machine_or_of_larger_pages_is_not_mapped() -> None:
    head, body = image.parsed(made(ADD, "add"))
    for change in ({"machine": 183}, {"page": 1000}):
        with pytest.raises(CompileError, match="this is another"):
            mapping.mapped(image.packed(replace(head, **change), body))  # type: ignore[arg-type]


@pytest.mark.parametrize("page", [16 << 10, 64 << 10])
def test_pages_may_be_larger(page: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on AArch64; code for large pages runs where they are small."""
    small = made(ADD, "add")
    monkeypatch.setattr(mmap, "PAGESIZE", page)
    code = made(COUNT + ADD, "count", "add")
    with pytest.raises(CompileError, match=f"with pages of {1 << 12} bytes: this is another"):
        mapping.mapped(small)
    for _ in range(2):
        loaded = mapping.mapped(code)
        assert loaded.function("add", ctypes.CFUNCTYPE(INT, INT, INT))(2, 100) == 111
        assert loaded.function("count", ctypes.CFUNCTYPE(INT))() == 41
        head, _ = image.parsed(code)
        assert head.page == page and all(start % page == 0 for start in head.starts)
        monkeypatch.undo()


def test_missing_symbols() -> None:
    assert image_linker.linked(compiled(ADD), ("add", "subtract")) is None
    with pytest.raises(CompileError, match="an image has no subtract"):
        linking.load(made(ADD, "add"), ("add", "subtract"))
    lost = made(LOST, "f")
    with pytest.raises(CompileError, match="an image needs nobody_has_this, which this process lacks"):
        mapping.mapped(lost)


def test_data_that_holds_addresses_stays_an_object() -> None:
    code = compiled(TABLE)
    assert image_linker.linked(code, ("first",)) is None
    loaded = linking.load(code, ("first",))
    assert loaded.function("first", ctypes.CFUNCTYPE(INT, INT))(0) == 1


def test_other_files_are_no_images() -> None:
    code = compiled(ADD)
    shared, other = code[:16] + b"\3" + code[17:], code[:18] + b"\3\0" + code[20:]
    for wrong in (b"", b"junk", code[:100], code[:-200], shared, other):
        assert image_linker.linked(wrong, ("add",)) is None


def test_text_and_value_of_an_image_agree() -> None:
    code = image_linker.linked(compiled(CALLS + ADD), ("copy", "add"), (3, 0, 64))
    assert code is not None and is_image(code)
    head, body = image.parsed(code)
    assert image.packed(head, body) == code
    assert head.facts == (3, 0, 64) and mapping.mapped(code).facts == (3, 0, 64)
    assert {to for _, to in head.slots} == {"memcpy", "PyLong_FromLongLong", "_Py_NoneStruct"}


@pytest.mark.parametrize(
    "change",
    [
        lambda code: code[:-1],
        lambda code: code + b"\0",
        lambda code: code[:60],
        lambda code: code.replace(b"page ", b"pages ", 1),
        lambda code: re.sub(rb"symbol \d+", b"symbol 99999999", code, count=1),
        lambda code: re.sub(rb"symbol \d+", b"symbol -1", code, count=1),
        lambda code: re.sub(rb"slot \d+", b"slot 99999999", code, count=1),
        lambda code: re.sub(rb"slot (\d+) to", rb"slot \1 at", code, count=1),
        lambda code: re.sub(rb"sizes \d+", b"sizes x", code, count=1),
        lambda code: re.sub(rb"sizes (\d+) (\d+)", rb"sizes -\1 \2", code, count=1),
    ],
)
def test_damaged_images_are_refused(change: object) -> None:
    code = made(CALLS, "copy")
    mapping.mapped(code)
    with pytest.raises(CompileError, match="a stored image is damaged"):
        mapping.mapped(change(code))  # type: ignore[operator]


# --- AArch64, whose code is not run here ------------------------------------------------------------------------

ARM = relocations.MACHINES[183]


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def field(word: int, low: int, bits: int) -> int:
    return word >> low & ((1 << bits) - 1)


def reached(word: int, place: int, register: int) -> int:
    """Where an instruction at this place points to, as the manual says; register: what the one it adds to holds."""
    if field(word, 24, 5) == 0b10000 and word >> 31:  # ADRP
        pages = signed(field(word, 5, 19) << 2 | field(word, 29, 2), 21)
        return (place & ~0xFFF) + (pages << 12)
    if field(word, 26, 5) == 0b00101:  # B and BL
        return place + signed(field(word, 0, 26), 26) * 4
    scale = 0
    if field(word, 27, 3) == 0b111:  # LDR and STR with an unsigned offset; 128 bits have opc 1x
        vector = field(word, 26, 1)
        scale = 4 if vector and field(word, 23, 1) and not field(word, 30, 2) else field(word, 30, 2)
    return register + (field(word, 10, 12) << scale)  # ADD, too


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        (277, 0x91000041),  # add x1, x2, #0
        (278, 0x39400041),  # ldrb w1, [x2]
        (284, 0x79400041),  # ldrh w1, [x2]
        (285, 0xBD400041),  # ldr s1, [x2]
        (286, 0xF9400041),  # ldr x1, [x2]
        (299, 0x3DC00041),  # ldr q1, [x2]
        (312, 0xF9400041),  # ldr x1, [x2]
    ],
)
def test_immediates_of_arm(kind: int, word: int) -> None:
    """An address is a page, by ADRP, and a place in it."""
    page = 311 if kind == 312 else 275
    for place, target in ((0x1234, 0x45670), (0x45670, 0x1230), (0x7FF0, 0x8000), (0, 0xFFFF0)):
        code = bytearray(struct.pack("<2I", 0x90000002, word))  # adrp x2, 0
        ARM.rules[page].write(code, 0, place, target)
        ARM.rules[kind].write(code, 4, place + 4, target)
        first, second = struct.unpack("<2I", code)
        assert (first & 0x9F00001F, second & ~(0xFFF << 10)) == (0x90000002, word)
        assert reached(second, place + 4, reached(first, place, 0)) == target


def test_branches_of_arm() -> None:
    for kind, word in ((282, 0x14000000), (283, 0x94000000)):  # b, bl
        for place, target in ((0x1000, 0x30000), (0x30000, 0x1000), (8, 0)):
            code = bytearray(struct.pack("<I", word))
            ARM.rules[kind].write(code, 0, place, target)
            (found,) = struct.unpack("<I", code)
            assert reached(found, place, 0) == target


def test_jumps_of_arm() -> None:
    page, load, jump, _ = struct.unpack("<4I", ARM.jump(0x1000, 0x5028))
    assert reached(load, 0x1004, reached(page, 0x1000, 0)) == 0x5028
    assert field(load, 5, 5) == field(page, 0, 5) == field(load, 0, 5) == field(jump, 5, 5) == 16
    assert jump & ~(31 << 5) == 0xD61F0000  # br


@pytest.mark.parametrize("name", ["aarch64-unknown-linux-gnu", "x86_64-unknown-linux-gnu"])
def test_objects_of_machines_to_come_become_images(name: str) -> None:
    for text, symbols in ((ADD, ("add",)), (COUNT, ("count",)), (CALLS, ("copy", "number", "none"))):
        code = backend.compile_object(text, lookup.find(name))
        found = image_linker.linked(code, symbols)
        assert found is not None
        head, _ = image.parsed(found)
        assert head.machine == {"a": 183, "x": 62}[name[0]] and head.symbols.keys() == {*symbols}


def test_distances_that_do_not_fit_are_refused() -> None:
    code = bytearray(8)
    for machine, kind, far in ((62, 2, 1 << 31), (183, 283, 1 << 28), (183, 275, 1 << 33), (183, 286, 4)):
        with pytest.raises((ValueError, struct.error)):
            relocations.MACHINES[machine].rules[kind].write(code, 0, 0, far)
