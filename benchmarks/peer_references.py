"""Our TuRBO-1, BAxUS and SAASBO beside loops on BoTorch, same budget and functions: is ours not worse?

`python -m benchmarks.peer_references run` makes the runs that are missing in results/peer_references.csv,
seed by seed; without `run` it prints medians, spreads and whether ours is worse beyond them. `--methods`,
`--functions`, `--seeds` take a part. D = 100, d_e = 10, 100 evaluations, CPU seconds of one thread.

The same: TuRBO-1's 20 starting points, one point a step and tolerances of 3 and 20; BAxUS' 10 starting
points, b = 3 and stages; SAASBO's 20 starting points and four tau. Not the same, as each has its own way:
ours refit after 5 % new data (SAASBO 2 %) from where they stood, have noise of 5e-4 to 0.2 of the variance
(the loops at most 1e-3) and lengthscales up to 2 (4), and draw from 512 random features at 100 d points; the
loops fit from a cold start at every step and draw exactly at 5000.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import process_time

import numpy as np
import pandas as pd

from benchmarks.botorch_loops import Evaluate, baxus, saasbo, turbo
from benchmarks.results_file import ResultsFile
from dsebo.config import RunConfig
from dsebo.gp.saas import TAUS
from dsebo.run import Runner, make_objective
from dsebo.threads import one_thread

RESULTS = ResultsFile("peer_references", ["method", "whose", "function", "seed", "best", "seconds"], 4)
D, D_E, BUDGET = 100, 10, 100
FUNCTIONS = ("sphere", "rosenbrock", "levy")

LOOPS: dict[str, Callable[[Evaluate, int], None]] = {
    "turbo": lambda f, seed: turbo(f, D, seed, batch=1, n_init=20, success_tolerance=3, failure_tolerance=20),
    "baxus": lambda f, seed: baxus(f, D, BUDGET, seed),
    "saasbo": lambda f, seed: saasbo(f, D, seed, taus=TAUS),
}


class Enough(Exception):
    """The budget is spent."""


def config_of(method: str, function: str, seed: int) -> RunConfig:
    objective = {"name": function, "D": D, "d_e": D_E}
    given = {"objective": objective, "optimizer": {"method": method}, "budget": BUDGET, "seed": seed}
    return RunConfig.parse(given)


def ours(method: str, function: str, seed: int) -> float:
    """The best value of our run."""
    runner = Runner.from_config(config_of(method, function, seed))
    while not runner.done:
        runner.step()
    return runner.best


def reference(method: str, function: str, seed: int) -> float:
    """The best value of the loop."""
    objective, values = make_objective(config_of(method, function, seed)), list[float]()

    def evaluate(x: np.ndarray) -> float:
        if len(values) >= BUDGET:
            raise Enough
        values.append(float(objective(x[None])[0]))
        return values[-1]

    with one_thread():
        try:
            LOOPS[method](evaluate, seed)
        except Enough:
            return min(values)
    raise AssertionError("a loop ends only with its budget")


def run(methods: list[str], functions: list[str], seeds: list[int]) -> None:
    for seed in seeds:
        for method in methods:
            for function in functions:
                for whose, best_of in (("ours", ours), ("loop", reference)):
                    if RESULTS.find(method, whose, function, seed) is None:
                        began = process_time()
                        best = best_of(method, function, seed)
                        seconds = process_time() - began
                        RESULTS.add(method, whose, function, seed, f"{best:.8g}", f"{seconds:.1f}")


def table() -> str:
    """Median and quartiles of each, and the verdict: our median above the loop's upper quartile is worse."""
    runs = pd.read_csv(RESULTS.path)
    lines = ["| | | ours | loop | seeds | |", "| --- | --- | ---: | ---: | ---: | --- |"]
    for (method, function), group in runs.groupby(["method", "function"], sort=False):
        both = group.pivot_table(index="seed", columns="whose", values="best").dropna()
        if not len(both):
            continue
        low, high = both.quantile(0.25), both.quantile(0.75)
        shown = [f"{both[w].median():.4g} ({low[w]:.4g} to {high[w]:.4g})" for w in ("ours", "loop")]
        worse = both["ours"].median() > high["loop"]
        verdict = "worse beyond the spread" if worse else "not worse"
        lines.append(f"| {method} | {function} | {shown[0]} | {shown[1]} | {len(both)} | {verdict} |")
    seconds = runs.groupby(["method", "whose"]).seconds.mean().unstack()
    for method, row in seconds.iterrows():
        lines.append(
            f"\n{method}: {row['ours']:.0f} CPU s for a run of ours, {row['loop']:.0f} for the loop's."
        )
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=["run"])
    parser.add_argument("--methods", default=",".join(LOOPS))
    parser.add_argument("--functions", default=",".join(FUNCTIONS))
    parser.add_argument("--seeds", default="1,2,3,4,5")
    asked = parser.parse_args()
    if asked.what == "run":
        run(
            asked.methods.split(","),
            asked.functions.split(","),
            [int(seed) for seed in asked.seeds.split(",")],
        )
    print(table())
