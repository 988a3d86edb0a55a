"""Curves, bands over seeds, tables and the facts of a setting: arrays in, frames out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsebo.config import METHODS, ObjectiveConfig, RunConfig
from dsebo.expansion import Strategy
from dsebo.methods.config import DseboConfig
from objectives import EmbeddedFunction, get_function

Array = NDArray[np.float64]
BandKind = Literal["mean", "median"]

LARGEST_D_FOR_FACTS = 1_000_000  # beyond it a point alone takes longer than a form may
FLOAT_BYTES = 8


@dataclass(frozen=True)
class Facts:
    """What follows from a setting before anything is run; None where it does not apply."""

    first_step: int | None
    first_patience: int | None
    most_patience: int | None
    largest_tail: float
    effective_reach: float | None
    matrix_bytes: int | None
    at_centre: float | None
    minimum: float | None
    minimum_note: str


def facts(config: RunConfig) -> Facts:
    """The derived facts of a setting."""
    of = config.optimizer
    strategy = strategy_of(of, config.budget) if isinstance(of, DseboConfig) else None
    objective = EmbeddedFunction(**config.objective.model_dump())
    reach, centre, minimum, note = _values(config.objective)
    return Facts(
        first_step=strategy.first_step() if strategy else None,
        first_patience=strategy.first_patience() if strategy else None,
        most_patience=strategy.next_patience(strategy.d_h, strategy.d_h) if strategy else None,
        largest_tail=objective.largest_tail(),
        effective_reach=reach,
        matrix_bytes=config.objective.D * strategy.d_h * FLOAT_BYTES if strategy else None,
        at_centre=centre,
        minimum=minimum,
        minimum_note=note,
    )


def strategy_of(config: DseboConfig, budget: int) -> Strategy:
    """The expansion strategy of a DSEBO run."""
    return Strategy(
        d_l=config.d_l,
        d_h=config.d_h,
        beta=config.beta,
        budget=budget,
        alpha=config.alpha,
        alpha_mode=config.alpha_mode,
        variant=config.variant,
        min_step=config.min_step,
    )


@lru_cache(maxsize=256)
def _values(config: ObjectiveConfig) -> tuple[float | None, float | None, float | None, str]:
    """(largest f found, F(centre), F*, why F* is not known); the slow part, so it is kept."""
    objective = EmbeddedFunction(**config.model_dump())
    if config.D > LARGEST_D_FOR_FACTS:
        return None, None, None, f"D = {config.D} is too large to evaluate while one types."
    alone = EmbeddedFunction(config.name, config.d_e, config.d_e, config.c, config.K)
    samples = max(2, min(512, 1_000_000 // config.d_e))
    corners = np.random.default_rng(0).choice([-1.0, 1.0], size=(samples, config.d_e))
    corners[0], corners[1] = -1.0, 1.0
    return float(alone(corners).max()), objective.at_centre(), objective.minimum, (objective.minimum_note)


# --- the paper's tables ---------------------------------------------------------------------

PAPER_BUDGET, PAPER_D_E, PAPER_K = 500, 30, 10_000.0
PAPER_DIMENSIONS = (1000, 10_000)
PAPER_NAMES = {"dixon-price": "dixon"}  # where the tables' name is not ours
PAPER_DSEBO = {"beta": 12.0, "d_l": 5, "d_h": 100}


@lru_cache(maxsize=1)
def paper_results() -> pd.DataFrame:
    """The paper's tables 1 to 5, as printed: table, task, D, method, subspace_d, mean, std ..."""
    with (files("dsebo.data") / "paper_results.csv").open() as text:
        table: pd.DataFrame = pd.read_csv(text, comment="#")
    return table


def is_paper_task(config: Mapping[str, Any]) -> bool:
    """Whether a run's function and budget are those of the paper's tables."""
    objective = config["objective"]
    return bool(
        config["budget"] == PAPER_BUDGET
        and objective["D"] in PAPER_DIMENSIONS
        and objective["d_e"] == PAPER_D_E
        and objective["K"] == PAPER_K
        and objective["c"] == get_function(objective["name"]).default_c
    )


def paper_rows(config: Mapping[str, Any]) -> pd.DataFrame:
    """The paper's rows for a run's task; none where the setting is not the paper's."""
    table = paper_results()
    if not is_paper_task(config):
        return table.iloc[:0]
    objective = config["objective"]
    task = table["task"].str.lower() == PAPER_NAMES.get(objective["name"], objective["name"])
    rows: pd.DataFrame = table[task & (table["D"] == objective["D"]) & table["table"].isin([1, 3])]
    return rows


def paper_value(config: Mapping[str, Any]) -> float | None:
    """The paper's mean for DSEBO, where the setting is the paper's."""
    optimizer = config["optimizer"]
    if any(optimizer.get(name) != value for name, value in PAPER_DSEBO.items()):
        return None
    rows = paper_rows(config)
    own = rows[rows["method"] == "DSEBO"]
    return None if own.empty else float(own["mean"].iloc[0])


# --- curves and bands -----------------------------------------------------------------------


