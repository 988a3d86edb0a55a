"""Reference lines of the real tasks: the centre, the best constant and the best of 500 random points.

    python -m benchmarks.references [NAME ...]

computes them again and writes objectives/data/references.json; without names, all of them.
"""

from __future__ import annotations

import json
import sys

import numpy as np

from dsebo.objectives import KINDS, Objective
from dsebo.objectives.base import ObjectiveConfig
from dsebo.objectives.references import CENTRE, FILE
from dsebo.threads import one_thread

RANDOM, RANDOM_SEED = 500, 1
GRID = 201
BEST_RANDOM = f"best of {RANDOM} random"


def best_constant(objective: Objective) -> float:
    """The least value on the diagonal, found by a scan and a finer one around its best point."""
    low, high = -1.0, 1.0
    best = np.inf
    for _ in range(2):
        places = np.linspace(low, high, GRID)
        values = [float(objective(np.full((1, objective.dimension), v))[0]) for v in places]
        at, step = places[int(np.argmin(values))], (high - low) / (GRID - 1)
        best, low, high = min(best, *values), max(-1.0, at - step), min(1.0, at + step)
    return best


def references(config: ObjectiveConfig) -> dict[str, float]:
    """What curves on a task are read against."""
    objective = config.build()
    points = np.random.default_rng(RANDOM_SEED).uniform(-1, 1, (RANDOM, objective.dimension))
    with one_thread():
        values = {CENTRE: objective.at_centre()}
        if config.constant:
            values[config.constant] = best_constant(objective)
        values[BEST_RANDOM] = min(float(objective(point[None])[0]) for point in points)
    return values


def main(wanted: list[str]) -> None:
    known = json.loads(FILE.read_text(encoding="utf-8"))
    for kind in KINDS.values():
        for config in kind.with_references():
            if not wanted or config.name in wanted:
                known[config.task] = references(config)
                print(config.task, known[config.task], flush=True)
    FILE.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
