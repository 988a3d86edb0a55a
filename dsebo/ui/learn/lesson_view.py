"""The Lessons page's parts: the list, the question, the run, the answer, the class."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import plotly.graph_objects as go
import streamlit as st

from dsebo.charts.compare import figure_of_groups
from dsebo.charts.lesson import distribution, mark_end, mark_level
from dsebo.charts.run import figure_of
from dsebo.charts.scales import Scale, default_scale
from dsebo.lessons import Lesson, LessonRun
from dsebo.runs.data import RunData
from dsebo.store.classroom import predictions, record
from dsebo.store.errors import LimitExceeded, StoreError
from dsebo.store.rows import RunFilter, RunRow, owner_hash
from dsebo.text import number, plain
from dsebo.ui import links, session
from dsebo.ui.cache import SHARED
from dsebo.ui.inputs import card
from dsebo.ui.live import live_chart
from dsebo.ui.refresh import Look, keep_watching
from objectives.fields import ConfigError

REPLAY_SECONDS = 8.0  # that a run which is already known takes to play
TICK, ROOM_SECONDS = 0.5, 3.0
TAG = "lesson"
HIDEABLE = ("nav", "room", "skip", "list")


@dataclass(frozen=True)
class Asked:
    """What the page's address says."""

    lesson: str = ""
    hide: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    guess: str = ""
    room: str = ""

    def link(self) -> dict[str, str]:
        """The address that shows the same."""
        values = vars(self).items()
        return {name: value if isinstance(value, str) else ",".join(value) for name, value in values if value}


def asked() -> Asked:
    """What the address bar says, as far as it can be used."""
    parameters: dict[str, links.Parser] = {
        "lesson": links.words(64),
        "hide": lambda text: tuple(part for part in text.split(",") if part in HIDEABLE),
        "runs": lambda text: tuple(part for part in text.split(",")[:10] if links.is_id(part)),
        "guess": links.words(64),
        "room": links.words(40),
    }
    return Asked(**links.take(dict(st.query_params), parameters))


def show_list(lessons: Sequence[Lesson], now: Asked) -> None:
    """All lessons, each with its question."""
    columns = st.columns(2)
    for index, lesson in enumerate(lessons):
        with columns[index % 2]:
            if card(lesson.key, lesson.title, lesson.question, "Open"):
                links.write(replace(now, lesson=lesson.key).link())
                st.rerun()


def show_lesson(lesson: Lesson, now: Asked) -> None:
    """One lesson: before the prediction only the question, after it the run and the answer."""
    if "list" not in now.hide and st.button("All lessons", icon=":material/arrow_back:", type="tertiary"):
        links.write(Asked(hide=now.hide, room=now.room).link())
        st.rerun()
    st.markdown(f"### {plain(lesson.title)}")
    st.markdown(lesson.before)
    guess = lesson.checked(now.guess) if now.guess else None
    if guess is None or not now.runs:
        _ask(lesson, now)
        if now.room:
            with st.expander("What the room predicts"):  # for whoever stands at the projector
                _watch_room(lesson, now)
        return
    shown = number(float(guess)) if lesson.kind == "number" else guess
    with st.container(key="newest-question"):
        st.markdown(f"{plain(lesson.question)} You predict: {plain(shown)}.")
    keep_watching(lambda: _look(lesson, now), lambda shown: _play(lesson, now, guess, shown))
    if now.room:
        _watch_room(lesson, now)


