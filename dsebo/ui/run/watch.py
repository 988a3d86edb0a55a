"""A run on the page: where it stands, its charts, and what just happened, in words."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dsebo.charts.explain import feed, steps
from dsebo.charts.minds import mind_sketch
from dsebo.charts.run import sketch_of
from dsebo.charts.scales import Scale, default_scale
from dsebo.runs.data import CHANGES, RunData
from dsebo.store.errors import StoreError
from dsebo.store.rows import RunFilter, RunRow
from dsebo.text import plain, setting_line
from dsebo.ui import controls, links, session
from dsebo.ui.cache import SHARED
from dsebo.ui.inputs import choose_scale, segmented
from dsebo.ui.live import live_chart, live_feed
from dsebo.ui.refresh import GOES_ON, Look, keep_watching, pace
from dsebo.ui.run import floors
from dsebo.ui.run.status import status
from dsebo.ui.wire import Frame

STATE_WORDS = {
    "queued": "Waiting for a free place: others are at work. It starts by itself.",
    "interrupted": "The server stopped while this run was at work. Every evaluation is kept; "
    "Resume carries on as if nothing had happened.",
    "stalled": "No sign of life from the process that worked on this run. Resume takes it over.",
    "cancelled": "Cancelled. What it found until then is below.",
    "paused": "Paused. Step makes one evaluation, Resume lets it run.",
}
IMPORTED_WORDS = "Imported: this is what a file says, not what was computed here."
INTERRUPTED = "This run was interrupted. Every evaluation is kept; Resume carries on. The reason:"
MOST_SIBLINGS = 20


def watch(run_id: str) -> None:
    """The run, refreshed by itself until it ends.

    Its name, buttons and the look of its charts stand outside of what the timer draws again: they
    change with the run's state or by a click, and then the whole page is drawn.
    """
    data = _data(run_id)
    siblings(data.row)
    controls.head(
        data.row.name,
        data.row.state,
        setting_line(data.row.config),
        lambda: controls.run_controls(data.row),
        data.row.id,
    )
    with st.container(horizontal=True, vertical_alignment="center", key="look"):
        scale = choose_scale(f"scale {data.row.id}", default_scale(data.row.minimum))
        floors.switch()
    keep_watching(lambda: _look(data.row.id), lambda data: _show(data, scale))


def _show(data: RunData, scale: Scale) -> None:
    show_state(data.row)
    show_run(data, scale, live=True)


def _data(run_id: str) -> RunData:
    return SHARED.data(session.manager().store, run_id)


def _look(run_id: str) -> Look[RunData]:
    data = _data(run_id)
    every = None if data.ended else pace(run_id, data.row.state in ("paused", "queued"))
    return Look(data, data.row.state, every)


def siblings(row: RunRow) -> None:
    """The repeats that were launched together, by seed."""
    rows = session.manager().store.list_runs(RunFilter(group=row.group), limit=MOST_SIBLINGS)
    rows = [other for other in rows if {**other.config, "seed": row.seed} == row.config]
    if not row.group or len(rows) < 2:
        return
    seeds = {other.seed: other.id for other in sorted(rows, key=lambda other: other.seed)}
    with st.container(horizontal=True, vertical_alignment="center", key="siblings"):
        st.markdown("Seed", width="content")
        seed = segmented("Seed", list(seeds), f"seed {row.id}", row.seed)
        if st.button("Compare them", type="tertiary"):
            links.go("experiments", show="compare", runs=",".join(run_id[:12] for run_id in seeds.values()))
    if seed != row.seed:
        st.session_state["run"] = seeds[seed]
        st.rerun()


def show_state(row: RunRow) -> None:
    """What a state means that is not plain work, and why it ended where nobody had asked for that."""
    if row.imported:
        st.info(IMPORTED_WORDS)
    if waiting := session.manager().waiting(row.id):
        st.warning(f"{plain(waiting)} {GOES_ON}")
    elif row.state == "failed":
        st.error(f"This run failed. {plain(row.error or 'No reason was recorded.')}")
    elif row.state in ("interrupted", "stalled") and row.error:
        st.warning(f"{INTERRUPTED} {plain(row.error)}")
    elif row.state in STATE_WORDS:
        st.info(STATE_WORDS[row.state])


def show_run(
    data: RunData, scale: Scale, key: str = "", stacked: bool = False, live: bool = False, **drawing: Any
) -> None:
    """Where it stands, the charts, the feed and the formula; one choice is shown in all."""
    place = f"chosen{key} {data.row.id}"
    if floors.is_on() and "floor" not in data.evaluations:
        data = floors.with_floor(data)
    entries = feed(data.events)
    status(data, entries, key, live)
    if not data.t and data.row.state == "queued":
        return
    if live and floors.is_on():
        floors.explain([data])
    if live and (ghost := _ghost(data.row)) is not None:
        drawing["ghost"] = ghost
        st.caption(f"In grey: {plain(ghost.row.name)}, {plain(setting_line(ghost.row.config))}")
    figure = _figure(data, scale, st.session_state.get(place), **drawing)
    _choose(place, live_chart(figure, key=f"chart{key}"))
    beside = "stacked" if stacked else "beside"  # one element where two columns would be three
    with st.container(horizontal=not stacked, gap="large", key=f"{beside}{key}"):
        event = data.chosen(st.session_state.get(place))
        shown = [{"t": entry.t, "text": entry.in_words, "choose": entry.kind in CHANGES} for entry in entries]
        _choose(place, live_feed(shown, event["t"] if event else None, key=f"feed {place}"))
        _show_formula(data, place)
    if (mind := mind_sketch(data.events, data.row.budget)) is not None:
        live_chart(SHARED.figure(("mind", data.row.id, data.t, len(data.events)), lambda: mind), f"mind{key}")


def _ghost(row: RunRow) -> RunData | None:
    """The run to draw behind it: that of the address, else its own; None where it is gone."""
    run_id = st.session_state.get("ghost") or row.ghost
    try:
        ghost = None if run_id in (None, row.id) else _data(run_id)
    except StoreError:
        return None
    return None if ghost is None or ghost.row.deleted_at is not None else ghost


def _figure(data: RunData, scale: Scale, chosen: int | None, **drawing: Any) -> Frame:
    """The charts, drawn once for all who watch."""
    event = data.chosen(chosen)
    key = (
        data.row.id,
        data.t,
        len(data.events),
        data.row.budget,
        data.row.at_centre,
        scale,
        event["t"] if event else None,
        *((one.row.id, one.t) if isinstance(one, RunData) else one for one in drawing.values()),
        data.evaluations["floor"].to_numpy().tobytes() if "floor" in data.evaluations else None,
    )
    return SHARED.figure(key, lambda: sketch_of(data, scale, chosen, **drawing))


def _choose(place: str, clicked: int | None) -> None:
    """A click on a convergence shows it everywhere."""
    if clicked is not None and clicked != st.session_state.get(place):
        st.session_state[place] = clicked
        st.rerun(scope="fragment")


def _show_formula(data: RunData, place: str) -> None:
    """Algorithm 1 with the numbers of the chosen convergence."""
    event = data.chosen(st.session_state.get(place))
    if event is None or data.row.method != "dsebo":
        return
    config = data.config_at(event["t"])
    lines = steps(event, config["optimizer"], config["budget"])
    body = "\n\n".join(f":gray[{step.words}]\n\n$$\n{step.latex}\n$$" for step in lines)
    st.markdown(f"#### Algorithm 1 at evaluation {event['t']}\n\n{body}")
