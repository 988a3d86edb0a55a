"""Before there is a run: what this is, the settings to start from, and what a setting means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dsebo.analysis.facts import Facts, facts
from dsebo.config import Prediction, RunConfig, config_hash, flat_config, predict
from dsebo.objectives import names
from dsebo.objectives.fields import ConfigError
from dsebo.parsing import read_link
from dsebo.runs.limits import why_ask
from dsebo.store.errors import LimitExceeded, StoreAway, StoreError
from dsebo.store.rows import RunFilter
from dsebo.text import about, duration, number, plain, setting_line, size, typeset
from dsebo.ui import links, session
from dsebo.ui.form import (
    Changes,
    Form,
    changed,
    choose_preset,
    complete,
    field_errors,
    link_of,
    refusal_words,
    to_config,
)
from dsebo.ui.inputs import card, facts_table, in_pairs
from dsebo.ui.run import floors, timeline
from dsebo.ui.run.watch import BESIDE, GHOST, watch

FORM = Form("set")
PARAMETERS: dict[str, links.Parser] = {
    "run": links.found_run,
    BESIDE: links.stored_run,
    GHOST: links.stored_run,
    "t": links.evaluation,
    "reachable": links.yes,
}
RUN_IT = "Run it"
TITLE = "See Bayesian optimization find its own dimension"
TEXT = (
    "A function has a thousand variables, but only a few matter, and nobody says how many. "
    "DSEBO searches a small random subspace and enlarges it whenever progress stalls."
)


@dataclass(frozen=True)
class Preset:
    """A named setting and what to look for in it."""

    key: str
    title: str
    look_for: str
    changes: Changes = field(default_factory=dict)


PRESETS = (
    Preset(
        "demo",
        "20-second demonstration",
        "100 variables, 10 of them matter: 100 evaluations at five per second.",
        {"D": 100, "d_e": 10, "d_h": 40, "budget": 100, "beta": 8.0, "speed": 5.0},
    ),
    Preset("paper", "The paper's setting", "Sphere, D = 1000, dₑ = 30: does the subspace stop near 30?"),
    Preset(
        "dh-small",
        "dₕ below dₑ",
        "The subspace may not grow to the 30 variables that matter: what is out of reach?",
        {"d_h": 20},
    ),
    Preset(
        "beta-small",
        "β too small (1)",
        "One long wait, then a jump to dₕ: what does patience cost?",
        {"beta": 1.0},
    ),
    Preset(
        "beta-large",
        "β too large (32)",
        "Little patience and small steps: the step soon reaches 0, and stays there.",
        {"beta": 32.0},
    ),
    Preset(
        "far-shift",
        "A far shift (c = 5)",
        "The optimum is at the edge of the box: the centre is no longer a good guess.",
        {"c": 5.0},
    ),
    Preset(
        "large-D",
        "D = 10 000",
        "Ten times the variables: the tail grows, the search does not slow down.",
        {"D": 10_000},
    ),
    Preset(
        "authors",
        "The authors' code",
        "Steps and patience as their program has them: the subspace grows much further.",
        {"variant": "authors"},
    ),
    Preset(
        "adaptive",
        "Our own rules",
        "No waiting: the subspace grows every few evaluations, and blocks of variables are moved alone.",
        {"variant": "adaptive"},
    ),
)
BY_KEY = {preset.key: preset for preset in PRESETS}


def opened_run() -> str | None:
    """The run to show, with the form set as the link says: a run, a setting, or both."""
    params = links.opened()
    if not params:
        FORM.restore()
        return st.session_state.get("run")
    asked = links.take(params, PARAMETERS)
    st.session_state[GHOST], st.session_state[BESIDE] = asked.get(GHOST), asked.get(BESIDE)
    floors.turn(asked.get("reachable", False))
    changes, unusable = read_link(params)
    links.say(unusable)
    run_id = asked.get("run")
    if run_id is None and BESIDE in asked:  # a replay of two without its first
        run_id = asked[BESIDE]
    FORM.load(_changes_of(run_id) if run_id is not None and not params else changes)
    remember_run(run_id)
    if run_id is not None:
        timeline.open_at(run_id, asked.get("t"))
    return run_id


def _changes_of(run_id: str) -> Changes:
    """A run's own setting, to be varied from there; nothing where there is no such run."""
    try:
        row = session.manager().store.get_run(run_id)
    except StoreAway:
        raise
    except StoreError:  # the page says so where the run would be
        return {}
    if row.function not in names():  # someone's own, which is not here
        return {}
    return {**flat_config(row.parsed), "speed": row.speed}


