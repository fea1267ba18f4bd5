"""The files that make a library findable: a CMake package and a pkg-config file. Both hold no absolute path.

The tree is `include/NAME.h`, `lib/libNAME.a`, `lib/libNAME.so`, `lib/cmake/NAME/`, `lib/pkgconfig/NAME.pc`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .marks import MARK

LIBRARIES = {"static": ("lib/lib{}.a", "STATIC"), "shared": ("lib/lib{}.so", "SHARED")}
POINTER_BYTES = 8  # of all targets that have libraries


@dataclass(frozen=True, slots=True)
class Package:
    """A library as its package files know it. kinds: of `LIBRARIES`; title: what it is, in one line."""

    name: str
    version: str
    kinds: tuple[str, ...]
    title: str

    def path(self, kind: str) -> str:
        """The path of a library of that kind in the tree."""
        return LIBRARIES[kind][0].format(self.name)


def files(package: Package) -> Mapping[str, str]:
    """The package files: texts by their path in the tree."""
    name, comment = package.name, f"# {MARK}\n"
    return {
        f"lib/pkgconfig/{name}.pc": comment + _pkg_config(package),
        f"lib/cmake/{name}/{name}ConfigVersion.cmake": comment + _version(package),
        f"lib/cmake/{name}/{name}Config.cmake": comment + _config(package),
    }


def _pkg_config(package: Package) -> str:
    """Without a shared library the archive is named outright: another run's .so beside it must not be taken.

    No quotes: pkgconf escapes blanks of ${pcfiledir} itself.
    """
    found = f"-L${{libdir}} -l{package.name}"
    link = found if "shared" in package.kinds else f"${{prefix}}/{package.path('static')}"
    return f"""\
prefix=${{pcfiledir}}/../..
includedir=${{prefix}}/include
libdir=${{prefix}}/lib

Name: {package.name}
Description: {package.title}
Version: {package.version}
Cflags: -I${{includedir}}
Libs: {link}
"""


def _version(package: Package) -> str:
    """The same major version, at least the one asked for, and pointers of the right size."""
    return f"""\
set(PACKAGE_VERSION "{package.version}")
string(REGEX MATCH "^[0-9]+" _major "${{PACKAGE_FIND_VERSION}}")
if(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION
    AND (_major STREQUAL "{package.version.partition(".")[0]}" OR NOT PACKAGE_FIND_VERSION))
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
if(CMAKE_SIZEOF_VOID_P AND NOT CMAKE_SIZEOF_VOID_P EQUAL {POINTER_BYTES})
  set(PACKAGE_VERSION "{package.version} ({8 * POINTER_BYTES} bit)")
  set(PACKAGE_VERSION_UNSUITABLE TRUE)
endif()
unset(_major)
"""


def _config(package: Package) -> str:
    name = package.name
    kinds = " ".join(package.kinds)
    paths = (f"include/{name}.h", *map(package.path, package.kinds))
    needed = "\n    ".join(f'"${{_ttc_prefix}}/{path}"' for path in paths)
    imported = "".join(_imported(package, kind) for kind in package.kinds)
    return f"""\
# {package.title}
#
#   find_package({name} CONFIG REQUIRED)          COMPONENTS {kinds}
#   target_link_libraries(app PRIVATE {name}::{name})
#
# {name}::{name} is {name}::{package.kinds[0]}; this package holds: {kinds}.

get_filename_component(_ttc_prefix "${{CMAKE_CURRENT_LIST_DIR}}/../../.." ABSOLUTE)
set({name}_FOUND TRUE)
foreach(_ttc_file IN ITEMS
    {needed})
  if(NOT EXISTS "${{_ttc_file}}")
    set({name}_FOUND FALSE)
    set({name}_NOT_FOUND_MESSAGE "${{_ttc_file}} is missing beside ${{CMAKE_CURRENT_LIST_FILE}}")
  endif()
endforeach()
foreach(_ttc_component IN LISTS {name}_FIND_COMPONENTS)
  if(_ttc_component MATCHES "^({"|".join(package.kinds)})$")
    set({name}_${{_ttc_component}}_FOUND TRUE)
  elseif({name}_FIND_REQUIRED_${{_ttc_component}})
    set({name}_FOUND FALSE)
    set({name}_NOT_FOUND_MESSAGE "{name} holds {kinds}, not ${{_ttc_component}}")
  endif()
endforeach()

if({name}_FOUND AND NOT TARGET {name}::{name})
{imported}  add_library({name}::{name} INTERFACE IMPORTED)
  set_target_properties({name}::{name} PROPERTIES INTERFACE_LINK_LIBRARIES {name}::{package.kinds[0]})
endif()
unset(_ttc_component)
unset(_ttc_file)
unset(_ttc_prefix)
"""


def _imported(package: Package, kind: str) -> str:
    target, path = f"{package.name}::{kind}", package.path(kind)
    soname = f'\n    IMPORTED_SONAME "lib{package.name}.so"' if kind == "shared" else ""
    return f"""\
  add_library({target} {LIBRARIES[kind][1]} IMPORTED)
  set_target_properties({target} PROPERTIES
    IMPORTED_LOCATION "${{_ttc_prefix}}/{path}"{soname}
    INTERFACE_INCLUDE_DIRECTORIES "${{_ttc_prefix}}/include")
"""
