"""How long the package and its command take to start, beside the bare interpreter and NumPy alone.

    python -m benchmarks.startup

Each line is the median of several processes, with compiled modules, and what is promised. The exit code is 1
where a promise is broken.
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
            seconds = statistics.median(start(words, env) for _ in range(TIMES))
            limit = "" if promised is None else f", promised {promised:g}"
            print(f"{name:28s}{seconds:6.2f} s{limit}", flush=True)
            if promised is not None and seconds > promised:
                broken.append(name)
    if broken:
        raise SystemExit(f"Broken promises: {', '.join(broken)}.")


def start(words: list[str], env: dict[str, str]) -> float:
    """Seconds from the start of a process to its end."""
    began = time.monotonic()
    subprocess.run([sys.executable, *words], env=env, capture_output=True, check=True)
    return time.monotonic() - began


if __name__ == "__main__":
    main()
