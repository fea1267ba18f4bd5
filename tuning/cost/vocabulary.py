"""The cost model's own words: for classes of problems, what plans decide, families of processors, and facts.

The model's data file speaks these words, whatever the program calls its decisions. A decision that is renamed is
another key of `FETCHES`, `STAGINGS` or `STORES`; a word that changes its meaning needs a new fit and a higher
`VERSION`.
"""

from __future__ import annotations

from functools import lru_cache

from ttc_llvm.lowering.plan import Fetch, Store

VERSION = 1

KINDS = ("columns copy", "columns update", "rows copy", "rows update")
FETCHES = {Fetch.BLOCKS: "blocks", Fetch.FAR: "far", Fetch.ROWS: "rows"}
DIRECT = (Store.CACHED, Store.ALIGNED, Store.ROWS, Store.PEELED)
CHAINED = "carry"
STAGINGS = {**dict.fromkeys(DIRECT, "none"), Store.BUFFERED: "b", Store.COMBINED: CHAINED, Store.JOINED: CHAINED}
STAGED = ("none", "a", "b", "carry")  # those that the networks know: "a" was scratch in A's order
BY_ROWS = ""  # "streaming" or "ragged", by where B's rows begin
STORES = {
    Store.CACHED: "stores",
    Store.COMBINED: "carry",
    Store.JOINED: "joined",
    **dict.fromkeys((Store.ALIGNED, Store.ROWS, Store.PEELED, Store.BUFFERED), BY_ROWS),
}
STORED = ("stores", "streaming", "ragged", "carry", "joined")
MODES = tuple(f"{fetch} {stores}" for fetch in FETCHES.values() for stores in STORED)
INNER = ("a", "b", "rows", "none")
WALKS = ("a", "b", "both", "other")
FAMILIES = {  # processors with weights of their own, by how LLVM's names for them begin: the first that fits
    "znver5": "Zen 5",
    "znver": "Zen",  # 4, by its data
    **dict.fromkeys(("skylake-avx512", "cascadelake", "cooperlake"), "Skylake"),
}
FAMILY = tuple(dict.fromkeys(FAMILIES.values()))
BASE = "base"  # of a class of problems: the one fact that no mode has
FACTS = (
    *(BASE, "mode", "distance", "staging", "inner", "block a", "block b", "block", "tile", "waste", "runs"),
    *(f"run {side}, {inner} innermost" for side in "ab" for inner in INNER),
    *("lines a", "lines b", "misses a", "misses b", "path", "panel", "stream a", "stream b", "streams"),
    *(f"runs, along {walk}" for walk in (*WALKS, "")),
    *("pages a", "pages b", "flight a", "flight b", "run handed on", "waiting"),
)


@lru_cache(maxsize=4096)
def named(mode: str, fact: str, family: str = "") -> str:
    """A fact's name in full: of plans of this mode, on this family of processors where it is one's own."""
    return f"{mode}{': ' if mode else ''}{fact}{' on ' if family else ''}{family}"
