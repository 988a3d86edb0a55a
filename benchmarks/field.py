"""DSEBO beside what one would use instead: each at its defaults, D = 1000, 500 evaluations or 20 CPU minutes.

`python -m benchmarks.field run` makes the runs that are missing in results/field.csv, one process at a time,
the quick methods first, further seeds last; it can be stopped and started at will. Runs that failed, and
those of ours that another arithmetic made, are made again. `--methods` and `--functions` choose; a method
whose package is not installed is left out, and named.
`python -m benchmarks.field table` prints the table of the README. The packages: `pip install 'dsebo[field]'`.

Seconds are CPU seconds of the whole process, one thread, without imports. A run ends with 1200 of them.
Seed 1; methods that take less than 120 s also have seeds 2 and 3.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.results_file import ResultsFile
from dsebo.config import RunConfig
from dsebo.text import function_name

Array = NDArray[np.float64]
Evaluate = Callable[[Array], float]

COLUMNS = [
    "function",
    "method",
    "seed",
    "n",
    "best",
    "best_60s",
    "seconds",
    "megabytes",
    "ended",
    "version",
    "date",
]
RESULTS = ResultsFile("field", COLUMNS, 3)
FUNCTIONS = ("sphere", "rosenbrock", "dixon-price")
D, BUDGET, LIMIT, EARLY, QUICK = 1000, 500, 1200.0, 60.0, 120.0


class Enough(BaseException):
    """All evaluations or all seconds are spent. No library's `except Exception` stops it."""


# -- the field: each drives `evaluate` over [-1, 1]^D until that raises -------------------------------------


# Our own, by their settings.
OURS: dict[str, dict[str, Any]] = {
    "DSEBO, adaptive": {"variant": "adaptive"},
    "DSEBO, paper": {},
    "BAxUS, ours": {"method": "baxus"},
    "TuRBO-1, ours": {"method": "turbo"},
}


def config_of(settings: dict[str, Any], seed: int = 1) -> RunConfig:
    return RunConfig.parse({"objective": {"D": D}, "optimizer": settings, "budget": BUDGET, "seed": seed})


def ours(evaluate: Evaluate, seed: int, settings: dict[str, Any]) -> None:
    from dsebo.run import make_optimizer
    from dsebo.threads import one_thread

    optimizer = make_optimizer(config_of(settings, seed))
    with one_thread():
        while True:
            candidate = optimizer.ask()
            optimizer.tell(candidate, evaluate(candidate.x))


def botorch_turbo(evaluate: Evaluate, seed: int) -> None:
    from benchmarks.botorch_loops import turbo

    turbo(evaluate, D, seed)


def botorch_baxus(evaluate: Evaluate, seed: int) -> None:
    from benchmarks.botorch_loops import baxus

    baxus(evaluate, D, BUDGET, seed)


def ax(evaluate: Evaluate, seed: int) -> None:
    from ax.api.client import Client
    from ax.api.configs import RangeParameterConfig

    client = Client(random_seed=seed)
    names = [f"x{i}" for i in range(D)]
    client.configure_experiment(
        parameters=[RangeParameterConfig(name=name, parameter_type="float", bounds=(-1, 1)) for name in names]
    )
    client.configure_optimization(objective="-y")
    while True:
        for index, point in client.get_next_trials(max_trials=1).items():
            x = np.array([float(point[name]) for name in names])
            client.complete_trial(trial_index=index, raw_data={"y": evaluate(x)})


def optuna_sampler(evaluate: Evaluate, seed: int, sampler: str) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=getattr(optuna.samplers, sampler)(seed=seed))
    while True:
        trial = study.ask()
        x = np.array([trial.suggest_float(f"x{i}", -1.0, 1.0) for i in range(D)])
        study.tell(trial, evaluate(x))


def cma_es(evaluate: Evaluate, seed: int) -> None:
    """Mean and step size have no default: a uniform point and a fifth of the side, as its manual has them.

    Without its `bounds`, which redraw a point up to 100 times: at D = 1000 that takes 10 s. It is clipped.
    """
    from cmaes import CMA

    mean = np.random.default_rng(seed).uniform(-1.0, 1.0, size=D)
    search = CMA(mean=mean, sigma=2.0 / 5.0, seed=seed)
    while True:
        points = [search.ask() for _ in range(search.population_size)]
        search.tell([(x, evaluate(x)) for x in points])


