"""The Lessons page's parts: the list, the question, the run, the answer, the class."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import plotly.graph_objects as go
import streamlit as st

from dsebo.charts.compare import figure_of_groups
from dsebo.charts.lesson import distribution, mark_end, mark_level, mark_place
from dsebo.charts.run import drawn_scale, figure_of
from dsebo.charts.scales import Scale, default_scale, position
from dsebo.lessons import Lesson, LessonRun
from dsebo.objectives.fields import ConfigError
from dsebo.runs.data import RunData
from dsebo.store.classroom import done_by, mark_done, predictions, record
from dsebo.store.errors import LimitExceeded, StoreError
from dsebo.store.rows import RunFilter, RunRow, owner_hash
from dsebo.store.schema import BUNDLED
from dsebo.text import number, plain, typeset
from dsebo.transfer.examples import bundled_run
from dsebo.ui import links, session
from dsebo.ui.cache import SHARED
from dsebo.ui.inputs import card, in_pairs
from dsebo.ui.learn.theory_view import THEORY, TITLE
from dsebo.ui.live import live_chart
from dsebo.ui.refresh import Look, keep_watching

HEIGHT = 500  # px of the chart of several runs, in the window with its legend
REPLAY_SECONDS = 8.0  # that a run which is already known takes to play
TICK, ROOM_SECONDS = 0.5, 3.0
TAG = "lesson"
HIDEABLE = ("nav", "room", "skip", "list")
MOST_RUNS = 30  # that a lesson's link names


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
        "runs": lambda text: tuple(part for part in text.split(",")[:MOST_RUNS] if links.is_id(part)),
        "guess": links.words(64),
        "room": links.words(40),
    }
    return Asked(**links.take(dict(st.query_params), parameters))


def show_list(lessons: Sequence[Lesson], now: Asked) -> None:
    """All lessons, numbered, each with its question and whether one has done it."""
    done = done_by(session.manager().store, owner_hash(session.owner()))

    def offer(numbered: tuple[int, Lesson]) -> None:
        place, lesson = numbered
        mark = " ✓ done" if lesson.key in done else ""
        if card(lesson.key, f"{place}. {lesson.title}{mark}", lesson.question, f"Open lesson {place}"):
            links.write(replace(now, lesson=lesson.key).link())
            st.rerun()

    in_pairs(list(enumerate(lessons, 1)), offer)


def show_lesson(lesson: Lesson, following: Lesson | None, now: Asked) -> None:
    """One lesson: before the prediction only the question, after it the run and the answer."""
    if "list" not in now.hide and st.button("All lessons", icon=":material/arrow_back:", type="tertiary"):
        links.write(Asked(hide=now.hide, room=now.room).link())
        st.rerun()
    st.markdown(f"### {plain(typeset(lesson.title))}")
    guess = lesson.checked(now.guess) if now.guess else None
    if guess is None or not now.runs:
        st.markdown(typeset(lesson.before))
        projected = bool(now.room) and st.session_state.get("projected room") == now.room
        above, below = st.container(), st.container()
        with below if projected else above:
            _ask(lesson, now, projected)
        with above if projected else below:
            if now.room or "room" not in now.hide:
                _project(lesson, now, projected)
        return
    keep_watching(lambda: _look(lesson, now), lambda shown: _play(lesson, following, now, guess, shown))
    if now.room:
        _watch_room(lesson, now)


def _ask(lesson: Lesson, now: Asked, projected: bool) -> None:
    """The question, and whose answer it is; whoever projects the room need not be counted in it."""
    if why := lesson.unavailable:  # but runs that are stored can be replayed
        st.warning(plain(why))
    with st.form("prediction", border=True):
        st.markdown(f"##### {plain(typeset(lesson.question))}")
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
            uncounted = "Without one you are not counted." if projected else None
            nickname = right.text_input("Nickname", max_chars=40, placeholder=uncounted).strip()
        if not st.form_submit_button("Predict, then run", type="primary"):
            return
    guess = lesson.checked(str(answer)) if answer is not None else None
    if guess is None:
        st.error("A prediction comes first: that is what the lesson is about.")
        return
    counted = bool(room) and "room" not in now.hide and (bool(nickname) or not projected)
    if counted and not nickname:
        st.error("A nickname is missing: a room counts one prediction for each.")
        return
    try:
        store = session.manager().store
        if counted:
            size = session.manager().settings.room_size
            record(store, room, lesson.key, nickname, guess, owner_hash(session.owner()), size)
        runs = [_find_or_launch(lesson, run) for run in lesson.each]
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
    if run.bundled:
        if (bundled := bundled_run(manager.store, config)) is None:
            raise StoreError(f"The run {run.label!r} came with the package, and is no longer in this store.")
        return bundled
    own = owner_hash(session.owner())
    stored = RunFilter(tags=[TAG], functions=[config.objective.name], computed=True)
    for row in manager.store.list_runs(stored, limit=200):
        at_work = row.state in ("running", "queued") and row.owner == own
        if (row.state == "finished" or at_work) and _answers(run, row):
            return row.id
    name = f"{lesson.title.removesuffix('?')}: {run.label}"[:80]
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


def _play(
    lesson: Lesson, following: Lesson | None, now: Asked, guess: str, shown: tuple[list[RunData], bool] | str
) -> None:
    if isinstance(shown, str):
        st.error(plain(shown))
        _predict_again(now)
        return
    runs, over = shown
    if not _are_of(lesson, runs):
        st.info("The link's runs are not those of this lesson.")
        _predict_again(now)
        return
    told, drawn = st.columns([2, 3], gap="large")  # beside it: nothing moves when the answer comes
    with told:
        _tell(lesson, runs, guess, over, now)
        if over:
            _ways_on(lesson, following, now)
    with drawn:
        if over or all(run.t for run in runs):
            live_chart(_figure(lesson, runs, guess, over), key="lesson")
        else:
            st.info("The run begins.")


def _tell(lesson: Lesson, runs: Sequence[RunData], guess: str, over: bool, now: Asked) -> None:
    """What it is about, the question with its prediction, and in the end the answer."""
    st.markdown(typeset(lesson.before))
    predicted = number(float(guess)) if lesson.kind == "number" else guess
    with st.container(key="newest-question"):
        st.markdown(f"{plain(typeset(lesson.question))} You predict: {plain(typeset(predicted))}.")
    if not over:
        if "skip" not in now.hide and st.button("To the end", icon=":material/fast_forward:"):
            _hurry(lesson, runs)
            st.rerun()
    elif any(run.row.state != "finished" for run in runs):
        st.error("A run of this lesson did not finish: Predict again starts it again.")
    else:
        _say_answer(lesson, runs, guess)
        mark_done(session.manager().store, owner_hash(session.owner()), lesson.key)


def _are_of(lesson: Lesson, runs: Sequence[RunData]) -> bool:
    """Whether these are runs of the lesson's settings, in its order, which this software computed."""
    wanted = lesson.each
    return len(runs) == len(wanted) and all(
        _answers(run, data.row) for run, data in zip(wanted, runs, strict=True)
    )


