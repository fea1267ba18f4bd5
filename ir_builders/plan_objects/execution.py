"""Plans are executed: functions for `integer_code` that neither take memory nor change a plan."""

from __future__ import annotations

from ttc_llvm.lowering.division import edge

from .. import canonical_axes as axes
from .. import layout_fields as asked
from ..words import call, load32, load64, local, store32, store64
from . import choices, overlaps
from . import fields as f

ONE = (0, 0x3F800000, 0x3FF0000000000000, 0x3F800000, 0x3FF0000000000000)  # 1 by arithmetic, as bits
SCALARS_BYTES = 32
IS_ZERO, IS_ONE, IS_OTHER = 0, 1, 2


def execute(plan: int, a: int, b: int, alpha: int, beta: int, part: int, parts_in_all: int) -> int:
    """Run one of several parts of a plan; OK, or what is wrong, and then nothing is run."""
    if plan == 0:
        return f.NULL
    if part < 0 or part >= parts_in_all:
        return f.PART
    if load64(plan + f.EMPTY):
        return f.OK
    arithmetic = load64(plan + f.PLAN_ARITHMETIC)
    if arithmetic == f.NO_SCALARS and (alpha or beta):
        return f.SCALARS
    kind, scalars = kind_of(arithmetic, alpha, beta), local(SCALARS_BYTES)
    status = refusal(plan, a, b, kind < f.ZERO)
    if status == f.OK:
        write_scalars(arithmetic, alpha, beta, scalars)
        run(plan, kind, a, b, alpha, beta, scalars, part, parts_in_all)
    return status


def refusal(plan: int, a: int, b: int, reads: int) -> int:
    """The code of what is wrong with these addresses, or OK. reads: A is read."""
    if b == 0 or (a == 0 and reads):
        return f.NULL
    if b & load64(plan + f.ODD_B) or (a & load64(plan + f.ODD_A) and reads):
        return f.ALIGNMENT
    return f.OVERLAP if reads and _meet(plan, a, b) else f.OK


def write_scalars(arithmetic: int, alpha: int, beta: int, scalars: int) -> None:
    """Write alpha and beta as kernels take them."""
    _write_scalar(arithmetic, alpha, ONE[arithmetic], scalars)
    _write_scalar(arithmetic, beta, 0, scalars + f.PARTS_OF[arithmetic] * f.BYTES_OF[arithmetic])


def run(
    plan: int, kind: int, a: int, b: int, alpha: int, beta: int, scalars: int, part: int, parts_in_all: int
) -> None:
    """Run a part of a plan that is not empty, at addresses that have been checked. scalars: alpha and beta, written."""
    if load64(plan + f.OWN):
        call(load64(plan + f.OWN), a, b, alpha, beta, part, parts_in_all)
    else:
        _run(_call_for(plan, kind, b), a, b, scalars, part, parts_in_all)


def kind_of(arithmetic: int, alpha: int, beta: int) -> int:
    """The kind of alpha and beta."""
    which_a, which_b = _which(arithmetic, alpha, IS_ONE), _which(arithmetic, beta, IS_ZERO)
    if which_a == IS_ZERO:
        return f.ZERO if which_b == IS_ZERO else f.SCALE_B
    if which_b != IS_ZERO:
        return f.UPDATE
    return f.COPY if which_a == IS_ONE else f.SCALE


def _which(arithmetic: int, scalar: int, absent: int) -> int:
    """Whether a scalar is 0, 1 or another number; absent: which it is where it is NULL."""
    if scalar == 0:
        return absent
    real = _magnitude(arithmetic, scalar)
    if f.PARTS_OF[arithmetic] == 2 and _magnitude(arithmetic, scalar + f.BYTES_OF[arithmetic]) != 0:
        return IS_OTHER
    if real == 0:
        return IS_ZERO
    return IS_ONE if real == ONE[arithmetic] and not _is_negative(arithmetic, scalar) else IS_OTHER


def _magnitude(arithmetic: int, number: int) -> int:
    """The bits of a number but for its sign."""
    if f.BYTES_OF[arithmetic] == 4:
        return load32(number) & 0x7FFFFFFF
    return load64(number) & 0x7FFFFFFFFFFFFFFF


