"""Curves of several runs: bands over seeds, groups, tables. Arrays in, frames out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dsebo.config import RunConfig, differing, flat_config
from dsebo.objectives.fields import ConfigError
from dsebo.text import fork_words, part

Array = NDArray[np.float64]
BandKind = Literal["mean", "median"]
SEEDS = ("seed", "embedding_seed")
EVERYTHING = "everything but the seed"
ALL_RUNS = "all runs"  # the label of a group that nothing tells apart


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
    quartiles = []
    for share in (0.25, 0.5, 0.75):
        place = share * last
        below = np.floor(place).astype(int)
        lower, upper = (
            np.take_along_axis(ordered, at[None], axis=0)[0] for at in (below, np.minimum(below + 1, last))
        )
        quartiles.append(lower + (upper - lower) * (place - below))
    return quartiles[0], quartiles[1], quartiles[2]


def group_runs(configs: Mapping[str, Mapping[str, Any]], by: str = EVERYTHING) -> dict[str, list[str]]:
    """Run ids by group, in the order given: by all settings but the seeds, or by one of them.

    A group's label names only what tells the groups apart. A fork is in no group of plain runs.
    """
    flat = {run: _without_seeds(flat_config(config)) for run, config in configs.items()}
    if by != EVERYTHING:
        labels = {run: part(by, settings.get(by)) for run, settings in flat.items()}
    else:
        labels = _telling_labels(flat, given_settings(configs.values()))
    groups: dict[str, list[str]] = {}
    for run, label in labels.items():
        if words := fork_words(configs[run]):
            label = words if label == ALL_RUNS else f"{label}, {words}"
        groups.setdefault(label, []).append(run)
    return groups


def _without_seeds(flat: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in flat.items() if k not in SEEDS}


def _telling_labels(flat: Mapping[str, Mapping[str, Any]], given: set[str]) -> dict[str, str]:
    """A label for each run: its method if there are several, and what was given that differs within it."""
    everywhere = [n for n in differing(list(flat.values())) if n in ("function", "method")]
    labels = {}
    for run, settings in flat.items():
        alike = [other for other in flat.values() if other["method"] == settings["method"]]
        within = [name for name in differing(alike) if name in given and name not in everywhere]
        telling = [name for name in everywhere + within if name in settings]
        labels[run] = ", ".join(part(name, settings[name]) for name in telling) or ALL_RUNS
    return labels


def given_settings(configs: Iterable[Mapping[str, Any]]) -> set[str]:
    """The settings that the others follow from in any of these configs; all where that is not known here."""
    return set().union(*map(_given, configs))


def _given(config: Mapping[str, Any]) -> set[str]:
    try:
        given = RunConfig.parse(config).given()
    except ConfigError:
        return set(flat_config(config))
    return {"function", *given, *given["objective"], *given["optimizer"]}


def summary(
    groups: Mapping[str, Sequence[str]], final: Mapping[str, tuple[float | None, float]]
) -> pd.DataFrame:
    """Mean, std and best of each group's runs and the mean of their seconds; `final` has (best, seconds)."""
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