@dataclass(frozen=True)
class Question:
    """What is asked before a launch."""

    hash: str  # of the config that it is about
    text: str
    run_id: str = ""  # one that exists


def show_form() -> tuple[Changes, RunConfig | None, bool, DeltaGenerator]:
    """(what the form says, its config, whether Launch was pressed, where more is said of it)."""
    now = FORM.changes()
    matching = next((p.key for p in PRESETS if changed(complete(p.changes)) == now), None)
    titles = {preset.key: preset.title for preset in PRESETS}
    choose_preset(titles, matching, "Own setting", "preset", lambda key: FORM.load(BY_KEY[key].changes))
    config, refusal = _checked(now)
    pressed = st.button(
        "Launch",
        type="primary",
        width="stretch",
        icon=":material/rocket_launch:",
        disabled=config is None,
        help=refusal_words(refusal) or None,
    )
    below = st.container(gap="small")
    with below:
        if config is None:
            st.error(refusal_words(refusal))
        else:
            st.caption(_in_short(config, now))
            for warning in config.warnings():
                st.warning(plain(typeset(warning)))
    names = [spec.name for spec in FORM.fields(now["method"], now["function"])]
    return FORM.show(errors=field_errors(refusal, names)), config, pressed, below


def _checked(changes: Changes) -> tuple[RunConfig | None, str]:
    """(the form's config, why there is none)."""
    try:
        config = to_config(changes)
    except ConfigError as error:
        return None, str(error)
    why = config.unavailable()
    return (None, why) if why else (config, "")


def _in_short(config: RunConfig, changes: Changes) -> str:
    """What the settings imply, in one line: the first step, the patience, the cost."""
    implied, cost = facts(config), predict(config)
    words = []
    if implied.first_step is not None:
        words += [f"First step {number(implied.first_step)}", f"patience {implied.first_patience}"]
    time = duration(_seconds(config, changes))
    words += [time if time.startswith("under") else f"about {time}", size(cost.memory_bytes, 2)]
    return plain(" · ".join(words))


def _seconds(config: RunConfig, changes: Changes) -> float:
    """How long all of it will take, at the speed that was chosen."""
    speed = changes.get("speed")
    paced = config.budget / speed if speed else 0.0
    return max(predict(config).seconds, paced) * int(changes.get("repeats") or 1)


def ask_first(config: RunConfig, changes: Changes, pressed: bool, places: Sequence[DeltaGenerator]) -> bool:
    """Whether to launch it now: not before a question about what is there already, or takes long.

    It is asked in each of these places, of which a browser shows one: a phone hides the form.
    """
    if pressed:
        st.session_state["question"] = _question(config, changes)
    question: Question | None = st.session_state.get("question")
    if question is None or question.hash != config_hash(config):
        return pressed
    answers = []
    for nth, place in enumerate(places):
        with place:
            answers.append(_answer(question, nth))
    answer = next(filter(None, answers), "")
    if answer:
        st.session_state.pop("question")
    if answer == "open" and question.run_id:
        links.go("run", run=question.run_id)
    if answer == "later":
        st.rerun()
    return answer == "launch"


def _answer(question: Question, nth: int) -> str:
    """Ask it; what was pressed, if anything."""
    st.warning(plain(question.text))
    if question.run_id and st.button(
        "Open that run", icon=":material/open_in_new:", type="primary", key=f"open {nth}"
    ):
        return "open"
    if st.button("Launch it all the same", icon=":material/rocket_launch:", key=f"all the same {nth}"):
        return "launch"
    return "later" if st.button("Not now", key=f"not now {nth}") else ""


def _question(config: RunConfig, changes: Changes) -> Question | None:
    own = config_hash(config)
    if why := why_ask(_seconds(config, changes), predict(config).memory_bytes):
        return Question(own, f"{why} Launch it?")
    if changes.get("speed") or changes.get("repeats", 1) > 1:  # it is to be seen, or is one of several
        return None
    same = RunFilter(states=["finished"], computed=True, hash=own)
    rows = session.manager().store.list_runs(same, limit=1)
    if not rows:
        return None
    return Question(own, f"This run exists already: {rows[0].name}, best {number(rows[0].best)}.", rows[0].id)


def remember_run(run_id: str | None) -> None:
    """The run that this browser looks at, also after a visit to another page."""
    st.session_state["run"] = run_id


def link(run_id: str | None, changes: Changes) -> dict[str, str]:
    """The address that shows the same."""
    kept = {"run": run_id, **{name: st.session_state.get(name) for name in (BESIDE, GHOST)}}
    reachable = {"reachable": "yes"} if run_id and floors.is_on() else {}
    return {name: value for name, value in kept.items() if value} | reachable | link_of(changes)


