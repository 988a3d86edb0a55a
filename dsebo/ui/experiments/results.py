"""The results of a sweep on the page: response, heat map, curves, table and files."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dsebo.analysis.curves import BandKind
from dsebo.charts.cells import FUNCTION, cell_table, inner_axes, readable
from dsebo.charts.experiment import (
    HEAT_NAMES,
    MOST_OVERLAID,
    HeatOf,
    heat_figure,
    overlay_figure,
    response_figure,
)
from dsebo.charts.panels import MOST_PANELS, TOO_MANY, panels_figure
from dsebo.charts.scales import Scale, default_scale
from dsebo.experiments.records import ExperimentRow
from dsebo.text import is_number, value_label
from dsebo.transfer import FORMATS
from dsebo.ui import session
from dsebo.ui.cache import SHARED, ended_runs
from dsebo.ui.experiments.compare import download
from dsebo.ui.inputs import choose_band, choose_scale, segmented
from dsebo.ui.live import live_chart

OVERLAY, PANELS = "Overlay", "Small multiples"
Look = tuple[BandKind, Scale]  # how results are drawn


def show_results(row: ExperimentRow, frame: pd.DataFrame) -> None:
    """Everything that finished runs show."""
    look = _choose_look(row, frame)
    build = partial(response_figure, frame, row.spec.fields, *look)
    _drawn(row, frame, look, ("response",), build, "sweep_response")
    if len(row.spec.axes) == 2:
        _heat(row, frame)
    _curves(row, frame, look)
    _table(row, frame)
    _files(row)


def _drawn(
    row: ExperimentRow,
    frame: pd.DataFrame,
    look: Hashable,
    what: tuple[Hashable, ...],
    build: Callable[[], go.Figure],
    key: str,
) -> None:
    """A figure that is built once for all who look at the same runs in the same way."""
    place = ("sweep", row.id, ended_runs(frame), look, *what)
    live_chart(SHARED.figure(place, build), key=key)


def _choose_look(row: ExperimentRow, frame: pd.DataFrame) -> Look:
    minima = frame["minimum"].dropna()  # one function below zero alone does not decide for all
    usual = default_scale(float(minima.max()) if len(minima) else None)
    with st.container(horizontal=True, vertical_alignment="bottom", key="look"):
        kind = choose_band(f"sweep band {row.id}", "median", "Over the seeds")
        scale = choose_scale(f"sweep scale {row.id}", usual, "Value axis")
    return kind, scale


def _heat(row: ExperimentRow, frame: pd.DataFrame) -> None:
    """Both axes at a glance."""
    st.markdown("#### Both at a glance")
    what: HeatOf = segmented(
        "Colour", list(HEAT_NAMES), f"sweep heat {row.id}", "median", HEAT_NAMES.__getitem__
    )
    _drawn(row, frame, what, ("heat",), partial(heat_figure, frame, row.spec.fields, what), "sweep_heat")


def _curves(row: ExperimentRow, frame: pd.DataFrame, look: Look) -> None:
    """Best value and dimension over the evaluations, of one function at a time."""
    st.markdown("#### Over the evaluations")
    cells = frame["cell"].nunique()
    with st.container(horizontal=True, vertical_alignment="center", key="look-curves"):
        if FUNCTION in row.spec.fields:
            frame = _of_function(row, frame)
            cells = frame["cell"].nunique()
        usual = OVERLAY if cells <= MOST_OVERLAID else PANELS
        how = segmented("Curves", [OVERLAY, PANELS], f"sweep curves {row.id}", usual)
        singles = st.toggle("Single seeds", key=f"sweep singles {row.id}")
    if cells > MOST_PANELS:
        st.caption(TOO_MANY)
        return
    axes = inner_axes(row.spec.fields) or row.spec.fields
    if how == OVERLAY and cells > MOST_OVERLAID:
        st.caption(f"More than {MOST_OVERLAID} curves share colours; small multiples do not.")
    draw, key = (overlay_figure, "sweep_overlay") if how == OVERLAY else (panels_figure, "sweep_panels")
    store = session.manager().store

    def build() -> go.Figure:
        return draw(frame, axes, SHARED.curves(store, frame), *look, singles)

    _drawn(row, frame, look, (key, singles, tuple(frame["cell"].unique())), build, key)


def _of_function(row: ExperimentRow, frame: pd.DataFrame) -> pd.DataFrame:
    """The runs of the function that is chosen."""
    names = list(dict.fromkeys(frame[FUNCTION]))
    key = f"sweep function {row.id}"
    chosen = segmented("Function", names, key, names[0], partial(value_label, FUNCTION))
    own: pd.DataFrame = frame[frame[FUNCTION] == chosen]
    return own


def _table(row: ExperimentRow, frame: pd.DataFrame) -> None:
    st.markdown("#### In numbers")
    table = readable(cell_table(frame, row.spec.fields), row.spec.fields)
    four = partial(st.column_config.NumberColumn, format="%.4g")
    config = {name: four() for name in table.columns if is_number(table[name].iloc[0])}
    st.dataframe(table, hide_index=True, placeholder="–", column_config=config)


def _files(row: ExperimentRow) -> None:
    """The experiment as files; they are made when asked for. Each chart has its own below it."""
    store = session.manager().store
    with st.container(horizontal=True, key="downloads"):
        for form in FORMATS.values():
            if form.experiment is not None:
                download(form, partial(form.experiment, store, row), row.short_id)
