"""Before a sweep: what it comes to, sweeps to start from, the start, and earlier ones."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from dsebo.charts.cells import FUNCTION
from dsebo.experiments.child import start_child
from dsebo.experiments.limits import experiment_check
from dsebo.experiments.paired import seeds_needed
from dsebo.experiments.presets import PRESETS, Preset
from dsebo.experiments.progress import Plan, plan
from dsebo.experiments.records import ExperimentRow, create_experiment, delete_experiment, list_experiments
from dsebo.experiments.spec import ExperimentSpec
from dsebo.store.errors import LimitExceeded, StoreError
from dsebo.text import count, duration, plain, size, symbol
from dsebo.ui import session
from dsebo.ui.experiments import sweep_form
from dsebo.ui.experiments.sweep_values import Values, of_preset, to_spec
from objectives.fields import ConfigError

MOST_LISTED = 50
LISTED = "sweep_list"


def checked(values: Values) -> ExperimentSpec | None:
    """The form's sweep; where it is refused, one sentence says why."""
    try:
        spec = to_spec(values)
        with session.manager().store.read() as connection:
            experiment_check(session.manager().settings, session.owner(), spec)(connection)
    except (ConfigError, LimitExceeded) as error:
        st.error(plain(str(error)))
        return None
    return spec


def start(spec: ExperimentSpec) -> str | None:
    """Put the sweep on, as a process of its own; its id, or None after saying why not."""
    manager, owner = session.manager(), session.owner()
    sweep_id = None
    try:
        check = experiment_check(manager.settings, owner, spec)
        sweep_id = create_experiment(manager.store, spec, owner, check)
        start_child(manager.store, sweep_id)
    except (ConfigError, StoreError, OSError) as error:
        if sweep_id is not None:  # nobody would ever begin it
            delete_experiment(manager.store, sweep_id)
        st.error(plain(f"The sweep could not be started: {error}"))
        return None
    return sweep_id


def show_plan(spec: ExperimentSpec) -> Plan:
    """Before the start: runs, what is there already, time and memory."""
    found = plan(session.manager().store, spec, session.owner())
    rows = "\n".join(f"| {name} | {value} |" for name, value in _lines(spec, found))
    st.markdown(f"| | |\n|:--|--:|\n{rows}")
    compared = [len(axis.values) for axis in spec.axes if axis.field != FUNCTION]
    needed = max((seeds_needed(values) for values in compared), default=0)
    if len(spec.seeds) < needed:
        st.caption(
            f"With {count(len(spec.seeds), 'seed')} no difference can be shown to be more than "
            f"chance; with so many values it takes {needed}."
        )
    return found


def _lines(spec: ExperimentSpec, found: Plan) -> list[tuple[str, str]]:
    cells = " × ".join(str(len(axis.values)) for axis in spec.axes)
    runs = f"{cells} × {count(len(spec.seeds), 'seed')} = **{found.total}**"
    lines = [("Runs", runs), ("In the store, reused", str(found.finished or "none"))]
    if found.unfinished:
        lines.append(("Begun, carried on", str(found.unfinished)))
    lines.append(("Predicted time", _time(found)))
    return [*lines, ("Predicted memory", size(found.memory_bytes))] if _left(found) else lines


def _left(found: Plan) -> int:
    return found.total - found.finished


def _time(found: Plan) -> str:
    if not _left(found):
        return "nothing left to run"
    return f"about {duration(found.wall_seconds)} on {count(found.workers, 'core')}"


def welcome(found: Plan | None) -> bool:
    """What a sweep is, and sweeps to start from. Whether Start was pressed here.

    Args:
        found: What the form's sweep comes to; None where it is refused.
    """
    st.markdown("## See what a setting does")
    st.markdown(
        "One run shows little: many show what β, dₕ, c or dₑ do. Choose one or two settings to "
        "vary, some seeds, and press **Start**. What has been run before is not run again."
    )
    with st.container(key="launch-small"):
        if found is not None:
            st.markdown(f"{count(found.total, 'run')}, {found.finished} in the store; {_time(found)}.")
        pressed = st.button("Start", key="start small", type="primary", width="stretch")
    small, large = st.columns(2, gap="large")
    for column, title, wanted in (
        (small, "For a classroom: about two minutes each", True),
        (large, "The paper's own sweeps", False),
    ):
        with column:
            st.markdown(f"##### {title}")
            for preset in PRESETS:
                if preset.small is wanted:
                    _card(preset)
    return pressed


def _card(preset: Preset) -> None:
    with st.container(
        border=True, key=f"card-{preset.key}", horizontal=True, vertical_alignment="center", wrap=False
    ):
        st.markdown(f"**{plain(preset.title)}**  \n{plain(preset.text)}", width="stretch")
        chosen = partial(sweep_form.load, of_preset(preset.key))
        st.button("Choose", key=f"sweep preset {preset.key}", on_click=chosen)


def earlier() -> str | None:
    """The sweeps of this store, newest first; the id of one that was clicked."""
    rows = list_experiments(session.manager().store, limit=MOST_LISTED)
    st.markdown("##### Earlier sweeps")
    if not rows:
        st.caption("None yet. A sweep that you start stays here, and its runs stay in Runs.")
        return None
    shown = st.dataframe(
        _table(rows),
        hide_index=True,
        height=min(360, 40 + 36 * len(rows)),
        key=f"{LISTED} {st.session_state.get('sweeps_opened', 0)}",
        on_select="rerun",
        selection_mode="single-row",
        column_config={
            "Name": st.column_config.TextColumn(width="medium"),
            "Created": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm"),
        },
    )
    st.caption("A click at the left edge of a row opens it.")
    chosen = [index for index in shown["selection"]["rows"] if 0 <= index < len(rows)]
    if not chosen:
        return None
    # A table of another key: the browser would keep its selection, and open it again.
    st.session_state["sweeps_opened"] = st.session_state.get("sweeps_opened", 0) + 1
    return rows[chosen[0]].id


def _table(rows: list[ExperimentRow]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Name": [row.name for row in rows],
            "State": [row.state for row in rows],
            "Varies": [", ".join(symbol(field) for field in row.spec.fields) for row in rows],
            "Runs": [row.spec.total for row in rows],
            "Created": pd.to_datetime([row.created for row in rows], unit="s"),
            "Id": [row.short_id for row in rows],
        }
    )
