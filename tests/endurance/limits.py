"""Every command under every limit that a system sets: `make limits ARGS="--only=transpose,AS"`.

A round is one command under one limit, in a process of its own as a user of its own. It must give its result, or one
line that says why not. Where Python itself does not start, or NumPy and LLVM cannot be loaded under the limit, a death
is theirs.
"""

from __future__ import annotations

import functools
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import campaign
from other_user import become

NAME = "limits"
USER = 61_000 + os.getpid() % 4_000  # no other process is this user's: RLIMIT_NPROC counts them all
SECONDS = 120.0
KIB, MIB = 1 << 10, 1 << 20
PROBES = ("pass", "import numpy, sqlite3, llvmlite.binding as b; b.initialize_all_targets(); b.create_lljit_compiler()")
FOREIGN = ("OpenBLAS", "LLVM ERROR", "terminate called", "  what():", "libgomp", "Fatal Python error", "MemoryError")
SMALL = ("--perm=1,0", "--size=300,400", "--numThreads=2")


@dataclass(frozen=True, slots=True)
class Limit:
    """A resource of a process and the most that it may take, in the resource's own unit."""

    name: str
    most: int

    @property
    def text(self) -> str:
        """What reports call it."""
        return f"{self.name}={self.most}"


LIMITS = tuple(
    Limit(name, most)
    for name, values in {
        "AS": [n * MIB for n in (40, 90, 120, 150, 200, 260, 300, 340, 380, 400, 420, 460, 500, 540, 600, 700, 900)],
        "DATA": [n * MIB for n in (8, 20, 32, 48, 64, 80, 100, 130, 160, 200, 300)],
        "NPROC": [1, 2, 3, 4],
        "NOFILE": [3, 4, 5, 6, 7, 8, 10, 12, 16, 24],
        "STACK": [n * KIB for n in (64, 80, 96, 128, 192, 256, 512, 1024)],
        "FSIZE": [0, 1, 1 * KIB, 8 * KIB, 64 * KIB],
    }.items()
    for most in values
)

_CALLS = """
import sys
import ttc_llvm
try:
    {body}
except ttc_llvm.TtcError as error:
    sys.exit(f"refused: {{error}}")
except MemoryError as error:  # of arrays of this program itself: ours are TtcErrors
    trace = error.__traceback__
    while trace.tb_next is not None and "ttc_llvm" not in trace.tb_frame.f_code.co_filename:
        trace = trace.tb_next
    if "ttc_llvm" in trace.tb_frame.f_code.co_filename:
        raise
    sys.exit(f"refused: the program's own arrays: {{error}}")
"""
_TRANSPOSE = """
    import numpy as np
    for shape in ((3, 4, 5), (60, 70, 80), (512, 1024, 8)):
        x = np.arange(np.prod(shape), dtype=float).reshape(shape)
        for _ in range(3):
            y = ttc_llvm.transpose(x, (2, 0, 1), threads=2)
            assert all((p == q).all() for r, s in zip(y, x.transpose(2, 0, 1)) for p, q in zip(r, s))
    y = ttc_llvm.transpose(x, (2, 0, 1), alpha=2.0, out=y, beta=1.0)
    assert all((p == 3 * q).all() for r, s in zip(y, x.transpose(2, 0, 1)) for p, q in zip(r, s))
"""
_COMPILE = """
    import numpy as np
    solution = ttc_llvm.compile(ttc_llvm.Problem((1, 0), (600, 700), beta=1), 4, threads=2)
    a, b = np.ones(600 * 700, "f4"), np.ones(600 * 700, "f4")
    solution(a, b)
    assert (b == 2).all()
    solution.write("written")
"""


def _script(body: str) -> tuple[str, ...]:
    return (sys.executable, "-c", _CALLS.format(body=body.strip()))


def _ttc(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "ttc_llvm", *words)


