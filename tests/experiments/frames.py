"""Progress frames made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

FLAT = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]


def progress(
    cells: Mapping[tuple[Any, ...], Sequence[float | str | None]],
    axes: Sequence[str] = ("beta",),
    minimum: float | None = 0.0,
    centre: float | Mapping[tuple[Any, ...], float] | None = 30.0,
    budget: int = 100,
) -> pd.DataFrame:
    """A frame as `dsebo.experiments.records.progress` gives it.

    Args:
        cells: The final values of each cell, by seed from 1 on; a state where there is none, or
            None where there is no run.
        axes: The swept fields, in the order of the cells' keys.
        minimum: F*.
        centre: The value at the centre, of all or of each cell.
        budget: Evaluations of each run.
    """
    rows = []
    for index, (key, values) in enumerate(cells.items()):
        for seed, value in enumerate(values, start=1):
            state = "missing" if value is None else value if isinstance(value, str) else "finished"
            done = state == "finished"
            rows.append(
                {
                    "cell": index,
                    **dict(zip(axes, key, strict=True)),
                    "seed": seed,
                    "hash": f"{index:032x}{seed:032x}",
                    "run_id": None if value is None else f"{index:016x}{seed:016x}",
                    "state": state,
                    "wanted": "run",
                    "n_done": budget if done else 0 if value is None else 40,
                    "budget": budget,
                    "best": value if done else np.nan,
                    "d": float(10 + index) if done else np.nan,
                    "seconds": 2.0 if done else np.nan,
                    "minimum": minimum,
                    "at_centre": centre.get(key) if isinstance(centre, Mapping) else centre,
                }
            )
    return pd.DataFrame(rows)


def seeds(level: float, count: int = 10, spread: float = 0.1, seed: int = 0) -> list[float]:
    """Positive values around a level, as seeds scatter them."""
    return list(level * np.exp(spread * np.random.default_rng(seed).normal(size=count)))


def shuffled(seed: int) -> list[float]:
    """The same values dealt to other seeds: no effect, whatever the pairing."""
    return list(np.random.default_rng(seed).permutation(FLAT) + seed * 1e-3)
