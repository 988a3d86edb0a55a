"""Pictures of the best point on a real task: the features of a Lasso, a molecule, a place among rows."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from dsebo.charts import theme
from dsebo.charts.theme import Sketch
from dsebo.objectives.lasso import IN_SUPPORT, Support
from dsebo.objectives.limo import Molecule
from dsebo.objectives.mslr import EXTRAPOLATED, Placement
from dsebo.text import number

Portraits = Sequence[tuple[int, Any]]  # (t, what was found there) of the improvements, the oldest first
MOST_ROWS = 400  # points of the line through all rows


def portrait_sketch(portraits: Portraits, budget: int, t: int) -> Sketch:
    """The newest of them, and how it came to that until evaluation t."""
    return _draw(portraits[-1][1], [*portraits, (t, portraits[-1][1])], budget)


@singledispatch
def _draw(newest: object, portraits: Portraits, budget: int) -> Sketch:
    raise TypeError(f"There is no picture of {newest!r}.")


@_draw.register
def _support(newest: Support, portraits: Portraits, budget: int) -> Sketch:
    """Weights of all features, true and found; below, F1 of the support over the evaluations."""
    active = int(np.sum(newest.true != 0))
    title = (
        f"{newest.hits} of {active} true features found, {newest.false} others: "
        f"F₁ = {number(newest.f1, 3)} at evaluation {portraits[-2][0]}"
    )
    sketch = _stacked(title, "F₁ of the features found: 1 is all of them and no others", budget)
    features = np.arange(1, len(newest.true) + 1)
    sketch.layout["xaxis"] = theme.axis(
        range=[0, len(features) + 1], anchor="y", showgrid=False, title=theme.axis_title("feature")
    )
    in_support = np.abs(newest.found) > IN_SUPPORT
    width = max(1.0, len(features) / 240)
    for chosen, weights, name, colour in (
        (newest.true != 0, newest.true, "true weight", theme.faint(theme.GREY, 0.45)),
        (in_support & (newest.true != 0), newest.found, "found, true", theme.BLUE),
        (in_support & (newest.true == 0), newest.found, "found, false", theme.VERMILLION),
    ):
        sketch.bar(
            x=features[chosen],
            y=weights[chosen].astype(np.float32),
            name=name,
            width=2 * width if name == "true weight" else width,
            marker={"color": colour, "line": {"width": 0}},
            hovertemplate=f"feature %{{x}}: %{{y:.3~g}}<extra>{name}</extra>",
            showlegend=True,
        )
    sketch.layout |= {"barmode": "overlay", "showlegend": True}
    _over_time(sketch, portraits, [shown.f1 for _, shown in portraits], (0.0, 1.05))
    return sketch


@_draw.register
def _molecule(newest: Molecule, portraits: Portraits, budget: int) -> Sketch:
    """RDKit's drawing of the best molecule; below, its penalised logP over the evaluations."""
    parts = f"logP {number(newest.logp, 3)} − accessibility {number(newest.accessibility, 3)}"
    ring = f" − ring {newest.ring_excess}" if newest.ring_excess else ""
    title = f"Penalised logP {number(newest.value, 3)} = {parts}{ring}, evaluation {portraits[-2][0]}"
    sketch = _stacked(title, "Penalised logP (LIMO-style, our own smaller VAE)", budget)
    hidden = theme.axis(visible=False, range=[0, 1], fixedrange=True)
    low, high = sketch.layout["yaxis"]["domain"]
    sketch.layout |= {"xaxis": {**hidden, "anchor": "y"}, "yaxis": {**hidden, "domain": [low, high]}}
    drawing = base64.b64encode(newest.svg(720, 260).encode()).decode()
    place = {"xref": "paper", "yref": "paper", "x": 0, "y": high, "sizex": 1, "sizey": high - low}
    source = f"data:image/svg+xml;base64,{drawing}"
    sketch.layout["images"] = [{"source": source, **place, "sizing": "contain", "layer": "above"}]
    sketch.scatter(  # what one may copy; the drawing itself says nothing to a pointer
        x=[0.5],
        y=[0.5],
        mode="markers",
        marker={"opacity": 0, "size": 60},
        hovertemplate=f"{newest.smiles}<extra></extra>",
        showlegend=False,
    )
    values = [shown.value for _, shown in portraits]
    _over_time(sketch, portraits, values, _around(values))
    return sketch


