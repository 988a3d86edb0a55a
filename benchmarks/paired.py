"""Final values of the engine and of the plain BoTorch loop, seed by seed.

`python -m benchmarks.paired plain 150 sphere 1,2,3,4,5` runs what is missing of the plain loop with
that budget and appends it to results/plain_botorch.csv; `python -m benchmarks.paired` runs the
engine on the same settings and prints the pairs. A plain run of 500 evaluations takes half an hour
on Sphere and over two hours on Levy.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from dsebo.config import RunConfig
from dsebo.events import Finished
from dsebo.run import make_objective, run

RESULTS = Path(__file__).parent / "results" / "plain_botorch.csv"
COLUMNS = ["budget", "function", "seed", "best", "d", "seconds"]
LIMIT = 0.05  # median of the paired log-ratios of (best - F*), engine over plain


def config_for(budget: int, function: str, seed: int) -> RunConfig:
    return RunConfig.parse({"objective": {"name": function}, "budget": budget, "seed": seed})


def known() -> pd.DataFrame:
    return pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=COLUMNS)


def run_plain(budget: int, function: str, seeds: list[int]) -> None:
    from benchmarks.plain_botorch import plain_run

    for seed in seeds:
        if not known().query("budget == @budget and function == @function and seed == @seed").empty:
            continue
        course = plain_run(config_for(budget, function, seed))
        row = (budget, function, seed, course.best, course.d[-1], round(sum(course.seconds), 1))
        frame = pd.DataFrame([row], columns=COLUMNS)
        frame.to_csv(RESULTS, mode="a", header=not RESULTS.exists(), index=False)


def compare() -> None:
    print("budget function  seed  plain best  engine best  log-ratio of (best - F*)")
    frame = known()
    for budget, function in sorted(set(zip(frame["budget"], frame["function"], strict=True))):
        rows = frame.query("budget == @budget and function == @function")
        ratios = [
            compare_one(int(budget), str(function), int(seed), float(best))
            for seed, best in sorted(zip(rows["seed"], rows["best"], strict=True))
        ]
        median = float(np.median(ratios))
        verdict = "holds" if median <= LIMIT else "does not hold"
        print(
            f"{function}, {budget} evaluations: median {median:.3f} of {len(ratios)} seeds; "
            f"<= {LIMIT} {verdict}"
        )


def compare_one(budget: int, function: str, seed: int, plain_best: float) -> float:
    """The log-ratio of one pair, printed."""
    config = config_for(budget, function, seed)
    minimum = make_objective(config).minimum or 0.0
    last = list(run(config))[-1]
    assert isinstance(last, Finished)
    ratio = float(np.log((last.best - minimum) / (plain_best - minimum)))
    print(
        f"{budget:6d} {function:9s} {seed:4d} {plain_best:11.4f} {last.best:12.4f} {ratio:8.3f}",
        flush=True,
    )
    return ratio


def main() -> None:
    if sys.argv[1:2] == ["plain"]:
        run_plain(int(sys.argv[2]), sys.argv[3], [int(seed) for seed in sys.argv[4].split(",")])
    else:
        compare()


if __name__ == "__main__":
    main()
