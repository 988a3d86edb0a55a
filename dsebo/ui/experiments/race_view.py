"""A race on the page: where it stands, its charts and table, refreshed until all have ended."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from dsebo.analysis.curves import BandKind
from dsebo.charts.compare import common_scale
from dsebo.charts.curves import abreast, curves_of
from dsebo.charts.experiment import race_figure, time_figure, time_spent
from dsebo.charts.explain import arms_figure
from dsebo.charts.scales import References, Scale
from dsebo.charts.theme import styles_of
from dsebo.paper.tables import paper_value
from dsebo.runs.data import RunData
from dsebo.store.rows import RunRow
from dsebo.text import brief, count, function_name, number, plain, seeds_text, spread
from dsebo.ui import session
from dsebo.ui.cache import SHARED
from dsebo.ui.controls import head, runs_controls
from dsebo.ui.experiments.race_data import Lanes, common, lanes_of, methods_of, table_of
from dsebo.ui.inputs import choose_band, choose_scale
from dsebo.ui.live import live_chart
from dsebo.ui.refresh import Look, keep_watching, pace

STATES = ("running", "queued", "paused", "interrupted", "stalled", "failed", "cancelled")
FASTEST = 1.0  # seconds between two refreshes: many runs are drawn by the process that computes
PER_RUN = 0.02  # more of them for each run
ARMS = (
    "Each arm is a random subspace of d dimensions with a model of its own. The one pulled last is "
    "red. A reward is −y: the larger the better."
)


def watch_race(ids: Sequence[str]) -> None:
    """The race of these runs. Its name and buttons stand outside of what the timer draws again."""
    runs = _runs(ids)
    rows = [run.row for run in runs]
    state = next((state for state in STATES if any(row.state == state for row in rows)), "finished")
    config = rows[0].config
    name = f"Race on {function_name(config['objective']['name'])}"
    head(name, state, _setting(runs), lambda: runs_controls(rows), "race")
    keep_watching(lambda: _look(ids), _show)


def _runs(ids: Sequence[str]) -> list[RunData]:
    return SHARED.runs(session.manager().store, ids)


def _look(ids: Sequence[str]) -> Look[list[RunData]]:
    runs = _runs(ids)
    states = {run.row.state for run in runs}
    least = max(FASTEST, PER_RUN * len(runs))
    every = pace(f"race {runs[0].row.group}", "running" not in states, least)
    return Look(runs, tuple(sorted(states)), None if all(run.ended for run in runs) else every)


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


def _setting(runs: Sequence[RunData]) -> str:
    config = runs[0].row.config
    seeds = seeds_text(list(dict.fromkeys(run.row.seed for run in runs)))
    return " · ".join([*brief(config["objective"]), f"budget {config['budget']}", f"seeds {seeds}"])


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
