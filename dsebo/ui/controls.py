"""The head of a run or an experiment: its name and state, and the owner's hands on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import streamlit as st

from dsebo.experiments.child import start_child
from dsebo.experiments.limits import experiment_check
from dsebo.experiments.records import ExperimentRow, get_experiment, tell
from dsebo.runs.commands import MAX_NOTE
from dsebo.store.errors import StoreError
from dsebo.store.rows import RunRow
from dsebo.store.schema import ENDED
from dsebo.text import count, plain, typeset
from dsebo.ui import session
from dsebo.ui.cache import SHARED

STATE_COLOURS = {
    "running": "blue",
    "queued": "gray",
    "paused": "orange",
    "interrupted": "orange",
    "stalled": "orange",
    "failed": "red",
    "cancelled": "gray",
    "finished": "green",
}
WATCHING = "Only its owner or the lecturer may control it."
FULL = 0.0
SPEEDS = (FULL, 1.0, 2.0, 5.0, 10.0, 20.0)
SLOW_START = 30.0  # seconds after which an experiment that waits has been forgotten by who made it
AGAIN = ("failed", "cancelled")


def head(
    row: RunRow | ExperimentRow, caption: str, controls: Callable[[], None], place: str = "head"
) -> None:
    """A name with its state, whose it is and its setting, and the buttons beside it."""
    mine = row.state in ENDED or session.manager().may_control(row, session.owner())
    with st.container(key=place, horizontal=True, vertical_alignment="center"):
        heading(row.name, row.state, caption, row.id, "" if mine else WATCHING)
        with st.container(horizontal=True, vertical_alignment="center", key="controls"):
            controls()


def heading(name: str, state: str, caption: str, key: str, aside: str = "") -> None:
    """A name, its state and its setting. A name is text, whatever it looks like."""
    more = f" :gray[:small[{plain(aside)}]]" if aside else ""
    with st.container(gap=None, width="stretch", key=f"name-{key}"):
        st.markdown(f"#### **{plain(typeset(name))}** :{STATE_COLOURS[state]}-badge[{state}]{more}")
        st.caption(plain(typeset(caption)).replace(" · ", "\u00a0· "))  # no line begins with a dot


def action(label: str, icon: str, do: Callable[[], None], primary: bool = False) -> None:
    """A button that does something to a run or an experiment."""
    kind = "primary" if primary else "secondary"
    if st.button(label, icon=f":material/{icon}:", key=f"do {label}", type=kind):  # type: ignore[arg-type]
        act(do)


def act(do: Callable[[], None]) -> None:
    """Do it and draw the page again; where it is refused, say why."""
    try:
        do()
    except (StoreError, OSError) as error:
        st.toast(plain(str(error)), icon=":material/error:")
        return
    SHARED.stale()
    st.rerun()


def act_on_each(rows: Sequence[RunRow], do: Callable[[str, str], None], done: str = "") -> None:
    """Do it to every run as this owner; what is refused is said, the rest is done."""
    owner, refused = session.owner(), []
    for row in rows:
        try:
            do(row.id, owner)
        except StoreError as error:  # one may just have ended by itself
            refused.append(str(error))
    if done and len(refused) < len(rows):
        st.toast(f"{count(len(rows) - len(refused), 'run')} {done}.")
    for sentence in refused[:3]:
        st.toast(plain(sentence), icon=":material/error:")
    SHARED.stale()
    st.rerun()


# --- a run --------------------------------------------------------------------------------------


def run_controls(row: RunRow, replay_speed: str, speeds: Sequence[int], usual: int) -> None:
    """The buttons that fit the run's state; of a run of someone else's only the replay's speed."""
    manager, owner = session.manager(), session.owner()
    mine = manager.may_control(row, owner)
    if row.state in ENDED or not mine:
        st.session_state.setdefault(replay_speed, usual)
        st.selectbox(
            "Speed of the replay",
            speeds,
            format_func=lambda speed: f"{speed} per second",
            key=replay_speed,
            width=132,
            label_visibility="collapsed",
        )
        return
    _speed(row, owner)
    action("Cancel", "stop", lambda: manager.cancel(row.id, owner))


