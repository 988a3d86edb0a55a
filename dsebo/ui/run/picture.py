"""The best point of a run on a real task, in the picture that the task has for it."""

from __future__ import annotations

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dsebo.charts.tasks import portrait_sketch
from dsebo.objectives.fields import ConfigError
from dsebo.runs.data import RunData
from dsebo.store.errors import StoreError
from dsebo.store.store import Store
from dsebo.text import plain
from dsebo.ui.cache import SHARED
from dsebo.ui.live import live_chart

MOST = 40  # improvements that the picture looks back on: each takes an evaluation's time


@st.cache_resource(max_entries=2000, show_spinner=False)
def portrait(_store: Store, address: str, run_id: str, t: int) -> object:
    """What the picture of evaluation t shows."""
    objective = _store.config(run_id).objective
    if why := objective.unavailable():
        raise ConfigError(why)
    return objective.build().portrait(_store.point(run_id, t))


def improvements(y: NDArray[np.float64]) -> list[int]:
    """The evaluations at which the best value fell, at most so many, evenly chosen, the last among them."""
    known = np.where(np.isfinite(y), y, np.inf)
    before = np.r_[np.inf, np.minimum.accumulate(known)[:-1]] if len(y) else known
    fell = np.flatnonzero(known < before) + 1
    chosen = np.unique(np.linspace(0, len(fell) - 1, min(MOST, len(fell))).round().astype(int))
    return [int(fell[i]) for i in chosen]


def show(store: Store, data: RunData, key: str = "") -> None:
    """At the evaluation that is shown, and what came before it."""
    at = improvements(data.evaluations["y"].to_numpy(dtype=float))
    if not at:
        st.caption("The first evaluation is under way." if not data.t else "Every evaluation has failed.")
        return
    try:
        with st.spinner("Drawing what was found …"):
            portraits = [(t, portrait(store, str(store.engine.url), data.row.id, t)) for t in at]
    except (StoreError, ConfigError) as error:
        st.info(plain(str(error)))
        return
    kept = ("portrait", data.row.id, at[-1], data.t, data.row.budget)
    sketch = SHARED.figure(kept, lambda: portrait_sketch(portraits, max(data.row.budget, data.t), data.t))
    live_chart(sketch, f"portrait{key}")
