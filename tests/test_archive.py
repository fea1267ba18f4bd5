"""Archives as `ar`, `nm` and linkers read them, the ELF reader beneath, linkers, and files that appear together."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import stat
from dataclasses import replace as changed
from pathlib import Path

import pytest
from native_build import compiler, run

from ttc_llvm.errors import ArtifactError, OptionError
from ttc_llvm.machine import lookup
from ttc_llvm.machine.target import Target
from ttc_llvm.native import archive, elf, linker, publish
from ttc_llvm.native.archive import Member
from ttc_llvm.runtime import backend

FUNCTION = """
define i32 @{name}() {{ ret i32 {value} }}
define weak i32 @{name}_weak() {{ ret i32 {value} }}
define internal i32 @{name}_hidden() noinline {{ ret i32 {value} }}
declare i32 @{name}_elsewhere()
define i32 @{name}_calls() {{
  %a = call i32 @{name}_elsewhere()
  %b = call i32 @{name}_hidden()
  %c = add i32 %a, %b
  ret i32 %c
}}
"""
LONG = "a_name_longer_than_the_fifteen_characters_of_a_header"


@pytest.fixture(scope="module")
def host() -> Target:
    """This machine."""
    return backend.host_target()


def compiled(name: str, value: int, host: Target) -> bytes:
    """An object with a global, a weak, an internal and an undefined symbol."""
    return backend.compile_object(FUNCTION.format(name=name, value=value), host)


def plain(name: str, value: int, host: Target) -> bytes:
    """An object with one function."""
    return backend.compile_object(f"define i32 @{name}() {{ ret i32 {value} }}", host)


# --- symbols ----------------------------------------------------------------------------------------------


def test_symbols_are_those_that_other_objects_see(host: Target) -> None:
    found = elf.defined_symbols(compiled("f", 1, host))
    assert sorted(found) == ["f", "f_calls", "f_weak"]


def big_endian_object() -> bytes:
    """A minimal 32-bit big-endian ELF object: null section, symbol table, string table; symbols `here`, `there`."""
    import struct

    names = b"\0here\0there\0"
    symbols = struct.pack(">IIIBBH", 0, 0, 0, 0, 0, 0)
    symbols += struct.pack(">IIIBBH", 1, 0, 0, 0x12, 0, 1)  # global function, defined
    symbols += struct.pack(">IIIBBH", 6, 0, 0, 0x10, 0, 0)  # global, undefined
    ident = b"\x7fELF" + bytes([1, 2, 1]) + bytes(9)
    start = 52 + len(symbols) + len(names)
    header = ident + struct.pack(">HHIIIIIHHHHHH", 1, 20, 1, 0, 0, start, 0, 52, 0, 0, 40, 3, 0)
    sections = bytes(40)
    sections += struct.pack(">10I", 0, 2, 0, 0, 52, len(symbols), 2, 1, 4, 16)
    sections += struct.pack(">10I", 0, 3, 0, 0, 52 + len(symbols), len(names), 0, 0, 1, 0)
    return header + symbols + names + sections


def test_the_other_class_and_byte_order() -> None:
    assert elf.defined_symbols(big_endian_object()) == ("here",)


@pytest.mark.parametrize("data", [b"", b"!<arch>\n", b"\0asm\1\0\0\0" + bytes(60), b"\x7fELF\x09\x09" + bytes(60)])
def test_what_is_no_elf_object_is_refused(data: bytes) -> None:
    with pytest.raises(ArtifactError, match="a library needs ELF objects"):
        elf.defined_symbols(data)


def test_default_visibility_changes_nothing_else() -> None:
    """Beside the visibility st_other holds bits of some processors' own: POWER's offset of the local entry."""
    whole = bytearray(big_endian_object())
    other = 52 + 16 + 13  # behind the header and the null symbol
    whole[other] = 0x63
    found = elf.with_default_visibility(bytes(whole))
    assert found[other] == 0x60
    assert found[:other] + b"\x63" + found[other + 1 :] == whole


def test_truncated_objects_are_refused_at_every_length(host: Target) -> None:
    whole = plain("f", 1, host)
    for length in range(6, len(whole), 7):
        with contextlib.suppress(ArtifactError):  # the end holds nothing that is needed
            assert elf.defined_symbols(whole[:length]) in ((), ("f",))


# --- archives ---------------------------------------------------------------------------------------------


def test_ar_and_nm_read_what_is_written(tmp_path: Path, host: Target) -> None:
    ar, nm = compiler("ar"), compiler("nm")
    members = [Member("a.o", compiled("a", 1, host)), Member(f"{LONG}.o", compiled("b", 2, host) + b"\0")]
    members.append(Member("exactly15chars.", plain("c", 3, host)))
    path = tmp_path / "lib.a"
    path.write_bytes(archive.write(members))
    assert run(ar, "t", path).split() == [member.name for member in members]
    for member in members:
        (tmp_path / "member").write_bytes(member.data)
        run("sh", "-c", f'"{ar}" p "{path}" "{member.name}" | cmp - "{tmp_path / "member"}"')
    index = run(nm, "-s", path).split("Archive index:\n")[1].split("\n\n")[0]
    assert index.splitlines() == [
        "a in a.o", "a_weak in a.o", "a_calls in a.o",
        f"b in {LONG}.o", f"b_weak in {LONG}.o", f"b_calls in {LONG}.o",
        "c in exactly15chars.",
    ]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), [("one", LONG), ("odds", LONG), ("one", f"{LONG}_"), ("one", "two")])
def test_the_bytes_are_those_of_gnu_ar(tmp_path: Path, host: Target, first: str, second: str) -> None:
    """`ar` with D writes the same archive, byte for byte: tables of odd and even lengths."""
    ar = compiler("ar")
    members = [Member(f"{name}.o", plain(name, k, host)) for k, name in enumerate((first, second))]
    for member in members:
        (tmp_path / member.name).write_bytes(member.data)
        (tmp_path / member.name).chmod(0o644)
    run("sh", "-c", f'cd "{tmp_path}" && "{ar}" rcsD lib.a ' + " ".join(member.name for member in members))
    assert archive.write(members) == (tmp_path / "lib.a").read_bytes()


def test_a_symbol_that_two_objects_define_is_refused(host: Target) -> None:
    members = [Member("a.o", plain("f", 1, host)), Member("b.o", plain("f", 2, host))]
    with pytest.raises(ArtifactError, match=r"symbol f is defined by a\.o and by b\.o"):
        archive.write(members)


def test_archives_beyond_32_bits_are_refused(monkeypatch: pytest.MonkeyPatch, host: Target) -> None:
    monkeypatch.setattr(archive, "LIMIT", 100)
    with pytest.raises(ArtifactError, match="offsets have 32 bits"):
        archive.write([Member("a.o", plain("f", 1, host))])


def test_a_linker_takes_only_what_a_program_needs(tmp_path: Path, host: Target) -> None:
    gcc, nm = compiler("gcc"), compiler("nm")
    members = [Member(f"{name}.o", plain(name, k, host)) for k, name in enumerate(("zero", "one", "two"))]
    (tmp_path / "lib.a").write_bytes(archive.write(members))
    (tmp_path / "main.c").write_text("int two(void);\nint main(void) { return two() != 2; }\n")
    run(gcc, tmp_path / "main.c", tmp_path / "lib.a", "-o", tmp_path / "main")
    run(tmp_path / "main")
    assert " T one\n" not in run(nm, tmp_path / "main")


# --- shared libraries -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cc", "gcc", "ld"])
def test_linkers(name: str, tmp_path: Path, host: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them alone on the PATH, beside what it calls itself, makes the same kind of library."""
    found = compiler(name)
    monkeypatch.setattr(linker, "DRIVERS", (name,) if name != "ld" else ())
    monkeypatch.setattr(linker, "LINKERS", (name,) if name == "ld" else ())
    command = linker.command(host)
    assert command[0] == found
    members = [Member("a.o", plain("first", 7, host)), Member("b.o", plain("second", 8, host))]
    data = linker.shared(members, "libboth.so", command)
    assert linker.shared(members, "libboth.so", command) == data
    (tmp_path / "libboth.so").write_bytes(data)
    loaded = ctypes.CDLL(str(tmp_path / "libboth.so"))
    assert (loaded.first(), loaded.second()) == (7, 8)
    assert "libboth.so" in run(compiler("readelf"), "-d", tmp_path / "libboth.so").split("SONAME")[1].split("\n")[0]


