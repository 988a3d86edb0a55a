"""One experiment on the page: its head, and what is seen of it, refreshed until it ends.

Always in one order: the sentence, the response or the standings, the curves, the table.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dsebo.charts.grid import fits, grid_figure
from dsebo.experiments.child import start_child
from dsebo.experiments.findings import Report, finished
from dsebo.experiments.limits import experiment_check
from dsebo.experiments.records import ExperimentRow, change_spec, get_experiment
from dsebo.experiments.status import progress_words, setting_line, share, words
from dsebo.objectives.fields import ConfigError
from dsebo.store.errors import StoreAway, StoreError
from dsebo.text import count, plain
from dsebo.ui import session
from dsebo.ui.cache import SHARED
from dsebo.ui.controls import act, experiment_controls, head
from dsebo.ui.experiments import race, results
from dsebo.ui.live import live_chart
from dsebo.ui.refresh import GOES_ON, Look, keep_watching, pace

SLOWEST_START = 1.0  # seconds between two refreshes of an experiment, at least
PER_RUN = 0.02  # more of them for each run that is drawn
MORE_SEEDS = "Add {}"


def known_here(row: ExperimentRow) -> ExperimentRow:
    """The same; a StoreError, in a sentence, where its function or method is unknown here."""
    try:
        row.spec.planned()
    except ConfigError as error:
        raise StoreError(f"Experiment {row.short_id} cannot be shown here: {error}") from None
    return row


def watch(row: ExperimentRow) -> None:
    """Its name and buttons stand outside of what the timer draws again."""

    def controls() -> None:
        experiment_controls(row)
        if st.button("Change and run again", icon=":material/tune:"):
            from dsebo.ui.experiments import setup

            setup.open_with(row.spec)
            st.rerun()

    head(row, setting_line(row.spec), controls)
    keep_watching(lambda: look(row.id), _show)


def look(experiment_id: str) -> Look[tuple[ExperimentRow, pd.DataFrame] | str]:
    """The experiment and how its runs stand; a sentence where it has been deleted, in another window."""
    store = session.manager().store
    try:
        row = get_experiment(store, experiment_id)
    except StoreAway:
        raise
    except StoreError as error:
        return Look(str(error), "deleted", None)
    least = max(SLOWEST_START, PER_RUN * min(row.spec.total, results.MOST_LIVE))
    every = pace(f"experiment {row.id}", row.state in ("paused", "queued"), least)
    return Look((row, SHARED.frame(store, row)), (row.state, row.wanted), every if row.at_work else None)


def _show(content: tuple[ExperimentRow, pd.DataFrame] | str) -> None:
    if isinstance(content, str):
        st.error(plain(content))
        return
    row, frame = content
    with st.container():  # whether or not something is to be said: what stands below stays in its place
        if row.at_work and (waiting := session.manager().store.waiting()):
            st.warning(f"{waiting} {GOES_ON}")
        if row.state == "failed":
            st.error(plain(row.error or "This experiment failed; no reason was recorded."))
        elif sentence := words(row):
            st.info(plain(sentence))
    if row.state == "finished":
        st.caption(progress_words(row, frame))
    else:
        st.progress(share(frame), text=progress_words(row, frame))
    with st.container():
        if done := len(finished(frame)):
            _findings(row, frame, done)
    if row.spec.is_race:
        _show_race(row, frame)
    else:
        results.show_response(row, frame)
        results.show_curves(row, frame)
        if not frame["state"].eq("finished").all():
            _grid(row, frame)
        results.show_table(row, frame)


def _show_race(row: ExperimentRow, frame: pd.DataFrame) -> None:
    runs = SHARED.runs(session.manager().store, tuple(frame["run_id"].dropna()))
    if not runs:
        st.caption("The first evaluation will be drawn here.")
        return
    lanes = race.lanes_of(runs)
    race.show_standings(lanes, len(row.spec.seeds))
    race.curves(lanes, runs, results.caption_of(row))
    race.time_and_arms(runs)


def _grid(row: ExperimentRow, frame: pd.DataFrame) -> None:
    """How the runs of each cell stand."""
    if not fits(frame):
        st.caption("There are too many cells to show the runs of each.")
        return
    key = ("sweep grid", row.id, tuple(frame["state"]), tuple(frame["n_done"]))
    live_chart(SHARED.figure(key, lambda: grid_figure(frame, row.spec.fields)), key="sweep_grid")


def _findings(row: ExperimentRow, frame: pd.DataFrame, done: int) -> None:
    """What is seen, where the eye is."""
    report = SHARED.report(row, frame)
    with st.container(key="findings"):
        st.markdown("  \n".join(plain(sentence) for sentence in report.texts), help=report.hint or None)
        _offer_seeds(row, report)
    if done < len(frame):
        st.caption(f"So far: {done} of {len(frame)} runs; final values are of finished ones.")


def _offer_seeds(row: ExperimentRow, report: Report) -> None:
    """One button from "five seeds cannot exclude chance" to as many as can."""
    if not report.more_seeds or row.at_work or not session.manager().may_control(row, session.owner()):
        return
    if st.button(MORE_SEEDS.format(count(report.more_seeds, "seed")), icon=":material/add:", type="primary"):
        act(lambda: add_seeds(row, report.more_seeds))


def add_seeds(row: ExperimentRow, more: int) -> None:
    """Give an experiment further seeds, and let it go on."""
    manager = session.manager()
    spec = row.spec.with_more_seeds(more)
    check = experiment_check(manager.settings, session.owner(), spec)
    with manager.store.read() as connection:  # before anything is changed
        check(connection)
    change_spec(manager.store, row.id, spec)
    start_child(manager.store, row.id, check)
