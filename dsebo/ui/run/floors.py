"""The floor on a page: a switch, the background computation, and what it says of a run."""

from __future__ import annotations

import weakref
from collections.abc import Sequence

import streamlit as st

from dsebo.analysis.floor import NoFloor, applies
from dsebo.analysis.verdicts import floor_line, lowered, verdicts
from dsebo.charts import theme
from dsebo.charts.explain import VERDICT
from dsebo.runs.data import RunData
from dsebo.runs.floor_service import FloorService, FloorStatus
from dsebo.runs.manager import RunManager
from dsebo.store.errors import StoreError
from dsebo.text import count, plain
from dsebo.ui import session
from dsebo.ui.refresh import Look, keep_watching

SWITCH, KEPT = "floor", "floor kept"
POLL = 1.0  # seconds between two looks at a computation under way
HELP = (
    "The best value that any point of the current subspace reaches, found by a search with "
    "gradients: an upper bound of the true floor."
)
LEGEND = (
    '<div style="font-size:1rem">'
    f'<span style="color:{theme.BLUE};opacity:.55">■</span> optimization error: '
    "only more evaluations remove it&ensp; "
    f'<span style="color:{theme.PURPLE}">■</span> approximation error: only a larger d removes it'
    "&ensp; — the line between them is the floor, an upper bound of the true one</div>"
)

_services: weakref.WeakKeyDictionary[RunManager, FloorService] = weakref.WeakKeyDictionary()


def service() -> FloorService:
    """The one of this server."""
    manager = session.manager()
    if manager not in _services:
        _services[manager] = FloorService(manager.store)
    return _services[manager]


def switch() -> bool:
    """Whether the reader wants to see the floor; the same on every page."""
    if SWITCH not in st.session_state:
        st.session_state[SWITCH] = st.session_state.get(KEPT, False)
    wanted = st.toggle("Reachable", key=SWITCH, help=HELP)
    st.session_state[KEPT] = wanted
    return wanted


def turn(on: bool) -> None:
    """What a link or a demonstration asks for."""
    st.session_state[KEPT] = on
    st.session_state.pop(SWITCH, None)


def is_on() -> bool:
    """Whether the switch is on."""
    return bool(st.session_state.get(SWITCH, st.session_state.get(KEPT, False)))


def status(data: RunData) -> FloorStatus:
    """What is known of the floors of a run; NoFloor where it has none."""
    dims = data.visited
    config = data.row.parsed
    applies(config)
    if data.started is None or not dims:
        return FloorStatus({}, 0)
    return service().want(config, dims, data.started["checksum"] or "")


def with_floor(data: RunData) -> RunData:
    """The run with its floor as one more column and a verdict on each expansion."""
    try:
        floors = status(data).floors
    except (NoFloor, StoreError):  # `explain` says so
        return data
    d = data.evaluations["d"].to_numpy(dtype=float)
    best = data.evaluations["best"].to_numpy(dtype=float)
    judged = verdicts(data.changes, lowered(floors, d, best), data.row.minimum)
    texts = {verdict.t: verdict.text for verdict in judged}
    events = [
        {**event, VERDICT: texts[event["t"]]}
        if event["event"] == "expanded" and event["t"] in texts
        else event
        for event in data.events
    ]
    frame = data.evaluations.assign(floor=floor_line(d, best, floors))
    return RunData(data.row, frame, events)


def explain(runs: Sequence[RunData], legend: bool = True) -> None:
    """What the colours mean, how far the computation is, and where there is no floor."""
    known, refused = _statuses(runs)
    done = sum(status.done for status in known)
    if done and legend:
        st.html(LEGEND)
    for sentence in dict.fromkeys(refused + [status.error for status in known if status.error]):
        st.caption(plain(sentence))
    if any(status.running for status in known):
        total = sum(status.total for status in known)
        st.caption(f"{done} of {count(total, 'floor')} computed; the rest is under way.")
        keep_watching(lambda: _look(runs), lambda _: None)


def _statuses(runs: Sequence[RunData]) -> tuple[list[FloorStatus], list[str]]:
    """(what is known of the floors of those runs that have some, why others have none)."""
    known, refused = [], []
    for run in runs:
        try:
            known.append(status(run))
        except (NoFloor, StoreError) as error:
            refused.append(str(error))
    return known, refused


def _look(runs: Sequence[RunData]) -> Look[None]:
    """The page is drawn again when there is more to show."""
    known, _ = _statuses(runs)
    running = any(status.running for status in known)
    return Look(None, (sum(status.done for status in known), running), POLL if running else None)


def progress(runs: Sequence[RunData]) -> None:
    """How far the floors are, on a page that shows nothing else until they are known."""
    with st.container(key="floor-progress"):
        explain(runs, legend=False)
