"""An experiment on the page: which one, its head, and what it shows, refreshed until it ends."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dsebo.charts.grid import fits, grid_figure
from dsebo.experiments.findings import finished
from dsebo.experiments.records import ExperimentRow, get_experiment
from dsebo.experiments.spec import MAX_RACE_RUNS, ExperimentSpec
from dsebo.experiments.status import progress_words, setting_line, share, words
from dsebo.runs.data import RunData
from dsebo.store.errors import StoreAway, StoreError
from dsebo.store.rows import RunFilter, RunRow
from dsebo.text import function_name, plain
from dsebo.ui import links, session
from dsebo.ui.cache import SHARED
from dsebo.ui.controls import compare_button, experiment_controls, head, runs_controls
from dsebo.ui.experiments import race
from dsebo.ui.experiments.form import Draft, ExperimentForm
from dsebo.ui.experiments.results import show_results
from dsebo.ui.live import live_chart
from dsebo.ui.refresh import Look, keep_watching, pace
from dsebo.ui.wire import Frame
from objectives.fields import ConfigError

SLOWEST_START = 1.0  # seconds between two refreshes of an experiment, at least
PER_RUN = 0.02  # more of them for each run that is drawn
GROUPS = "groups"  # of runs: what a link to a race of 0.1.0 has in place of an experiment
STATES = ("running", "queued", "paused", "interrupted", "stalled", "failed", "cancelled")
_GROUP = re.compile(r"[0-9a-f]{1,64}")

Shown = ExperimentRow | list[RunRow] | None


# --- which one ----------------------------------------------------------------------------------


def opened(form: ExperimentForm) -> Shown:
    """The experiment to show, or the runs of an older race, with the form set as the link says."""
    params = links.opened()
    if not params:
        form.restore()
        kept = st.session_state.get(form.key) or {}
        return _taken(form, dict(kept))
    shown = _taken(form, params)
    if shown and not params:
        form.load(form.of_spec(_spec(shown)))
    else:
        draft, unusable = form.from_link(params)
        form.load(draft)
        links.say(unusable)
    return shown


def _spec(shown: ExperimentRow | list[RunRow]) -> ExperimentSpec:
    return shown.spec if isinstance(shown, ExperimentRow) else ExperimentSpec.of_runs(shown)


def _taken(form: ExperimentForm, params: dict[str, str]) -> Shown:
    """What these parameters name; what else they say stays."""
    show(form, None)
    taken = links.take(params, {form.key: _stored, GROUPS: _grouped})
    shown: Shown = taken.get(form.key) or taken.get(GROUPS)
    if shown:
        st.session_state[form.key] = address(form, shown)
    return shown


def _stored(text: str) -> ExperimentRow:
    """The experiment of that id; a StoreError, in a sentence, where there is none that can be shown."""
    if not links.is_id(text):
        raise ValueError("an id of an experiment")
    row = get_experiment(session.manager().store, text)
    try:
        row.spec.planned()  # its function or method may be unknown here
    except ConfigError as error:
        raise StoreError(f"Experiment {row.short_id} cannot be shown here: {error}") from None
    return row


def _grouped(text: str) -> list[RunRow]:
    """The runs of these groups that are of one function and budget."""
    store, groups = session.manager().store, [part for part in text.split(",") if part]
    rows: list[RunRow] = []
    missing = 0
    for group in list(dict.fromkeys(groups))[:MAX_RACE_RUNS]:
        known = store.list_runs(RunFilter(group=group), descending=False) if _GROUP.fullmatch(group) else []
        missing += not known
        rows += known
    if missing:
        links.say([f"{missing} of the link's {len(groups)} groups of runs are not in this store."])
    if imported := sum(row.imported for row in rows):
        links.say([f"Of these runs {imported} came from files: nobody here computed them."])
    alike = [row for row in rows if _task(row) == _task(rows[0])][:MAX_RACE_RUNS]
    if len(alike) < len(rows):
        links.say(["The link's runs are not all of one function: only those of the first are shown."])
    return alike


def _task(row: RunRow) -> tuple[object, object]:
    return row.config["objective"], row.config["budget"]


def address(form: ExperimentForm, shown: Shown) -> dict[str, str]:
    """The part of the address that names what is shown."""
    if isinstance(shown, ExperimentRow):
        return {form.key: shown.id[:12]}
    return {GROUPS: ",".join(dict.fromkeys(row.group for row in shown))} if shown else {}


def show(form: ExperimentForm, experiment_id: str | None) -> None:
    """The experiment that this browser looks at, also after a visit to another page; None: none."""
    st.session_state[form.key] = {form.key: experiment_id} if experiment_id else {}


def write(form: ExperimentForm, shown: Shown, draft: Draft) -> None:
    """Let the address bar say what the page shows."""
    links.write(address(form, shown) | form.link(draft))


# --- on the page --------------------------------------------------------------------------------


def watch(form: ExperimentForm, shown: ExperimentRow | list[RunRow], back: str) -> None:
    """Its name and buttons stand outside of what the timer draws again."""
    spec = _spec(shown)
    name = f"Race on {function_name(spec.first_configs()[0].function)}"
    if not isinstance(shown, ExperimentRow):
        state = next((state for state in STATES if any(row.state == state for row in shown)), "finished")
        head(name, state, setting_line(spec), lambda: runs_controls(shown), "race")
        keep_watching(lambda: _look_at_runs([row.id for row in shown]), _show_runs)
        return

    def controls() -> None:
        if st.button(back, icon=":material/arrow_back:"):
            show(form, None)
            st.rerun()
        experiment_controls(shown, lambda: show(form, None))
        if form.key == "race" and not shown.at_work:
            compare_button(list(SHARED.frame(session.manager().store, shown)["run_id"].dropna()))

    as_race = form.key == "race" and shown.spec.is_race
    head(name if as_race else shown.name, shown.state, setting_line(spec), controls, shown.id)
    keep_watching(lambda: look(shown.id, as_race), lambda content: _show(content, as_race))


def look(experiment_id: str, as_race: bool = False) -> Look[tuple[ExperimentRow, pd.DataFrame] | str]:
    """The experiment and how its runs stand; a sentence where it has been deleted, in another window."""
    store = session.manager().store
    try:
        row = get_experiment(store, experiment_id)
    except StoreAway:
        raise
    except StoreError as error:
        return Look(str(error), "deleted", None)
    least = max(SLOWEST_START, PER_RUN * row.spec.total if as_race else 0.0)
    every = pace(f"experiment {row.id}", row.state in ("paused", "queued"), least)
    return Look((row, SHARED.frame(store, row)), (row.state, row.wanted), every if row.at_work else None)


def _look_at_runs(ids: Sequence[str]) -> Look[list[RunData]]:
    runs = SHARED.runs(session.manager().store, ids)
    states = {run.row.state for run in runs}
    every = pace(f"race {ids[0]}", "running" not in states, max(SLOWEST_START, PER_RUN * len(ids)))
    return Look(runs, tuple(sorted(states)), None if all(run.ended for run in runs) else every)


def _show_runs(runs: list[RunData]) -> None:
    race.show_race(runs, len(runs), sum(run.row.budget for run in runs))


def _show(content: tuple[ExperimentRow, pd.DataFrame] | str, as_race: bool) -> None:
    if isinstance(content, str):
        st.error(plain(content))
        return
    row, frame = content
    if row.state == "failed":
        st.error(plain(row.error or "This experiment failed; no reason was recorded."))
    elif sentence := words(row):
        st.info(plain(sentence))
    if as_race:
        if done := len(finished(frame)):
            _findings(row, frame, done)
        runs = SHARED.runs(session.manager().store, tuple(frame["run_id"].dropna()))
        race.show_race(runs, len(frame), int(frame["budget"].sum()), len(row.spec.seeds))
    else:
        _show_sweep(row, frame)


def _show_sweep(row: ExperimentRow, frame: pd.DataFrame) -> None:
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


def _grid(row: ExperimentRow, frame: pd.DataFrame) -> Frame:
    key = ("sweep grid", row.id, tuple(frame["state"]), tuple(frame["n_done"]))
    return SHARED.figure(key, lambda: grid_figure(frame, row.spec.fields))


def _findings(row: ExperimentRow, frame: pd.DataFrame, done: int) -> None:
    """What is seen, where the eye is."""
    found = SHARED.report(row, frame)
    st.markdown("#### What is seen", help=found.hint or None)
    with st.container(key="findings"):
        st.markdown("\n\n".join(plain(sentence) for sentence in found.texts))
    if done < len(frame):
        st.caption(f"So far: {done} of {len(frame)} runs; n in the charts counts finished seeds.")
