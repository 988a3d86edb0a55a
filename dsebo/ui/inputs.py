"""Inputs that several pages have: a choice among the stored runs, the look of a chart."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dsebo.analysis.curves import BandKind
from dsebo.charts.scales import SCALES, Scale
from dsebo.store.rows import RunFilter, RunRow
from dsebo.text import number
from dsebo.ui import session

BANDS: dict[BandKind, str] = {"mean": "Mean ± std", "median": "Median, quartiles"}
MOST = 1000  # runs in a list to choose from; others are reached by a link or the Runs page


def run_label(row: RunRow) -> str:
    """A run in one line: what tells it from its neighbours. Plain text, never markup."""
    return f"{row.name} · seed {row.seed} · best {number(row.best)} · {row.short_id}"


def stored_runs(methods: Sequence[str] = (), asked: Sequence[str] = ()) -> dict[str, RunRow]:
    """The newest runs that have something to show, by id, and those that a link asks for."""
    store = session.manager().store
    rows = store.list_runs(RunFilter(methods=list(methods)), limit=MOST)
    more = store.list_runs(RunFilter(ids=list(asked))) if asked else []
    return {row.id: row for row in [*(row for row in rows if row.n_done), *more]}


def choose_run(
    title: str, key: str, asked: str | None = None, none: bool = False, methods: Sequence[str] = ()
) -> str | None:
    """The id of the run that the reader chooses, or that a link asks for; None where there is none."""
    rows = stored_runs(methods, [asked] if asked else [])
    if not rows:
        return None
    options = ([""] if none else []) + list(rows)
    wanted = asked or st.session_state.get(key, st.session_state.get(f"{key} kept"))
    if wanted in options:
        st.session_state[key] = wanted
    else:
        st.session_state.pop(key, None)
    chosen = st.selectbox(
        title, options, format_func=lambda run_id: run_label(rows[run_id]) if run_id else "None", key=key
    )
    st.session_state[f"{key} kept"] = chosen  # Streamlit forgets a widget on another page
    return chosen or None


def choose_band(key: str, default: BandKind = "mean", label: str = "") -> BandKind:
    """What a band over several runs shows; without a label where it stands among others."""
    chosen: BandKind | None = st.segmented_control(
        label or "Bands",
        list(BANDS),
        default=default,
        format_func=lambda kind: BANDS[kind],
        key=key,
        label_visibility="visible" if label else "collapsed",
        required=True,
    )
    return chosen or default


def choose_scale(key: str, default: Scale, label: str = "") -> Scale:
    """The value axis, as the reader wants it; without a label where it stands among others."""
    chosen: Scale | None = st.segmented_control(
        label or "Value axis",
        SCALES,
        default=default,
        format_func=str.capitalize,
        key=key,
        label_visibility="visible" if label else "collapsed",
        required=True,
    )
    return chosen or default