def scikit_optimize(evaluate: Evaluate, seed: int) -> None:
    from skopt import Optimizer

    search = Optimizer([(-1.0, 1.0)] * D, random_state=seed)
    while True:
        x = search.ask()
        search.tell(x, evaluate(np.array(x)))


def random_search(evaluate: Evaluate, seed: int) -> None:
    rng = np.random.default_rng(seed)
    while True:
        evaluate(rng.uniform(-1.0, 1.0, size=D))


# Name in the table, what drives it, the package it comes from; the quick ones first.
FIELD: dict[str, tuple[Callable[[Evaluate, int], None], str]] = {
    "random search": (random_search, "numpy"),
    **{name: (partial(ours, settings=settings), "dsebo") for name, settings in OURS.items()},
    "CMA-ES (cmaes)": (cma_es, "cmaes"),
    "Optuna, TPE": (lambda f, seed: optuna_sampler(f, seed, "TPESampler"), "optuna"),
    "BAxUS, BoTorch loop": (botorch_baxus, "botorch"),
    "TuRBO-1, BoTorch loop": (botorch_turbo, "botorch"),
    "Optuna, GP": (lambda f, seed: optuna_sampler(f, seed, "GPSampler"), "optuna"),
    "Ax": (ax, "ax-platform"),
    "scikit-optimize": (scikit_optimize, "scikit-optimize"),
}


# -- one run, in a process of its own -----------------------------------------------------------------------


def one(function: str, method: str, seed: int) -> None:
    """Print a line of JSON for each evaluation, so that nothing is lost however the process ends."""
    from dsebo.run import make_objective

    objective = make_objective(RunConfig.parse({"objective": {"name": function, "D": D}}))
    objective(np.zeros((1, D)))  # imports torch
    drive, _ = FIELD[method]
    _import_of(method)
    n, best, began = 0, float("inf"), process_time()

    def say() -> None:
        line = {"n": n, "best": best, "seconds": process_time() - began, "megabytes": peak_megabytes()}
        print(json.dumps(line), flush=True)

    def evaluate(x: Array) -> float:
        nonlocal n, best
        y = float(objective(np.clip(np.asarray(x, dtype=float), -1.0, 1.0)[None])[0])
        n, best = n + 1, min(best, y)
        say()
        if n >= BUDGET or process_time() - began >= LIMIT:
            raise Enough
        return y

    def out_of_time(*_: object) -> None:
        raise Enough

    signal.signal(signal.SIGPROF, out_of_time)  # also in the middle of a step that would take an hour
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        drive(evaluate, seed)
    except Enough:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        say()


def _import_of(method: str) -> None:
    """What takes seconds to import, before the clock starts."""
    package = FIELD[method][1]
    modules = {
        "ax-platform": "ax.api.client",
        "botorch": "benchmarks.botorch_loops",
        "dsebo": "dsebo.gp.surrogate",
        "scikit-optimize": "skopt",
    }
    importlib.import_module(modules.get(package, package))