COMMANDS = {
    "version": _ttc("--version"),
    "compile": _ttc(*SMALL, "--maxImplementations=4", "--beta=1", "--output-dir=out"),
    "large": _ttc("--perm=1,0", "--size=4000,6000", "--maxImplementations=2", "--numThreads=2", "--emit="),
    "generate": _ttc(*SMALL, "--generateOnly", "--output-dir=out", "--keep", "--maxImplementations=3"),
    "library": _ttc(*SMALL, "--generateOnly", "--emit=static,shared", "--output-dir=out"),
    "explain": _ttc("explain", *SMALL, "--html=page.html"),
    "bench": _ttc("bench", "--bytes=256K", "--cases=1", "--maxImplementations=3", "--peers=numpy", "--output=b.jsonl"),
    "compare": _ttc(*SMALL, "--maxImplementations=2", "--compiler=g++,llvm", "--emit="),
    "report": _ttc("report", "made.jsonl", "--output=report"),
    "info": _ttc("info", "--no-ceilings"),
    "database": _ttc("database", "export", "exported.jsonl"),
    "transpose": _script(_TRANSPOSE),
    "python": _script(_COMPILE),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a process ended. kind: result, refused, foreign (before ours ran), crash, hang, internal or torn."""

    kind: str
    said: str = ""

    @property
    def is_fault(self) -> bool:
        """True where ttc is to blame."""
        return self.kind not in ("result", "refused", "foreign")


def run(command: tuple[str, ...], limit: Limit, folder: Path) -> Outcome:
    """Run a command in a folder, which the process' user owns, under a limit."""
    try:
        done = _started(command, limit, folder)
    except subprocess.TimeoutExpired:
        return Outcome("hang", f"longer than {SECONDS:g} s")
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    own = [line for line in lines if line.startswith(("ttc: ", "refused: "))]
    last = own[-1] if own else (lines[-1] if lines else "")
    if done.returncode == 0:
        return Outcome("result") if "Traceback" not in done.stderr else Outcome("internal", last)
    is_stated = len([line for line in own if "warning: " not in line]) == 1 and "internal error" not in done.stderr
    if done.returncode in (1, 2) and is_stated and "Traceback" not in done.stderr:
        return Outcome("refused", last)
    if not _starts(limit):
        return Outcome("foreign", last)
    return Outcome("crash" if done.returncode < 0 else "internal", f"status {done.returncode}: {last}")


@functools.cache
def _starts(limit: Limit) -> bool:
    """True where Python, NumPy and LLVM start under a limit without any of our code."""
    with tempfile.TemporaryDirectory(prefix="ttc-limits-") as folder:
        return all(_started((sys.executable, "-c", code), limit, Path(folder)).returncode == 0 for code in PROBES)


def _started(command: tuple[str, ...], limit: Limit, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache"), "TMPDIR": str(folder),
        "TTC_DATABASE": str(folder / "solutions.sqlite3"), "PYTHONDONTWRITEBYTECODE": "1", "MPLCONFIGDIR": str(folder),
    }  # fmt: skip
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, errors="replace", timeout=SECONDS,
        preexec_fn=_limited(limit), check=False,
    )  # fmt: skip


def _limited(limit: Limit) -> Callable[[], None]:
    number = getattr(resource, f"RLIMIT_{limit.name}")

    def apply() -> None:
        become(USER)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(number, (limit.most, limit.most))

    return apply


def folder_for(command: str, made: Path | None) -> Path:
    """A new folder for a process of the other user. made: results to make a report of."""
    folder = Path(tempfile.mkdtemp(prefix="ttc-limits-"))
    if command == "report" and made is not None:
        shutil.copy(made, folder / "made.jsonl")
    if os.getuid() == 0:
        for path in (folder, *folder.iterdir()):
            os.chown(path, USER, USER)
    return folder


def torn(folder: Path) -> Iterator[str]:
    """Files under a final name that are not whole."""
    ends = {".html": "</html>", ".svg": "</svg>", ".h": "#endif", ".a": "", ".o": ""}
    for path in folder.rglob("*"):
        if path.suffix in ends and path.is_file() and ".tmp" not in str(path):
            content = path.read_bytes()
            if not content or ends[path.suffix].encode() not in content[-200:]:
                yield str(path.relative_to(folder))


def attack(command: str, limit: Limit, made: Path | None = None) -> Outcome:
    """One command under one limit, and what it left behind."""
    folder = folder_for(command, made)
    try:
        outcome = run(COMMANDS[command], limit, folder)
        pieces = list(torn(folder))
        return Outcome("torn", ", ".join(pieces)) if pieces else outcome
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    """All pairs of commands and limits, or those that --only asks for; the exit status."""
    table = [(command, limit) for limit in LIMITS for command in COMMANDS]
    parser = campaign.options(NAME, 0)
    parser.add_argument("--only", default="", help="names of commands and resources, comma-separated")
    parser.add_argument("--results", type=Path, help="a file of `ttc bench`, of which reports are made")
    parser.add_argument("--verbose", action="store_true")
    asked = parser.parse_args()
    words = {word for word in asked.only.split(",") if word}
    commands, names = words & set(COMMANDS) or set(COMMANDS), words & {limit.name for limit in LIMITS}
    table = [(c, limit) for c, limit in table if c in commands and (not names or limit.name in names)]
    state = campaign.Campaign.resumed(NAME, asked.seed, asked.state)
    for number in state.rounds(asked.count or len(table) - state.done, asked.seconds):
        command, limit = table[number % len(table)]
        outcome = attack(command, limit, asked.results)
        state.met(outcome.kind, f"{command}: {outcome.kind}", f"{limit.name}: {outcome.kind}")
        if asked.verbose:
            print(f"{command:10} {limit.text:16} {outcome.kind:8} {outcome.said[:150]}", flush=True)
        if outcome.is_fault:
            state.fail(number, f"--only={command},{limit.name} {limit.text}: {outcome.kind}: {outcome.said[:300]}")
    return state.finish()


if __name__ == "__main__":
    sys.exit(main())
