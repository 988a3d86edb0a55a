"""The third row of a run's chart: the slopes that decide how far the subspace grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dsebo.charts import theme
from dsebo.charts.sketch import Sketch
from dsebo.text import number

Event = dict[str, Any]


def draw_slopes(sketch: Sketch, changes: Sequence[Event], event: Event | None, budget: int) -> None:
    """A bar for each slope, at the convergence that produced it; the deciding one stands out.

    A convergence that did not expand is not recorded: its slope is drawn hollow.
    """
    sloped = [change for change in changes if change["slopes"]]
    t = np.array([change["t"] for change in sloped], dtype=float)
    newest = np.array([change["slopes"][-1] for change in sloped], dtype=float)
    colours = [theme.VERMILLION if c is event else theme.GREEN for c in sloped]
    kept = [c["event"] == "expanded" for c in sloped]
    fills = [c if solid else theme.faint(c, 0.25) for c, solid in zip(colours, kept, strict=True)]
    gaps = np.diff(t)
    width = max(0.5, min(budget * 0.012, 0.8 * gaps.min() if gaps.size else budget))
    sketch.bar(
        x=t,
        y=newest,
        yaxis="y3",
        name="slope",
        width=width,
        customdata=[_decision(change) for change in sloped],
        hovertemplate="%{y:.3~g}, %{customdata}",
        marker={"color": fills, "line": {"color": colours, "width": 1.5}},
    )
    high = max(float(newest.max(initial=0.0)), 0.0) or 1.0
    sketch.layout["yaxis3"]["range"] = [min(0.0, float(newest.min(initial=0.0))), high * 1.75]
    left = event is not None and event["t"] > 0.8 * budget  # s_min, s_max: away from the chosen bar
    for change, slope in zip(sloped, newest, strict=True):
        near = change["t"] < 0.14 * budget if left else change["t"] > 0.86 * budget
        if change is event or not near:
            _label_bar(sketch, change, float(slope), change is event, budget)
    _mark_extremes(sketch, event, left)


def _decision(change: Event) -> str:
    """k and the step, as text: `k = 0.50, Δd 7 → 3`."""
    before, after = change["delta_before"], change["delta_after"]
    step = f"Δd = {after}" if before is None else f"Δd {before} → {after}"
    return step if change["k"] is None else f"k = {change['k']:.2f}, {step}"


def _label_bar(sketch: Sketch, change: Event, slope: float, chosen: bool, budget: int) -> None:
    """k and Δd above a bar. The browser drops labels for which there is no room."""
    at_end = change["t"] > 0.93 * budget
    sketch.note(
        text=_decision(change).replace(", ", "<br>"),
        x=change["t"],
        y=max(slope, 0.0),
        yref="y3",
        yanchor="bottom",
        xanchor="right" if at_end else "center",
        align="center",
        name="bar chosen" if chosen else "bar",
        font={"color": theme.VERMILLION} if chosen else {},
    )


def _mark_extremes(sketch: Sketch, event: Event | None, left: bool) -> None:
    """s_min and s_max, between which the newest slope is scaled."""
    if event is None or event["k"] is None:
        return
    high = sketch.layout["yaxis3"]["range"][1]
    apart = event["s_max"] - event["s_min"] > 0.2 * high
    below = "bottom" if apart else "top"  # the two names must not stand on each other
    place = {"x": 0, "xanchor": "left"} if left else {"x": 1, "xanchor": "right"}
    marks = ((event["s_max"], "sₘₐₓ", "bottom"), (event["s_min"], "sₘᵢₙ", below))
    for value, label, side in marks:
        sketch.line(
            xref="paper",
            x0=0,
            x1=1,
            yref="y3",
            y0=value,
            y1=value,
            line={"color": theme.GREY, "width": 1.5, "dash": "dot"},
        )
        sketch.note(
            text=f"{label} = {number(value, 3)}",
            xref="paper",
            yref="y3",
            y=value,
            yanchor=side,
            name="over",
            **place,
        )