def _is_negative(arithmetic: int, number: int) -> int:
    return (load32(number) if f.BYTES_OF[arithmetic] == 4 else load64(number)) < 0


def _write_scalar(arithmetic: int, scalar: int, absent: int, at: int) -> None:
    """Write a scalar, or the bits of an absent one, for kernels."""
    size = f.BYTES_OF[arithmetic]
    for k in range(f.PARTS_OF[arithmetic]):
        value = absent if k == 0 else 0
        if scalar:
            value = load32(scalar + k * size) if size == 4 else load64(scalar + k * size)
        if size == 4:
            store32(at + k * size, value)
        else:
            store64(at + k * size, value)


def _meet(plan: int, a: int, b: int) -> int:
    """1 where A and B share memory, or may do so."""
    if a + load64(plan + f.REACH_A) >= b + load64(plan + f.REACH_B + 8):
        return 0
    if b + load64(plan + f.REACH_B) >= a + load64(plan + f.REACH_A + 8):
        return 0
    size_a, size_b = _size(plan, f.REACH_A, asked.STRIDE_OF), _size(plan, f.REACH_B, asked.STRIDE_TO)
    return overlaps.share(plan + f.LAYOUT, b - a, size_a, size_b)


def _size(plan: int, reach: int, side: int) -> int:
    """Bytes of an element: what its tensor reaches over beside the strides."""
    found, layout = load64(plan + reach + 8) - load64(plan + reach), plan + f.LAYOUT
    for axis in range(layout + asked.AXES, axes.end(layout), asked.AXIS_BYTES):
        found = found - (load64(axis + asked.EXTENT) - 1) * abs(load64(axis + side))
    return found


def _call_for(plan: int, kind: int, b: int) -> int:
    """The call for a B at this address."""
    found = load64(plan + f.CALLS + 8 * (f.LEVELS * kind + choices.ANYWHERE))
    for level in range(choices.ANYWHERE):
        other = load64(plan + f.CALLS + 8 * (f.LEVELS * kind + level))
        if other and (b + load64(other + f.OFFSET_B)) & load64(other + f.ODD) == 0:
            return other
    return found


def _run(what: int, a: int, b: int, scalars: int, part: int, parts_in_all: int) -> None:
    """Run a part of a call."""
    tasks = load64(what + f.TASKS)
    total = tasks * load64(what + f.OUTER)
    begin, end = edge(total, part, parts_in_all), edge(total, part + 1, parts_in_all)
    memory = local(f.SCRATCH + 64)
    scratch, copied = (memory + 63) & -64, local(f.OUTER_AXES - f.PARAMS)
    if load64(what + f.GATHERED) and begin < end:
        call(load64(what + f.TILES), what, a, b, scalars, scratch, begin, end)
        begin = end
    while begin < end:
        around = begin // tasks
        first = begin - around * tasks
        last = min(tasks, first + end - begin)
        of, to = a + load64(what + f.OFFSET_A), b + load64(what + f.OFFSET_B)
        outer, params = what + f.OUTER_AXES, what + f.PARAMS
        for axis in range(outer, outer + f.OUTER_BYTES * load64(what + f.AROUND), f.OUTER_BYTES):
            index = around % load64(axis)
            around = around // load64(axis)
            of, to = of + index * load64(axis + 8), to + index * load64(axis + 16)
            step = load64(axis + f.PIECE)
            if step:
                params = _piece(params, copied, load64(axis + f.SLOT), index * step, step)
        call(load64(what + f.KERNEL), of, to, scalars, params, scratch, first, last)
        begin = begin + last - first


def _piece(params: int, copied: int, slot: int, begin: int, step: int) -> int:
    """The address of a copy of the parameters where one extent is that of a piece."""
    if params != copied:
        for word in range(0, f.OUTER_AXES - f.PARAMS, 8):
            store64(copied + word, load64(params + word))
    rest = load64(copied + slot) - begin
    store64(copied + slot, step if rest >= 2 * step else rest)
    return copied
