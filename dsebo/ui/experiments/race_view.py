"""A race on the page: where it stands, its charts and table, refreshed until all have ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dsebo.analysis.curves import BandKind
from dsebo.charts.arms import arms_figure
from dsebo.charts.groups import common_scale, curves_of
from dsebo.charts.race import race_figure, time_figure
from dsebo.charts.run import References
from dsebo.charts.scales import Scale
from dsebo.charts.styles import styles_of
from dsebo.experiments.race import seeds_text
from dsebo.paper.tables import paper_value
from dsebo.runs.data import RunData
from dsebo.store.errors import StoreError
from dsebo.store.rows import RunRow
from dsebo.text import count, function_name, number, plain, spread
from dsebo.ui import links, session
from dsebo.ui.cache import SHARED, interval
from dsebo.ui.experiments.race_data import (
    READER,
    Lanes,
    abreast,
    common,
    lanes_of,
    methods_of,
    table_of,
    time_spent,
)
from dsebo.ui.inputs import choose_band, choose_scale
from dsebo.ui.live import live_chart

STATES = ("running", "queued", "paused", "interrupted", "stalled", "failed", "cancelled")
COLOURS = {
    "running": "blue",
    "queued": "gray",
    "paused": "orange",
    "interrupted": "orange",
    "stalled": "orange",
    "failed": "red",
    "cancelled": "gray",
    "finished": "green",
}

FASTEST = 1.0  # seconds between two refreshes: many runs are drawn by the process that computes
PER_RUN = 0.02  # more of them for each run
ARMS = (
    "Each arm is a random subspace of d dimensions with a model of its own. The one pulled last is "
    "red. A reward is −y: the larger the better."
)


def watch_race(ids: Sequence[str]) -> None:
    """The race of these runs. Its name and buttons stand outside of what the timer draws anew."""
    runs = READER.runs(session.manager().store, ids)
    with st.container(key="head", horizontal=True, vertical_alignment="center"):
        _heading(runs)
        _controls([run.row for run in runs])
    every = _pace(runs)
    st.fragment(run_every=every)(_refresh)(tuple(ids), every, _states(runs))


def _states(runs: Sequence[RunData]) -> tuple[str, ...]:
    return tuple(sorted({run.row.state for run in runs}))


def _pace(runs: Sequence[RunData]) -> float | None:
    """Seconds between two refreshes; None once all have ended."""
    if all(run.ended for run in runs):
        return None
    context = get_script_run_ctx()
    watchers = SHARED.watch(f"race {runs[0].row.group}", context.session_id if context else "")
    state = "running" if "running" in _states(runs) else "paused"
    return max(interval(watchers, state), FASTEST, PER_RUN * len(runs))


def _refresh(ids: tuple[str, ...], every: float | None, states: tuple[str, ...]) -> None:
    """What is drawn anew. The timer is the page's: when it should change, the page runs again."""
    runs = READER.runs(session.manager().store, ids)
    context = get_script_run_ctx()
    if context and context.fragment_ids_this_run:
        pace = _pace(runs)
        wrong = pace is not None and every is not None and not 0.7 < pace / every < 1.5
        if _states(runs) != states or wrong:
            st.rerun()
    _show(runs)


def _show(runs: Sequence[RunData]) -> None:
    lanes = lanes_of(runs)
    done, budget = sum(run.t for run in runs), sum(run.row.budget for run in runs)
    ended = sum(run.ended for run in runs)
    text = f"{count(done, 'evaluation')} of {number(budget)} · {ended} of {len(runs)} runs ended"
    over = all(run.ended for run in runs)
    st.progress(1.0 if over else min(1.0, done / max(1, budget)), text=text)
    _curves(lanes, runs)
    _standings(lanes)
    st.markdown("#### Time spent", help="Seconds of one core a run has taken so far, on average.")
    live_chart(SHARED.figure(("time", *_drawn_of(runs)), lambda: _time(lanes)), key="race_time")
    _arms(runs)


# --- its name and its buttons ---------------------------------------------------------------


def _heading(runs: Sequence[RunData]) -> None:
    config = runs[0].row.config
    of = config["objective"]
    seeds = seeds_text(list(dict.fromkeys(run.row.seed for run in runs)))
    said = [
        f"D = {of['D']}",
        f"d_e = {of['d_e']}",
        f"c = {of['c']:g}",
        f"budget {config['budget']}",
        f"seeds {seeds}",
    ]
    states = [run.row.state for run in runs]
    state = next((s for s in STATES if s in states), "finished")
    with st.container(gap=None, width="stretch", key="race-name"):
        st.markdown(f"#### Race on {plain(function_name(of['name']))} :{COLOURS[state]}-badge[{state}]")
        st.caption(" · ".join(said))


