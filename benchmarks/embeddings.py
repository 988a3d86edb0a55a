"""What several embeddings are worth: `embeddings` = 1, 2, 4, `adaptive` without blocks, D = 1000.

`python -m benchmarks.embeddings run` makes the runs that are missing in results/embeddings.csv, seeds 11 to
15; without `run` it prints means, and the geometric mean of the ratio to one embedding. `dsebo sweep --preset
embeddings` is the same as an experiment, over seeds 1 to 10.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

from benchmarks.results_file import ResultsFile
from dsebo.config import RunConfig
from dsebo.run import Runner

RESULTS = ResultsFile("embeddings", ["embeddings", "function", "seed", "best", "seconds"], 3)
FUNCTIONS, SEEDS = ("sphere", "rosenbrock", "levy"), range(11, 16)


def measure(embeddings: int, function: str, seed: int) -> tuple[float, float]:
    """(the best value, seconds)."""
    optimizer = {"variant": "adaptive", "embeddings": embeddings, "blocks": 0}
    runner = Runner.from_config(
        RunConfig.parse({"objective": {"name": function}, "optimizer": optimizer, "seed": seed})
    )
    while not runner.done:
        runner.step()
    return runner.best, runner.seconds


def run() -> None:
    for seed, embeddings in [*((seed, m) for seed in SEEDS for m in (1, 4)), *((seed, 2) for seed in SEEDS)]:
        for function in FUNCTIONS:
            if RESULTS.find(embeddings, function, seed) is None:
                best, seconds = measure(embeddings, function, seed)
                RESULTS.add(embeddings, function, seed, f"{best:.8g}", f"{seconds:.1f}")


def table() -> str:
    """Means of m embeddings, in brackets those of one embedding in the same runs."""
    runs = pd.read_csv(RESULTS.path).pivot_table(
        index=["function", "seed"], columns="embeddings", values="best"
    )
    lines = [f"| embeddings | {' | '.join(FUNCTIONS)} | value over that of one |", "| --- |" + " ---: |" * 4]
    for embeddings in (2, 4):
        both = runs[[embeddings, 1]].dropna()
        means = both.groupby("function").mean()
        cells = ["not run"] * len(FUNCTIONS)
        for name, (several, one) in zip(means.index, means.to_numpy(dtype=float), strict=True):
            cells[FUNCTIONS.index(str(name))] = f"{several:.3g} ({one:.3g})"
        ratio = both[embeddings] / both[1]
        better = f"{np.exp(np.log(ratio).mean()):.2f} (lower in {(ratio < 1).sum()} of {len(ratio)})"
        lines.append(f"| {embeddings} | {' | '.join(cells)} | {better} |")
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:] == ["run"]:
        run()
    print(table())