def _ask(lesson: Lesson, now: Asked) -> None:
    """The question, and whose answer it is."""
    with st.form("prediction", border=True):
        st.markdown(f"##### {plain(lesson.question)}")
        answer: str | float | None
        if lesson.kind == "choice":
            answer = st.radio(
                "Your prediction", lesson.options, index=None, format_func=plain, horizontal=True
            )
        else:
            answer = st.number_input("Your prediction", value=None, format="%g")
        room, nickname = now.room, ""
        if "room" not in now.hide:
            left, right = st.columns(2)
            room = left.text_input("Room (for a class)", now.room, max_chars=40)
            nickname = right.text_input("Nickname", max_chars=40)
        if not st.form_submit_button("Predict, then run", type="primary"):
            return
    guess = lesson.checked(str(answer)) if answer is not None else None
    if guess is None:
        st.error("A prediction comes first: that is what the lesson is about.")
        return
    try:
        store = session.manager().store
        if room and "room" not in now.hide:
            size = session.manager().settings.room_size
            record(store, room, lesson.key, nickname, guess, owner_hash(session.owner()), size)
        runs = [_find_or_launch(lesson, run) for run in lesson.runs if not run.is_centre]
    except (StoreError, ConfigError, LimitExceeded) as error:
        st.error(plain(str(error)))
        return
    st.session_state[_began(lesson)] = time.monotonic()
    links.write(replace(now, guess=guess, runs=tuple(runs), room=room).link())
    st.rerun()


def _began(lesson: Lesson) -> str:
    return f"lesson began {lesson.key}"


def _find_or_launch(lesson: Lesson, run: LessonRun) -> str:
    """The id of a run of this setting: one that is stored, which is then replayed, or a new one.

    Somebody else's counts once it has finished: while it is at work its owner may pause it.
    """
    manager = session.manager()
    config = run.config
    if config is None:
        return manager.store.get_run(run.run_id or "").id
    own = owner_hash(session.owner())
    stored = RunFilter(tags=[TAG], functions=[config.objective.name], computed=True)
    for row in manager.store.list_runs(stored, limit=200):
        at_work = row.state in ("running", "queued") and row.owner == own
        if (row.state == "finished" or at_work) and _answers(run, row):
            return row.id
    name = f"{lesson.title} {run.label}"[:80]
    return manager.launch(config, name=name, tags=[TAG], speed=run.speed, owner=session.owner())[0]


def _shown(lesson: Lesson, now: Asked) -> tuple[list[RunData], bool]:
    """(the runs as far as they are shown now, whether that is all of them)."""
    store = session.manager().store
    whole = [SHARED.data(store, run_id) for run_id in now.runs]
    passed = time.monotonic() - st.session_state.get(_began(lesson), -math.inf)
    longest = max(run.row.budget for run in whole)
    t = longest if passed > REPLAY_SECONDS else max(1, int(longest * passed / REPLAY_SECONDS))
    over = t >= longest and all(run.ended for run in whole)
    return (whole if over else [run.until(t) for run in whole]), over


def _look(lesson: Lesson, now: Asked) -> Look[tuple[list[RunData], bool] | str]:
    """What is shown now; a sentence where a run is not to be had."""
    try:
        runs, over = _shown(lesson, now)
    except StoreError as error:
        return Look(str(error), True, None)
    return Look((runs, over), over, None if over else TICK)


def _play(lesson: Lesson, now: Asked, guess: str, shown: tuple[list[RunData], bool] | str) -> None:
    if isinstance(shown, str):
        st.error(plain(shown))
        return
    runs, over = shown
    if not _are_of(lesson, runs):
        st.info("The link's runs are not those of this lesson.")
        return
    if not all(run.t for run in runs) and not over:
        st.info("The run begins.")
        return
    skips = not over and "skip" not in now.hide
    if skips and st.button("To the end", icon=":material/fast_forward:"):
        _hurry(lesson, runs)
        st.rerun()
    if over and any(run.row.state != "finished" for run in runs):
        st.error("A run of this lesson did not finish: Predict again starts it again.")
    elif over:
        _say_answer(lesson, runs, guess)
    live_chart(_figure(lesson, runs, guess, over), key="lesson")
    if over and st.button("Predict again", icon=":material/restart_alt:"):
        links.write(replace(now, guess="", runs=()).link())
        st.rerun()


