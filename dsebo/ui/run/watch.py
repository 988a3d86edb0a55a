"""A run on the page, live or as it stood: its timeline, its charts, and under them why."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from dsebo.charts.explain import Entry, feed
from dsebo.charts.run import common_span, drawn_scale, sketch_of
from dsebo.charts.scales import Scale, default_scale, scales_from
from dsebo.runs.data import RunData
from dsebo.store.errors import StoreAway, StoreError
from dsebo.store.rows import RunFilter, RunRow
from dsebo.text import setting_line, typeset
from dsebo.ui import controls, inputs, links, session
from dsebo.ui.cache import SHARED
from dsebo.ui.inputs import choose_scale, segmented
from dsebo.ui.live import live_chart, live_sentence, live_status
from dsebo.ui.refresh import FASTEST, STEADY, Look, keep_watching, pace
from dsebo.ui.run import again, floors, panel, timeline
from dsebo.ui.run.status import sentence, together
from dsebo.ui.wire import Frame

MOST_SIBLINGS = 20
GHOST, BESIDE = "ghost", "with"  # in the session and in the address

Link = Callable[[Mapping[str, str]], None]


def watch(run_id: str, link: Mapping[str, str]) -> None:
    """The run, refreshed by itself until it ends or as long as it is played.

    Its name, buttons and the look of its charts stand outside of what the timer draws again: they
    change with the run's state or by a click, and then the whole page is drawn.
    """
    runs = [_data(run_id), *_beside(run_id)]
    row = runs[0].row
    controls.head(row, _caption(row), lambda: _controls(runs), place="run-head")
    with st.container(key="stage"):
        with st.container(horizontal=True, vertical_alignment="center", key="look"):
            part = links.choose_part(panel.parts_of(row), "run part")
            usual = drawn_scale(_on_one_axis(runs), default_scale(row.minimum))
            scale = choose_scale(f"scale {row.id} {usual}", usual, drawable=scales_from(usual))
            floors.switch()
            siblings(row)
        ids = [run.row.id for run in runs]
        keep_watching(lambda: _look(ids), lambda runs: _show(runs, scale, part, link))


def _on_one_axis(runs: Sequence[RunData]) -> list[RunData]:
    """The runs that share the first one's value axis, with what is drawn behind them."""
    alike = [run for run in runs if run.row.config["objective"] == runs[0].row.config["objective"]]
    shared = runs if len(alike) == len(runs) else runs[:1]
    ghosts = [_ghost(run.row, runs) for run in shared]
    return [*shared, *(ghost for ghost in ghosts if ghost)]


def _caption(row: RunRow) -> str:
    """Its note, if it has one, and its setting."""
    return f"{row.note} · {setting_line(row.config)}" if row.note else setting_line(row.config)


def _data(run_id: str) -> RunData:
    return SHARED.data(session.manager().store, run_id)


def _beside(run_id: str) -> list[RunData]:
    """The second run of a lockstep, if there is one."""
    other = st.session_state.get(BESIDE)
    try:
        return [_data(other)] if other and other != run_id else []
    except StoreAway:
        raise
    except StoreError:  # it has been deleted for good meanwhile
        return []


def _look(ids: Sequence[str]) -> Look[list[RunData]]:
    runs = [_data(run_id) for run_id in ids]
    timeline.advance(runs)
    plays = timeline.is_playing(runs)
    at_work = [run for run in runs if not run.ended]
    every = timeline.TICK if plays else None
    if at_work and not plays:
        # A run at full speed wants the machine, which is often the reader's own.
        hurries = any(run.row.state == "running" and run.row.speed is None for run in at_work)
        at_rest = all(run.row.state in ("paused", "queued") for run in at_work)
        every = pace(ids[0], at_rest, STEADY if hurries else FASTEST)
    begun = tuple((run.row.state, bool(run.changes)) for run in runs)
    return Look(runs, (begun, plays), every)


def _controls(runs: Sequence[RunData]) -> None:
    """What can be done with the run, beside what its timeline has."""
    controls.run_controls(runs[0].row, timeline.SPEED, timeline.SPEEDS, timeline.USUAL)
    if not runs[0].row.parsed.unavailable():
        again.fork(runs[0])
        again.run_again(runs[0].row)
    with st.popover("More", help="Another run beside this one or behind it; a note; more evaluations."):
        _choose_other("Beside it, in lockstep", BESIDE)
        _choose_other("Behind it, in grey", GHOST)
        controls.note(runs[0].row)
        controls.extend(runs[0].row)


def _choose_other(title: str, place: str) -> None:
    chosen = inputs.choose_run(title, f"choose {place}", st.session_state.get(place), none=True)
    if chosen != st.session_state.get(place):
        st.session_state[place] = chosen
        st.rerun()


def siblings(row: RunRow) -> None:
    """The repeats that were launched together, by seed."""
    if not row.group:
        return
    rows = session.manager().store.list_runs(RunFilter(group=row.group), limit=MOST_SIBLINGS)
    rows = [other for other in rows if {**other.config, "seed": row.seed} == row.config]
    if len(rows) < 2:
        return
    seeds = {other.seed: other.id for other in sorted(rows, key=lambda other: other.seed)}
    st.markdown("Seed", width="content")
    seed = segmented("Seed", list(seeds), f"seed {row.id}", row.seed)
    if st.button("Compare", type="tertiary", help="All of these seeds together, in Experiments."):
        links.go("experiments", show="compare", runs=",".join(run_id[:12] for run_id in seeds.values()))
    if seed != row.seed:
        st.session_state["run"] = seeds[seed]
        st.rerun()


