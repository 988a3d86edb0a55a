"""Pause, step, resume, cancel, speed: the owner's hands on a run."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dsebo.store.errors import StoreError
from dsebo.store.rows import RunRow
from dsebo.text import plain
from dsebo.ui import links, session
from dsebo.ui.cache import SHARED

FULL = 0.0
SPEEDS = (FULL, 1.0, 2.0, 5.0, 10.0, 20.0)


def controls(row: RunRow) -> None:
    """The buttons that fit the run's state; to a run of someone else's only a way to replay it."""
    manager, owner = session.manager(), session.owner()
    mine = manager.may_control(row, owner)
    with st.container(horizontal=True, vertical_alignment="center", key="controls"):
        if row.state in ("finished", "failed", "cancelled"):
            _after_the_end(row, owner, mine)
        elif not mine:
            st.caption("You are watching: only its owner or the lecturer may control this run.")
        else:
            if row.state in ("running", "queued"):
                _button(row, "Pause", "pause", lambda: manager.pause(row.id, owner))
            else:
                _button(row, "Resume", "play_arrow", lambda: manager.resume(row.id, owner), True)
            _button(row, "Step", "skip_next", lambda: manager.step(row.id, owner))
            _button(row, "Cancel", "stop", lambda: manager.cancel(row.id, owner))
            _speed(row, owner)


def _after_the_end(row: RunRow, owner: str, mine: bool) -> None:
    """Replay it; give a finished run more evaluations."""
    if st.button("Replay", icon=":material/replay:", key="do Replay"):
        links.go("replay", run=row.id)
    if row.state != "finished" or not mine:
        return
    with st.popover("Go on"):
        more = st.number_input("More evaluations", 1, 10_000, 100, key="more evaluations")
        if st.button("Go on", type="primary", key="do Go on"):
            act(row, lambda: session.manager().extend(row.id, int(more), owner))


def _button(row: RunRow, label: str, icon: str, action: Callable[[], None], primary: bool = False) -> None:
    kind = "primary" if primary else "secondary"
    if st.button(label, icon=f":material/{icon}:", key=f"do {label}", type=kind):  # type: ignore[arg-type]
        act(row, action)


def act(row: RunRow, action: Callable[[], None]) -> None:
    """Do it and draw the page anew; where it is refused, say why."""
    try:
        action()
    except StoreError as error:
        st.toast(plain(str(error)), icon=":material/error:")
        return
    SHARED.stale(row.id)
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
        act(row, lambda: session.manager().set_speed(row.id, chosen or None, owner))


def _speed_words(speed: float) -> str:
    return f"{speed:g} a second" if speed else "Full speed"
