"""Final values of the engine and of the plain BoTorch loop, seed by seed.

`python -m benchmarks.paired plain sphere 1,2,3,4,5` runs what is missing of the plain loop (a
quarter of an hour a run) and appends it to results/plain_botorch.csv; `python -m benchmarks.paired`
runs the engine on the same settings and prints the pairs.
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
LIMIT = 0.05  # median of the paired log-ratios of (best - F*), engine over plain


def config_for(function: str, seed: int) -> RunConfig:
    return RunConfig.parse({"objective": {"name": function}, "seed": seed})


def known() -> pd.DataFrame:
    columns = ["function", "seed", "best", "d", "seconds"]
    return pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=columns)


def run_plain(function: str, seeds: list[int]) -> None:
    from benchmarks.plain_botorch import plain_run

    for seed in seeds:
        done = known()
        if ((done.function == function) & (done.seed == seed)).any():
            continue
        course = plain_run(config_for(function, seed))
        line = f"{function},{seed},{course.best!r},{course.d[-1]},{sum(course.seconds):.1f}\n"
        with RESULTS.open("a") as file:
            file.write(line if RESULTS.stat().st_size else "function,seed,best,d,seconds\n" + line)


def compare() -> None:
    print("function  seed  plain best  engine best  log-ratio of (best - F*)")
    for function in sorted(set(known()["function"])):
        rows = known().query("function == @function").sort_values("seed")
        ratios = [
            compare_one(function, int(seed), float(best))
            for seed, best in zip(rows["seed"], rows["best"], strict=True)
        ]
        median = float(np.median(ratios))
        verdict = "holds" if median <= LIMIT else "does not hold"
        print(f"{function}: median {median:.3f} of {len(ratios)} seeds; <= {LIMIT} {verdict}")


def compare_one(function: str, seed: int, plain_best: float) -> float:
    """The log-ratio of one pair, printed."""
    config = config_for(function, seed)
    minimum = make_objective(config).minimum or 0.0
    last = list(run(config))[-1]
    assert isinstance(last, Finished)
    ratio = float(np.log((last.best - minimum) / (plain_best - minimum)))
    print(f"{function:9s} {seed:4d} {plain_best:11.4f} {last.best:12.4f} {ratio:8.3f}", flush=True)
    return ratio


def main() -> None:
    if sys.argv[1:2] == ["plain"]:
        run_plain(sys.argv[2], [int(seed) for seed in sys.argv[3].split(",")])
    else:
        compare()


if __name__ == "__main__":
    main()
