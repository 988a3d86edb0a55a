"""Final values over seeds on the six functions, beside the paper's row and the box's centre.

`python -m benchmarks.quality` runs what is missing of the default setting and prints its table;
`--setting NAME` another one of SETTINGS (what the defaults were chosen from), `--all` prints all.
Results are kept in results/quality.csv; delete it to measure again.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd

from dsebo.config import RunConfig
from dsebo.events import Finished
from dsebo.paper.tables import PAPER_FUNCTIONS, function_rows
from dsebo.run import make_objective, run

RESULTS = Path(__file__).parent / "results" / "quality.csv"
COLUMNS = ["setting", "function", "seed", "best", "d", "seconds"]
GAMMA: dict[str, Any] = {"lengthscale_prior": "gamma", "fit_outputscale": True}
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "kappa 1": {"kappa_scale": 1.0},
    "kappa 0.01": {"kappa_scale": 0.01},
    "no local starts": {"local_samples": 0},
    "kappa 1, no local starts": {"kappa_scale": 1.0, "local_samples": 0},
    "rbf": {"kernel": "rbf"},
    "gamma prior": GAMMA,
    "gamma prior, kappa 1": {**GAMMA, "kappa_scale": 1.0},
    "authors": {"variant": "authors"},
}


def one(setting: str, function: str, seed: int) -> dict[str, Any]:
    config = RunConfig.parse({"objective": {"name": function}, "optimizer": SETTINGS[setting], "seed": seed})
    last = list(run(config))[-1]
    assert isinstance(last, Finished)
    row = (setting, function, seed, last.best, last.d, round(last.seconds, 1))
    return dict(zip(COLUMNS, row, strict=True))


def known() -> pd.DataFrame:
    return pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=COLUMNS)


def run_missing(setting: str, seeds: list[int], workers: int) -> None:
    done = {(r.setting, r.function, r.seed) for r in known().itertuples()}
    wanted = [(setting, f, s) for s in seeds for f in PAPER_FUNCTIONS if (setting, f, s) not in done]
    with ProcessPoolExecutor(workers) as pool:
        for row in pool.map(one, *zip(*wanted, strict=True)) if wanted else ():
            frame = pd.DataFrame([row])
            frame.to_csv(RESULTS, mode="a", header=not RESULTS.exists(), index=False)


def report(setting: str) -> None:
    rows = known()
    rows = rows[rows.setting == setting]
    print(f"\n{setting}: {SETTINGS[setting]}")
    print("function       mean ± std (best) of n            paper's DSEBO         centre   ")
    for function in PAPER_FUNCTIONS:
        best = rows[rows.function == function]["best"].astype(float)
        if best.empty:
            continue
        centre = make_objective(RunConfig.parse({"objective": {"name": function}})).at_centre()
        printed = function_rows(function)
        mean, std = printed[printed["method"] == "DSEBO"][["mean", "std"]].to_numpy(dtype=float)[0]
        verdict = "beats both" if best.mean() < min(mean, centre) else "does not beat both"
        print(
            f"{function:12s} {best.mean():10.4g} ± {best.std():8.3g} ({best.min():8.4g}) of "
            f"{len(best)}   {mean:10.4g} ± {std:8.3g}  {centre:10.4g}  {verdict}"
        )
    print(f"mean seconds of a run: {rows['seconds'].astype(float).mean():.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--setting", default="default", choices=list(SETTINGS))
    parser.add_argument("--seeds", default="1,2,3,4,5")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    if not arguments.all:
        run_missing(arguments.setting, seeds, arguments.workers)
    for setting in SETTINGS if arguments.all else [arguments.setting]:
        if (known()["setting"] == setting).any():
            report(setting)


if __name__ == "__main__":
    main()
