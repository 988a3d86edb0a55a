"""What proposing q points at once costs in value, after the same number of evaluations.

`python -m benchmarks.batches run` makes the runs that are missing in results/batches.csv; without `run` it
prints what they say: 500 evaluations, D = 1000, seeds 11 to 13, `adaptive` and `paper`, and for `adaptive`
the ways to choose a batch that were tried. Each run is what `minimize(..., workers=q)` does, without the
processes: a history does not depend on them.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.results_file import ResultsFile
from dsebo.config import RunConfig
from dsebo.gp.thompson import perturbations, sample_at
from dsebo.methods._batches import Liar
from dsebo.methods.base import Candidate, stream
from dsebo.methods.dsebo import DSEBO, DseboConfig
from dsebo.run import Runner, make_objective

RESULTS = ResultsFile("batches", ["variant", "way", "q", "function", "seed", "best", "seconds"], 5)
FUNCTIONS, SEEDS, BUDGET, MOVED = ("sphere", "rosenbrock", "levy"), (11, 12, 13), 500, 20


class Thompson(DSEBO):
    """Each further point minimises its own draw of the posterior, at 2000 points of the trust region."""

    def next_points(self, q: int) -> list[Candidate]:
        """See `Optimizer.next_points`."""
        points = [self.next_point()]
        if not self.observed.any_finite:
            return Liar.next_points(self, q)
        Z, y = self._model_data(points[0].t)
        self.surrogate.update(Z, y)  # which a move has not asked for
        assert self.region is not None
        assert self.moves is not None
        centre = Z[int(np.argmin(y))]
        low, high = (np.clip(centre + side * self.region.length, -1.0, 1.0) for side in (-1, 1))
        while len(points) < q:
            t = points[-1].t + 1
            rng = stream(self.seed, t)
            moves = perturbations(2000, centre, low, high, min(1.0, MOVED / self.d), rng)
            values = sample_at(self.surrogate, centre, moves, 512, rng)
            z = np.clip(centre + moves[[int(np.argmin(values))]].toarray()[0], low, high)
            z = self.moves.placed(z)
            points.append(Candidate(t, z, self.lift(z), self.d))
        return points


def lying(value: Any) -> type[DSEBO]:
    """A liar that says another value than the best."""

    class Lying(DSEBO):
        def lie(self) -> float:
            return float(value(self.observed.values))

    return Lying


WAYS: dict[str, type[DSEBO]] = {
    "liar, the best value": DSEBO,
    "liar, the mean": lying(np.nanmean),
    "liar, the worst value": lying(np.nanmax),
    "Thompson": Thompson,
}
TRIED_ONCE = ("liar, the mean", "liar, the worst value")  # on the first seed: clearly worse
PLAN = [
    *(("adaptive", way, q) for q in (1, 4) for way in WAYS if q > 1 or WAYS[way] is DSEBO),
    *(("paper", "liar, the best value", q) for q in (1, 4)),
]


def measure(variant: str, way: str, q: int, function: str, seed: int) -> tuple[float, float]:
    """(the best value, seconds of the run as it counts them)."""
    given = {
        "objective": {"name": function},
        "optimizer": {"variant": variant, "batch": q},
        "budget": BUDGET,
        "seed": seed,
    }
    config = RunConfig.parse(given)
    assert isinstance(config.optimizer, DseboConfig)
    optimizer = WAYS[way](config.optimizer, config.D, BUDGET, seed)
    runner = Runner(make_objective(config), optimizer, BUDGET, {}, batch=q)
    while not runner.done:
        runner.step()
    return runner.best, runner.seconds


def run() -> None:
    for variant, way, q in sorted(PLAN, key=lambda row: row[1] in TRIED_ONCE):
        for seed in SEEDS[:1] if way in TRIED_ONCE else SEEDS:
            for function in FUNCTIONS:
                key = (variant, way, q, function, seed)
                if RESULTS.find(*key) is None:
                    best, seconds = measure(*key)
                    RESULTS.add(*key, f"{best:.8g}", f"{seconds:.1f}")


def table() -> str:
    """Means, and the geometric mean over functions and seeds of the ratio to q = 1."""
    runs = pd.read_csv(RESULTS.path)
    keys = ["variant", "function", "seed"]
    alone = runs[runs.q == 1].set_index(keys).best
    lines = [
        f"| | q | {' | '.join(FUNCTIONS)} | value over that of q = 1 |",
        "| --- |" + " ---: |" * (len(FUNCTIONS) + 2),
    ]
    for variant, way, q in PLAN:
        own = runs[(runs.variant == variant) & (runs.way == way) & (runs.q == q)]
        if not len(own):
            continue
        means = [f"{own[own.function == name].best.mean():.3g}" for name in FUNCTIONS]
        ratio = (own.set_index(keys).best / alone).dropna()
        shown = f"{np.exp(np.log(ratio).mean()):.2f} ({len(ratio)} pairs)"
        lines.append(
            f"| {variant}, {way if q > 1 else 'one at a time'} | {q} | {' | '.join(means)} | {shown} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:] == ["run"]:
        run()
    print(table())
