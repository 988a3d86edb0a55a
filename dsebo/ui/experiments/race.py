"""What a race shows: its runs by method, their curves, who leads, what the time was spent on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dsebo.analysis.curves import BandKind
from dsebo.charts.compare import common_scale
from dsebo.charts.curves import abreast, band_words, curves_of
from dsebo.charts.experiment import race_figure, time_figure, time_spent
from dsebo.charts.explain import arms_figure
from dsebo.charts.scales import References, Scale, task_lines
from dsebo.charts.theme import captioned, styles_of
from dsebo.experiments.entrants import label_of
from dsebo.experiments.status import RUN_COLUMNS, standings
from dsebo.paper.comparison import printed_mean
from dsebo.paper.tables import paper_value
from dsebo.runs.data import RunData
from dsebo.text import number, plain, spread
from dsebo.ui import session
from dsebo.ui.cache import SHARED
from dsebo.ui.inputs import choose_band, choose_scale
from dsebo.ui.live import live_chart

Lanes = dict[str, list[RunData]]
ARMS = (
    "Each arm is a random subspace of d dimensions with a model of its own. The one pulled last is "
    "red. A reward is −y: the larger the better."
)


def is_race(runs: Sequence[RunData]) -> bool:
    """Whether these are runs of several methods on one function, with one budget."""
    tasks = {json.dumps([run.row.config["objective"], run.row.config["budget"]]) for run in runs}
    return len(tasks) == 1 and len({run.row.method for run in runs}) > 1


def curves(lanes: Lanes, runs: Sequence[RunData], caption: str) -> None:
    """Best value and dimension of all methods together; in a file with this caption."""
    begin = common_scale([run.row for run in runs])
    with st.container(horizontal=True, vertical_alignment="center", key="look"):
        band = choose_band("race_band")
        scale = choose_scale(f"race_scale {begin}", begin)
    key = ("race", band, scale, *_drawn_of(runs))
    live_chart(SHARED.figure(key, lambda: captioned(_figure(lanes, band, scale), caption)), key="race_chart")
    words = band_words(band, [len(group) for group in lanes.values()])
    st.caption(f"Lines: {words}, as far as all runs of a method have come.")


def time_and_arms(runs: Sequence[RunData]) -> None:
    """What the time was spent on, and what a bandit thinks."""
    lanes = lanes_of(runs)
    st.markdown("#### Time spent", help="Seconds of one core a run has taken so far, on average.")
    live_chart(
        SHARED.figure(("time", *_drawn_of(runs)), lambda: time_figure(time_spent(lanes))), key="race_time"
    )
    _arms(runs)


def _drawn_of(runs: Sequence[RunData]) -> tuple[tuple[str, int, str], ...]:
    """All that the charts depend on: they are drawn once for all who watch."""
    return tuple((run.row.id, run.t, run.row.state) for run in runs)


def _figure(lanes: Lanes, band: BandKind, scale: Scale) -> go.Figure:
    configs = [group[0].row.config for group in lanes.values()]
    lines = References(
        minimum=common(lanes, "minimum"),
        at_centre=common(lanes, "at_centre"),
        paper=next((v for c in configs if (v := paper_value(c)) is not None), None),
        of_task=task_lines([config["objective"] for config in configs]),
    )
    budget = max(run.row.budget for group in lanes.values() for run in group)
    curves = {label: abreast([curves_of(run) for run in g]) for label, g in lanes.items()}
    return race_figure(curves, styles_of(methods_of(lanes)), lines, budget, band, scale)


def show_standings(lanes: Lanes, seeds: int = 1) -> None:
    """Who leads, in numbers. The centre of the box is always among them."""
    st.markdown("#### Standings", help="By the mean of the best values so far; lower is better.")
    table = table_of(lanes, seeds)
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
    at_work = any(not run.ended for group in lanes.values() for run in group)
    so_far = " Runs at work count with their best value so far." if at_work else ""
    st.caption(
        f"F* {known}. Runs: those that have ended, of all.{so_far} "
        "The centre is one evaluation, without a search."
    )


def _arms(runs: Sequence[RunData]) -> None:
    """A chosen bandit's arms, as its newest pull left them."""
    bandits = {run.row.id: run for run in runs if run.row.method.startswith("bandit-") and run.t}
    if not bandits:
        return
    st.markdown("#### A bandit's mind")
    chosen = st.selectbox(
        "Bandit",
        list(bandits),
        format_func=lambda run_id: f"{bandits[run_id].row.name} · seed {bandits[run_id].row.seed}",
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


# --- its runs by method ------------------------------------------------------------------------


def lanes_of(runs: Sequence[RunData]) -> Lanes:
    """The runs by method."""
    lanes: Lanes = {}
    for run in runs:
        lanes.setdefault(label_of(run.row.config), []).append(run)
    return lanes


def methods_of(lanes: Mapping[str, Sequence[RunData]]) -> dict[str, str]:
    """The method of each label."""
    return {label: runs[0].row.method for label, runs in lanes.items()}


def table_of(lanes: Mapping[str, Sequence[RunData]], seeds: int = 1) -> pd.DataFrame:
    """The standings, with how many runs there will be and what the paper prints."""
    rows = [
        (label, run.best, run.d, run.row.seconds, run.ended) for label, runs in lanes.items() for run in runs
    ]
    table = standings(pd.DataFrame(rows, columns=list(RUN_COLUMNS)), common(lanes, "at_centre"))
    labels = table["method"]
    printed = [printed_mean(lanes[label][0].row.config) if label in lanes else None for label in labels]
    total = [max(len(lanes[label]), seeds) if label in lanes else 1 for label in labels]
    return table.assign(of=total, paper=pd.Series(printed, dtype=float))


def common(lanes: Mapping[str, Sequence[RunData]], field: str) -> float | None:
    """The centre's value or F*: that of the first run that has begun, as all have one function."""
    rows = (run.row for runs in lanes.values() for run in runs)
    return next((v for row in rows if (v := getattr(row, field)) is not None), None)
