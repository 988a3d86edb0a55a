"""Each part prints what it measured and raises where a promise does not hold.

python -m benchmarks.runs_proof [PART...]
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.runs_proof.classroom import a_class, files, tabs
from benchmarks.runs_proof.costs import keeping, memory, prediction, speed, writers
from benchmarks.runs_proof.deaths import crashes, disk, kill, lockouts, restarts
from benchmarks.runs_proof.hostile import fuzz, imports

PARTS: dict[str, Callable[[Path], None]] = {
    "kill": kill,
    "crashes": crashes,
    "restarts": restarts,
    "lockouts": lockouts,
    "disk": disk,
    "class": a_class,
    "tabs": tabs,
    "files": files,
    "imports": imports,
    "fuzz": fuzz,
    "writers": writers,
    "keeping": keeping,
    "memory": memory,
    "speed": speed,
    "predict": prediction,
}


def main() -> None:
    unknown = set(sys.argv[1:]) - set(PARTS)
    if unknown:
        sys.exit(f"PART must be one of {', '.join(PARTS)} (got {', '.join(sorted(unknown))}).")
    for name in sys.argv[1:] or PARTS:
        with tempfile.TemporaryDirectory(prefix="dsebo-proof-") as folder:
            PARTS[name](Path(folder))


if __name__ == "__main__":
    main()
