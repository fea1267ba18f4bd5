"""Entries of one name in one process: every library calls its own, whichever was loaded first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from emissions import spec
from native_build import STRICT, compiler, needs_openmp, run

import ttc_llvm
from ttc_llvm.native import artifact
from ttc_llvm.problem import names
from ttc_llvm.problem.problem import Problem
from ttc_llvm.runtime import backend

NATIVE = Path(__file__).parent / "native"
PROBLEM = Problem((1, 0), (24, 17), "d")
STEM = names.stem(PROBLEM)
CPUS = ("haswell", "sandybridge")
LINKERS = ("bfd", "gold", "lld")
STRONG = ("-fopenmp", "-DTTC_OMP_OBJECT")
DRIVERS = {
    **{f"gcc {name}": ("gcc", "-O0", f"-fuse-ld={name}") for name in LINKERS},
    **{f"clang {name}": ("clang", "-O2", f"-fuse-ld={name}") for name in LINKERS},
    **{f"strong {name}": ("gcc", f"-fuse-ld={name}", *STRONG) for name in LINKERS},
    "c++": ("g++", "-O0", "-xc++"),
    "no plt": ("gcc", "-O2", "-fno-plt"),
    "lto": ("gcc", "-O2", "-flto"),
    "hidden": ("gcc", "-O2", "-fvisibility=hidden", "-fno-semantic-interposition"),
}

pytestmark = pytest.mark.usefixtures("own_place")


def driver_of(options: Sequence[str], folder: Path) -> tuple[str, ...]:
    """A compiler with its options; skips the test where it, the linker or an OpenMP library is not installed."""
    name, *others = options
    for option in others:
        if option.startswith("-fuse-ld="):
            compiler(f"ld.{option.partition('=')[2]}")
    found = compiler(name)
    if "-fopenmp" in options:
        needs_openmp(found, folder)
    return (found, *others)


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both objects and the header for each of the CPUs, in a folder of its name."""
    place = tmp_path_factory.mktemp("objects")
    for cpu in CPUS:
        artifact.write(spec(PROBLEM, backend.resolve(cpu)), place / cpu, ("obj", "omp", "header"))
    return place


def plugin(driver: Sequence[str], headers: Path, linked: Sequence[str | Path], made: Path) -> Path:
    """A plug-in that is linked with the objects or libraries given."""
    flags = (*STRICT, "-fPIC", "-shared", f"-I{headers}", f'-DHEADER="{STEM}.h"', f"-DNAME={STEM}")
    run(*driver, *flags, NATIVE / "plugin.c", "-xnone", *linked, "-o", made)
    return made


def homes(plugins: Sequence[Path], folder: Path) -> list[str]:
    """The files in which these plug-ins, loaded for everybody to see, find the entry; all of them compute."""
    run(compiler("gcc"), *STRICT, NATIVE / "plugins.c", "-o", folder / "plugins", "-ldl")
    able = all(backend.runs_here(backend.resolve(cpu)) for cpu in CPUS)
    found = [line.split() for line in run(folder / "plugins", "01"[able], *plugins).splitlines()]
    assert all(entry == table and wrong == "0" for entry, table, wrong in found), found
    return [entry for entry, _, _ in found]


def calls_elsewhere(library: Path) -> list[str]:
    """The calls of entries that are bound when the library is loaded."""
    found = run(compiler("readelf"), "-rW", library).splitlines()
    return [line for line in found if "_JUMP_SLO" in line and STEM in line]


@pytest.mark.parametrize("options", DRIVERS.values(), ids=DRIVERS)
def test_plugins_call_the_code_they_were_linked_with(objects: Path, options: Sequence[str], tmp_path: Path) -> None:
    driver, plugins = driver_of(options, tmp_path), []
    for cpu in CPUS:
        linked = [objects / cpu / f"{STEM}.o", *([objects / cpu / f"{STEM}_omp.o"] if "-fopenmp" in options else [])]
        plugins.append(plugin(driver, objects / cpu, linked, tmp_path / f"{cpu}.so"))
        assert calls_elsewhere(plugins[-1]) == []
    assert homes(plugins, tmp_path) == ["haswell.so", "sandybridge.so"]


@pytest.mark.parametrize("cpus", [CPUS, (",".join(CPUS), "sandybridge,haswell,sse2")], ids=["one", "several"])
def test_plugins_call_the_archive_they_were_linked_with(cpus: Sequence[str], tmp_path: Path) -> None:
    plugins = []
    for number, target in enumerate(cpus):
        folder = tmp_path / str(number)
        ttc_llvm.Library(STEM, (ttc_llvm.compile(PROBLEM, 1, target=target),)).write(folder)
        archive = folder / f"lib/lib{STEM}.a"
        plugins.append(plugin((compiler("gcc"),), folder / "include", [archive], tmp_path / f"{number}.so"))
    assert homes(plugins, tmp_path) == ["0.so", "1.so"]


def shared(cpu: str, folder: Path) -> Path:
    """The shared library of that CPU's solution, with threaded entries."""
    compiler("cc")
    solution = ttc_llvm.compile(PROBLEM, 1, target=cpu)
    made = ttc_llvm.Library(f"{cpu}-{STEM}", (solution,)).write(folder, ("shared", "omp"))
    (folder / f"include/{cpu}-{STEM}.h").rename(folder / f"include/{STEM}.h")
    return made[0]


def test_plugins_call_the_shared_library_they_were_linked_with(tmp_path: Path) -> None:
    plugins = []
    for cpu in CPUS:
        library = shared(cpu, tmp_path / cpu)
        assert calls_elsewhere(library) == []
        linked = (library, f"-Wl,-rpath,{library.parent}", "-lgomp")
        plugins.append(plugin((compiler("gcc"),), tmp_path / f"{cpu}/include", linked, tmp_path / f"{cpu}.so"))
    assert homes(plugins, tmp_path) == [f"lib{cpu}-{STEM}.so.1" for cpu in CPUS]


@pytest.mark.parametrize("pie", [("-fno-pic", "-no-pie"), ("-fpie", "-pie"), ("-fno-pic", "-static")], ids=" ".join)
@pytest.mark.parametrize("linker", LINKERS)
def test_programs_take_the_address_of_an_entry(
    objects: Path, linker: str, pie: Sequence[str], tmp_path: Path
) -> None:
    """Of one in an object, and of one in a shared library."""
    driver = driver_of(("gcc", f"-fuse-ld={linker}"), tmp_path)
    folder = objects / CPUS[1]
    library = shared(CPUS[1], tmp_path / "library")
    (tmp_path / "main.c").write_text(
        "int plugin_wrong(void);\nvoid *plugin_entry(void), *plugin_table(void);\n"
        "int main(void) { return plugin_wrong() || plugin_entry() != plugin_table(); }\n"
    )
    flags = [*driver, *pie, f"-I{folder}", f'-DHEADER="{STEM}.h"', f"-DNAME={STEM}", str(tmp_path / "main.c")]
    ways: list[tuple[str | Path, ...]] = [(folder / f"{STEM}.o",)]
    if "-static" not in pie:
        ways.append((library, f"-Wl,-rpath,{library.parent}", "-lgomp"))
    for linked in ways:
        run(*flags, NATIVE / "plugin.c", *linked, "-o", tmp_path / "main")
        run(tmp_path / "main")
