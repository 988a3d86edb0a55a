"""The results of settings that vary: response, heat map, curves, table."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dsebo.analysis.curves import BandKind
from dsebo.charts.cells import FUNCTION, cell_table, inner_axes, lines_of_task, readable
from dsebo.charts.curves import band_words, curves_of
from dsebo.charts.experiment import (
    HEAT_NAMES,
    MOST_OVERLAID,
    HeatOf,
    heat_figure,
    overlay_figure,
    response_figure,
)
from dsebo.charts.panels import MOST_PANELS, TOO_MANY, panels_figure
from dsebo.charts.parallel import FROM_AXES, parallel_figure
from dsebo.charts.scales import Scale, default_scale
from dsebo.charts.theme import captioned
from dsebo.experiments.findings import finished
from dsebo.experiments.records import ExperimentRow
from dsebo.experiments.status import setting_line
from dsebo.text import is_number, part, value_label
from dsebo.ui import session
from dsebo.ui.cache import SHARED, ended_runs
from dsebo.ui.inputs import choose_band, choose_scale, segmented
from dsebo.ui.live import live_chart

OVERLAY, PANELS = "Overlay", "Small multiples"
RESPONSE_WORDS = "Each dot is the final value of one seed, each large mark the middle of its seeds."
PARALLEL_WORDS = "Each line is one run, from its settings to its final value; blue lines end low."
HEAT_WORDS = "Each field is one pair of values: the median over its seeds."
CURVE_WORDS = "n counts the seeds drawn; grey lines are values to compare with: the centre of the box, F* …"
MOST_LIVE = 100  # runs whose curves are drawn before they end
Look = tuple[BandKind, Scale]  # how results are drawn


def show_response(row: ExperimentRow, frame: pd.DataFrame) -> None:
    """The final value against what varies, from the first finished run on."""
    if finished(frame).empty:
        st.caption("The first finished run will be drawn here.")
        return
    look, axes = _choose_look(row, frame), row.spec.fields
    if len(inner_axes(axes)) >= FROM_AXES:
        frame, axes = _one_plane(row, frame)
    build = partial(response_figure, frame, axes, *look, of_task=lines_of_task(row.spec))
    shown = tuple(frame["cell"].unique())
    _drawn(row, frame, look, ("response", shown), build, "sweep_response")
    st.caption(f"{RESPONSE_WORDS} {_over(look[0])}")
    if len(axes) == 2:
        _heat(row, frame, axes)


def _one_plane(row: ExperimentRow, frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """All three axes at a glance, and of the last one the value whose plane is drawn below."""
    done = finished(frame)
    axes = row.spec.fields
    st.markdown("#### All at a glance", help="Drag along an axis to keep only some lines.")
    settings = done[axes].to_dict("records")
    build = partial(parallel_figure, settings, axes, done["best"].to_list())
    _drawn(row, frame, "", ("parallel",), build, "sweep_parallel")
    st.caption(PARALLEL_WORDS)
    *plane, last = inner_axes(axes)
    values = list(dict.fromkeys(done[last]))
    key = f"sweep plane {row.id}"
    with st.container(horizontal=True, vertical_alignment="center", key="look-plane"):
        st.markdown("At", width="content")
        value = segmented("At", values, key, values[0], lambda value: part(last, value))
    of_function = [axis for axis in axes if axis == FUNCTION]
    return frame[frame[last] == value], [*of_function, *plane]


def _over(kind: BandKind) -> str:
    return "Bars: quartiles over the seeds." if kind == "median" else "Bars: one standard deviation."


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
    live_chart(SHARED.figure(place, lambda: captioned(build(), caption_of(row))), key=key)


def caption_of(row: ExperimentRow) -> str:
    """What stands under a figure in a file."""
    return f"{setting_line(row.spec)} · experiment {row.short_id}"


def _choose_look(row: ExperimentRow, frame: pd.DataFrame) -> Look:
    kind, usual = _usual(row, frame)
    with st.container(horizontal=True, vertical_alignment="bottom", key="look"):
        kind = choose_band(f"sweep band {row.id}", kind, "Over the seeds")
        scale = choose_scale(f"sweep scale {row.id}", usual, "Value axis")
    return kind, scale


def _usual(row: ExperimentRow, frame: pd.DataFrame) -> Look:
    minima = frame["minimum"].dropna()  # one function below zero alone does not decide for all
    return "median", default_scale(float(minima.max()) if len(minima) else None)


def _look(row: ExperimentRow, frame: pd.DataFrame) -> Look:
    """As it was chosen for the response."""
    kind, scale = _usual(row, frame)
    chosen = st.session_state.get(f"sweep band {row.id}"), st.session_state.get(f"sweep scale {row.id}")
    return chosen[0] or kind, chosen[1] or scale


def _heat(row: ExperimentRow, frame: pd.DataFrame, axes: list[str]) -> None:
    """Both axes at a glance."""
    st.markdown("#### Both at a glance")
    what: HeatOf = segmented(
        "Colour", list(HEAT_NAMES), f"sweep heat {row.id}", "median", HEAT_NAMES.__getitem__
    )
    shown = tuple(frame["cell"].unique())
    _drawn(row, frame, what, ("heat", shown), partial(heat_figure, frame, axes, what), "sweep_heat")
    st.caption(HEAT_WORDS)


def show_curves(row: ExperimentRow, frame: pd.DataFrame) -> None:
    """Best value and dimension over the evaluations, of one function at a time, while they run too."""
    if not frame["n_done"].gt(0).any():
        return
    st.markdown("#### Over the evaluations")
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
    drawn_by, key = (overlay_figure, "sweep_overlay") if how == OVERLAY else (panels_figure, "sweep_panels")
    draw = partial(drawn_by, of_task=lines_of_task(row.spec))
    store, look, curves = session.manager().store, _look(row, frame), SHARED.curves
    live = row.at_work and len(frame) <= MOST_LIVE
    at = tuple(frame["n_done"]) if live else ()

    def build() -> go.Figure:
        known = curves(store, frame)
        if live:
            under_way = frame[~frame["run_id"].isin(list(known)) & frame["n_done"].gt(0)]["run_id"]
            known |= {run.row.id: curves_of(run) for run in SHARED.runs(store, tuple(under_way))}
        return draw(frame, axes, known, *look, singles)

    _drawn(row, frame, look, (key, singles, at, tuple(frame["cell"].unique())), build, key)
    st.caption(f"Lines: {band_words(look[0], list(frame.groupby('cell').size()))}. {CURVE_WORDS}")


def _of_function(row: ExperimentRow, frame: pd.DataFrame) -> pd.DataFrame:
    """The runs of the function that is chosen."""
    names = list(dict.fromkeys(frame[FUNCTION]))
    key = f"sweep function {row.id}"
    chosen = segmented("Function", names, key, names[0], partial(value_label, FUNCTION))
    own: pd.DataFrame = frame[frame[FUNCTION] == chosen]
    return own


def show_table(row: ExperimentRow, frame: pd.DataFrame) -> None:
    """Each cell in numbers."""
    if finished(frame).empty:
        return
    st.markdown("#### In numbers")
    table = readable(cell_table(frame, row.spec.fields), row.spec.fields)
    four = partial(st.column_config.NumberColumn, format="%.4g")
    config = {name: four() for name in table.columns if is_number(table[name].iloc[0])}
    st.dataframe(table, hide_index=True, placeholder="–", column_config=config)
