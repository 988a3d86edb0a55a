"""All methods on the six functions and the three tasks, 500 evaluations, beside the paper's tables.

`python -m benchmarks.peers run --seeds 1,2,3` runs what is missing of the functions (D = 1000) and appends
each run to results/peers.csv; it can be stopped and started at will. `--methods` and `--functions` choose.
`python -m benchmarks.peers tasks --seeds 1,2,3` does the same for the tasks, the quickest methods first; a
method that a run would take more than ten minutes with is left out unless `--methods` names it.
`python -m benchmarks.peers rows --seeds 1` does it for all other rows of the functions (subspaces of d = 50,
D = 10 000, our variants), the quickest first, into results/paper_rows.csv.
`python -m benchmarks.peers ship` copies the final values, with those of `benchmarks.adaptive`, to the
package, where the Paper page shows them.
`python -m benchmarks.peers table` writes results/peers.md from it: values beside the printed ones,
and what a step costs at n = 100 and n = 500.

Seconds are CPU seconds of the thread, and of the processes that evaluate for it, so that other work on the
machine does not count; compare them as ratios to DSEBO's.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import product
from operator import itemgetter
from pathlib import Path
from time import thread_time
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.cpu import children_seconds
from dsebo.config import METHODS, RunConfig, predict
from dsebo.experiments.entrants import Entrant
from dsebo.paper.bundled import PEERS, PEERS_COLUMNS, entrant_config
from dsebo.paper.comparison import METHODS_HERE, PaperRow, rows_of, setting_key, tasks
from dsebo.paper.tables import (
    ONLY_LIKE,
    PAPER_BUDGET,
    PAPER_DIMENSIONS,
    PAPER_FUNCTIONS,
    PAPER_TASKS,
    function_rows,
)
from dsebo.parsing import read_seeds
from dsebo.run import Runner
from dsebo.threads import one_thread

RESULTS = Path(__file__).parent / "results"
RUNS, TABLE = RESULTS / "peers.csv", RESULTS / "peers.md"
ROWS, OF_ADAPTIVE = RESULTS / "paper_rows.csv", RESULTS / "adaptive.csv"
SHIPPED, SHIPPED_COLUMNS = Path(str(files("dsebo.data") / PEERS)), PEERS_COLUMNS
COLUMNS = ["function", "method", "seed", "best", "seconds", "step_100", "step_500"]
ADAPTIVE = "dsebo:variant=adaptive"  # its runs are those of `benchmarks.adaptive`
ROWS_COLUMNS = ["function", "D", "method", "seed", "best", "seconds"]

# A method's name in the paper's tables.
PRINTED = {Entrant.parse(here).method: name for name, here in METHODS_HERE.items()}
SIZE = min(PAPER_DIMENSIONS)  # of functions, where nothing else is said
SUBSPACE = 30  # of the two that the paper tries, for the methods that have one
# Settings other than a method's defaults that are worth a row of their own, in words.
OTHER_SETTINGS = {"rembo:scale=unit": "z in ±1", "rembo:scale=dsebo": "DSEBO's scale"}
TOO_LONG = 600.0  # seconds


@dataclass(frozen=True)
class Measured:
    """One run: its best value and what it cost."""

    best: float
    seconds: float
    step_100: float
    step_500: float


def labels() -> list[str]:
    """Every row of a function's table: methods in their order, other settings after their method."""
    rows = []
    for method in METHODS:
        rows += [method, *(label for label in OTHER_SETTINGS if Entrant.parse(label).method == method)]
    return rows


def task_rows(task: str) -> list[PaperRow]:
    """The rows of a task's two tables and our variants, each method once."""
    printed = next(name for name in tasks(2) if name.lower() == task)
    return list({row.entrant: row for table in (2, 5) for row in rows_of(table, printed)}.values())


