"""Pause, resume, cancel, delete: the owner's hands on a sweep."""

from __future__ import annotations

import time
from collections.abc import Callable

import streamlit as st

from dsebo.experiments.child import start_child
from dsebo.experiments.limits import sweep_check
from dsebo.experiments.records import SweepRow, delete_sweep, get_sweep, order
from dsebo.store.errors import StoreError
from dsebo.text import plain
from dsebo.ui import session
from dsebo.ui.experiments.sweep_links import show

SLOW_START = 30.0  # seconds after which a sweep that waits has been forgotten by whoever made it
AGAIN = ("failed", "cancelled")


def controls(row: SweepRow) -> None:
    """The buttons that fit the sweep's state; others only watch."""
    with st.container(horizontal=True, vertical_alignment="center", key="controls"):
        if st.button("All sweeps", icon=":material/arrow_back:", key="sweep do back"):
            show(None)
            st.rerun()
        if not may_control(row):
            st.caption("You are watching: only its owner or the lecturer may control this sweep.")
            return
        if row.at_work and row.wanted == "cancel":
            return
        if _goes(row):
            _button(row, "Pause", "pause", lambda: _told(row, "pause"))
        elif row.state in AGAIN:
            _button(row, "Go on", "play_arrow", lambda: _go_on(row))
        elif row.state != "finished":
            _button(row, "Resume", "play_arrow", lambda: _go_on(row), True)
        if row.state in (*AGAIN, "finished"):
            _delete(row)
        else:
            _button(row, "Cancel", "stop", lambda: _told(row, "cancel"))


def _goes(row: SweepRow) -> bool:
    """Whether it works, or will as soon as its process has started."""
    started = row.state == "running" or (row.state == "queued" and not _forgotten(row))
    return started and row.wanted == "run"


def may_control(row: SweepRow) -> bool:
    """Everyone may watch; in class mode only the owner and the lecturer may do more."""
    return session.manager().may_control(row, session.owner())


def _forgotten(row: SweepRow) -> bool:
    return row.started is None and time.time() - row.created > SLOW_START


def _told(row: SweepRow, wanted: str) -> None:
    """Pass the order on; refused where nobody works on the sweep."""
    state = order(session.manager().store, row.id, wanted)
    if state is not None:
        raise StoreError(f"Sweep {row.short_id} is {state}: there is nothing to {wanted}.")


def _go_on(row: SweepRow) -> None:
    """Tell its process; where there is none, start another from what is stored."""
    manager = session.manager()
    if order(manager.store, row.id, "run") is not None:
        check = sweep_check(manager.settings, session.owner(), row.spec)
        start_child(manager.store, row.id, check)


def _button(row: SweepRow, label: str, icon: str, action: Callable[[], None], primary: bool = False) -> None:
    kind = "primary" if primary else "secondary"
    if st.button(label, icon=f":material/{icon}:", key=f"sweep do {label}", type=kind):  # type: ignore[arg-type]
        _act(row, action)


def _act(row: SweepRow, action: Callable[[], None]) -> None:
    """Do it and draw the page anew; where it is refused, say why."""
    try:
        # The rights may have changed since the button was drawn, and the sweep may be gone.
        if not may_control(get_sweep(session.manager().store, row.id)):
            raise StoreError(f"Sweep {row.short_id} belongs to someone else.")
        action()
    except (StoreError, OSError) as error:
        st.toast(plain(str(error)), icon=":material/error:")
        return
    st.rerun()


def _delete(row: SweepRow) -> None:
    with st.popover("Delete", icon=":material/delete:"):
        st.markdown("The sweep is forgotten. Its runs stay in Runs.")
        _button(row, "Delete it", "delete", lambda: _forget(row), True)


def _forget(row: SweepRow) -> None:
    delete_sweep(session.manager().store, row.id)
    show(None)
