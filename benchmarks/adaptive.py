"""`variant = adaptive` measured: what each rule is worth, how it does elsewhere, where it stops, its cost.

    python -m benchmarks.adaptive ablation    each rule left out alone, seeds 11 to 20, which it was chosen on
    python -m benchmarks.adaptive report      beside the paper's rules and BAxUS, seeds 21 to 30 and 1 to 10
    python -m benchmarks.adaptive elsewhere   functions and settings that nothing was chosen on
    python -m benchmarks.adaptive large       D = 10 000
    python -m benchmarks.adaptive stop        the last dimension with 100 probes, d_e = 10, 30 and 60
    python -m benchmarks.adaptive nearest     2000 evaluations, with the 150 nearest data and with all
    python -m benchmarks.adaptive scaling     seconds of a step at n = 500 ... 10 000, with the exponent
    python -m benchmarks.adaptive steps       the same in a minute: n random data are told, 26 steps follow
    python -m benchmarks.adaptive speed       500 evaluations beside variant = paper, CPU seconds

All but the last two run what is missing in results/adaptive.csv and print the table of what is there;
`--show` only prints, `--functions`, `--settings` and `--seeds` take a part.
adaptive.md has the reasons, and what was tried.
"""

from __future__ import annotations

import argparse
import json
import resource
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd

from dsebo.config import RunConfig
from dsebo.events import Evaluated, Finished, Probed
from dsebo.experiments.paired import holm, signed_ranks
from dsebo.methods.base import Candidate
from dsebo.methods.dsebo import DSEBO
from dsebo.paper.tables import PAPER_FUNCTIONS
from dsebo.parsing import read_seeds
from dsebo.run import make_objective, run
from dsebo.threads import one_thread

RESULTS = Path(__file__).parent / "results" / "adaptive.csv"
KEY = ["table", "setting", "objective", "seed"]
ADAPTIVE: dict[str, Any] = {"method": "dsebo", "variant": "adaptive"}
PAPER: dict[str, Any] = {"method": "dsebo"}
WITHOUT: dict[str, dict[str, Any]] = {
    "adaptive": {},
    "a lengthscale per dimension": {"lengthscales": "per-dimension"},
    "growth by patience": {"growth": "patience"},
    "a random first point": {"first_point": "random"},
    "a stop by slopes": {"stop": 0.05},
    "no moves of blocks": {"blocks": 0},
    "a stop by probes": {"probes": 100},
    "the bound": {"acquisition": "bound"},
    "no trust region": {"region": False},
    "noise of 1e-4 or more": {"least_noise": 1e-4},
    "all data": {"most_data": 0},
    "paper": {"variant": "paper"},
}


@dataclass(frozen=True)
class Cell:
    """One config of a table, without its seed."""

    setting: str
    optimizer: dict[str, Any]
    objective: dict[str, Any] = field(default_factory=dict)
    budget: int = 500


def cells(table: str) -> list[Cell]:
    """What a table consists of."""
    six = [{"name": name} for name in PAPER_FUNCTIONS]
    both = {"adaptive": ADAPTIVE, "paper": PAPER}
    if table == "ablation":
        return [Cell(name, ADAPTIVE | change, f) for name, change in WITHOUT.items() for f in six]
    if table == "report":
        entrants = {**both, "baxus": {"method": "baxus"}}
        return [Cell(name, settings, f) for name, settings in entrants.items() for f in six]
    if table == "large":
        return [Cell("adaptive", ADAPTIVE, {**f, "D": 10_000}) for f in six]
    if table == "stop":
        names, asked = ("sphere", "rosenbrock", "michalewicz"), ADAPTIVE | {"probes": 100}
        return [Cell("probes", asked, {"name": f, "d_e": d_e}) for f in names for d_e in (10, 30, 60)]
    if table == "nearest":
        models = {"150 nearest": ADAPTIVE, "all data": ADAPTIVE | {"most_data": 0}}
        return [Cell(name, settings, {"name": "sphere"}, 2000) for name, settings in models.items()]
    unseen = [{"name": name} for name in ("styblinski-tang", "rotated-quadratic", "alpine")]
    changed: list[dict[str, Any]] = [{"d_e": 10}, {"d_e": 60}, {"coordinates": "random"}]
    noisy = [{**f, "noise": _one_percent(f)} for f in six]
    objectives = [*unseen, *({**f, **change} for change in changed for f in six), *noisy]
    return [Cell(name, settings, f) for f in objectives for name, settings in both.items()]