def task_runs(chosen: Iterable[str], methods: Sequence[str]) -> list[tuple[str, str]]:
    """(task, label) of what a run takes less than ten minutes of, or of the methods that are named.

    DSEBO first, then the quickest; of methods with a subspace the smaller one before. A method on all tasks
    before the next one, so that what is done early compares like with like.
    """
    rows = {(task, row.entrant): row for task in chosen for row in task_rows(task)}
    seconds = {key: predict(row.config).seconds for key, row in rows.items()}
    wanted = [key for key in rows if (key[1] in methods if methods else seconds[key] < TOO_LONG)]
    place: dict[str, tuple[bool, bool, float]] = {}
    for key in wanted:
        last = not key[1].startswith("dsebo"), rows[key].subspace_d == 80
        place.setdefault(key[1], (*last, seconds[key]))
    return sorted(wanted, key=lambda key: place[key[1]])


def other_rows() -> list[PaperRow]:
    """The rows of tables 1, 3 and 4 that neither `run` nor the bundled runs have, the quickest first."""
    rows = {row.setting: row for table in (1, 3, 4) for task in tasks(table) for row in rows_of(table, task)}
    elsewhere = [entrant_config(name, label) for name in PAPER_FUNCTIONS for label in labels()]
    ran = {setting_key(config.model_dump(mode="json")) for config in elsewhere}
    rest = [row for key, row in rows.items() if key not in ran and row.entrant not in ("dsebo", ADAPTIVE)]
    return sorted(rest, key=lambda row: predict(row.config).seconds)


def run_rows(methods: Sequence[str], functions: Sequence[str], seeds: Sequence[int]) -> None:
    """One seed after the other, each kept as soon as it has ended."""
    for seed, row in product(seeds, other_rows()):
        name, D = row.config.objective.name, row.D
        done = pd.read_csv(ROWS) if ROWS.exists() else pd.DataFrame(columns=ROWS_COLUMNS)
        same = (done.function == name) & (done.D == D) & (done.method == row.entrant) & (done.seed == seed)
        wanted = (not methods or row.entrant in methods) and (not functions or name in functions)
        if same.any() or not wanted or predict(row.config).seconds > TOO_LONG:
            continue
        run = measure(Runner.from_config(row.config.with_seed(seed)))
        kept = pd.DataFrame([[name, D, row.entrant, seed, run.best, round(run.seconds, 2)]])
        kept.to_csv(ROWS, mode="a", index=False, header=not ROWS.exists() and ROWS_COLUMNS)
        print(f"{name} {D} {row.entrant} {seed}: {run.best:.6g} in {run.seconds:.1f} s", flush=True)


def new_runner(objective: dict[str, Any], settings: dict[str, Any], seed: int) -> Runner:
    """A run of the benchmark's budget."""
    given = {"objective": objective, "optimizer": settings, "budget": PAPER_BUDGET, "seed": seed}
    return Runner.from_config(RunConfig.parse(given))


def measure(runner: Runner) -> Measured:
    """Run it, timing each step on the thread's own clock and that of the processes that evaluate."""
    steps = []
    with one_thread():
        while not runner.done:
            began = thread_time() + children_seconds()
            runner.step()
            steps.append(thread_time() + children_seconds() - began)
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


def run_missing(rows: list[tuple[str, str]], seeds: list[int]) -> None:
    """(function, label) rows: one seed after the other, so that a first table is there early."""
    for seed in seeds:
        for function, label in rows:
            done = known()
            same = (done.function == function) & (done.method == label) & (done.seed == seed)
            if same.any():
                continue
            run = measure(Runner.from_config(entrant_config(function, label, {"seed": seed})))
            append(function, label, seed, run)
            print(f"{function} {label} {seed}: {run.best:.6g} in {run.seconds:.1f} s", flush=True)


