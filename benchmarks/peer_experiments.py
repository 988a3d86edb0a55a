"""Why a peer's figure is far from the printed one: runs with something changed.

`python -m benchmarks.peer_experiments` runs what is missing of the experiments below (D = 1000,
500 evaluations), appends each run to results/peer_experiments.csv and writes the table
results/peer_experiments.md; names of methods after it choose. What they show is told in
results/peers_notes.md.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.peers import RESULTS, known, measure, printed
from dsebo.paper_runs import FUNCTIONS

RUNS: Path = RESULTS / "peer_experiments.csv"
TABLE: Path = RESULTS / "peer_experiments.md"
COLUMNS = ["method", "change", "function", "seed", "best"]
BEST_SAMPLE: dict[str, Any] = {"raw_samples": 2000, "local_samples": 0, "acq_iterations": 0}


@dataclass(frozen=True)
class Experiment:
    """One change of a method's settings, on some functions from some seeds."""

    method: str
    change: str
    settings: dict[str, Any] = field(default_factory=dict)
    functions: tuple[str, ...] = ("sphere",)
    seeds: tuple[int, ...] = (1, 2)


EXPERIMENTS = (
    Experiment(
        "dsebo", "the authors' variant", {"variant": "authors"}, ("rosenbrock", "michalewicz")
    ),
    Experiment(
        "random", "x uniform in [0, 1]^D", {"points": "upper-half"}, FUNCTIONS, tuple(range(1, 11))
    ),
    Experiment(
        "rembo", "z in ±1 and d = 50, as printed", {"scale": "unit", "d": 50},
        ("sphere", "griewank"),
    ),
    Experiment("bandit-epsilon-greedy", "z in ±√d", {"scale": "own"}),
    Experiment("bandit-softmax", "z in ±√d", {"scale": "own"}),
    Experiment(
        "hesbo", "acquisition: best of 2000 samples", BEST_SAMPLE, ("sphere", "levy", "griewank")
    ),
    Experiment("sirbo", "acquisition: best of 2000 samples", BEST_SAMPLE, ("sphere", "griewank")),
    Experiment("mcts-vs", "acquisition: best of 2000 samples", BEST_SAMPLE),
    Experiment(
        "sbo-se", "no samples around the best points", {"local_samples": 0},
        ("sphere", "griewank"), (1,),
    ),
    Experiment("baxus", "one iteration a fit", {"fit_iterations": 1}, ("sphere", "levy")),
    Experiment("baxus", "all coordinates perturbed", {"perturbed": 1000}),
    Experiment("turbo", "no failure shrinks the region", {"failure_tolerance": 1000}, ("levy",)),
    Experiment("lm-ma-es", "σ = 0.6", {"sigma": 0.6}, FUNCTIONS, (1, 2, 3)),
)  # fmt: skip


def best_of(experiment: Experiment, function: str, seed: int) -> float:
    """The best value of one run."""
    return measure(function, {"method": experiment.method, **experiment.settings}, seed).best


def done() -> pd.DataFrame:
    """The runs so far."""
    return pd.read_csv(RUNS) if RUNS.exists() else pd.DataFrame(columns=COLUMNS)


def run_missing(chosen: list[str]) -> None:
    for experiment in EXPERIMENTS:
        if chosen and experiment.method not in chosen:
            continue
        for function in experiment.functions:
            for seed in experiment.seeds:
                key = (experiment.method, experiment.change, function, seed)
                if key in set(done().iloc[:, :4].itertuples(index=False, name=None)):
                    continue
                best = best_of(experiment, function, seed)
                row = pd.DataFrame([[*key, best]], columns=COLUMNS)
                row.to_csv(RUNS, mode="a", header=not RUNS.exists(), index=False)
                print(*key, f"{best:.6g}", flush=True)


def shown(values: np.ndarray) -> str:
    """Mean ± deviation, and of how many."""
    spread = f" ± {values.std(ddof=1):.2g}" if values.size > 1 else ""
    return f"{values.mean():.4g}{spread} ({values.size})" if values.size else "–"


def table() -> str:
    """In Markdown: as it is, changed, and printed."""
    lines = [
        "# Peers with something changed\n",
        "D = 1000, d_e = 30, 500 evaluations; written by `python -m benchmarks.peer_experiments`. "
        "Mean ± deviation (number of seeds); printed: the paper's tables 1 and 4.\n",
        "| method | changed | function | as it is | changed | printed |",
        "| --- | --- | --- | ---: | ---: | ---: |",
    ]
    usual, changed = known(), done()
    for experiment in EXPERIMENTS:
        for function in experiment.functions:
            rows = changed[
                (changed.method == experiment.method)
                & (changed.change == experiment.change)
                & (changed.function == function)
            ]
            if rows.empty:
                continue
            before = usual[(usual.method == experiment.method) & (usual.function == function)]
            paper = printed(function, experiment.method, experiment.settings.get("d"))
            lines.append(
                f"| {experiment.method} | {experiment.change} | {function} | "
                f"{shown(before.best.to_numpy())} | {shown(rows.best.to_numpy())} | "
                f"{f'{paper[0]:.4g} ± {paper[1]:.2g}' if paper else '–'} |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    run_missing(sys.argv[1:])
    TABLE.write_text(table())


if __name__ == "__main__":
    main()
