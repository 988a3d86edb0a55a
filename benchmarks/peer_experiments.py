"""Why a peer's figure is far from the printed one: runs with something changed.

`python -m benchmarks.peer_experiments` runs what is missing of the experiments in peer_changes.py
(D = 1000, 500 evaluations), appends each run to results/peer_experiments.csv and writes
results/peer_experiments.md: each figure that is far, with the change that comes nearest to it, and
all the experiments. Names of methods after it choose. What they show is told in
results/peers_notes.md.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from benchmarks.peer_changes import EXPERIMENTS, Experiment
from benchmarks.peers import (
    OTHER_SETTINGS,
    RESULTS,
    deviations,
    in_print,
    known,
    measure,
    new_runner,
    printed,
)
from dsebo.config import METHODS
from dsebo.experiments.entrants import Entrant
from dsebo.paper.comparison import FAR
from dsebo.paper.tables import PAPER_FUNCTIONS

RUNS: Path = RESULTS / "peer_experiments.csv"
TABLE: Path = RESULTS / "peer_experiments.md"
COLUMNS = ["method", "change", "function", "seed", "best"]


def best_of(experiment: Experiment, function: str, seed: int) -> float:
    """The best value of one run."""
    settings = {"method": experiment.method, **experiment.settings}
    runner = new_runner({"name": function, **experiment.objective}, settings, seed)
    if experiment.prepare:
        experiment.prepare(runner.optimizer)
    return measure(runner).best


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


@dataclass(frozen=True)
class Figure:
    """The best values of some runs of one function, beside what is printed."""

    function: str
    best: pd.Series
    paper: tuple[float, float]

    @property
    def apart(self) -> float:
        """In printed deviations."""
        return deviations(self.best, self.paper)


@dataclass(frozen=True)
class Tried(Figure):
    """That of a method with something changed."""

    experiment: Experiment


@dataclass(frozen=True)
class Far(Figure):
    """One that is far from the printed figure, and what was tried on it."""

    method: str
    tried: tuple[Tried, ...]

    @property
    def nearest(self) -> Tried | None:
        """The change that comes nearest to the printed figure."""
        return min(self.tried, key=lambda one: abs(one.apart), default=None)


def all_tried() -> list[Tried]:
    """Every experiment on every function that has been run and is printed."""
    runs, found = done().groupby(["method", "change", "function"]).best, []
    for experiment in EXPERIMENTS:
        for function in experiment.functions:
            key = (experiment.method, experiment.change, function)
            paper = printed(function, experiment.method, experiment.settings.get("d"))
            if key in runs.groups and paper:
                found.append(Tried(function, runs.get_group(key), paper, experiment))
    return found


def other_scales(function: str, method: str, paper: tuple[float, float]) -> list[Tried]:
    """The rows of peers.md with other settings of a method, which are experiments as well."""
    usual = known()
    return [
        Tried(
            function,
            usual[(usual.function == function) & (usual.method == label)].best,
            paper,
            Experiment(method, words),
        )
        for label, words in OTHER_SETTINGS.items()
        if Entrant.parse(label).method == method
    ]


def far_figures() -> list[Far]:
    """Every method and function whose mean is far from the printed one."""
    usual, experiments, found = known(), all_tried(), []
    for function in PAPER_FUNCTIONS:
        for method in METHODS:
            paper = printed(function, method)
            best = usual[(usual.function == function) & (usual.method == method)].best
            if paper is None or best.empty or abs(deviations(best, paper)) <= FAR:
                continue
            same = (function, method, paper)  # the printed row, too: some have one for each d
            tried = [t for t in experiments if (t.function, t.experiment.method, t.paper) == same]
            tried += other_scales(function, method, paper)
            found.append(Far(function, best, paper, method, tuple(tried)))
    return found


def shown(best: pd.Series) -> str:
    """Mean ± deviation, and of how many."""
    spread = f" ± {best.std():.2g}" if best.size > 1 else ""
    return f"{best.mean():.4g}{spread} ({best.size})" if best.size else "–"


def far_table() -> str:
    """In Markdown: each far figure, and the change that comes nearest to the printed one."""
    lines = [
        "## Figures that are far, and the change that comes nearest\n",
        f"Apart: in printed deviations, of ours and of the changed runs. Far is over {FAR:g}.\n",
        "| function | method | printed | ours | apart | changed | changed runs | apart |",
        "| --- | --- | ---: | ---: | ---: | --- | ---: | ---: |",
    ]
    for far in far_figures():
        near = far.nearest
        lines.append(
            f"| {far.function} | {far.method} | {in_print(far.paper)} | "
            f"{shown(far.best)} | {far.apart:+.1f} | "
            + (
                f"{near.experiment.change} | {shown(near.best)} | {near.apart:+.1f} |"
                if near
                else "nothing yet | – | |"
            )
        )
    return "\n".join(lines) + "\n"


def experiment_table() -> str:
    """In Markdown: all the experiments, as it is, changed, and printed."""
    usual = known()
    lines = [
        "## All experiments\n",
        "| method | changed | function | as it is | changed | printed |",
        "| --- | --- | --- | ---: | ---: | ---: |",
    ]
    for one in all_tried():
        method, function = one.experiment.method, one.function
        before = usual[(usual.method == method) & (usual.function == function)]
        lines.append(
            f"| {method} | {one.experiment.change} | {function} | {shown(before.best)} | "
            f"{shown(one.best)} | {in_print(one.paper)} |"
        )
    return "\n".join(lines) + "\n"


def table() -> str:
    """What is committed."""
    head = (
        "# Peers with something changed\n\n"
        "D = 1000, d_e = 30, 500 evaluations; written by `python -m benchmarks.peer_experiments`. "
        "Mean ± deviation (number of seeds); printed: the paper's tables 1 and 4.\n"
    )
    return "\n".join([head, far_table(), experiment_table()])


def main() -> None:
    run_missing(sys.argv[1:])
    TABLE.write_text(table())


if __name__ == "__main__":
    main()
