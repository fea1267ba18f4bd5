"""Commands hit by SIGINT, SIGTERM and SIGHUP at random moments between exec and exit: `make interrupts`.

A command ends within SOON seconds, by one line or none, with its result, status 130 or by the signal; it leaves no
process, no temporary file, no torn file and a whole database.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from campaign import Campaign, options

ROOT = Path(__file__).parents[2]
SOON = 15.0  # seconds from the last signal to the end, on a machine that is busy
MARK = "TTC_INTERRUPT_ROUND"  # in the environment of a command and of what it starts
EARLY = 0.5  # share of the moments that fall into the first BEGINNING seconds
BEGINNING = 0.6
MANIFEST = "".join(f"--perm=1,0 --size={64 + k},48\n" for k in range(4))
STATUS: dict[int, int] = {signal.SIGINT: 130, signal.SIGTERM: -signal.SIGTERM, signal.SIGHUP: -signal.SIGHUP}
OURS = tuple(f'File "{ROOT}/{room}/' for room in ("ttc_llvm", "ir_builders", "tuning"))


@dataclass(frozen=True, slots=True)
class Kind:
    """A command. words: its arguments; seconds: into which signals fall; needs: a program or module, "" = nothing."""

    words: tuple[str, ...]
    seconds: float
    needs: str = ""


SEARCH = ("--maxImplementations=24", "--output-dir=out")
KINDS = {
    "compile": Kind(("--perm=2,1,0", "--size=64,48,32", "--emit=obj,header,fortran,llvm,bitcode", *SEARCH), 4.0),
    "generate": Kind(("--perm=2,1,0", "--size=64,48,32", "--generateOnly", "--keep", *SEARCH), 4.0),
    "library": Kind(("--manifest=p.txt", "--emit=static,shared", *SEARCH), 6.0, "cc"),
    "gpu": Kind(("--perm=2,1,0", "--size=64,48,32", "--architecture=sm_90", "--generateOnly", *SEARCH), 2.0),
    "bench": Kind(
        ("bench", "--bytes=1M", "--maxImplementations=12", "--peers=numpy", "--output=out/results.jsonl"), 15.0
    ),
    "compare": Kind(
        ("compare", "--bytes=256K", "--cases=::6", "--maxImplementations=4", "--compiler=g++,llvm", "--csv=out/r.csv"),
        8.0, "g++",
    ),
    "beside": Kind(("--perm=2,1,0", "--size=64,48,32", "--compiler=g++", *SEARCH), 4.0, "g++"),
    "explain": Kind(("explain", "--perm=2,1,0", "--size=64,48,32", "--html=out/page.html"), 3.0),
    "report": Kind(("report", "results.jsonl", "--output=out"), 6.0, "matplotlib"),
    "info": Kind(("info",), 3.0),
    "list": Kind(("database", "list"), 1.0),
    "export": Kind(("database", "export", "out/exported.jsonl"), 1.0),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Attack:
    """One round. at: seconds after exec; again: seconds until a second signal, None = none; everybody: the whole
    process group is hit, as by a terminal."""

    kind: str
    script: bool
    number: int
    at: float
    again: float | None
    everybody: bool

    @classmethod
    def drawn(cls, seed: int, round_number: int, kinds: tuple[str, ...]) -> Attack:
        """The attack of a round."""
        draw = random.Random(f"{seed} {round_number}")
        kind = draw.choice(kinds)
        number = draw.choice((signal.SIGINT,) * 6 + (signal.SIGTERM, signal.SIGHUP))
        at = draw.uniform(0, BEGINNING if draw.random() < EARLY else KINDS[kind].seconds)
        again = draw.choice((None, None, draw.uniform(0, 0.3)))
        return cls(kind, draw.random() < 0.5, number, at, again, draw.random() < 0.5)

    def __str__(self) -> str:
        start, whom = "script" if self.script else "module", "group" if self.everybody else "process"
        twice = "" if self.again is None else f" and {self.again:.4f} s later"
        name = signal.Signals(self.number).name
        return f"{self.kind} ({start}), {name} to its {whom} at {self.at:.4f} s{twice}"


@dataclass(frozen=True, slots=True)
class Ended:
    """How it went. seconds: from the last signal to the end."""

    status: int
    out: str
    err: str
    seconds: float


def kinds_here() -> tuple[str, ...]:
    """The commands that this machine can run."""
    return tuple(name for name, kind in KINDS.items() if not kind.needs or _is_here(kind.needs))


def _is_here(name: str) -> bool:
    return shutil.which(name) is not None or find_spec(name) is not None


def run(attack: Attack, folder: Path) -> Ended:
    """Carry out an attack in an empty folder."""
    prepare(folder)
    program = [str(Path(sys.executable).with_name("ttc"))] if attack.script else [sys.executable, "-m", "ttc_llvm"]
    mark = str(folder)
    environment = os.environ | {
        MARK: mark, "HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp"), "PYTHONPATH": str(ROOT),
        "XDG_CACHE_HOME": str(folder / "home"), "TTC_DATABASE": str(folder / "solutions.db"),
    }  # fmt: skip
    with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
        running = subprocess.Popen(
            [*program, *KINDS[attack.kind].words], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out,
            stderr=err, start_new_session=True,
        )  # fmt: skip
        hit_last = _hit(running, attack)
        try:
            status = running.wait(SOON)
        except subprocess.TimeoutExpired:
            status = 999
        seconds = time.monotonic() - hit_last
        if status == 999:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()
    texts = [(folder / name).read_text(errors="replace") for name in ("stdout", "stderr")]
    return Ended(status, texts[0], texts[1], seconds)


def prepare(folder: Path) -> None:
    """What commands need, in an empty folder."""
    for name in ("home", "tmp", "out"):
        (folder / name).mkdir()
    (folder / "p.txt").write_text(MANIFEST)
    shutil.copy(_solutions(), folder / "solutions.db")
    (folder / "results.jsonl").write_text(_results())


@lru_cache(maxsize=1)
def _results() -> str:
    found = next((ROOT / "benchmarks" / "results").glob("*.jsonl"))
    return "".join(found.read_text().splitlines(keepends=True)[:20])


@lru_cache(maxsize=1)
def _solutions() -> Path:
    """A database with some rows."""
    path = Path(tempfile.mkdtemp(prefix="ttc-interrupts-")) / "solutions.db"
    for size in ("8,9", "10,11"):
        words = ["--perm=1,0", f"--size={size}", "--maxImplementations=1", "--emit=", f"--database={path}", "--quiet"]
        subprocess.run([sys.executable, "-m", "ttc_llvm", *words], cwd=ROOT, check=True)
    return path


def _hit(running: subprocess.Popen[bytes], attack: Attack) -> float:
    """Send the signals; returns when the last one was sent."""
    for wait in (attack.at, attack.again):
        if wait is None:
            break
        try:
            running.wait(wait)
            break
        except subprocess.TimeoutExpired:
            pass
        if attack.everybody:
            os.killpg(running.pid, attack.number)
        else:
            os.kill(running.pid, attack.number)
    return time.monotonic()


# --- what must not be -----------------------------------------------------------------------------------------


def faults(attack: Attack, ended: Ended, folder: Path) -> Iterator[str]:
    """What is wrong with the end of a command, a sentence each."""
    if ended.status == 999:
        yield f"it has not ended {SOON:g} s after the signal"
    elif ended.status not in (0, STATUS[attack.number], -attack.number) and not is_startup(ended):
        yield f"its status is {ended.status}: {ended.err[-300:]!r}"
    lines = ended.err.splitlines()
    if is_traceback(ended) and not is_startup(ended):
        yield "a traceback:\n" + ended.err
    elif len(lines) > 1 and not is_startup(ended):
        yield f"{len(lines)} lines: {ended.err!r}"
    yield from _left(folder)
    yield from _torn(folder)


def is_traceback(ended: Ended) -> bool:
    """Whether Python says where it was struck."""
    return "Traceback" in ended.err or "KeyboardInterrupt" in ended.err


def is_startup(ended: Ended) -> bool:
    """Whether the signal struck Python's own start, before a line of ours: nothing of ours can mind it."""
    return is_traceback(ended) and not any(ours in ended.err for ours in OURS)