def _controls(rows: Sequence[RunRow]) -> None:
    """Pause, resume or cancel all that can be; then a way on."""
    manager, owner = session.manager(), session.owner()
    mine = [row for row in rows if manager.may_control(row, owner)]
    going = [row for row in mine if row.state in ("running", "queued")]
    resting = [row for row in mine if row.state in ("paused", "interrupted", "stalled")]
    with st.container(horizontal=True, vertical_alignment="center", key="controls"):
        if going and st.button("Pause all", icon=":material/pause:"):
            _each(going, partial(manager.pause, owner=owner))
        if resting and st.button("Resume all", icon=":material/play_arrow:", type="primary"):
            _each(resting, partial(manager.resume, owner=owner))
        if (going or resting) and st.button("Cancel all", icon=":material/stop:"):
            _each([*going, *resting], partial(manager.cancel, owner=owner))
        if not (going or resting) and st.button("Compare", icon=":material/stacked_line_chart:"):
            links.go("compare", runs=",".join(row.id[:12] for row in rows[: links.MOST_RUNS]))


def _each(rows: Sequence[RunRow], action: Callable[[str], None]) -> None:
    """Do it to every one; what is refused is said, the rest is done."""
    refused = []
    for row in rows:
        try:
            action(row.id)
        except StoreError as error:  # one may just have ended by itself
            refused.append(str(error))
    for sentence in refused[:3]:
        st.toast(plain(sentence), icon=":material/error:")
    READER.forget()
    st.rerun()


# --- what it shows --------------------------------------------------------------------------


def _curves(lanes: Lanes, runs: Sequence[RunData]) -> None:
    """Best value and dimension of all methods together."""
    begin = common_scale([run.row for run in runs])
    with st.container(horizontal=True, vertical_alignment="center", key="look"):
        band = choose_band("race_band")
        scale = choose_scale(f"race_scale {begin}", begin)
    key = ("race", band, scale, *_drawn_of(runs))
    live_chart(SHARED.figure(key, lambda: _drawn(lanes, band, scale)), key="race_chart")


def _drawn_of(runs: Sequence[RunData]) -> tuple[tuple[str, int, str], ...]:
    """All that the charts depend on: they are drawn once for all who watch."""
    return tuple((run.row.id, run.t, run.row.state) for run in runs)


def _time(lanes: Lanes) -> bytes:
    return bytes(time_figure(time_spent(lanes)).to_json().encode())


def _drawn(lanes: Lanes, band: BandKind, scale: Scale) -> bytes:
    configs = [group[0].row.config for group in lanes.values()]
    lines = References(
        minimum=common(lanes, "minimum"),
        at_centre=common(lanes, "at_centre"),
        paper=next((v for c in configs if (v := paper_value(c)) is not None), None),
    )
    budget = max(run.row.budget for group in lanes.values() for run in group)
    curves = {label: abreast([curves_of(run) for run in g]) for label, g in lanes.items()}
    figure = race_figure(curves, styles_of(methods_of(lanes)), lines, budget, band, scale)
    return bytes(figure.to_json().encode())


def _standings(lanes: Lanes) -> None:
    """Who leads, in numbers. The centre of the box is always among them."""
    st.markdown("#### Standings", help="By the mean of the best values so far; lower is better.")
    table = table_of(lanes)
    pairs = zip(table["mean"], table["std"], strict=True)
    minimum = common(lanes, "minimum")
    right = partial(st.column_config.TextColumn, alignment="right")
    shown = pd.DataFrame(
        {
            "Method": table["method"],
            "Mean ± std": [spread(mean, std) for mean, std in pairs],
            "Best": [number(value) for value in table["best"]],
            "d": [number(value, 3) for value in table["d"]],
            "Seconds": [number(value, 3) for value in table["seconds"]],
            "Runs": [f"{e} of {n}" for e, n in zip(table["ended"], table["of"], strict=True)],
        }
    )
    if table["paper"].notna().any():
        shown["Paper"] = [number(value) for value in table["paper"]]
    st.dataframe(
        shown,
        hide_index=True,
        height="content",
        key="race_standings",
        column_config={str(name): right() for name in shown if name != "Method"},
    )
    known = "is not known" if minimum is None else f"= {number(minimum)}"
    st.caption(f"F* {known}. Runs: ended of all. The centre is one evaluation, without a search.")


def _arms(runs: Sequence[RunData]) -> None:
    """A chosen bandit's arms, as its newest pull left them."""
    bandits = {run.row.id: run for run in runs if run.row.method.startswith("bandit-") and run.t}
    if not bandits:
        return
    st.markdown("#### A bandit's mind")
    chosen = st.selectbox(
        "Bandit",
        list(bandits),
        format_func=lambda run_id: _run_label(bandits[run_id].row),
        key="race_bandit",
        label_visibility="collapsed",
    )
    run = bandits[chosen or next(iter(bandits))]
    events = session.manager().store.events(run.row.id, after=run.t - 1)
    pulls = [event for event in events if event["event"] == "arm-pulled"]
    if not pulls:
        return
    left, right = st.columns([1.7, 1], gap="large")
    with left:
        live_chart(arms_figure(pulls[-1], run.row.method), key="race_arms")
    with right:
        st.markdown(plain(pulls[-1]["text"]))
        st.caption(ARMS)


def _run_label(row: RunRow) -> str:
    return f"{row.name} · seed {row.seed}"
