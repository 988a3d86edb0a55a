"""Which evaluation of a run is shown: the newest, live, or any earlier one, scrubbed or played.

Live is the right end of the timeline. There pause and step are the run's own; anywhere else they are
those of the replay, and the run goes on behind it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import streamlit as st

from dsebo.runs.data import RunData
from dsebo.store.schema import ENDED
from dsebo.ui import session
from dsebo.ui.controls import act
from dsebo.ui.live import by_timer

TICK = 0.25  # seconds between two pictures while playing
SPEEDS = (2, 5, 10, 25, 50, 100)
USUAL = 10
SPEED = "replay speed"
_TICKED = "replay ticked"
RESTING = ("paused", "interrupted", "stalled")


def last_of(runs: Sequence[RunData]) -> int:
    """The last evaluation that any of them has made."""
    return max(run.t for run in runs)


def shown_t(runs: Sequence[RunData]) -> int | None:
    """The evaluation that is shown; None: the newest, whatever comes."""
    t = st.session_state.get(_place(runs))
    return None if t is None or t >= last_of(runs) else max(1, int(t))


def is_playing(runs: Sequence[RunData]) -> bool:
    """Whether it moves by itself."""
    return bool(st.session_state.get(f"playing {runs[0].row.id}")) and shown_t(runs) is not None


def go(runs: Sequence[RunData], t: int | None, playing: bool = False) -> None:
    """Show evaluation t from now on; None: the newest."""
    st.session_state[_place(runs)] = t
    st.session_state[f"playing {runs[0].row.id}"] = playing
    st.session_state[_TICKED] = time.monotonic()


def open_at(run_id: str, t: int | None) -> None:
    """What a link asks for."""
    st.session_state[f"t {run_id}"] = t
    st.session_state[f"playing {run_id}"] = False


def advance(runs: Sequence[RunData]) -> None:
    """While playing, as many evaluations further as time has passed."""
    if not is_playing(runs):
        return
    now = time.monotonic()
    steps = int((now - st.session_state.get(_TICKED, now)) * st.session_state.get(SPEED, USUAL))
    if steps < 1:
        return
    t = (shown_t(runs) or 0) + steps
    go(runs, None if t >= last_of(runs) else t, playing=t < last_of(runs))


def timeline(runs: Sequence[RunData]) -> dict[str, Any]:
    """What the component shows: where it stands, a mark at each expansion, and what can be pressed."""
    last, t, row = last_of(runs), shown_t(runs), runs[0].row
    ended = all(run.ended for run in runs)
    done = all(run.row.state in ENDED for run in runs)  # one that was interrupted may go on
    return {
        "t": t or last,
        "last": last,
        "end": max(1, last if done else max(run.row.budget for run in runs)),
        "live": t is None and not ended,
        "marks": [
            {"t": change["t"], "text": f"Evaluation {change['t']}: d {change['d_from']} → {change['d_to']}"}
            for run in runs
            for change in run.changes
            if change["event"] == "expanded"
        ],
        "buttons": _buttons(runs, t is None and row.state not in ("finished", "failed", "cancelled")),
    }


def _buttons(runs: Sequence[RunData], live: bool) -> list[dict[str, Any]]:
    """(what it does, its name, its sign, whether it can be pressed) of each."""
    row, t, last = runs[0].row, shown_t(runs), last_of(runs)
    mine = session.manager().may_control(row, session.owner())
    if live:
        rests = row.state in RESTING or row.waits_to_pause
        middle = ("resume", "Resume", "play", mine) if rests else ("pause", "Pause", "pause", mine)
        step = ("step", "Step", "step", mine)
    else:
        plays = is_playing(runs)
        middle = ("halt", "Pause", "pause", True) if plays else ("play", "Play", "play", last > 1)
        step = ("forward", "Step", "step", t is not None)
    earlier = last > 1 and t != 1
    names = (
        ("previous", "Previous expansion", "previous", earlier),
        ("back", "Back", "back", earlier),
        middle,
        step,
        ("next", "Next expansion", "next", t is not None),
    )
    return [{"do": do, "name": name, "sign": sign, "on": on} for do, name, sign, on in names]


def handle(runs: Sequence[RunData], wanted: str | int | None) -> None:
    """Do what was pressed, or show the evaluation that was chosen, and draw again."""
    if wanted is None:
        return
    row, owner, manager = runs[0].row, session.owner(), session.manager()
    own = {"pause": manager.pause, "resume": manager.resume, "step": manager.step}
    if isinstance(wanted, str) and wanted in own:
        act(lambda: own[wanted](row.id, owner))
        return
    before = is_playing(runs)
    if isinstance(wanted, int):
        go(runs, None if wanted >= last_of(runs) else max(1, wanted))
    else:
        _move(runs, wanted)
    alone = by_timer() and before == is_playing(runs)  # the page itself has nothing new
    st.rerun(scope="fragment" if alone else "app")


def _move(runs: Sequence[RunData], wanted: str) -> None:
    last = last_of(runs)
    t = shown_t(runs) or last
    grown = sorted(c["t"] for run in runs for c in run.changes if c["event"] == "expanded")
    if wanted == "play":
        go(runs, 1 if t >= last else t, playing=True)
        return
    to = {
        "halt": t,
        "back": max(1, t - 1),
        "forward": t + 1,
        "previous": max((e for e in grown if e < t), default=1),
        "next": min((e for e in grown if e > t), default=last),
        "newest": last,
    }.get(wanted, t)
    go(runs, None if to >= last else to)


def _place(runs: Sequence[RunData]) -> str:
    return f"t {runs[0].row.id}"