def _one_percent(objective: dict[str, Any]) -> float:
    """1 % of the standard deviation of F over 1000 uniform points."""
    f = make_objective(RunConfig.parse({"objective": objective}))
    return float(f"{0.01 * f(np.random.default_rng(0).uniform(-1, 1, (1000, f.dimension))).std():.3g}")


SEEDS = {
    "ablation": "11-20",
    "report": "21-30,1-10",
    "large": "21-23",
    "stop": "21-30",
    "elsewhere": "21-30",
    "nearest": "11-15",
}


def known() -> pd.DataFrame:
    return pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=[*KEY, "best", "d", "seconds"])


def run_missing(table: str, seeds: list[int], functions: set[str], settings: set[str]) -> None:
    """Seed by seed, so that what is there when it is ended compares like with like."""
    rows = known()
    done = set(zip(*(rows[name] for name in KEY), strict=True))
    for seed in seeds:
        for cell in cells(table):
            objective = json.dumps(cell.objective)
            asked = (not functions or cell.objective["name"] in functions) and (
                not settings or cell.setting in settings
            )
            if not asked or (table, cell.setting, objective, seed) in done:
                continue
            began = process_time()
            parts = {"objective": cell.objective, "optimizer": cell.optimizer, "budget": cell.budget}
            best, d = _end(RunConfig.parse({**parts, "seed": seed}), until_told=table == "stop")
            took = round(process_time() - began, 1)
            row = pd.DataFrame([(table, cell.setting, objective, seed, best, d, took)])
            row.to_csv(RESULTS, mode="a", header=False, index=False)


def _end(config: RunConfig, until_told: bool) -> tuple[float, int | None]:
    """(best value, last d), which is known once the probes have told, as steady growth gets there."""
    last: Any = None
    for event in run(config):
        if isinstance(event, Probed) and until_told:
            return float("nan"), event.most
        last = event
    assert isinstance(last, Finished)
    return last.best, last.d


def show(table: str) -> None:
    """Means, deviations, last dimensions; for an ablation what each rule is worth, tested."""
    rows = known()
    rows = rows[rows.table == table]
    print(f"{table}: mean ± standard deviation (seeds; median of the last d; mean CPU seconds)\n")
    for objective, of_objective in rows.groupby("objective", sort=False):
        print(objective)
        for setting, group in of_objective.groupby("setting", sort=False):
            best = group["best"].astype(float)
            print(
                f"  {setting:28s} {best.mean():10.4g} ± {best.std():8.3g}  ({len(best)}; "
                f"d {group['d'].median():.0f}; {group['seconds'].mean():.1f} s)"
            )
    if table == "ablation":
        _worth(rows)
    if table == "stop":
        _stops(rows)
    if table == "nearest":
        by_seed = rows.pivot_table(index="seed", columns="setting", values="best").dropna()
        ratios = np.log((by_seed["150 nearest"] / by_seed["all data"]).to_numpy())
        print(
            f"\nlog-ratios {ratios.round(3).tolist()}, median {np.median(ratios):.3f} (wanted: 0.05 or less)"
        )


def _worth(rows: pd.DataFrame) -> None:
    """adaptive against each of the others, by seeds: Wilcoxon, Holm over the whole table."""
    values = rows.pivot_table(index="seed", columns=["objective", "setting"], values="best")
    pairs: list[tuple[str, str, float]] = []
    shifts: list[np.ndarray] = []
    for column in values.columns:
        objective, setting = str(column[0]), str(column[1])
        if setting != "adaptive" and (objective, "adaptive") in values.columns:
            costs = (values[objective, setting] - values[objective, "adaptive"]).dropna()
            pairs.append((objective, setting, float(costs.median())))
            shifts.append(costs.to_numpy())
    p_values = holm(signed_ranks(shifts)) if shifts else []
    print("\nleft out: median of what it costs by seeds (above 0: the rule helps), p after Holm")
    for (objective, setting, median), shift, p in zip(pairs, shifts, p_values, strict=True):
        print(f"  {setting:28s} {objective:28s} {median:+10.4g}  p {p:.3g}  ({len(shift)} seeds)")


def _stops(rows: pd.DataFrame) -> None:
    print("\nlast d between d_e and 2 d_e")
    for (objective, setting), group in rows.groupby(["objective", "setting"], sort=False):
        d_e = json.loads(str(objective))["d_e"]
        good = group["d"].between(d_e, 2 * d_e)
        last = sorted(int(d) for d in group["d"])
        print(f"  {setting:14s} {objective:36s} {good.sum()} of {len(good)}: {last}")