@_draw.register
def _placement(newest: Placement, portraits: Portraits, budget: int) -> Sketch:
    """Predictions of all rows in order, and the place of the point; below, its prediction over time."""
    n = len(newest.predictions)
    rows = "synthetic rows" if newest.synthetic else "genuine rows"
    where = f"above all {n}" if newest.place == 1 else f"place {newest.place} among {n}"
    title = f"Predicted relevance {number(newest.found, 3)}: {where} {rows}, evaluation {portraits[-2][0]}"
    sketch = _stacked(title, "Predicted relevance of the best point", budget)
    sketch.layout["xaxis"] = theme.axis(
        range=[0, n * 1.02], anchor="y", showgrid=False, title=theme.axis_title(f"{rows}, in order")
    )
    chosen = np.unique(np.linspace(0, n - 1, min(n, MOST_ROWS)).round().astype(int))
    sketch.scatter(
        x=chosen + 1,
        y=newest.predictions[chosen].astype(np.float32),
        name=f"the {rows}",
        mode="lines",
        line={"color": theme.GREY, "width": 2},
        hovertemplate="row %{x}: %{y:.3~g}<extra></extra>",
        showlegend=True,
    )
    sketch.scatter(
        x=[n + 1 - (newest.place - 1)],
        y=[newest.found],
        name="found",
        mode="markers",
        marker={"color": theme.BLUE, "size": 11},
        hovertemplate=f"{where}: %{{y:.3~g}}<extra>found</extra>",
        showlegend=True,
    )
    sketch.layout["showlegend"] = True
    sketch.note(
        EXTRAPOLATED.replace(". ", ".<br>", 1).replace(" is extra", "<br>is extra"),
        xref="paper",
        yref="paper",
        x=0.02,
        y=0.92,
        xanchor="left",
        yanchor="top",
        align="left",
    )
    values = [shown.found for _, shown in portraits]
    _over_time(sketch, portraits, values, _around(values))
    return sketch


def _around(values: Sequence[float]) -> tuple[float, float]:
    """Them all, with some air."""
    low, high = min(values), max(values)
    air = 0.1 * (high - low) or 0.5
    return low - air, high + air


def _stacked(above: str, below: str, budget: int) -> Sketch:
    """Two rows with axes of their own: the picture, and a number of it over the evaluations."""
    layout = theme.base_layout(460) | {
        "meta": {"quiet": True},
        "legend": {"orientation": "h", "x": 1, "xanchor": "right", "y": 0.94, "yanchor": "bottom"},
        "yaxis": theme.axis(domain=[0.46, 0.93], anchor="x", nticks=5),
        "xaxis2": theme.iteration_axis(budget, "y2"),
        "yaxis2": theme.axis(domain=[0.0, 0.24], anchor="x2", nticks=4),
    }
    return Sketch(layout, notes=[theme.heading(above, 1.0), theme.heading(below, 0.28)])


def _over_time(
    sketch: Sketch, portraits: Portraits, values: Sequence[float], between: tuple[float, float]
) -> None:
    """A number of each picture, as steps from its evaluation to the next."""
    t = [t for t, _ in portraits]
    sketch.layout["yaxis2"]["range"] = list(between)
    sketch.scatter(
        x=np.array(t),
        y=np.array(values),
        xaxis="x2",
        yaxis="y2",
        mode="lines+markers",
        line={"color": theme.BLUE, "width": 2.5, "shape": "hv"},
        marker={"size": 5},
        hovertemplate="evaluation %{x}: %{y:.3~g}<extra></extra>",
        showlegend=False,
    )
