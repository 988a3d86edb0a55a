"""All methods on the six functions, D = 1000, 500 evaluations, beside the paper's tables 1 and 4.

`python -m benchmarks.peers run --seeds 1,2,3` runs what is missing and appends each run to
results/peers.csv; it can be stopped and started at will. `--methods` and `--functions` choose.
`python -m benchmarks.peers ship` copies the final values to the package, where the Paper page shows them.
`python -m benchmarks.peers table` writes results/peers.md from it: values beside the printed ones,
and what a step costs at n = 100 and n = 500.

Seconds are CPU seconds of the thread, so that other work on the machine does not count; compare
them as ratios to DSEBO's.
"""

from __future__ import annotations

import argparse
import csv
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from time import thread_time
from typing import Any

import numpy as np
import pandas as pd

from dsebo.config import METHODS, RunConfig
from dsebo.experiments.entrants import Entrant
from dsebo.paper.bundled import PEERS, PEERS_COLUMNS
from dsebo.paper.comparison import METHODS_HERE
from dsebo.paper.tables import PAPER_FUNCTIONS, function_rows
from dsebo.run import Runner
from dsebo.threads import one_thread

RESULTS = Path(__file__).parent / "results"
RUNS, TABLE = RESULTS / "peers.csv", RESULTS / "peers.md"
SHIPPED, SHIPPED_COLUMNS = Path(str(files("dsebo.data") / PEERS)), PEERS_COLUMNS
COLUMNS = ["function", "method", "seed", "best", "seconds", "step_100", "step_500"]
BUDGET = 500

# A method's name in the paper's tables.
PRINTED = {Entrant.parse(here).method: name for name, here in METHODS_HERE.items()}
SUBSPACE = 30  # of the two that the paper tries, for the methods that have one
# Settings other than a method's defaults that are worth a row of their own.
PRESETS: dict[str, dict[str, Any]] = {
    "rembo (z in ±1)": {"method": "rembo", "scale": "unit"},
    "rembo (DSEBO's scale)": {"method": "rembo", "scale": "dsebo"},
}


@dataclass(frozen=True)
class Measured:
    """One run: its best value and what it cost."""

    best: float
    seconds: float
    step_100: float
    step_500: float


def labels() -> list[str]:
    """Every row of the table: methods in their order, presets after their method."""
    found = []
    for method in METHODS:
        found.append(method)
        found += [label for label, preset in PRESETS.items() if preset["method"] == method]
    return found


def new_runner(objective: dict[str, Any], settings: dict[str, Any], seed: int) -> Runner:
    """A run of the benchmark's budget."""
    given = {"objective": objective, "optimizer": settings, "budget": BUDGET, "seed": seed}
    return Runner.from_config(RunConfig.parse(given))


def measure(runner: Runner) -> Measured:
    """Run it, timing each step on the thread's own clock."""
    steps = []
    with one_thread():
        while not runner.done:
            began = thread_time()
            runner.step()
            steps.append(thread_time() - began)
    return Measured(runner.best, sum(steps), _mean(steps[90:110]), _mean(steps[480:500]))


def _mean(steps: list[float]) -> float:
    """NaN for a run that has ended before."""
    return float(np.mean(steps)) if steps else float("nan")


def known() -> pd.DataFrame:
    """The runs so far."""
    return pd.read_csv(RUNS) if RUNS.exists() else pd.DataFrame(columns=COLUMNS)


def append(function: str, label: str, seed: int, run: Measured) -> None:
    RESULTS.mkdir(exist_ok=True)
    new = not RUNS.exists()
    with RUNS.open("a", newline="") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(COLUMNS)
        writer.writerow(
            [
                function,
                label,
                seed,
                f"{run.best:.10g}",
                f"{run.seconds:.2f}",
                f"{run.step_100:.5f}",
                f"{run.step_500:.5f}",
            ]
        )


def run_missing(functions: list[str], methods: list[str], seeds: list[int]) -> None:
    """One seed after the other, so that a first table is there early."""
    for seed in seeds:
        for function in functions:
            for label in methods:
                done = known()
                same = (done.function == function) & (done.method == label) & (done.seed == seed)
                if same.any():
                    continue
                settings = PRESETS.get(label, {"method": label})
                run = measure(new_runner({"name": function}, settings, seed))
                append(function, label, seed, run)
                print(f"{function} {label} {seed}: {run.best:.6g} in {run.seconds:.1f} s", flush=True)