def _left(folder: Path) -> Iterator[str]:
    deadline = time.monotonic() + 2
    while (names := _alive(str(folder))) and time.monotonic() < deadline:
        time.sleep(0.05)
    if names:
        yield f"processes are left: {', '.join(names)}"
    found = sorted(path.name for path in (folder / "tmp").iterdir())
    found += sorted(str(path.relative_to(folder)) for path in folder.rglob(".ttc.*"))
    if found:
        yield f"temporary files are left: {', '.join(found)}"


def _alive(mark: str) -> list[str]:
    """Command lines of the processes that a command has left."""
    wanted, found = f"{MARK}={mark}\0".encode(), []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (process / "environ").read_bytes() and (words := (process / "cmdline").read_bytes()):
                found.append(words.replace(b"\0", b" ").decode(errors="replace")[:200])
        except OSError:
            continue
    return found


def _torn(folder: Path) -> Iterator[str]:
    with closing(sqlite3.connect(folder / "solutions.db")) as database:
        if (said := database.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
            yield f"the database is damaged: {said}"
    ends = {".h": "#endif", ".html": "</html>", ".f90": "end module"}
    for path in (folder / "out").rglob("*"):
        if path.is_file() and path.suffix in (*ends, ".o", ".a", ".so", ".json", ".jsonl"):
            data = path.read_bytes()
            if not _is_whole(path, data):
                yield f"{path.name} is torn: {len(data)} bytes, ...{data[-40:]!r}"


def _is_whole(path: Path, data: bytes) -> bool:
    match path.suffix:
        case ".h":
            return data.rstrip().endswith((b"#endif", b"*/"))
        case ".html":
            return data.rstrip().endswith(b"</html>")
        case ".json":
            return _is_json(data)
        case ".jsonl":
            return data.endswith(b"\n") or not data
        case _:
            return len(data) > 100


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
        return True
    except ValueError:
        return False


def main() -> int:
    """Rounds as the command line asks for."""
    parser = options("interrupts", 500)
    parser.add_argument("--kinds", default=",".join(kinds_here()), help="commands that are hit")
    args = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it, and so would commands
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which `nohup` ignores
    campaign = Campaign.resumed("interrupts", args.seed, args.state)
    for number in campaign.rounds(args.count, args.seconds):
        attack = Attack.drawn(args.seed, number, tuple(args.kinds.split(",")))
        with tempfile.TemporaryDirectory(prefix="ttc-interrupts-") as made:
            ended = run(attack, Path(made))
            found = list(faults(attack, ended, Path(made)))
        campaign.met(attack.kind, f"status {ended.status}", signal.Signals(attack.number).name)
        if is_startup(ended):
            campaign.met("traceback of Python's own start")
        for fault in found:
            campaign.fail(number, f"{attack}: {fault}")
    return campaign.finish()


if __name__ == "__main__":
    sys.exit(main())
