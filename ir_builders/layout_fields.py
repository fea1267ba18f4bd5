"""The two blocks of words between the native entry of `ttc_llvm.transpose` and the table of known layouts.

A *layout* is what a call asks for, and all of it is the key of the table; a *prepared* call is what the table answers:
whatever has to be passed to the kernel besides the two arrays' addresses. A word has 8 bytes.
"""

from __future__ import annotations

# A layout: KIND, RANK, and three words for each axis of the result, in its order: EXTENT, and the strides in bytes of
# the array and of the result.
KIND, RANK, AXES = 0, 8, 16
EXTENT, STRIDE_OF, STRIDE_TO = 0, 8, 16
AXIS_BYTES = 24
MAX_RANK = 64  # NumPy's
LAYOUT_BYTES = AXES + MAX_RANK * AXIS_BYTES
FIRST_SCALED_KIND = 1 << 32  # smaller kinds are plain moves of items of so many bytes, larger ones `scaled_kind`
SCALED_KINDS = 256
CAST_KINDS, CAST_INDEX = 256, 8  # kinds of conversions that have families, and the bit where their numbers begin

# What `scaled_kind` is made of: places in ARITHMETIC, and how alpha and beta are known when a kernel is compiled.
ARITHMETIC, SIZES = ("f4", "f8", "c8", "c16"), (4, 8, 8, 16)
ALPHA_ZERO, ALPHA_ONE, ALPHA_ANY = 0, 1, 2
BETA_ZERO, BETA_ANY = 0, 1

# A prepared call.
OFFSET_A, OFFSET_B = 0, 8  # bytes from element 0 of each array to where the kernel begins
PARAMS = 16  # address of the kernel's parameters
ODD_A, ODD_B = 24, 32  # address bits that must be clear
LEFT, WEIGHT = 40, 48  # bytes until Python has to look at the layout anew, and for how many of them a call counts
PARTS = 56  # threads that are worth their while; 0: Python makes the call
HELD = 64  # 1: too short to give the interpreter lock away for
OWNER = 72  # object that keeps code and parameters alive, 0: they live for ever
REACH_OF, REACH_TO = 80, 96  # lowest byte and end, relative to element 0, of each array; two words
PLACE_A, PLACE_B = 112, 120  # low bits of where the kernel begins: whether any is set decides which kernel runs
WHOLE_B = 128  # such bits of B that are clear where native code knows the kernel
KERNEL = 136  # address of the kernel
TASKS = 144  # size of its task grid
SCRATCH = 152  # bytes that each thread needs
CALL_BYTES = 160

# Behind it, if there is an owner: these three words of the kernel for A off its place, for B, and for both.
KERNEL_BYTES = CALL_BYTES - KERNEL
PREPARED_BYTES = CALL_BYTES + 3 * KERNEL_BYTES


def scaled_kind(of: int, to: int, alpha: int, beta: int, conjugate: int) -> int:
    """The number of a kind of arithmetic. of, to: the element types; conjugate: 0 or 1."""
    return FIRST_SCALED_KIND + (of | to << 2 | alpha << 4 | beta << 6 | conjugate << 7)


def cast_kind(index: int, power_of: int, power_to: int, alpha_zero: bool, beta: bool) -> int:
    """The number of a kind of conversion. index: of the kind in this process; power_of, power_to: log2 of the elements'
    bytes; alpha_zero: the array is not read; beta: the result is."""
    return FIRST_SCALED_KIND + (power_of | power_to << 3 | alpha_zero << 6 | beta << 7 | 1 + index << CAST_INDEX)
