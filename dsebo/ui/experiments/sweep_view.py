"""A sweep on the page: where it stands, what is seen, its charts; refreshed until it ends."""

from __future__ import annotations

import pandas as pd
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dsebo.charts.grid import fits, grid_figure
from dsebo.experiments.findings import finished
from dsebo.experiments.records import SweepRow, get_sweep
from dsebo.experiments.status import progress_words, setting_line, share, words
from dsebo.store.errors import StoreError
from dsebo.text import plain
from dsebo.ui import session
from dsebo.ui.cache import SHARED, interval
from dsebo.ui.experiments.sweep_cache import frame_of, report_of
from dsebo.ui.experiments.sweep_controls import controls
from dsebo.ui.experiments.sweep_results import show_results
from dsebo.ui.live import live_chart
from dsebo.ui.run.watch import STATE_COLOURS

SLOWEST_START = 1.0  # seconds between two refreshes of a sweep, at least


def watch_sweep(row: SweepRow) -> None:
    """The sweep. Its name and buttons stand outside of what the timer draws anew."""
    with st.container(key="head", horizontal=True, vertical_alignment="center"):
        with st.container(gap=None, width="stretch", key=f"name-{row.id}"):
            state = f":{STATE_COLOURS[row.state]}-badge[{row.state}]"
            st.markdown(f"#### {plain(row.name)} {state}")
            st.caption(plain(setting_line(row.spec)))
        controls(row)
    every = _pace(row)
    st.fragment(run_every=every)(_refresh)(row.id, every, (row.state, row.wanted))


def _pace(row: SweepRow) -> float | None:
    """Seconds between two refreshes; None once nothing more will come of itself."""
    if not row.at_work:
        return None
    context = get_script_run_ctx()
    watchers = SHARED.watch(f"sweep {row.id}", context.session_id if context else "")
    return max(SLOWEST_START, interval(watchers, row.state))


def _refresh(sweep_id: str, every: float | None, before: tuple[str, str]) -> None:
    """What is drawn anew. The timer is the page's: when it should change, the page runs again."""
    store = session.manager().store
    try:
        row = get_sweep(store, sweep_id)
    except StoreError as error:  # deleted, in another window
        st.error(plain(str(error)))
        return
    context = get_script_run_ctx()
    if context and context.fragment_ids_this_run:
        pace = _pace(row)
        wrong = pace is not None and every is not None and not 0.7 < pace / every < 1.5
        if (row.state, row.wanted) != before or wrong:
            st.rerun()
    _show(row, frame_of(store, row))


def _show(row: SweepRow, frame: pd.DataFrame) -> None:
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


def _grid(row: SweepRow, frame: pd.DataFrame) -> bytes:
    key = ("sweep grid", row.id, tuple(frame["state"]), tuple(frame["n_done"]))
    return SHARED.figure(key, lambda: grid_figure(frame, row.spec.fields).to_json().encode())


def _findings(row: SweepRow, frame: pd.DataFrame, done: int) -> None:
    """What is seen, where the eye is."""
    found = report_of(row, frame)
    st.markdown("#### What is seen", help=found.hint or None)
    with st.container(key="findings"):
        st.markdown("\n\n".join(plain(sentence) for sentence in found.sentences))
    if done < len(frame):
        st.caption(f"So far: {done} of {len(frame)} runs; n in the charts counts finished seeds.")