def scaling(until: int) -> None:
    """Seconds of the steps around each n of one long run; at most `until` evaluations."""
    marks = [n for n in (500, 1000, 2000, 5000, 10_000) if n <= until]
    config = RunConfig.parse({"optimizer": ADAPTIVE, "budget": until})
    list(run(RunConfig.parse({"optimizer": ADAPTIVE, "budget": 5})))  # imports are not what is measured
    began, spent, steps = process_time(), [], []
    for event in run(config):
        if not isinstance(event, Evaluated):
            continue
        steps.append(process_time() - began)
        began = process_time()
        if event.t in marks:
            recent = steps[-min(50, event.t // 10) :]
            spent.append(float(np.mean(recent)))
            print(
                f"n = {event.t}: {1e3 * spent[-1]:.1f} ms a step (slowest {1e3 * max(recent):.0f} ms), "
                f"{sum(steps):.0f} s so far, best {event.best:.4g}",
                flush=True,
            )
    exponent = np.polyfit(np.log(marks), np.log(spent), 1)[0]
    slowest = int(np.argmax(steps))
    print(
        f"a step grows as n^{exponent:.2f}; slowest of all {steps[slowest]:.2f} s (CPU, evaluation "
        f"{slowest + 1}); {_megabytes():.0f} MB"
    )


def _megabytes() -> float:
    """The most that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def steps() -> None:
    """CPU seconds of 26 steps, a fit among them, after n random data at d = d_h; and the memory held."""
    spent: list[float] = []
    marks = (500, 1000, 2000, 5000, 10_000)
    for n in marks:
        config = RunConfig.parse({"optimizer": ADAPTIVE, "budget": n + 26})
        objective, rng = make_objective(config), np.random.default_rng(n)
        optimizer = config.optimizer.build(objective.dimension, config.budget, 1)
        assert isinstance(optimizer, DSEBO)
        optimizer.progress = replace(optimizer.progress, d=optimizer.strategy.d_h)
        for z in rng.uniform(-0.5, 0.5, (n, optimizer.d)):
            x = optimizer.lift(z)
            optimizer.tell(
                Candidate(len(optimizer.observed) + 1, z, x, optimizer.d), float(objective(x[None])[0])
            )
        taken = []
        for _ in range(26):
            began = process_time()
            candidate = optimizer.ask()
            optimizer.tell(candidate, float(objective(candidate.x[None])[0]))
            taken.append(process_time() - began)
        spent.append(float(np.mean(taken)))
        print(
            f"n = {n}: {1e3 * spent[-1]:.1f} ms a step, slowest {max(taken):.2f} s, {_megabytes():.0f} MB",
            flush=True,
        )
    print(f"a step grows as n^{np.polyfit(np.log(marks), np.log(spent), 1)[0]:.2f}")


def speed(seeds: list[int]) -> None:
    """CPU seconds of 500 evaluations, both variants in turn in one process."""
    list(run(RunConfig.parse({"budget": 5})))  # imports are not what is measured
    spent: dict[str, list[float]] = {"adaptive": [], "paper": []}
    for seed in seeds:
        for variant, taken in spent.items():
            began = process_time(), perf_counter()
            list(run(RunConfig.parse({"optimizer": {"variant": variant}, "seed": seed})))
            taken.append(process_time() - began[0])
    ratio = sum(spent["adaptive"]) / sum(spent["paper"])
    print({name: [round(value, 2) for value in taken] for name, taken in spent.items()}, f"ratio {ratio:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", choices=[*SEEDS, "scaling", "steps", "speed"])
    parser.add_argument("--seeds", default="")
    parser.add_argument("--functions", default="")
    parser.add_argument("--settings", default="")
    parser.add_argument("--until", type=int, default=10_000)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    if given.table == "scaling":
        return scaling(given.until)
    if given.table == "steps":
        with one_thread():
            return steps()
    seeds = read_seeds(given.seeds or SEEDS.get(given.table, "1-3"))
    if given.table == "speed":
        return speed(seeds)
    if not RESULTS.exists():
        known().to_csv(RESULTS, index=False)
    if not given.show:
        chosen = (set(filter(None, text.split(","))) for text in (given.functions, given.settings))
        run_missing(given.table, seeds, *chosen)
    return show(given.table)


if __name__ == "__main__":
    main()