def _are_of(lesson: Lesson, runs: Sequence[RunData]) -> bool:
    """Whether these are runs of the lesson's settings, in its order, which this software computed."""
    wanted = [run for run in lesson.runs if not run.is_centre]
    return len(runs) == len(wanted) and all(
        _answers(run, data.row) for run, data in zip(wanted, runs, strict=True)
    )


def _answers(run: LessonRun, row: RunRow) -> bool:
    """Whether a stored run is the one that a lesson asks for."""
    if run.config is None:  # the teacher's choice, whatever it is
        return row.id.startswith(run.run_id or "-")
    same = row.config == run.config.model_dump(mode="json") and row.budget == run.config.budget
    return same and not row.imported


def _hurry(lesson: Lesson, runs: Sequence[RunData]) -> None:
    """As fast as it goes from here."""
    manager, owner = session.manager(), session.owner()
    st.session_state[_began(lesson)] = -math.inf
    for run in runs:
        if not run.ended and manager.may_control(run.row, owner):
            manager.set_speed(run.row.id, None, owner)


def _figure(lesson: Lesson, runs: Sequence[RunData], guess: str, over: bool) -> go.Figure:
    """The chart, with the prediction on it from the start and the answer at the end."""
    first = runs[0]
    scale: Scale = default_scale(first.row.minimum)
    if lesson.measure == "winner":
        labels = [run.label for run in lesson.runs if not run.is_centre]
        groups = {label: [run] for label, run in zip(labels, runs, strict=True)}
        figure = figure_of_groups(groups, "mean", scale, False)
        if over:
            winner = lesson.truth(runs)
            ends = lesson.ends(runs)
            mark_end(figure, max(r.t for r in runs), ends[winner], f"lowest: {winner}", scale)
        return figure
    figure = figure_of(first, scale)
    level = lesson.level(first)
    if level is not None:
        mark_level(figure, "y", level, f"below {number(level)}?", scale)
    elif lesson.measure == "final d":
        mark_level(figure, "y2", float(guess), f"predicted {number(float(guess))}", "linear")
    elif lesson.measure == "best":
        mark_level(figure, "y", float(guess), f"predicted {number(float(guess))}", scale)
    if over and lesson.measure == "final d":
        mark_end(figure, first.t, float(first.d or 0), f"ends at d = {first.d}", "linear", "y2")
    elif over and first.best is not None:
        mark_end(figure, first.t, first.best, f"ends at {number(first.best)}", scale)
    return figure


def _say_answer(lesson: Lesson, runs: Sequence[RunData], guess: str) -> None:
    truth = lesson.truth(runs)
    words = number(float(truth)) if lesson.kind == "number" else truth
    st.markdown(f"#### The answer: {plain(words)}{', as predicted' if truth == guess else ''}")
    if lesson.measure == "winner":
        ends = lesson.ends(runs)
        st.markdown(" · ".join(f"{plain(label)}: {number(end)}" for label, end in ends.items()))
    st.markdown(lesson.answer)


def _watch_room(lesson: Lesson, now: Asked) -> None:
    keep_watching(lambda: Look(now, "open", ROOM_SECONDS), lambda now: _show_room(lesson, now))


def _show_room(lesson: Lesson, now: Asked) -> None:
    """The predictions of the room. Text, never markup; nicknames are not shown."""
    try:
        found = predictions(session.manager().store, now.room, lesson.key)
        runs, over = _shown(lesson, now) if now.runs else ([], False)
    except StoreError as error:
        st.caption(plain(str(error)))
        return
    usable = [value for value in found if lesson.checked(value) is not None]
    st.caption(f"Room {plain(now.room)}{'' if usable else ': no prediction yet'}")
    if usable:
        truth = lesson.truth(runs) if over and _are_of(lesson, runs) else ""
        live_chart(distribution(usable, truth, lesson.kind == "number"), key="room")
