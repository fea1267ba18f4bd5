"""The files of a group for a GPU: PTX with its kernels and the tables that these read, and the header that launches it.

Each kind of alpha and beta has a kernel; moves one more (`_single`) for blocks at any addresses of whole elements. A
table is data of the module, so that loading the code brings it to the device.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__, arguments
from ..arrays.checks import scaled
from ..arrays.scalings import PLAIN, Scaling
from ..errors import OptionError, ProblemError
from ..gpu import header, tools
from ..gpu import kernel as gpu_kernel
from ..gpu.artifact import KINDS, SINGLE, one_text
from ..lazy_dataclasses import NamedTuple
from ..lowering.gpu.boxes import THREADS
from ..lowering.gpu.launch import GpuImage
from ..machine.gpu_target import GpuTarget
from ..native.marks import check
from ..native.publish import publish
from ..native.whole_file import filled
from ..operands.types import spelled
from ..problem import dtypes, names
from ..problem.dtypes import DType, Kind
from ..problem.kinds import Alpha, Beta
from .blocks import Blocks
from .boxes import MOST_UNIT, Boxes, boxes_of, types_of
from .ragged import Words

TEMPLATE = Path(header.__file__).with_name("group.h.in")
EMIT = ("ptx", "cubin", "header")
ENDINGS = {"ptx": ".ptx", "cubin": ".cubin", "header": ".h"}
LONGEST_NAME = 100
LINE = 8  # words of a table


class Row(NamedTuple):
    """A kernel of a group, and the name of its table. unit: bytes that it moves at a time, 0 = elements."""

    image: GpuImage
    table: str
    unit: int


class Bundle(NamedTuple):
    """All kernels of a group: two rows a kind, for aligned addresses and for others. tables: their words by name;
    compute: the type of alpha and beta."""

    name: str
    blocks: Blocks
    target: GpuTarget
    conjugate: bool
    compute: DType
    rows: tuple[Row, ...]
    tables: dict[str, Words]


def write(
    blocks: Blocks, conjugate: Any, target: GpuTarget, name: str, directory: Path, emit: Sequence[str] | None,
    overwrite: bool,
) -> tuple[Path, ...]:  # fmt: skip
    """Write the wanted files, all or none, and return their paths in the order of `emit`."""
    wanted = checked(emit)
    check_name(name)
    check(directory, file_names(name, wanted), overwrite)
    made = bundle(blocks, bool(conjugate), target, name)
    contents = {"ptx": _ptx, "cubin": _cubin, "header": _header}
    return publish(directory, [(f"{name}{ENDINGS[kind]}", contents[kind](made)) for kind in wanted], overwrite)


def file_names(name: str, emit: Sequence[str] | None) -> tuple[str, ...]:
    """The names of the files of these kinds."""
    return tuple(f"{name}{ENDINGS[kind]}" for kind in checked(emit))


def checked(emit: Sequence[str] | None, subject: str = "emit ") -> tuple[str, ...]:
    """The kinds of files that are meant. OptionError for others. subject: of messages, before a kind."""
    wanted = ("ptx", "header") if emit is None else arguments.texts("emit", emit)
    for kind in wanted:
        if kind not in EMIT:
            raise OptionError(f"{subject}{arguments.cut(kind)}: the choices for a group are {', '.join(EMIT)}")
    return tuple(dict.fromkeys(wanted))


def check_name(name: str) -> None:
    """OptionError for what begins no names in C."""
    if not isinstance(name, str) or not (name.isascii() and name.isidentifier()) or len(name) > LONGEST_NAME:
        raise OptionError(
            f"group name {arguments.shown(name)} is no C identifier of at most {LONGEST_NAME} characters: its files,"
            " functions and kernels have it"
        )


def bundle(blocks: Blocks, conjugate: bool, target: GpuTarget, name: str) -> Bundle:
    """Build all kernels of a group, each once, and its tables. ArrayError for arithmetic on parts of elements."""
    rows, tables, built = list[Row](), dict[str, Words](), dict[Any, GpuImage]()
    compute = dtypes.carrier(1)  # of types that are only moved
    for word, scale in _scalings(blocks, conjugate):
        compute = compute if scale.types is None else dtypes.compute_type(*scale.types)
        for end, odd in (("", 0), (SINGLE, _element(blocks))):
            boxes = boxes_of(blocks, scale is PLAIN, odd)
            table, made = _named(tables, boxes, name), (word, boxes.unit)
            if made not in built:
                kinds, entry = types_of(scale, boxes.unit), f"{name}_{word}{end}"
                built[made] = gpu_kernel.for_boxes(kinds, boxes.axes, boxes.tasks, target, entry)
            rows.append(Row(built[made], table, boxes.unit))
    return Bundle(name, blocks, target, conjugate, compute, tuple(rows), tables)


def _scalings(blocks: Blocks, conjugate: bool) -> Iterator[tuple[str, Scaling]]:
    """The kinds of scalars that the types admit."""
    for word, kinds in KINDS.items():
        alpha = {Alpha.ONE: 1, Alpha.ZERO: 0, Alpha.ANY: 2}[kinds.alpha]
        try:
            yield word, scaled(blocks.of, blocks.to, alpha, 2 if kinds.beta is Beta.ANY else 0, conjugate)
        except ProblemError:  # of types that are only moved
            if word == "copy":
                raise
            return


def _named(tables: dict[str, Words], boxes: Boxes, name: str) -> str:
    """The name of a table, which is added unless an equal one is there."""
    words = boxes.table if len(boxes.table) else np.zeros(1, np.int64)  # no data is empty
    same = (known for known, table in tables.items() if np.array_equal(table, words))
    found = next(same, f"{name}_table{len(tables)}")
    tables[found] = words
    return found


def _element(blocks: Blocks) -> int:
    """Bytes of which the addresses of whole elements are multiples."""
    bits = MOST_UNIT | blocks.of.itemsize | blocks.to.itemsize
    return bits & -bits


# --- contents -------------------------------------------------------------------------------------------------


def _ptx(made: Bundle) -> bytes:
    images = {row.image.launch.entry: row.image for row in made.rows}
    data = "".join(_data(name, table) for name, table in made.tables.items())
    return one_text(made.name, f"// {made.blocks.total} blocks\n", tuple(images.values()), data)


def _data(name: str, words: Words) -> str:
    """A table as data of a module."""
    texts = [str(word) for word in words.view(np.uint64).tolist()]
    lines = ",\n".join(", ".join(texts[k : k + LINE]) for k in range(0, len(texts), LINE))
    return f".visible .global .align 8 .b64 {name}[{len(texts)}] = {{\n{lines}}};\n"


def _cubin(made: Bundle) -> bytes:
    return tools.cubin(_ptx(made), made.target)


def _header(made: Bundle) -> bytes:
    types = dict.fromkeys(map(spelled, (made.blocks.of, made.blocks.to)))
    source = "conj(A)" if made.conjugate else "A"
    launches = [row.image.launch for row in made.rows]
    needs = dict.fromkeys(f"{side.itemsize & -side.itemsize}" for side in (made.blocks.of, made.blocks.to))
    told = {
        "STEM": made.name,
        "GUARD": names.guard(made.name),
        "VERSION": __version__,
        "RULE": "B <- A permuted" if made.compute.kind is Kind.OPAQUE else f"B <- alpha * {source} permuted + beta * B",
        "TYPES": " to ".join(types),
        "BLOCKS": str(made.blocks.total),
        "TARGET": str(made.target),
        "ELEMENT": " and ".join(needs),
        "ALIGN": str(max(made.rows[0].unit, _element(made.blocks))),
        "COUNT": str(len(made.rows)),
        "NAMES": "\n".join(f'        {{"{row.image.launch.entry}", "{row.table}"}},' for row in made.rows),
        "KERNELS": "\n".join(f"        {{{launch.grid}u, {header.scalars_taken(launch)}}}," for launch in launches),
        "SCALARS": header.scalar_parameters(made.compute),
        "LOCALS": header.scalar_copies(made.compute),
        "CHOICE": header.chosen_kind(made.compute),
        "PASSED": header.passed_scalars(made.compute),
        "BLOCK": str(THREADS),
    }
    return filled(TEMPLATE, told).encode()