def test_no_linker_is_one_sentence(host: Target, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ArtifactError) as caught:
        linker.command(host)
    assert str(caught.value) == (
        f"a shared library for {host.triple} needs a linker, but none of cc, gcc, clang, ld.lld, ld is on the PATH:"
        " a static library needs none"
    )


def test_other_machines_need_their_own_linker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ArtifactError, match=r"none of riscv64-linux-gnu-gcc, ld\.lld, riscv64-linux-gnu-ld is on"):
        linker.command(changed(lookup.find("rvv"), triple="riscv64-unknown-linux-gnu"))
    with pytest.raises(ArtifactError, match="none of powerpc64-linux-gnu-gcc, powerpc64-linux-gnu-ld is on"):
        linker.command(changed(lookup.find("power9"), triple="powerpc64-linux-gnu"))
    with pytest.raises(ArtifactError, match=r"none of aarch64-linux-musl-gcc, aarch64-linux-gnu-gcc, ld\.lld,"):
        linker.command(changed(lookup.find("neon"), triple="aarch64-linux-musl"))


def test_what_a_linker_says_is_passed_on(host: Target) -> None:
    compiler("cc")
    twice = [Member(f"{name}.o", plain("f", 1, host)) for name in ("one", "two")]
    with pytest.raises(ArtifactError, match=r"cannot make libx\.so: .*two\.o"):
        linker.shared(twice, "libx.so", linker.command(host))


