"""A new experiment: one form, what it comes to, and the start."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dsebo.charts.cells import FUNCTION
from dsebo.config import RunConfig
from dsebo.experiments.child import start_child
from dsebo.experiments.entrants import CLIPPED, are_clipped, label_of
from dsebo.experiments.limits import experiment_check
from dsebo.experiments.paired import too_few
from dsebo.experiments.progress import Plan, plan
from dsebo.experiments.records import ExperimentRow, create_experiment, delete_experiment, list_experiments
from dsebo.experiments.spec import ExperimentSpec
from dsebo.objectives.fields import ConfigError
from dsebo.paper.presets import PRESETS
from dsebo.runs.limits import check_limits, why_ask
from dsebo.store.errors import LimitExceeded, StoreError
from dsebo.store.rows import owner_hash
from dsebo.text import about, count, moment, plain, size
from dsebo.ui import session
from dsebo.ui.experiments import table
from dsebo.ui.experiments.form import Draft, ExperimentForm
from dsebo.ui.experiments.race_form import RACE
from dsebo.ui.experiments.vary_form import VARY, preset_draft
from dsebo.ui.form import refusal_words
from dsebo.ui.inputs import card, facts_table

FORMS: dict[str, ExperimentForm] = {form.key: form for form in (VARY, RACE)}
KINDS = {VARY.key: "Vary a setting", RACE.key: "Race methods"}
KIND = "new kind"  # in the session: of the form that is open
ASKED = "launch asked"  # in the session: the question that was put before a long launch
LAUNCH = "Launch"


def kind() -> str:
    """Which form is open; empty: none."""
    return str(st.session_state.get(f"{KIND} kept", ""))


def open_form(key: str) -> None:
    """Open the form of that kind; empty: close it."""
    st.session_state[f"{KIND} kept"] = key
    if key:
        st.session_state[KIND] = key


def open_with(spec: ExperimentSpec) -> None:
    """Open the form with an experiment's own settings, to be changed from there."""
    form = RACE if spec.is_race else VARY
    form.load(form.of_spec(spec))
    open_form(form.key)


def new_button() -> None:
    """The way to the form."""
    if st.button("New experiment", icon=":material/add:", type="primary", disabled=bool(kind())):
        FORMS[VARY.key].restore()
        open_form(VARY.key)
        st.rerun()


def show() -> Draft | None:
    """The form, if it is open; what it says."""
    if not kind():
        return None
    with st.container(border=True, key="new"):
        with st.container(horizontal=True, vertical_alignment="bottom", key="new-head"):
            st.session_state.setdefault(KIND, kind())
            chosen = st.segmented_control(
                "New experiment", list(KINDS), format_func=KINDS.__getitem__, key=KIND, required=True
            )
            form = FORMS[chosen or kind()]
            st.session_state[f"{KIND} kept"] = form.key
            form.restore()
            if form is VARY:
                with st.container(width=380):
                    VARY.presets()
            if st.button("Close the form", icon=":material/close:"):
                open_form("")
                st.rerun()
        wide = 1.7 if form is RACE else 1.25  # names of methods, each with its cost
        varied, shared, sums = st.columns([wide, 1.05, 0.9], gap="large")
        with varied:
            st.markdown("##### Who takes part" if form is RACE else "##### What varies")
            form.show_varied()
        with shared:
            st.markdown("##### The same for all runs")
            form.show_shared()
        draft = form.remember(form.current())
        with sums:
            st.markdown("##### What it comes to")
            _launch(form, draft)
    return draft


# --- what it comes to, and the start ------------------------------------------------------------


def _launch(form: ExperimentForm, draft: Draft) -> None:
    """Runs, time and memory; what stands against it; Launch, off with the reason."""
    spec, refused = _checked(form, draft)
    planned = None
    if spec is not None:
        planned = plan(session.manager().store, spec, session.owner())
        facts_table(_lines(spec, planned))
        if few := too_few(len(spec.seeds), _compared(spec)):
            st.caption(few)
        _offer_existing(spec)
    pressed = st.button(
        LAUNCH,
        type="primary",
        width="stretch",
        icon=":material/rocket_launch:",
        disabled=bool(refused),
        help=refusal_words(refused[0]) if refused else None,
    )
    for sentence in refused:
        st.error(refusal_words(sentence))
    if spec is not None and spec.is_race and are_clipped(spec.first_configs()):
        st.info(CLIPPED, icon=":material/info:")
    if spec is None or planned is None or refused:
        return
    if pressed:
        st.session_state[ASKED] = why_ask(planned.wall_seconds, planned.memory_bytes)
        if not st.session_state[ASKED]:
            _start(spec)
    if why := st.session_state.get(ASKED):
        st.warning(plain(f"{why} Launch it all the same?"))
        with st.container(horizontal=True):
            if st.button("Launch it", type="primary"):
                _start(spec)
            if st.button("Not now"):
                del st.session_state[ASKED]
                st.rerun()