def _answers(run: LessonRun, row: RunRow) -> bool:
    """Whether a stored run is the one that a lesson asks for."""
    if run.config is None:  # the teacher's choice, whatever it is
        return row.id.startswith(run.run_id or "-")
    same = row.parsed == run.config and row.budget == run.config.budget
    return same and (row.source == BUNDLED if run.bundled else not row.imported)


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
    scale = drawn_scale(runs, default_scale(first.row.minimum))
    if lesson.measure in ("winner", "parts") or len(runs) > 1:
        figure = figure_of_groups(lesson.grouped(runs), "mean", scale, False)
        figure.layout.height = HEIGHT
        if over:
            _mark_answer(figure, lesson, runs, scale)
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
        mark_end(figure, "y2", float(first.d or 0), f"ends at d = {first.d}")
    elif over and first.best is not None:
        mark_end(figure, "y", position(scale, first.best), f"ends at {number(first.best)}")
    return figure


def _mark_answer(figure: go.Figure, lesson: Lesson, runs: Sequence[RunData], scale: Scale) -> None:
    """Where several runs show the answer."""
    first, ends = runs[0], lesson.ends(runs)
    if lesson.measure == "winner":
        winner = lesson.truth(runs)
        mark_end(figure, "y", position(scale, ends[winner]), f"lowest: {winner}")
    elif lesson.measure == "parts" and (parts := int(lesson.truth(runs))):
        best = float(first.evaluations["best"].iloc[parts - 1])
        mark_place(figure, parts, position(scale, best), "here they part")
    else:
        end = ends[lesson.each[0].label]
        mark_end(figure, "y", position(scale, end), f"ends at {number(end)}")