def printed(function: str, label: str, d: int | None = None) -> tuple[float, float] | None:
    """(mean, deviation) in the paper's table 1 or 4, in d dimensions; None where it has none."""
    method = Entrant.parse(label).method
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
        "# All methods on the six functions and the three tasks\n",
        "500 evaluations, on the functions D = 1000 and d_e = 30; written by "
        "`python -m benchmarks.peers table`. Ours: mean ± deviation over the seeds run so far. "
        "Paper: tables 1, 2, 4 and 5, over ten. Apart: how "
        "many of the printed deviations ours lies above (+) or below (−) it.\n",
    ]
    for function in PAPER_FUNCTIONS:
        rows = runs[runs.function == function]
        figures = {label: printed(function, label) for label in labels()}
        parts += _function_table(function, rows, figures) if len(rows) else []
    for task in PAPER_TASKS:
        rows = runs[runs.function == task]
        figures = {row.entrant: (row.mean, row.std) if row.printed else None for row in task_rows(task)}
        like = ONLY_LIKE.get(task, "")
        parts += _function_table(task, rows, figures, like) if len(rows) else []
    parts.append(_step_table(runs[runs.function.isin(PAPER_FUNCTIONS)]))
    return "\n".join(parts)


def _function_table(
    function: str, runs: pd.DataFrame, figures: Mapping[str, tuple[float, float] | None], like: str = ""
) -> list[str]:
    """`like`: what is run here in place of the paper's task, where they are not compared."""
    lines = [
        f"## {function}\n",
        *([f"{like}: beside the printed figures, not to be compared with them.\n"] if like else []),
        "| method | ours | seeds | paper | apart | best |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for label, paper in figures.items():
        best = runs[runs.method == label].best
        if not len(best):
            continue
        ours = f"{best.mean():.4g}" + (f" ± {best.std():.2g}" if best.nunique() > 1 else "")
        apart = f"{deviations(best, paper):+.1f}" if paper and paper[1] > 0 and not like else ""
        shown = in_print(paper) if paper else "–"
        lines.append(f"| {label} | {ours} | {len(best)} | {shown} | {apart} | {best.min():.4g} |")
    return ["\n".join(lines) + "\n"]


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


def ship() -> None:
    """The final values as the Paper page reads them, with the arithmetic that they are of."""
    ours = pd.read_csv(OF_ADAPTIVE).query("setting == 'adaptive' and table in ['report', 'large']")
    asked = ours["objective"].map(json.loads)
    ours = ours.assign(function=asked.map(itemgetter("name")), method=ADAPTIVE, D=asked.map(_size))
    peers = known().assign(D=lambda runs: runs["function"].isin(PAPER_FUNCTIONS).map({True: SIZE}))
    kept = pd.concat([ours, peers, pd.read_csv(ROWS)])[SHIPPED_COLUMNS[:-1]].astype({"D": "Int64"})
    rows = zip(kept["function"], kept["method"], strict=True)
    kept["arithmetic"] = [entrant_config(function, label).arithmetic for function, label in rows]
    kept.to_csv(SHIPPED, index=False)


def _size(objective: Mapping[str, Any]) -> int:
    return int(objective.get("D", SIZE))


def _ratio(runs: pd.DataFrame, label: str) -> float:
    keys = ["function", "seed"]
    dsebo = runs[runs.method == "dsebo"].set_index(keys).seconds
    own = runs[runs.method == label].set_index(keys).seconds
    return float((own / dsebo).dropna().mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "tasks", "rows", "table", "ship"])
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--methods", default="")
    parser.add_argument("--functions", default="")
    given = parser.parse_args()
    methods, functions = (
        [name for name in text.split(",") if name] for text in (given.methods, given.functions)
    )
    seeds = read_seeds(given.seeds)
    if given.what == "run":
        run_missing(list(product(functions or PAPER_FUNCTIONS, methods or labels())), seeds)
    elif given.what == "tasks":
        run_missing(task_runs(functions or PAPER_TASKS, methods), seeds)
    elif given.what == "rows":
        run_rows(methods, functions, seeds)
    TABLE.write_text(table(known()))
    if given.what == "ship":
        ship()


if __name__ == "__main__":
    main()
