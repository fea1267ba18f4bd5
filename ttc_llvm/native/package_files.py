"""The files that make a library findable: a CMake package and a pkg-config file. Both hold no absolute path.

The tree is `include/NAME.h`, `lib/libNAME.a`, `lib/libNAME.so.1.2.0` with links as linkers and loaders look for it,
`lib/cmake/NAME/`, `lib/pkgconfig/NAME.pc`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..lazy_dataclasses import dataclass
from .marks import MARK
from .whole_file import filled

LIBRARIES = {"static": ("lib/lib{}.a", "STATIC"), "shared": ("lib/lib{}.so", "SHARED")}
POINTER_BYTES = 8  # of all targets that have libraries
TEMPLATES = {
    "lib/pkgconfig/{0}.pc": "library.pc.in",
    # The same major version, at least the one asked for, and pointers of the right size.
    "lib/cmake/{0}/{0}ConfigVersion.cmake": "ConfigVersion.cmake.in",
    "lib/cmake/{0}/{0}Config.cmake": "Config.cmake.in",
}


@dataclass(frozen=True, slots=True)
class Package:
    """A library as its package files know it. kinds: of `LIBRARIES`; title: what it is, in one line."""

    name: str
    version: str
    kinds: tuple[str, ...]
    title: str

    @property
    def major(self) -> str:
        """The first number of its version: programs work with all libraries that have it."""
        return self.version.partition(".")[0]

    @property
    def soname(self) -> str:
        """The name by which programs ask for the shared library."""
        return f"lib{self.name}.so.{self.major}"

    def path(self, kind: str) -> str:
        """The path of a library of that kind in the tree."""
        return LIBRARIES[kind][0].format(self.name) + (f".{self.version}" if kind == "shared" else "")

    @property
    def links(self) -> dict[str, str]:
        """Links that lead to the shared library: paths in the tree, and the names beside them that they stand for."""
        if "shared" not in self.kinds:
            return {}
        real = Path(self.path("shared")).name
        found = {f"lib/{self.soname}": real, f"lib/lib{self.name}.so": self.soname}
        return {path: to for path, to in found.items() if Path(path).name != to}


def files(package: Package) -> Mapping[str, str]:
    """The package files: texts by their path in the tree, made from the templates beside this module."""
    name, kinds, version = package.name, package.kinds, package.version
    paths = (f"include/{name}.h", *map(package.path, kinds))
    # Without a shared library the archive is named outright: another run's .so beside it must not be taken. Programs
    # find a shared one where it lies. No quotes: pkgconf escapes blanks of ${pcfiledir} itself.
    shared = f"-L${{libdir}} -l{name} -Wl,-rpath,${{libdir}}"
    link = shared if "shared" in kinds else f"${{prefix}}/{package.path('static')}"
    values = {
        "NAME": name, "TITLE": package.title, "VERSION": version, "MAJOR": package.major, "LINK": link,
        "KINDS": " ".join(kinds), "FIRST": kinds[0], "CHOICES": "|".join(kinds),
        "NEEDED": "\n    ".join(f'"${{_ttc_prefix}}/{path}"' for path in paths),
        "IMPORTED": "".join(_imported(package, kind) for kind in kinds),
        "BYTES": str(POINTER_BYTES), "BITS": str(8 * POINTER_BYTES),
    }  # fmt: skip
    texts = {path: filled(Path(__file__).with_name(template), values) for path, template in TEMPLATES.items()}
    return {path.format(name): f"# {MARK}\n{text}" for path, text in texts.items()}


def _imported(package: Package, kind: str) -> str:
    target, path = f"{package.name}::{kind}", package.path(kind)
    soname = f'\n    IMPORTED_SONAME "{package.soname}"' if kind == "shared" else ""
    return f"""\
  add_library({target} {LIBRARIES[kind][1]} IMPORTED)
  set_target_properties({target} PROPERTIES
    IMPORTED_LOCATION "${{_ttc_prefix}}/{path}"{soname}
    INTERFACE_INCLUDE_DIRECTORIES "${{_ttc_prefix}}/include")
"""
