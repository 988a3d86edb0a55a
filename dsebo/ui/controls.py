"""Pause, step, resume, cancel, speed: the owner's hands on a run."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dsebo.runs import RunRow, StoreError
from dsebo.ui import session
from dsebo.ui.words import plain

FULL = 0.0
SPEEDS = (FULL, 1.0, 2.0, 5.0, 10.0, 20.0)


def controls(row: RunRow) -> None:
    """The buttons that fit the run's state; none for a run of someone else's."""
    manager, owner = session.manager(), session.owner()
    if row.state == "finished" or row.state in ("failed", "cancelled"):
        return
    if not manager.may_control(row, owner):
        st.caption("You are watching: only this run's owner or the lecturer may control it.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="controls"):
        if row.state in ("running", "queued"):
            _button("Pause", "pause", lambda: manager.pause(row.id, owner))
        else:
            _button("Resume", "play_arrow", lambda: manager.resume(row.id, owner), primary=True)
        _button("Step", "skip_next", lambda: manager.step(row.id, owner))
        _button("Cancel", "stop", lambda: manager.cancel(row.id, owner))
        _speed(row, owner)


def _button(label: str, icon: str, action: Callable[[], None], primary: bool = False) -> None:
    kind = "primary" if primary else "secondary"
    if st.button(label, icon=f":material/{icon}:", key=f"do {label}", type=kind):  # type: ignore[arg-type]
        act(action)


def act(action: Callable[[], None]) -> None:
    """Do it and draw the page anew; where it is refused, say why."""
    try:
        action()
    except StoreError as error:
        st.toast(plain(str(error)), icon=":material/error:")
        return
    st.rerun()


def _speed(row: RunRow, owner: str) -> None:
    now = row.speed or FULL
    options = SPEEDS if now in SPEEDS else (*SPEEDS, now)
    chosen = st.selectbox(
        "Speed",
        options,
        index=options.index(now),
        format_func=_speed_words,
        key=f"speed {row.id} {now}",
        width=140,
        label_visibility="collapsed",
    )
    if chosen != now:
        act(lambda: session.manager().set_speed(row.id, chosen or None, owner))


def _speed_words(speed: float) -> str:
    return f"{speed:g} a second" if speed else "Full speed"