def _say_answer(lesson: Lesson, runs: Sequence[RunData], guess: str) -> None:
    """Right or not quite, what came out, and why."""
    truth = lesson.truth(runs)
    words = number(float(truth)) if lesson.kind == "number" else truth
    verdict = "Right" if lesson.right(guess, truth) else "Not quite"
    exactly = ", as predicted" if truth == guess else ""
    st.markdown(f"#### {verdict}. The answer: {plain(words)}{exactly}")
    st.markdown(plain(typeset(lesson.results(runs))))
    st.markdown(typeset(lesson.explanation(truth)))


def _ways_on(lesson: Lesson, following: Lesson | None, now: Asked) -> None:
    """From the answer: the run itself, the next lesson, the same question again."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if "list" not in now.hide:
            title, there = TITLE, {"show": THEORY}  # after the last lesson
            if following is not None:
                title, there = following.title, replace(now, lesson=following.key, guess="", runs=()).link()
            st.button(
                f"Next: {plain(typeset(title))}",
                type="primary",
                icon=":material/arrow_forward:",
                on_click=links.write,
                args=(there,),
            )
        if "nav" not in now.hide:
            links.page_link("run", "Open in Run", "play_circle", {"run": now.runs[0]})
        _predict_again(now)


def _predict_again(now: Asked) -> None:
    if st.button("Predict again", icon=":material/restart_alt:"):
        links.write(replace(now, guess="", runs=()).link())
        st.rerun()


def _project(lesson: Lesson, now: Asked, opened: bool) -> None:
    """For whoever stands at the projector: a room's link, and what is predicted; closed for all others."""
    with st.expander("What the room predicts" if now.room else "For a class: open a room", expanded=opened):
        if not now.room:
            with st.form("room", border=False):
                room = " ".join(st.text_input("Name of the room", max_chars=40, key="room name").split())
                if st.form_submit_button("Open the room") and room:
                    st.session_state["projected room"] = room
                    links.write(replace(now, room=room).link())
                    st.rerun()
            return
        link, answers = st.columns([1, 3])
        with link:
            session.show_link(lesson=lesson.key, room=now.room)
        with answers:
            _watch_room(lesson, now)


def _watch_room(lesson: Lesson, now: Asked) -> None:
    keep_watching(lambda: Look(now, "open", ROOM_SECONDS), lambda now: _show_room(lesson, now))


def _show_room(lesson: Lesson, now: Asked) -> None:
    """The predictions of the room. Text, never markup; nicknames are not shown."""
    try:
        guesses = predictions(session.manager().store, now.room, lesson.key)
        runs, over = _shown(lesson, now) if now.runs else ([], False)
    except StoreError as error:
        st.caption(plain(str(error)))
        return
    usable = [value for value in guesses if lesson.checked(value) is not None]
    st.caption(f"Room {plain(now.room)}{'' if usable else ': no prediction yet'}")
    if usable:
        truth = lesson.truth(runs) if over and _are_of(lesson, runs) else ""
        live_chart(distribution(usable, truth, lesson.options), key="room")
