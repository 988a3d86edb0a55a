"""Replay: stored runs as they stood at evaluation t, scrubbed or played, one or two in lockstep."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

import streamlit as st

from dsebo.charts.run import common_span
from dsebo.charts.scales import Scale, default_scale
from dsebo.runs.data import RunData
from dsebo.text import setting_line
from dsebo.ui.controls import heading
from dsebo.ui.inputs import choose_scale
from dsebo.ui.links import write
from dsebo.ui.run import floors
from dsebo.ui.run.watch import show_run

SPEEDS = (2, 5, 10, 25, 50, 100)
TICK = 0.25  # seconds between two pictures while playing
T, PLAYING, SPEED, TICKED = "replay_t", "replay_playing", "replay_speed", "replay_ticked"


def play(runs: Sequence[RunData], asked_t: int | None) -> None:
    """The player under the choice of runs."""
    last = max(run.t for run in runs)
    if asked_t is not None:
        st.session_state[T] = asked_t
    st.session_state[T] = min(max(1, st.session_state.get(T, last)), last)
    playing = st.session_state.get(PLAYING, False)
    st.fragment(run_every=TICK if playing else None)(_refresh)(runs, last)


def _refresh(runs: Sequence[RunData], last: int) -> None:
    _advance(last)
    scale = _controls(runs, last)
    if floors.is_on():
        runs = [floors.with_floor(run) for run in runs]
    t = st.session_state[T]
    write({"t": str(t)}, keep=("run", "with"))
    alike = len({json.dumps(run.row.config["objective"]) for run in runs}) == 1
    columns = st.columns(len(runs), gap="large")
    for column, run, key in zip(columns, runs, "ab", strict=False):
        span = common_span(runs if alike else [run], scale)
        with column:
            _show(run, t, last, key, scale, span, len(runs) > 1)


def _advance(last: int) -> None:
    """While playing, as many evaluations further as time has passed."""
    if not st.session_state.get(PLAYING, False):
        return
    now = time.monotonic()
    passed = now - st.session_state.get(TICKED, now)
    steps = passed * st.session_state.get(SPEED, 10)
    if steps < 1:
        st.session_state.setdefault(TICKED, now)
        return
    st.session_state[TICKED] = now
    st.session_state[T] = min(last, st.session_state[T] + int(steps))
    if st.session_state[T] >= last:
        st.session_state[PLAYING] = False
        st.rerun()  # drops the timer


def _controls(runs: Sequence[RunData], last: int) -> Scale:
    playing = st.session_state.get(PLAYING, False)
    with st.container(horizontal=True, vertical_alignment="center", key="player"):
        label, icon = ("Pause", "pause") if playing else ("Play", "play_arrow")
        if st.button(label, icon=f":material/{icon}:", type="primary", shortcut="P"):
            _toggle(last)
        t, grown = st.session_state[T], {c["t"] for r in runs for c in r.changes if c["event"] == "expanded"}
        _jump("Previous expansion", "skip_previous", max((e for e in grown if e < t), default=1), "Left")
        _jump("Next expansion", "skip_next", min((e for e in grown if e > t), default=last), "Right")
        st.selectbox(
            "Speed",
            SPEEDS,
            index=2,
            format_func=lambda speed: f"{speed} per second",
            key=SPEED,
            label_visibility="collapsed",
            width=150,
        )
        row = runs[0].row
        scale = choose_scale(f"scale {row.id}", default_scale(row.minimum))
        floor = floors.switch()
    if last > 1:
        st.slider("Evaluation t", 1, last, key=T)
    if floor:
        floors.explain(runs)
    return scale


def _toggle(last: int) -> None:
    """Play or pause; playing starts over at the end."""
    playing = not st.session_state.get(PLAYING, False)
    st.session_state[PLAYING] = playing
    st.session_state[TICKED] = time.monotonic()
    if playing and st.session_state[T] >= last:
        st.session_state[T] = 1
    st.rerun()


def _jump(label: str, icon: str, to: int, shortcut: str) -> None:
    st.button(label, icon=f":material/{icon}:", on_click=_go, args=(to,), shortcut=shortcut)


def _go(t: int) -> None:
    st.session_state[T] = t
    st.session_state[PLAYING] = False


def _show(
    run: RunData, t: int, last: int, key: str, scale: Scale, span: tuple[float, float], stacked: bool
) -> None:
    """One run as it stood after evaluation t."""
    then = run.until(t)
    heading(run.row.name, run.row.state, setting_line(run.row.config), run.row.id)
    end = max(last, run.row.budget)
    show_run(then, scale, key, stacked, value_range=span, axis_end=end)
