"""Final values of the engine and of the plain BoTorch loop, seed by seed.

`python -m benchmarks.paired run sphere,levy 1,2,3,4,5` runs what is missing of these pairs and
appends each to results/paired.csv; `python -m benchmarks.paired` prints them and exits with 1
where the engine is worse. Both have the same S, first point, kappa and dimension at each
evaluation. The plain loop's step is that of `plain_closed`. Seconds are of CPU time, one core.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd

from benchmarks.plain_botorch import plain_run
from benchmarks.plain_closed import propose_closed
from dsebo.config import RunConfig
from dsebo.events import Evaluated
from dsebo.run import make_objective, run

RESULTS = Path(__file__).parent / "results" / "paired.csv"
COLUMNS = ["function", "seed", "budget", "engine", "plain", "minimum", "d", "plain_seconds"]
LIMIT = 0.05  # median of the paired log-ratios of (best - F*), engine over plain


def known() -> pd.DataFrame:
    return pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=COLUMNS)


def run_pair(function: str, seed: int, budget: int = 500) -> None:
    """Both runs of one seed, unless they are known."""
    if not known().query("function == @function and seed == @seed and budget == @budget").empty:
        return
    config = RunConfig.parse({"objective": {"name": function}, "budget": budget, "seed": seed})
    engine = [event for event in run(config) if isinstance(event, Evaluated)]
    schedule = [event.d for event in engine if event.d is not None]
    began = process_time()
    plain = plain_run(config, schedule, propose_closed)
    row = (
        function,
        seed,
        budget,
        engine[-1].best,
        plain.min(),
        make_objective(config).minimum,
        schedule[-1],
        round(process_time() - began),
    )
    frame = pd.DataFrame([row], columns=COLUMNS)
    frame.to_csv(RESULTS, mode="a", header=not RESULTS.exists(), index=False)


def compare() -> bool:
    """Print the pairs; whether the engine is not worse on any function."""
    frame = known()
    regret = frame[["engine", "plain"]].sub(frame["minimum"], axis=0)
    frame["log_ratio"] = np.log(regret["engine"] / regret["plain"])
    print(frame.sort_values(["function", "seed"]).to_string(index=False))
    holds = True
    for (function, budget), rows in frame.groupby(["function", "budget"]):
        median = rows["log_ratio"].median()
        holds = holds and bool(median <= LIMIT)
        verdict = "holds" if median <= LIMIT else "does not hold"
        print(
            f"{function}, {budget} evaluations: median of the log-ratios {median:.3f} over "
            f"{len(rows)} seeds; at most {LIMIT} {verdict}"
        )
    return holds


def main() -> None:
    if sys.argv[1:2] == ["run"]:
        for seed in sys.argv[3].split(","):
            for function in sys.argv[2].split(","):
                run_pair(function, int(seed))
    sys.exit(0 if compare() else 1)


if __name__ == "__main__":
    main()