def peak_megabytes() -> float:
    """Of this process since it began, imports included."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024


def version_of(method: str) -> str | None:
    """The package and its version, of ours the arithmetic too; None where it is not installed."""
    package = FIELD[method][1]
    try:
        known = f"{package} {version(package)}"
    except PackageNotFoundError:
        return None
    return f"{known}, arithmetic {config_of(OURS[method]).arithmetic}" if method in OURS else known


def measure(function: str, method: str, seed: int) -> dict[str, Any]:
    """The row of one run; a run that dies has the values until then, and the last words of its error."""
    single = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    command = [sys.executable, "-m", "benchmarks.field", "one", function, method, str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **single})
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    last = lines[-1] if lines else {"n": 0, "best": float("nan"), "seconds": 0.0, "megabytes": float("nan")}
    early = [line["best"] for line in lines if line["seconds"] <= EARLY]
    if done.returncode:
        words = (done.stderr.strip().splitlines() or ["no words"])[-1]
        ended = f"failed: {words[:150]}"
    else:
        ended = "all" if last["n"] >= BUDGET else "limit"
    return {
        "function": function,
        "method": method,
        "seed": seed,
        "n": last["n"],
        "best": f"{last['best']:.8g}",
        "best_60s": f"{early[-1]:.8g}" if early else "nan",
        "seconds": f"{last['seconds']:.1f}",
        "megabytes": f"{last['megabytes']:.0f}",
        "ended": ended,
        "version": version_of(method),
    }


# -- all of them --------------------------------------------------------------------------------------------


def is_kept(row: dict[str, str] | None, method: str) -> bool:
    """Whether a run is there that need not be made again."""
    if row is None or row["ended"].startswith("failed"):
        return False
    return method not in OURS or row["version"].split(", ")[-1] == str(version_of(method)).split(", ")[-1]


def run(methods: list[str], functions: list[str]) -> None:
    from datetime import UTC, datetime

    for method in [name for name in methods if version_of(name) is None]:
        print(f"{method} is left out: the package {FIELD[method][1]} is not installed.", flush=True)
        methods = [name for name in methods if name != method]
    for seed in (1, 2, 3):
        for method in methods:
            for function in functions:
                if is_kept(RESULTS.find(function, method, seed), method):
                    continue
                RESULTS.remove(function, method, seed)
                first = RESULTS.find(function, method, 1)
                quick = first and first["ended"] == "all" and float(first["seconds"]) < QUICK
                if seed > 1 and not quick:
                    continue
                row = {**measure(function, method, seed), "date": f"{datetime.now(UTC):%Y-%m-%d}"}
                RESULTS.add(*(row[column] for column in COLUMNS))


def table() -> str:
    """In Markdown: medians over the seeds there are, the method that is best on the first function first."""
    rows = RESULTS.rows()
    names = [function_name(name) for name in FUNCTIONS]
    lines = [f"| | {' | '.join(names)} | CPU s | MB | seeds |", "| --- |" + " ---: |" * (len(names) + 3)]
    of = {
        method: [[r for r in rows if (r["function"], r["method"]) == (f, method)] for f in FUNCTIONS]
        for method in FIELD
    }
    known = [method for method in FIELD if any(of[method])]
    for method in sorted(known, key=lambda m: _median(of[m][0], "best") if of[m][0] else np.inf):
        every = [row for group in of[method] for row in group]
        seconds, memory = _median(every, "seconds"), _median(every, "megabytes")
        seeds = min(len(group) for group in of[method] if group)
        cells = " | ".join(_cell(group) for group in of[method])
        lines.append(f"| {method} | {cells} | {seconds:.0f} | {memory:.0f} | {seeds} |")
    return "\n".join(lines)


def _median(rows: list[dict[str, str]], column: str) -> float:
    return float(np.median([float(row[column]) for row in rows]))


def _cell(rows: list[dict[str, str]]) -> str:
    """The value after all evaluations, or where it ended; that after 60 s where it is another one."""
    if not rows:
        return "not run"
    best, early, n = _median(rows, "best"), _median(rows, "best_60s"), min(int(row["n"]) for row in rows)
    ended = "" if n >= BUDGET else f" (limit, after {n})"
    if any(row["ended"].startswith("failed") for row in rows):
        ended = f" (failed after {n})"
    return f"{best:.4g}{ended}" + ("" if early == best else f"; {early:.4g} after 60 s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="what", required=True)
    runs = commands.add_parser("run")
    runs.add_argument("--methods", default=";".join(FIELD), help="names of the table, apart by semicolons")
    runs.add_argument("--functions", default=",".join(FUNCTIONS))
    single = commands.add_parser("one")
    single.add_argument("function")
    single.add_argument("method")
    single.add_argument("seed", type=int)
    commands.add_parser("table")
    given = parser.parse_args()
    if given.what == "one":
        one(given.function, given.method, given.seed)
    elif given.what == "run":
        run(given.methods.split(";"), given.functions.split(","))
    else:
        print(table())


if __name__ == "__main__":
    main()