def stack(curves: Sequence[Array]) -> Array:
    """(runs, longest) curves from t = 1 on; NaN where a run had ended before."""
    longest = max((len(curve) for curve in curves), default=0)
    out = np.full((len(curves), longest), np.nan)
    for row, curve in zip(out, curves, strict=True):
        row[: len(curve)] = curve
    return out


def band(curves: Sequence[Array], kind: BandKind) -> pd.DataFrame:
    """Mean ± std, or median and quartiles, of several runs at each t: t, mid, low, high, n.

    The standard deviation is the sample's (n − 1), as is usual for a few repeats; it is 0 for one.
    """
    values = stack(curves)
    n = np.isfinite(values).sum(axis=0)
    t = np.arange(1, values.shape[1] + 1)
    frame: pd.DataFrame = pd.DataFrame({"t": t, "n": n})[n > 0]
    seen = values[:, n > 0]
    if kind == "median":
        low, mid, high = _quartiles(seen)
    else:
        mid = np.nanmean(seen, axis=0)
        spread = np.sqrt(np.nansum((seen - mid) ** 2, axis=0) / np.maximum(n[n > 0] - 1, 1))
        low, high = mid - spread, mid + spread
    return frame.assign(mid=mid, low=low, high=high)


def _quartiles(values: Array) -> tuple[Array, Array, Array]:
    """Of each column's numbers; as `np.nanquantile`, which takes them one column at a time."""
    ordered = np.sort(values, axis=0)  # NaN last
    last = np.isfinite(values).sum(axis=0) - 1
    found = []
    for share in (0.25, 0.5, 0.75):
        place = share * last
        below = np.floor(place).astype(int)
        lower, upper = (
            np.take_along_axis(ordered, at[None], axis=0)[0] for at in (below, np.minimum(below + 1, last))
        )
        found.append(lower + (upper - lower) * (place - below))
    return found[0], found[1], found[2]


# --- groups of runs -------------------------------------------------------------------------

EVERYTHING = "everything but the seed"
SYMBOLS = {"beta": "β", "alpha": "α", "d_l": "dₗ", "d_h": "dₕ", "d_e": "dₑ", "kappa_scale": "κ scale"}


def flat_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """A run's settings by their names alone; `function` and `method` for the two names."""
    objective = dict(config["objective"])
    optimizer = dict(config["optimizer"])
    return {
        "function": objective.pop("name"),
        "method": optimizer.pop("method"),
        **objective,
        **optimizer,
        "budget": config["budget"],
        "seed": config["seed"],
    }


def group_runs(configs: Mapping[str, Mapping[str, Any]], by: str = EVERYTHING) -> dict[str, list[str]]:
    """Run ids by group, in the order given: by all settings but the seeds, or by one of them.

    A group's label names only what tells the groups apart.
    """
    flat = {run: _without_seeds(flat_config(config)) for run, config in configs.items()}
    if by != EVERYTHING:
        labels = {run: _part(by, settings.get(by)) for run, settings in flat.items()}
    else:
        labels = _telling_labels(flat)
    groups: dict[str, list[str]] = {}
    for run, label in labels.items():
        groups.setdefault(label, []).append(run)
    return groups


def differing(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """The settings in which these runs are not all alike."""
    names = list(dict.fromkeys(name for one in settings for name in one))
    return [name for name in names if len({json.dumps(one.get(name)) for one in settings}) > 1]


def _without_seeds(flat: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in flat.items() if k not in ("seed", "embedding_seed")}


def _telling_labels(flat: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """A label for each run: its method if there are several, and what differs within it."""
    everywhere = [n for n in differing(list(flat.values())) if n in ("function", "method")]
    labels = {}
    for run, settings in flat.items():
        alike = [one for one in flat.values() if one["method"] == settings["method"]]
        telling = everywhere + [name for name in differing(alike) if name not in everywhere]
        labels[run] = ", ".join(_part(name, settings[name]) for name in telling) or "all runs"
    return labels


def _part(name: str, value: Any) -> str:
    if name == "method" and value in METHODS:
        return METHODS[value].label
    return str(value) if name == "function" else f"{SYMBOLS.get(name, name)} = {_short(value)}"


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def summary(
    groups: Mapping[str, Sequence[str]], final: Mapping[str, tuple[float | None, float]]
) -> pd.DataFrame:
    """One row a group: runs, mean, std and best of the final best values, mean seconds.

    Args:
        groups: Run ids by label.
        final: (best value, seconds) of each run.
    """
    rows = []
    for label, runs in groups.items():
        values = np.array([v for run in runs if (v := final[run][0]) is not None])
        rows.append(
            {
                "group": label,
                "runs": len(runs),
                "mean": values.mean() if values.size else np.nan,
                "std": values.std(ddof=1) if values.size > 1 else np.nan,
                "best": values.min() if values.size else np.nan,
                "seconds": float(np.mean([final[run][1] for run in runs])),
            }
        )
    return pd.DataFrame(rows, columns=["group", "runs", "mean", "std", "best", "seconds"])
