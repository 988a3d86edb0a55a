"""The refresh loop of whatever goes on by itself: a run, an experiment, the paper's table, a lesson.

A part of a page is drawn again and again until nothing more will come. The timer is the page's: when
what is watched comes into another state, or so many browsers come or go that the interval should be
another, the page runs again as a whole.
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

STILL_WATCHING = 15.0  # seconds after which a browser that has not asked again is gone
FASTEST = 0.5  # seconds between two refreshes
AT_REST = 1.0  # seconds while what is watched waits or is paused
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
    """Draw what there is, and again at its interval until it ends."""
    first = look()
    st.fragment(run_every=first.every)(_refresh)(look, draw, [first])


def _refresh(
    look: Callable[[], Look[Content]], draw: Callable[[Content], None], seen: list[Look[Content]]
) -> None:
    """`seen` holds what was last drawn, which stays while the database is away."""
    if by_timer():
        before = seen[0]
        try:
            seen[0] = look()
        except StoreAway as error:
            say_waiting(error)
        if seen[0].state != before.state or not _alike(seen[0].every, before.every):
            st.rerun()
    try:
        draw(seen[0].content)
    except StoreAway as error:  # a drawing may have to read too
        if not by_timer():
            raise
        say_waiting(error)


def wait_for_database(error: StoreAway) -> None:
    """In place of a page that cannot be read: a sentence, and the page as soon as it can."""
    say_waiting(error)
    st.fragment(run_every=AT_REST)(_try_again)()


def say_waiting(error: StoreAway) -> None:
    """That the database is away, and why."""
    st.warning(f"{WAITING}: {plain(str(error))} {GOES_ON}")


def _try_again() -> None:
    if by_timer():
        st.rerun()


def _alike(every: float | None, before: float | None) -> bool:
    """Whether the timer may stay as it is."""
    if every is None or before is None:
        return every == before
    return 0.7 < every / before < 1.5


def by_timer() -> bool:
    """Whether only a part of the page is being drawn again, not the whole."""
    context = get_script_run_ctx()
    return bool(context and context.fragment_ids_this_run)


# --- how often ----------------------------------------------------------------------------------

_lock = threading.Lock()
_seen: dict[str, dict[str, float]] = {}  # when each browser last looked at each thing


def pace(thing: str, at_rest: bool = False, least: float = FASTEST) -> float:
    """Seconds until this browser should look at a thing again; noted that it does now."""
    context = get_script_run_ctx()
    return max(least, interval(watchers(thing, context.session_id if context else ""), at_rest))


def interval(watching: int, at_rest: bool = False) -> float:
    """Seconds between two refreshes: longer the more browsers watch, and while nothing moves."""
    return max(AT_REST if at_rest else FASTEST, PER_WATCHER * watching)


def watchers(thing: str, browser: str) -> int:
    """Note that a browser is watching; how many are."""
    now = time.monotonic()
    with _lock:
        _seen.setdefault(thing, {})[browser] = now
        for other, browsers in list(_seen.items()):
            _seen[other] = {name: at for name, at in browsers.items() if now - at <= STILL_WATCHING}
            if not _seen[other]:
                del _seen[other]
        return len(_seen[thing])
