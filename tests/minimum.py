"""The oldest versions that setup.cfg admits, as pip takes them: what `make minimum` installs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXTRAS = ("report", "test")
REQUIREMENT = re.compile(r"([\w-]+)>=([\w.]+)(; .+)?")  # whatever machine it is for: this one needs all


def pins(setup: ConfigParser) -> Iterator[str]:
    """`name==version` of everything that the package and its tests ask for; ValueError where no oldest is named."""
    extras = [setup["options.extras_require"][extra] for extra in EXTRAS]
    for line in "\n".join([setup["options"]["install_requires"], *extras]).split("\n"):
        found = REQUIREMENT.fullmatch(line.strip())
        if found is None and line.strip():
            raise ValueError(f"setup.cfg: {line.strip()!r} names no oldest version (name>=version)")
        if found is not None:
            yield f"{found[1]}=={found[2]}"


if __name__ == "__main__":
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    print(*pins(setup))
