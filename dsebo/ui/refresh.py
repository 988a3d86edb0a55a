"""The refresh loop of whatever goes on by itself: a run, an experiment, the paper's table, a lesson.

A part of a page is drawn again and again until nothing more will come. The browser asks for it, when
the interval that came with the last drawing is over: so it can be another each time, a server that is
late is not asked twice, and nobody asks for what no one looks at. When what is watched comes into
another state, the page runs again as a whole.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dsebo.store.errors import StoreAway
from dsebo.store.patience import WAITING
from dsebo.text import plain
from dsebo.ui import live
from dsebo.ui.live import by_timer, live_tick

STILL_WATCHING = 15.0  # seconds after which a browser that has not asked again is gone
FASTEST = 0.5  # seconds between two refreshes
AT_REST = 1.0  # seconds while what is watched waits or is paused
STEADY = 1.0  # seconds for a browser that has watched for some time: half a second changes little then
STEADY_AFTER = 10.0
PER_WATCHER = 0.1  # more seconds for each browser: 30 watch at 3 s

GOES_ON = "It goes on by itself."

Content = TypeVar("Content")


@dataclass(frozen=True)
class Look(Generic[Content]):
    """What is watched, as it now stands."""

    content: Content
    state: Hashable  # when it changes, the whole page is drawn again
    every: float | None  # seconds until the next look; None: nothing more will come of itself


def keep_watching(look: Callable[[], Look[Content]], draw: Callable[[Content], None]) -> None:
    """Draw what there is, and again at its interval until it ends; once from each place of a page."""
    st.fragment(_refresh)(look, draw, [look()])


def _refresh(
    look: Callable[[], Look[Content]], draw: Callable[[Content], None], seen: list[Look[Content]]
) -> None:
    """`seen` holds what was last drawn, which stays while the database is away."""
    away, before = None, seen[0]
    if by_timer():
        try:
            seen[0] = look()
        except StoreAway as error:
            away = error
    live_tick(seen[0].every, look.__qualname__)  # first: it goes on where a drawing fails
    try:
        with st.container():  # always there, so that what is drawn below it stays in its place
            if away is not None:
                say_waiting(away)
        draw(seen[0].content)
    except StoreAway as error:  # a drawing may have to read too
        if not by_timer():
            raise
        say_waiting(error)
    # Last: a button that was pressed has been reached by now.
    if seen[0].state != before.state or (seen[0].every is None) != (before.every is None):
        st.rerun()


def draw_last(draw: Callable[[], None]) -> None:
    """What a reader has to scroll to. Our own server sends a browser's first page without it, and then this,
    as soon as the rest stands: else the browser would draw all of it before it shows a button."""
    st.fragment(_draw_last)(draw)


def _draw_last(draw: Callable[[], None]) -> None:
    is_first = bool(live.library_places) and not by_timer() and "stands" not in st.session_state
    st.session_state["stands"] = True
    live_tick(0.0 if is_first else None, "last")
    if not is_first:
        draw()


def wait_for_database(error: StoreAway) -> None:
    """In place of a page that cannot be read: a sentence, and the page as soon as it can."""
    say_waiting(error)
    st.fragment(_try_again)()


def say_waiting(error: StoreAway) -> None:
    """That the database is away, and why."""
    st.warning(f"{WAITING}: {plain(str(error))} {GOES_ON}")


def _try_again() -> None:
    if by_timer():
        st.rerun()
    live_tick(AT_REST, "database")


# --- how often ----------------------------------------------------------------------------------

_lock = threading.Lock()
_seen: dict[str, dict[str, tuple[float, float]]] = {}  # when each browser first and last looked at a thing


def pace(thing: str, at_rest: bool = False, least: float = FASTEST) -> float:
    """Seconds until this browser should look at a thing again; noted that it does now."""
    context = get_script_run_ctx()
    browser = context.session_id if context else ""
    watching = watchers(thing, browser)
    first, last = _seen[thing][browser]
    steady = STEADY if last - first > STEADY_AFTER else FASTEST
    return max(least, steady, interval(watching, at_rest))


def interval(watching: int, at_rest: bool = False) -> float:
    """Seconds between two refreshes: longer the more browsers watch, and while nothing moves."""
    return max(AT_REST if at_rest else FASTEST, PER_WATCHER * watching)


def watchers(thing: str, browser: str) -> int:
    """Note that a browser is watching; how many are."""
    now = time.monotonic()
    with _lock:
        first, _ = _seen.setdefault(thing, {}).get(browser, (now, now))
        _seen[thing][browser] = first, now
        for other, browsers in list(_seen.items()):
            _seen[other] = {name: at for name, at in browsers.items() if now - at[1] <= STILL_WATCHING}
            if not _seen[other]:
                del _seen[other]
        return len(_seen[thing])
