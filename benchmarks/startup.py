"""How long the package and its command take to start, beside the bare interpreter and NumPy alone.

    python -m benchmarks.startup

Processor seconds at best of several processes with compiled modules, so that other work on the machine counts
little; then the median by the clock, and what is promised. The exit code is 1 where a promise is broken.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

TIMES = 9
STARTS: dict[str, tuple[list[str], float | None]] = {  # the words after `python`, and the promised seconds
    "python alone": (["-c", "pass"], None),
    "import numpy": (["-c", "import numpy"], None),
    "import dsebo": (["-c", "import dsebo"], 0.3),
    "from dsebo import minimize": (["-c", "from dsebo import minimize"], None),
    "dsebo --version": (["-m", "dsebo", "--version"], None),
    "dsebo --help": (["-m", "dsebo", "--help"], 0.4),
    "dsebo run --help": (["-m", "dsebo", "run", "--help"], None),
    "dsebo runs": (["-m", "dsebo", "runs"], 0.8),
    "dsebo run, 2 evaluations": (["-m", "dsebo", "run", "--budget", "2", "--no-store"], None),
}


def main() -> None:
    broken = []
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "DSEBO_DB": f"{folder}/runs.db"}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        for name, (words, promised) in STARTS.items():
            start(words, env)  # compiles, and makes the database
            clock, spent = zip(*(start(words, env) for _ in range(TIMES)), strict=True)
            seconds, median = min(spent), statistics.median(clock)
            limit = "" if promised is None else f", promised {promised:g}"
            print(f"{name:28s}{seconds:6.2f} s, by the clock {median:.2f} s{limit}", flush=True)
            if promised is not None and seconds > promised:
                broken.append(name)
    if broken:
        raise SystemExit(f"Broken promises: {', '.join(broken)}.")


def start(words: list[str], env: dict[str, str]) -> tuple[float, float]:
    """Seconds from the start of a process to its end: by the clock, and of the processor."""
    began, before = time.monotonic(), os.times()
    subprocess.run([sys.executable, *words], env=env, capture_output=True, check=True)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return time.monotonic() - began, spent


if __name__ == "__main__":
    main()