def note(row: RunRow) -> None:
    """What its owner wants to remember of a run; it stands under its name."""
    if not session.manager().may_control(row, session.owner()):
        return
    text = st.text_area("Note", row.note or "", max_chars=MAX_NOTE, height=80, key=f"note {row.id}")
    if st.button("Save the note", icon=":material/save:", key="do note"):
        act(lambda: session.manager().annotate(row.id, text, session.owner()))


def extend(row: RunRow) -> None:
    """More evaluations for a finished run, by who may control it."""
    owner = session.owner()
    if row.state != "finished" or not session.manager().may_control(row, owner):
        return
    more = st.number_input("More evaluations", 1, 10_000, 100, key="more evaluations")
    if st.button("Go on", icon=":material/play_arrow:", key="do Go on"):
        act(lambda: session.manager().extend(row.id, int(more), owner))


def _speed(row: RunRow, owner: str) -> None:
    now = row.speed or FULL
    options = SPEEDS if now in SPEEDS else (*SPEEDS, now)
    chosen = st.selectbox(
        "Speed",
        options,
        index=options.index(now),
        format_func=lambda speed: f"{speed:g} per second" if speed else "Full speed",
        key=f"speed {row.id} {now}",
        width=132,
        label_visibility="collapsed",
    )
    if chosen != now:
        act(lambda: session.manager().set_speed(row.id, chosen or None, owner))


def runs_controls(rows: Sequence[RunRow]) -> None:
    """Pause, resume or cancel all of these runs that can be."""
    manager, owner = session.manager(), session.owner()
    mine = [row for row in rows if manager.may_control(row, owner)]
    going = [row for row in mine if row.state in ("running", "queued")]
    resting = [row for row in mine if row.state in ("paused", "interrupted", "stalled")]
    if going and st.button("Pause all", icon=":material/pause:"):
        act_on_each(going, manager.pause)
    if resting and st.button("Resume all", icon=":material/play_arrow:", type="primary"):
        act_on_each(resting, manager.resume)
    if (going or resting) and st.button("Cancel all", icon=":material/stop:"):
        act_on_each([*going, *resting], manager.cancel)


# --- an experiment ------------------------------------------------------------------------------


def experiment_controls(row: ExperimentRow) -> None:
    """The buttons that fit the experiment's state; others only watch."""
    if not session.manager().may_control(row, session.owner()):
        return
    if row.at_work and row.wanted == "cancel":
        return
    if _goes(row):
        action("Pause", "pause", lambda: _tell(row, "pause"))
    elif row.state in AGAIN:
        action("Go on", "play_arrow", lambda: _go_on(row))
    elif row.state != "finished":
        action("Resume", "play_arrow", lambda: _go_on(row), primary=True)
    if row.state not in ENDED:
        action("Cancel", "stop", lambda: _tell(row, "cancel"))


def _goes(row: ExperimentRow) -> bool:
    """Whether it works, or will as soon as its process has started."""
    forgotten = row.started is None and time.time() - row.created > SLOW_START
    return row.wanted == "run" and (row.state == "running" or (row.state == "queued" and not forgotten))


def _tell(row: ExperimentRow, wanted: str) -> None:
    """Pass it on to who works on it; refused where nobody does."""
    _check_control(row)
    state = tell(session.manager().store, row.id, wanted)
    if state is not None:
        raise StoreError(f"Experiment {row.short_id} is {state}: there is nothing to {wanted}.")


def _go_on(row: ExperimentRow) -> None:
    """Tell its process; where there is none, start another from what is stored."""
    _check_control(row)
    manager = session.manager()
    if tell(manager.store, row.id, "run") is not None:
        start_child(manager.store, row.id, experiment_check(manager.settings, session.owner(), row.spec))


def _check_control(row: ExperimentRow) -> None:
    """The rights may have changed since a button was drawn, and the experiment may be gone."""
    if not session.manager().may_control(get_experiment(session.manager().store, row.id), session.owner()):
        raise StoreError(f"Experiment {row.short_id} belongs to someone else.")