def _checked(form: ExperimentForm, draft: Draft) -> tuple[ExperimentSpec | None, list[str]]:
    """(the form's experiment, what stands against it)."""
    try:
        spec = form.spec(draft)
    except ConfigError as error:
        return None, [str(error)]
    return spec, _refusals(spec)


def _compared(spec: ExperimentSpec) -> int:
    """How many cells are compared with one another: those of one function."""
    cells = 1
    for axis in spec.axes:
        cells *= 1 if axis.field == FUNCTION else len(axis.values)
    return cells


def _lines(spec: ExperimentSpec, planned: Plan) -> list[tuple[str, str]]:
    cells = " × ".join(str(len(axis.values)) for axis in spec.axes)
    cells = count(len(spec.axes[0].values), "method") if spec.is_race else cells
    runs = f"{cells} × {count(len(spec.seeds), 'seed')} = **{planned.total}**"
    lines = [("Runs", runs), ("In the store, reused", str(planned.finished or "none"))]
    if planned.unfinished:
        lines.append(("Begun, carried on", str(planned.unfinished)))
    lines.append(("Predicted time", _time(planned)))
    memory = [("Predicted memory", size(planned.memory_bytes))]
    return lines + memory if planned.finished < planned.total else lines


def _time(planned: Plan) -> str:
    if planned.finished == planned.total:
        return "nothing left to run"
    return f"{about(planned.wall_seconds)} on {count(planned.workers, 'core')}"


def _offer_existing(spec: ExperimentSpec) -> None:
    """The same experiment that was launched before, instead of a second one."""
    rows = list_experiments(session.manager().store)
    same = next((row for row in rows if row.spec.renamed("") == spec.renamed("")), None)
    if same is not None:
        st.caption(f"Launched before, {moment(same.created)}, {same.state}.")
        if st.button("Open that one", icon=":material/open_in_new:"):
            _open(same.id)


def _refusals(spec: ExperimentSpec) -> list[str]:
    """What is over the limits, with the figure: methods one by one, else all of it together."""
    if spec.is_race:
        refusals = {label_of(c.model_dump(mode="json")): _refusal(c) for c in spec.first_configs()}
        if refused := [f"{label}: {why}" for label, why in refusals.items() if why]:
            return refused
    try:
        with session.manager().store.read() as connection:
            experiment_check(session.manager().settings, session.owner(), spec)(connection)
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


def _start(spec: ExperimentSpec) -> None:
    """Start it as a process of its own, and show it; where that cannot be, say why."""
    manager, owner = session.manager(), session.owner()
    st.session_state.pop(ASKED, None)
    experiment_id = None
    try:
        check = experiment_check(manager.settings, owner, spec)
        experiment_id = create_experiment(manager.store, spec, owner, check)
        start_child(manager.store, experiment_id)
    except (ConfigError, StoreError, OSError) as error:
        if experiment_id is not None:  # nobody would ever begin it
            delete_experiment(manager.store, experiment_id)
        st.error(plain(f"The experiment could not be started: {error}"))
        return
    _open(experiment_id)


def _open(experiment_id: str) -> None:
    """Close the form and show that experiment."""
    open_form("")
    table.choose([experiment_id])
    st.rerun()


def welcome(experiments: list[ExperimentRow]) -> None:
    """While there is no experiment: what one is, and some to start from."""
    if experiments:
        return
    st.markdown("#### See what a setting does")
    st.markdown(
        "One run shows little: many show what β, dₕ, c or dₑ do. Choose one of these, change it, and "
        "press **Launch**. What has been run before is not run again."
    )
    small, large = st.columns(2, gap="large")
    for column, title, wanted in (
        (small, "For a classroom: about two minutes each", True),
        (large, "The paper's own sweeps", False),
    ):
        with column:
            st.markdown(f"##### {title}")
            for preset in PRESETS:
                if preset.small is wanted:
                    card(preset.key, preset.title, preset.text, "Choose", partial(_begin_with, preset.key))


def _begin_with(preset: str) -> None:
    VARY.load(preset_draft(preset))
    open_form(VARY.key)
