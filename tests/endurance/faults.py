"""Attacks from outside the process, again and again: `make faults ARGS="--count=2000 --only=damaged"`.

A round is one attack in a folder of its own. Attacks come from the modules `faults_*.py` beside this one, each with
a table ATTACKS of names and `Attack`s.
"""

from __future__ import annotations

import argparse
import importlib
import logging
import random
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import campaign

NAME = "faults"
MEMORY = Path("/dev/shm")  # no round waits for a disk


@dataclass(frozen=True, slots=True)
class Attack:
    """One way to make trouble. run: given a source of chance and an empty folder, does it and says which features were
    met; an exception is a fault. weight: its share of the rounds."""

    run: Callable[[random.Random, Path], Iterable[str]]
    weight: float = 1.0


def attacks() -> dict[str, Attack]:
    """Every attack by its name."""
    here = Path(__file__).parent
    modules = [importlib.import_module(path.stem) for path in sorted(here.glob("faults_*.py"))]
    return {name: attack for module in modules for name, attack in module.ATTACKS.items()}


def main(arguments: list[str] | None = None) -> int:
    """Run the rounds that the options ask for; the exit status."""
    table = attacks()
    asked = _parser(table).parse_args(arguments)
    names = asked.only.split(",") if asked.only else list(table)
    unknown = sorted(set(names) - set(table))
    if unknown:
        raise SystemExit(f"{unknown[0]} is not one of {', '.join(table)}")
    logging.getLogger("ttc_llvm").addHandler(logging.NullHandler())  # what it says of our files is no news
    run = campaign.Campaign.resumed(NAME, asked.seed, asked.state)
    for number in run.rounds(asked.count, asked.seconds):
        chance = random.Random(f"{asked.seed}/{number}")
        (name,) = chance.choices(names, [table[name].weight for name in names])
        _round(run, number, name, table[name], chance)
    return run.finish()


def _parser(table: dict[str, Attack]) -> argparse.ArgumentParser:
    parser = campaign.options(NAME, 200)
    parser.add_argument("--only", metavar="NAME,..", help=f"of {', '.join(table)}; default: all")
    return parser


def _round(run: campaign.Campaign, number: int, name: str, attack: Attack, chance: random.Random) -> None:
    folder = Path(tempfile.mkdtemp(prefix="ttc-faults-", dir=MEMORY if MEMORY.is_dir() else None))
    try:
        features = list(attack.run(chance, folder))
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}:{last.lineno}"
        run.fail(number, f"--only={name}: {type(error).__name__} at {place}: {' '.join(str(error).split())[:500]}")
        run.met(f"{name}: failed")
    else:
        run.met(name, *(f"{name}: {feature}" for feature in features))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