# --- what is drawn again and again -----------------------------------------------------------------


def _show(runs: Sequence[RunData], scale: Scale, part: str, link: Mapping[str, str]) -> None:
    t = timeline.shown_t(runs)
    links.write({**link, **({} if t is None else {"t": str(t)})})
    whole = [floors.with_floor(run) for run in runs] if floors.is_on() else list(runs)
    shown = whole if t is None else [run.until(t) for run in whole]
    first = shown[0]
    numbers, progress = together(shown, t is None)
    bar = {"progress": {"text": progress}, "numbers": numbers, "timeline": timeline.timeline(runs)}
    timeline.handle(runs, live_status(bar, key="status"))
    if len(runs) == 1:
        _show_one(first, whole[0], scale, part, t is None)
    else:
        _show_two(shown, whole, scale, part, t is None)
    if floors.is_on() or part == "bound":
        with st.container(key="reachable"):
            floors.explain(runs, legend=floors.is_on())


def _show_one(data: RunData, whole: RunData, scale: Scale, part: str, live: bool) -> None:
    ghost = _ghost(data.row)
    drawn = [whole, *([ghost] if ghost else [])]
    scale = drawn_scale(drawn, scale)
    drawing: dict[str, Any] = {"axis_end": _axis_end([whole], drawn), "ghost": ghost}
    if not live:  # the axes stay as they will be
        drawing["value_range"], drawing["largest_d"] = common_span(drawn, scale), _largest_d(drawn)
    _chart(data, scale, "", drawing)
    entries = feed(data.events)
    _say(data, entries, live, ghost)
    with st.container(horizontal=part == "why", gap="large", key="beside" if part == "why" else "panel"):
        panel.show(part, data, whole, entries)


def _show_two(
    shown: Sequence[RunData], whole: Sequence[RunData], scale: Scale, part: str, live: bool
) -> None:
    """Two runs in lockstep, each with its numbers over its charts and its ghost behind them."""
    alike = len({json.dumps(run.row.config["objective"]) for run in whole}) == 1
    ghosts = [_ghost(run.row, whole) for run in whole]
    drawn = [*whole, *(ghost for ghost in ghosts if ghost)]
    end, largest = _axis_end(whole, drawn), _largest_d(drawn)
    columns = st.columns(len(shown), gap="large")
    for column, data, all_of_it, ghost, key in zip(columns, shown, whole, ghosts, "ab", strict=True):
        shared = drawn if alike else [all_of_it, *([ghost] if ghost else [])]
        own_scale = drawn_scale(shared, scale)
        span = common_span(shared, own_scale)
        with column:
            row = data.row
            controls.heading(row.name, row.state, _caption(row), f"{key} {row.id}")
            drawing = {"axis_end": end, "value_range": span, "largest_d": largest, "ghost": ghost}
            _chart(data, own_scale, key, drawing)
            entries = feed(data.events)
            _say(data, entries, live, ghost, key)
            with st.container(key=f"stacked{key}"):
                panel.show(part, data, all_of_it, entries, key)


def _say(data: RunData, entries: Sequence[Entry], live: bool, ghost: RunData | None, key: str = "") -> None:
    """What is to be known at this moment, under the charts."""
    newest = sentence(data, entries, live)
    if ghost is not None:
        newest["grey"] = typeset(f"In grey: {ghost.row.name}, {setting_line(ghost.row.config)}")
    again.take_advice(data, live_sentence(newest, key=f"sentence{key}"))


def _axis_end(runs: Sequence[RunData], drawn: Sequence[RunData]) -> int:
    """The whole budget while there is something to come; then what was made of it; all that is drawn."""
    ends = [run.t if run.row.state in ("cancelled", "failed") else run.row.budget for run in runs]
    return max(1, *ends, *(run.t for run in drawn))


def _largest_d(runs: Sequence[RunData]) -> float | None:
    """The largest subspace that any of them comes to, if only by its last expansion."""
    dims = [float(run.evaluations["d"].max()) for run in runs if run.t]
    return max([*dims, *(float(change["d_to"]) for run in runs for change in run.changes)], default=None)


def _chart(data: RunData, scale: Scale, key: str, drawing: dict[str, Any]) -> None:
    place = panel.chosen_place(data, key)
    figure = _figure(data, scale, st.session_state.get(place), **drawing)
    panel.choose(place, live_chart(figure, key=f"chart{key}"))


def _ghost(row: RunRow, shown: Sequence[RunData] = ()) -> RunData | None:
    """The run to draw behind it: that of the address, else its own; None where it is gone or `shown`."""
    run_id = st.session_state.get(GHOST) or row.ghost
    drawn = {row.id, *(run.row.id for run in shown)}
    try:
        ghost = None if run_id is None or run_id in drawn else _data(run_id)
    except StoreAway:
        raise
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
        *((thing.row.id, thing.t) if isinstance(thing, RunData) else thing for thing in drawing.values()),
        data.evaluations["floor"].to_numpy().tobytes() if "floor" in data.evaluations else None,
    )
    return SHARED.figure(key, lambda: sketch_of(data, scale, chosen, **drawing))
