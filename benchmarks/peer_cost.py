"""The cost of each method by D and n, and the coefficients of the model that predicts it.

`python -m benchmarks.peer_cost run` measures what is missing (of the methods named after it, else of
all) and appends it to results/peer_cost.csv; `python -m benchmarks.peer_cost fit` prints the
coefficients that stand in each method's file in dsebo/methods, and how far predictions are from
what was measured. `python -m benchmarks.peer_cost check` measures this machine as the dashboard does,
then a run of each method, and fails where a prediction is off by more than a factor of 1.5.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from time import thread_time

import numpy as np
import pandas as pd
from scipy.optimize import nnls

from dsebo.config import METHODS, RunConfig, predict
from dsebo.methods import cost
from dsebo.methods.cost import factorising, features
from dsebo.methods.dsebo import DseboConfig
from dsebo.run import Runner
from dsebo.runs import machine
from dsebo.threads import one_thread

MEASURED = Path(__file__).parent / "results" / "peer_cost.csv"
TIMED = [method for method in METHODS if method != "centre"]  # one evaluation: nothing to fit
SIZES = {100: 500, 1000: 500, 5000: 100}  # evaluations at each D
SHORT = {100: 500, 1000: 200, 5000: 50}  # of the methods that take longest
LONG = ("saasbo", "vaebo", "dumbo")
CHECKED, FACTOR = 200, 1.5  # evaluations of a run that is predicted, and how near that must be
MARKS = (25, 50, 100, 200, 300, 400, 500)


def sizes(method: str) -> dict[int, int]:
    """The number of evaluations to measure at each D."""
    return SHORT if method in LONG else SIZES


def config_of(method: str, D: int) -> RunConfig:
    budget = sizes(method).get(D, 500)
    given = {"objective": {"D": D}, "optimizer": {"method": method}, "budget": budget}
    return RunConfig.parse(given)


def measure(config: RunConfig) -> list[tuple[int, float]]:
    """(n, CPU seconds of the first n evaluations) at the marks."""
    runner, spent, found = Runner.from_config(config), 0.0, []
    with one_thread():
        while not runner.done:
            began = thread_time()
            runner.step()
            spent += thread_time() - began
            if runner.t in MARKS:
                found.append((runner.t, spent))
    return found


def run(methods: list[str]) -> None:
    for D in SIZES:
        for method in methods or TIMED:
            known = pd.read_csv(MEASURED) if MEASURED.exists() else None
            if known is not None and ((known.method == method) & (known.D == D)).any():
                continue
            rows = [(method, D, n, f"{seconds:.4f}") for n, seconds in measure(config_of(method, D))]
            with MEASURED.open("a", newline="") as file:
                writer = csv.writer(file)
                writer.writerows(rows if known is not None else [("method", "D", "n", "seconds"), *rows])
            print(*rows[-1], flush=True)


def known_and_terms(config: RunConfig, n: int) -> tuple[float, tuple[float, ...]]:
    """Seconds of n evaluations that need no fit, and the terms whose coefficients do."""
    method, D = config.optimizer, config.objective.D
    d = method.model_dimension(D)
    terms = features(n, D, d)
    if not isinstance(method, DseboConfig):
        return factorising(n, d), terms
    return method.embedding_seconds(D, n) + factorising(n, d), (terms[0], 0.0, 0.0, terms[3], 0.0)


def fit() -> None:
    """Least squares of relative errors, no coefficient below 0.

    Weighted by the share of a whole run: the first evaluations are starting points, which cost
    nothing.
    """
    for method, rows in pd.read_csv(MEASURED).groupby("method", sort=False):
        pairs = [
            known_and_terms(config_of(str(method), int(D)), int(n))
            for D, n in zip(rows.D, rows.n, strict=True)
        ]
        known, terms = (np.array(column) for column in zip(*pairs, strict=True))
        seconds = rows.seconds.to_numpy(dtype=float)
        A = terms / seconds[:, None]
        scale = np.where(A.max(axis=0) > 0, A.max(axis=0), 1.0)
        weight = (rows.n / rows.D.map(sizes(str(method)))).to_numpy(dtype=float)
        found = nnls(weight[:, None] * A / scale, weight * (1.0 - known / seconds))[0] / scale
        names = ("n", "n_D", "n2_d", "n3", "n3_d")
        shown = [f"{k}={1e9 * v:.3g}" for k, v in zip(names, found, strict=True) if v > 0]
        ratio = (A @ found + known / seconds)[weight >= 0.2]
        print(f"{method}: {', '.join(shown)}; off by {ratio.min():.2f} to {ratio.max():.2f}")


def check(methods: list[str]) -> None:
    """What is predicted for this machine beside what is measured, for a run of each method."""
    pace = machine.measure()
    cost.set_pace(pace)
    print(f"this machine takes {pace:.2f} times as long as the one that was measured")
    off = []
    for method in methods or TIMED:
        config = config_of(method, 1000).model_copy(update={"budget": CHECKED})
        seconds = measure(config)[-1][1]
        predicted = predict(config).seconds
        ratio = predicted / seconds
        off += [] if 1 / FACTOR <= ratio <= FACTOR else [method]
        print(f"{method}: predicted {predicted:.3g} s, took {seconds:.3g} s, {ratio:.2f}", flush=True)
    if off:
        raise SystemExit(f"Off by more than {FACTOR}: {', '.join(off)}.")


if __name__ == "__main__":
    command = {"run": run, "check": check}.get("".join(sys.argv[1:2]))
    command(sys.argv[2:]) if command else fit()
