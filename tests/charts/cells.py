"""Experiments made by hand, and curves of their runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dsebo.charts.curves import Curves
from tests.experiments.frames import progress, seeds

BETAS = (1.0, 4.0, 8.0, 12.0, 16.0, 24.0, 32.0)


def one_axis(count: int = 10, **more: Any) -> pd.DataFrame:
    return progress({(b,): seeds(b, count, seed=int(b)) for b in BETAS}, **more)


def two_axes() -> pd.DataFrame:
    cells = {(b, h): seeds(b * h / 50, seed=int(b) + h) for b in (1.0, 8.0) for h in (60, 80, 100)}
    return progress(cells, ("beta", "d_h"))


def functions() -> pd.DataFrame:
    cells = {
        (e, f): seeds(e * (1 if f == "sphere" else 1000), seed=e)
        for e in (10, 30)
        for f in ("sphere", "levy")
    }
    centres = {(e, f): 2.0 * e * (1 if f == "sphere" else 1000) for e, f in cells}
    return progress(cells, ("d_e", "function"), centre=centres)


def curves_of(frame: pd.DataFrame, length: int = 100, with_d: bool = True) -> dict[str, Curves]:
    rng = np.random.default_rng(0)
    found = {}
    for run, best in zip(frame["run_id"], frame["best"], strict=True):
        if np.isfinite(best):
            falling = np.minimum.accumulate(best * np.linspace(4, 1, length) * rng.uniform(1, 2))
            d = np.repeat([5.0, 12.0], length // 2) if with_d else np.full(length, np.nan)
            found[run] = Curves(np.maximum(falling, best), d)
    return found