def test_a_linker_that_cannot_be_started_is_told(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"missing cannot be run to make libx\.so: No such file"):
        linker.made([str(tmp_path / "missing")], {"x.o": b""}, "libx.so")


# --- files that appear together ---------------------------------------------------------------------------


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its content."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_appear_in_folders_that_are_made(tmp_path: Path) -> None:
    files = [("lib/a", b"1"), ("lib/deep/b", b"2"), ("c", b"3")]
    paths = publish.publish(tmp_path / "new" / "folder", files)
    assert [path.read_bytes() for path in paths] == [b"1", b"2", b"3"]
    assert tree(tmp_path / "new" / "folder") == dict(files)
    mode = stat.S_IMODE(paths[0].stat().st_mode)
    (tmp_path / "other").touch()
    assert mode == stat.S_IMODE((tmp_path / "other").stat().st_mode)


def test_a_rename_that_fails_undoes_those_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish.publish(tmp_path, [("lib/a", b"old")])
    before, replace = tree(tmp_path), os.replace

    def failing(old: Path, new: Path) -> None:
        if Path(new).name == "c":
            raise OSError(21, "Is a directory")
        replace(old, new)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(OptionError, match=r"cannot be written: Is a directory"):
        publish.publish(tmp_path, [("lib/a", b"new"), ("fresh/b", b"new"), ("lib/c", b"new")], overwrite=True)
    assert tree(tmp_path) == before
    assert sorted(os.listdir(tmp_path)) == ["lib"] and sorted(os.listdir(tmp_path / "lib")) == ["a"]


def test_a_file_system_without_links_is_as_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    test_a_rename_that_fails_undoes_those_before_it(tmp_path, monkeypatch)


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, data: bytes) -> int:
        with open(self, "wb") as file:
            file.write(data[:1])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OptionError, match="No space left on device"):
        publish.publish(tmp_path / "new", [("lib/a", b"12345")])
    assert os.listdir(tmp_path) == []


def test_interrupts_wait_for_the_renames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C between two renames: all files are there when it arrives."""
    replace, calls = os.replace, []

    def interrupted(old: Path, new: Path) -> None:
        replace(old, new)
        calls.append(new)
        if len(calls) == 1:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(os, "replace", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore Ctrl-C
    with pytest.raises(KeyboardInterrupt):
        publish.publish(tmp_path, [("a", b"1"), ("b", b"2"), ("c", b"3")])
    assert tree(tmp_path) == {"a": b"1", "b": b"2", "c": b"3"}
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler


def test_an_interrupt_before_the_renames_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(self: Path, data: bytes) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", stop)
    with pytest.raises(KeyboardInterrupt):
        publish.publish(tmp_path / "new", [("a", b"1")])
    assert os.listdir(tmp_path) == []