def launch(changes: Changes, places: Sequence[DeltaGenerator]) -> str | None:
    """Start the form's run; the id of the (first) run, or None after saying why not in these places."""
    try:
        configs = to_config(changes).seeds(changes.get("repeats", 1))
        ghost = st.session_state.get("ghost")
        ids = session.manager().launch(
            configs, speed=changes.get("speed"), owner=session.owner(), ghost=ghost
        )
    except (ConfigError, LimitExceeded, StoreError) as error:
        for place in places:
            place.error(plain(str(error)))
        return None
    return ids[0]


def show_facts(config: RunConfig, speed: float | None) -> None:
    """What follows from a setting, as one edits it."""
    implied = facts(config)
    cost = predict(config)
    st.markdown("##### What follows from it")
    facts_table(_lines(implied, cost, cost.wall_seconds(config.budget, speed)))
    st.caption(plain(" ".join(filter(None, [implied.minimum_note, implied.gradient_note]))))


def _lines(implied: Facts, cost: Prediction, seconds: float) -> list[tuple[str, str]]:
    """(name, value) of each fact; an empty value is left out."""

    def shown(value: float | None) -> str:
        return "" if value is None else number(value)

    patience = ""
    if implied.first_patience is not None:
        patience = f"{implied.first_patience}, at most {implied.most_patience}"
    return [
        ("First step $\\Delta d$", shown(implied.first_step)),
        ("Patience $T$ at the start", patience),
        ("Largest tail $(D - d_e)\\max(x - c)^2/K$", shown(implied.largest_tail)),
        ("Effective part reaches up to", shown(implied.effective_reach)),
        ("$F$ at the centre", shown(implied.at_centre)),
        ("$F^*$, the minimum", shown(implied.minimum)),
        ("Size of $S$", "" if implied.matrix_bytes is None else size(implied.matrix_bytes)),
        ("Predicted time", about(seconds)),
        ("Predicted memory", size(cost.memory_bytes)),
    ]


def show() -> None:
    """The form, and the run that it launched or that the address names."""
    run_id = opened_run()
    with st.sidebar:
        changes, config, pressed, below = show_form()
    places = [below]
    if run_id is None:
        small, wanted = welcome(config, _checked(changes)[1])
        places, pressed = [below, small], pressed or wanted
    asked = config is not None and ask_first(config, changes, pressed, places)
    if asked and (launched := launch(changes, places)):
        floors.turn(floors.is_on() or changes == changed(complete(BY_KEY["demo"].changes)))
        remember_run(launched)
        st.rerun()
    address = link(run_id, changes)
    if run_id is None:
        links.write(address)
    else:
        try:
            watch(run_id, address)
        except StoreAway:  # the router waits for the database
            raise
        except StoreError as error:
            remember_run(None)
            st.error(plain(str(error)))
            links.link_to_launch()
            links.page_link("experiments", "All runs", "table_rows")
    if config is not None:
        with st.sidebar:
            show_facts(config, changes.get("speed"))


def welcome(config: RunConfig | None, refusal: str) -> tuple[DeltaGenerator, bool]:
    """The first screen: one sentence, and some ways to begin. Whether something is to be launched.

    On a phone, where the form is hidden, Launch stands here too, in a place that is returned: off with the
    reason, as there, and with what it would launch.
    """
    _introduction()
    small = st.container(key="launch-small")
    with small:
        pressed = st.button(
            "Launch", key="launch small", type="primary", width="stretch", disabled=bool(refusal)
        )
        if config is None:
            st.caption(f":red[{refusal_words(refusal)}]")
        else:
            st.caption(f"{plain(setting_line(config.model_dump(mode='json')))}. » opens the form.")

    def offer(preset: Preset) -> bool:
        return card(preset.key, preset.title, preset.look_for, RUN_IT, partial(FORM.load, preset.changes))

    return small, any(in_pairs(PRESETS, offer)) or pressed


def demonstration(beside: Callable[[], None]) -> None:
    """What this is, and one click to see it; `beside` says more beside the button."""
    _introduction()
    with st.container(horizontal=True, vertical_alignment="center", key="demonstration"):
        pressed = st.button(RUN_IT, icon=":material/play_arrow:", type="primary")
        beside()
    if pressed and (run_id := launch(BY_KEY["demo"].changes, [st.container()])):
        links.go("run", run=run_id, reachable="yes")


def _introduction() -> None:
    st.markdown(f"## {TITLE}")
    st.markdown(TEXT)
