"""What Learn opens with: a run that comes with the package plays by itself, with three captions."""

from __future__ import annotations

import math
import time

import streamlit as st

from dsebo.charts.run import common_span, sketch_of
from dsebo.charts.scales import default_scale
from dsebo.charts.theme import Sketch
from dsebo.config import RunConfig
from dsebo.runs.data import RunData
from dsebo.text import count, number, plain, setting_line, typeset
from dsebo.transfer.examples import bundled_run
from dsebo.ui import session
from dsebo.ui.cache import SHARED
from dsebo.ui.live import live_chart
from dsebo.ui.refresh import Look, keep_watching
from dsebo.ui.run import floors

PLAYS, TICK = 20.0, 0.5  # seconds that the run takes, and between two pictures
HEIGHT = 420  # of the chart: what it came to is still in the window
_BEGAN = "opening began"
POINT = "Point at a symbol anywhere to read what it means."
BEFORE = {
    "Stall": "The search goes on in five dimensions until it gains nothing for T evaluations.",
    "Expand": "Then the subspace grows. Every earlier point is kept: its new coordinates are 0.",
    "Slope": "How far it grows next is decided by what each added dimension has gained.",
}


def setting() -> None:
    """Which run it is, in symbols, and how these are read."""
    if (run := _run()) is not None:
        st.caption(f"Below: {plain(setting_line(run.row.config))}. {POINT}", width="stretch")


def show() -> None:
    """The run as far as it has played; nothing where the store no longer has it."""
    whole = _run()
    if whole is None:
        return
    st.session_state.setdefault(_BEGAN, time.monotonic())
    keep_watching(lambda: _look(whole), lambda shown: _draw(whole, shown))


def _run() -> RunData | None:
    store = session.manager().store
    run_id = bundled_run(store, RunConfig.parse({}))
    return None if run_id is None else SHARED.data(store, run_id)


def captions(data: RunData) -> dict[str, str]:
    """Stall, Expand and Slope in the numbers of the newest convergence."""
    if not data.changes:
        return BEFORE
    change = data.changes[-1]
    alpha = data.row.config["optimizer"]["alpha"]
    stall = (
        f"Evaluation {change['t']}: no gain above α = {number(alpha)} in "
        f"T = {count(change['T_before'], 'evaluation')} at d = {change['d_from']}."
    )
    grown = change["d_to"] - change["d_from"]
    expand = f"{count(grown, 'dimension')} more: d = {change['d_from']} → {change['d_to']}, no point is lost."
    if not grown:
        expand = f"The step Δd is 0: it stays at d = {change['d_to']}. When it grows, no point is lost."
    slope = change["slopes"][-1] if change.get("slopes") else None
    if slope is None:
        return {"Stall": stall, "Expand": expand, "Slope": BEFORE["Slope"]}
    factor = "" if change["k"] is None else f"k = {number(change['k'], 2)} and "
    steps = f"{change['delta_before']} → {change['delta_after']}"
    return {
        "Stall": stall,
        "Expand": expand,
        "Slope": f"The last dimensions gained {number(slope, 3)} each, so {factor}Δd goes {steps}.",
    }


def _look(whole: RunData) -> Look[int]:
    passed = time.monotonic() - st.session_state[_BEGAN]
    t = min(whole.t, max(1, math.ceil(whole.t * passed / PLAYS)))
    over = t >= whole.t
    return Look(t, over, None if over else TICK)


def sketch_at(whole: RunData, t: int) -> Sketch:
    """The chart as it stands after t evaluations, on the axes of the whole run."""
    scale = default_scale(whole.row.minimum)
    return sketch_of(
        whole.until(t),
        scale,
        value_range=common_span([whole], scale),
        axis_end=whole.t,
        largest_d=float(whole.evaluations["d"].max()),
        height=HEIGHT,
    )


def _draw(whole: RunData, t: int) -> None:
    whole = floors.with_floor(whole)
    then = whole.until(t)
    for column, (title, text) in zip(st.columns(3), captions(then).items(), strict=True):
        column.markdown(f"**{title}**  \n{plain(typeset(text))}")
    live_chart(sketch_at(whole, t), key="opening")
    if t >= whole.t:
        again, ending = st.container(key="ending").columns([1, 6], vertical_alignment="center")
        again.button("Play it again", icon=":material/replay:", on_click=_again)
        ending.caption(then.conclusion)
    floors.explain([whole], legend=False)


def _again() -> None:
    st.session_state[_BEGAN] = time.monotonic()
