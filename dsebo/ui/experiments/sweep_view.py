"""A sweep on the page: where it stands, what is seen, its charts; refreshed until it ends."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dsebo.charts.grid import fits, grid_figure
from dsebo.experiments.findings import finished
from dsebo.experiments.records import ExperimentRow, get_experiment
from dsebo.experiments.status import progress_words, setting_line, share, words
from dsebo.store.errors import StoreError
from dsebo.text import plain
from dsebo.ui import session
from dsebo.ui.cache import SHARED
from dsebo.ui.controls import experiment_controls, head
from dsebo.ui.experiments.sweep_links import show
from dsebo.ui.experiments.sweep_results import show_results
from dsebo.ui.live import live_chart
from dsebo.ui.refresh import Look, keep_watching, pace

SLOWEST_START = 1.0  # seconds between two refreshes of an experiment, at least


def watch_sweep(row: ExperimentRow) -> None:
    """The sweep. Its name and buttons stand outside of what the timer draws again."""
    head(row.name, row.state, setting_line(row.spec), lambda: _controls(row), row.id)
    keep_watching(lambda: look(row.id), _show)


def _controls(row: ExperimentRow) -> None:
    if st.button("All sweeps", icon=":material/arrow_back:"):
        show(None)
        st.rerun()
    experiment_controls(row, lambda: show(None))


def look(sweep_id: str) -> Look[tuple[ExperimentRow, pd.DataFrame] | str]:
    """The sweep and how its runs stand; a sentence where it has been deleted, in another window."""
    store = session.manager().store
    try:
        row = get_experiment(store, sweep_id)
    except StoreError as error:
        return Look(str(error), "deleted", None)
    every = pace(f"sweep {row.id}", row.state in ("paused", "queued"), SLOWEST_START)
    return Look((row, SHARED.frame(store, row)), (row.state, row.wanted), every if row.at_work else None)


def _show(content: tuple[ExperimentRow, pd.DataFrame] | str) -> None:
    if isinstance(content, str):
        st.error(plain(content))
        return
    row, frame = content
    if row.state == "failed":
        st.error(plain(row.error or "This sweep failed; no reason was recorded."))
    elif said := words(row):
        st.info(plain(said))
    st.progress(share(frame), text=progress_words(row, frame))
    if not frame["state"].eq("finished").all():
        if fits(frame):
            live_chart(_grid(row, frame), key="sweep_grid")
        else:
            st.caption("There are too many cells to show the runs of each.")
    done = finished(frame)
    if done.empty:
        st.caption("The first finished run will be drawn here.")
        return
    _findings(row, frame, len(done))
    show_results(row, frame)


def _grid(row: ExperimentRow, frame: pd.DataFrame) -> bytes:
    key = ("sweep grid", row.id, tuple(frame["state"]), tuple(frame["n_done"]))
    return SHARED.figure(key, lambda: grid_figure(frame, row.spec.fields).to_json().encode())


def _findings(row: ExperimentRow, frame: pd.DataFrame, done: int) -> None:
    """What is seen, where the eye is."""
    found = SHARED.report(row, frame)
    st.markdown("#### What is seen", help=found.hint or None)
    with st.container(key="findings"):
        st.markdown("\n\n".join(plain(sentence) for sentence in found.sentences))
    if done < len(frame):
        st.caption(f"So far: {done} of {len(frame)} runs; n in the charts counts finished seeds.")
