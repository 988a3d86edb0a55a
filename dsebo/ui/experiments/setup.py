"""Before an experiment: what it comes to, what to start from, the start, and earlier ones."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from dsebo.charts.cells import FUNCTION
from dsebo.config import RunConfig, predict
from dsebo.experiments.child import start_child
from dsebo.experiments.entrants import CLIPPED, are_clipped, label_of
from dsebo.experiments.limits import experiment_check
from dsebo.experiments.paired import seeds_needed
from dsebo.experiments.progress import Plan, plan
from dsebo.experiments.records import ExperimentRow, create_experiment, delete_experiment, list_experiments
from dsebo.experiments.spec import ExperimentSpec
from dsebo.paper.presets import PRESETS
from dsebo.runs.limits import check_limits
from dsebo.store.errors import LimitExceeded, StoreError
from dsebo.store.rows import owner_hash
from dsebo.text import count, duration, method_name, plain, size, symbol
from dsebo.ui import session
from dsebo.ui.experiments.form import RACE, VARY, Draft, ExperimentForm, preset_draft
from dsebo.ui.inputs import card, facts_table
from objectives.fields import ConfigError

MOST_LISTED = 50
LISTED = "sweep_list"
COST_HELP = "Beside each: predicted seconds of one core, and memory, of one run."


def checked(form: ExperimentForm, draft: Draft) -> ExperimentSpec | None:
    """The form's experiment; where it is refused, one sentence says why."""
    try:
        spec = form.spec(draft)
        check(spec)
    except (ConfigError, LimitExceeded) as error:
        st.error(plain(str(error)))
        return None
    return spec


def check(spec: ExperimentSpec) -> None:
    """LimitExceeded where it would be over a limit now."""
    with session.manager().store.read() as connection:
        experiment_check(session.manager().settings, session.owner(), spec)(connection)


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
        st.error(plain(f"The experiment could not be started: {error}"))
        return None
    return sweep_id


def show_plan(spec: ExperimentSpec) -> Plan:
    """Before the start: runs, what is there already, time and memory."""
    found = plan(session.manager().store, spec, session.owner())
    facts_table(_lines(spec, found))
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
    memory = [("Predicted memory", size(found.memory_bytes))]
    return lines + memory if found.finished < found.total else lines


def _time(found: Plan) -> str:
    if found.finished == found.total:
        return "nothing left to run"
    return f"about {duration(found.wall_seconds)} on {count(found.workers, 'core')}"


def welcome(found: Plan | None) -> bool:
    """What a sweep is, and sweeps to start from. Whether Start was pressed here."""
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
                    chosen = partial(VARY.load, preset_draft(preset.key))
                    card(preset.key, preset.title, preset.text, "Choose", chosen)
    return pressed


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


# --- who takes part in a race -------------------------------------------------------------------


def choose_entrants(draft: Draft) -> ExperimentSpec | None:
    """The methods, their cost and the button; the race, once that was pressed."""
    left, middle, right = st.columns(3, gap="large")
    own, methods, bandits, *more = RACE.families().items()
    with left:
        for family in (own, *more):
            _offer(*family, draft)
        launched = _start_race(draft)
    with middle:
        _offer(*methods, draft)
    with right:
        _offer(*bandits, draft)
    return launched


def _offer(family: str, texts: list[str], draft: Draft) -> None:
    """A family's entrants, each with its cost beside it."""
    st.markdown(f"**{family}**", help=COST_HELP)
    for text in texts:
        label, cost = _predicted(text, draft)
        short = label.removeprefix(f"{family.removesuffix('s')}: ")
        RACE.choose(text, f"{plain(short)} :gray[{cost}]")


def _predicted(text: str, draft: Draft) -> tuple[str, str]:
    """(the entrant's name, what a run of it will cost at the chosen D and budget)."""
    try:
        race = RACE.spec(draft.but(methods=text, seeds="1", set=""))
    except ConfigError:  # said below, once it is chosen
        return method_name(text), "not in this setting"
    config = race.first_configs()[0]
    cost = predict(config)
    words = f"{duration(cost.seconds)}, {size(cost.memory_bytes, 2)}"
    return label_of(config.model_dump(mode="json")), words


def _start_race(draft: Draft) -> ExperimentSpec | None:
    """What it comes to, what stands against it, and Launch."""
    try:
        race = RACE.spec(draft)
    except ConfigError as error:
        st.error(plain(str(error)))
        race = None
    refused = _refusals(race) if race else []
    for sentence in refused:
        st.error(plain(sentence))
    if race:
        st.markdown(_sum(race))
    pressed = st.button(
        "Launch",
        type="primary",
        width="stretch",
        icon=":material/rocket_launch:",
        disabled=race is None or bool(refused),
    )
    if race and are_clipped(race.first_configs()):
        st.info(CLIPPED, icon=":material/info:")
    return race if pressed else None


def _sum(race: ExperimentSpec) -> str:
    """`3 methods from 3 seeds: 9 runs, about 40 s of one core.`"""
    configs = race.first_configs()
    seconds = sum(predict(config).seconds for config in configs) * len(race.seeds)
    who = f"{count(len(configs), 'method')} from {count(len(race.seeds), 'seed')}"
    return f"{who}: {count(race.total, 'run')}, about {duration(seconds)} of one core."


def _refusals(race: ExperimentSpec) -> list[str]:
    """What is over the limits, with the figure: methods one by one, else all of them together."""
    refused = [
        f"{label_of(config.model_dump(mode='json'))}: {why}"
        for config in race.first_configs()
        if (why := _refusal(config))
    ]
    if refused:
        return refused
    try:
        check(race)
    except LimitExceeded as error:
        return [f"All runs together: {error}"]
    return []


def _refusal(config: RunConfig) -> str:
    """Why a run of it would be over the limits, with the figure; empty where it is not."""
    manager = session.manager()
    asked = [(config, config.budget, 0)]
    try:
        with manager.store.read() as connection:
            check_limits(connection, manager.settings, owner_hash(session.owner()), asked)
    except LimitExceeded as error:
        return str(error)
    return ""
