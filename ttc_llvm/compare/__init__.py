"""Comparisons with compilers: the naive loop nest, built by each of them, beside our solutions.

`references.find` gives peers for `ttc_llvm.bench.run`; `ttc compare` is that on the command line.
"""

from __future__ import annotations

from .references import Wanted, find

__all__ = ["Wanted", "find"]