def printed(function: str, label: str, d: int | None = None) -> tuple[float, float] | None:
    """(mean, deviation) in the paper's table 1 or 4, in d dimensions; None where it has none."""
    method = PRESETS.get(label, {}).get("method", label)
    if method not in PRINTED:
        return None
    rows = function_rows(function, tables=(1, 4))
    wanted = SUBSPACE if d is None else d
    rows = rows[(rows.method == PRINTED[method]) & (rows.subspace_d.fillna(wanted) == wanted)]
    return (float(rows["mean"].iloc[0]), float(rows["std"].iloc[0])) if len(rows) else None


def deviations(best: pd.Series, paper: tuple[float, float]) -> float:
    """How many of the printed deviations the mean of ours lies above the printed one."""
    return float((best.mean() - paper[0]) / paper[1])


def in_print(paper: tuple[float, float]) -> str:
    """Mean ± deviation, as the tables show what is printed."""
    return f"{paper[0]:.4g} ± {paper[1]:.2g}"


def table(runs: pd.DataFrame) -> str:
    """The committed table, in Markdown."""
    parts = [
        "# All methods on the six functions\n",
        "D = 1000, d_e = 30, 500 evaluations; written by `python -m benchmarks.peers table`. Ours: "
        "mean ± deviation over the seeds run so far. Paper: tables 1 and 4, over ten. Apart: how "
        "many of the printed deviations ours lies above (+) or below (−) it.\n",
    ]
    for function in PAPER_FUNCTIONS:
        rows = runs[runs.function == function]
        if len(rows):
            parts.append(_function_table(function, rows))
    parts.append(_step_table(runs))
    return "\n".join(parts)


def _function_table(function: str, rows: pd.DataFrame) -> str:
    lines = [
        f"## {function}\n",
        "| method | ours | seeds | paper | apart | best |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for label in labels():
        best = rows[rows.method == label].best
        if not len(best):
            continue
        ours = f"{best.mean():.4g}" + (f" ± {best.std():.2g}" if best.nunique() > 1 else "")
        paper, apart = printed(function, label), ""
        if paper is not None and paper[1] > 0:
            apart = f"{deviations(best, paper):+.1f}"
        shown = in_print(paper) if paper else "–"
        lines.append(f"| {label} | {ours} | {len(best)} | {shown} | {apart} | {best.min():.4g} |")
    return "\n".join(lines) + "\n"


def _step_table(runs: pd.DataFrame) -> str:
    """CPU seconds a run and a step, means over all runs, and the ratio of runs to DSEBO's."""
    means = runs.groupby("method")[["seconds", "step_100", "step_500"]].mean()
    lines = [
        "## What it costs\n",
        "CPU seconds of one core. The ratio is to DSEBO's runs of the same function and seed.\n",
        "| method | run, s | ratio | step at n = 100, ms | at n = 500, ms |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for label in labels():
        if label not in means.index:
            continue
        seconds, at_100, at_500 = means.loc[label].to_numpy(dtype=float)
        lines.append(
            f"| {label} | {seconds:.1f} | {_ratio(runs, label):.2f} | {1e3 * at_100:.1f} | "
            f"{1e3 * at_500:.1f} |"
        )
    return "\n".join(lines) + "\n"


def ship(runs: pd.DataFrame) -> None:
    """The final values as the Paper page reads them, with the arithmetic that they are of."""
    rows = []
    for run in runs.to_dict("records"):
        preset = PRESETS.get(run["method"], {"method": run["method"]})
        changes = tuple((name, value) for name, value in preset.items() if name != "method")
        entrant = Entrant(preset["method"], changes)
        given = {"objective": {"name": run["function"]}, "optimizer": preset, "budget": BUDGET}
        kept = (run["function"], entrant.text, run["seed"], run["best"], run["seconds"])
        rows.append((*kept, RunConfig.parse(given).arithmetic))
    pd.DataFrame(rows, columns=SHIPPED_COLUMNS).to_csv(SHIPPED, index=False)


def _ratio(runs: pd.DataFrame, label: str) -> float:
    keys = ["function", "seed"]
    dsebo = runs[runs.method == "dsebo"].set_index(keys).seconds
    own = runs[runs.method == label].set_index(keys).seconds
    return float((own / dsebo).dropna().mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "table", "ship"])
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--methods", default=",".join(labels()))
    parser.add_argument("--functions", default=",".join(PAPER_FUNCTIONS))
    given = parser.parse_args()
    if given.what == "run":
        seeds = [int(seed) for seed in given.seeds.split(",")]
        run_missing(given.functions.split(","), given.methods.split(","), seeds)
    TABLE.write_text(table(known()))
    if given.what == "ship":
        ship(known())


if __name__ == "__main__":
    main()
