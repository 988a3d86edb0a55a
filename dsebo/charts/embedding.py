"""Pictures of the shared embedding: S, a z with its padded z', what is clipped, what moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from dsebo.analysis.embedding_use import Indices, Moves, Shared
from dsebo.charts import theme
from dsebo.charts.theme import Sketch
from dsebo.embedding import Array

SCALE = [[0.0, theme.BLUE], [0.5, theme.faint(theme.GREY, 0.1)], [1.0, theme.VERMILLION]]
DIM = 0.16  # opacity of the columns that are not in use


def matrix_figure(S: Array, d: int, effective: int) -> go.Figure:
    """S as an image, its first d columns lit."""
    rows, d_h = S.shape
    sketch = _sketch(
        380,
        "S: each column is a direction; those in use are lit",
        {
            "xaxis": theme.axis(
                title=theme.axis_title("column of S"), range=[0.5, d_h + 0.5], showgrid=False, ticks=""
            ),
            "yaxis": theme.axis(range=[rows - 0.5, -0.5], showgrid=False, showticklabels=False, ticks=""),
        },
    )
    reach = float(np.quantile(np.abs(S), 0.99)) or 1.0
    for first, last, opacity in ((0, d, 1.0), (d, d_h, DIM)):
        if first < last:
            sketch.traces.append(
                {
                    "type": "heatmap",
                    "z": S[:, first:last].astype(np.float32),
                    "x0": first + 1,
                    "dx": 1,
                    "zmin": -reach,
                    "zmax": reach,
                    "colorscale": SCALE,
                    "opacity": opacity,
                    "showscale": False,
                    "hoverinfo": "skip",
                }
            )
    # The first begins at the top, as there may be less room beside its rows than it takes.
    for at, text, anchor in ((0, "effective x", "top"), ((rows + effective) / 2, "other x", "middle")):
        sketch.note(text, xref="paper", x=0, xshift=-30, textangle=-90, yref="y", y=at, yanchor=anchor)
    return sketch.figure()


def shared_figure(shared: Shared, shown: Indices, effective: int) -> go.Figure:
    """z, z' and the x that both give, in three rows."""
    between = {"y": (0.78, 1.0), "y2": (0.41, 0.61), "y3": (0.0, 0.24)}
    titles = {
        "y": f"z: {len(shared.z)} numbers",
        "y2": f"z′ = (z, 0): {len(shared.padded)} numbers",
        "y3": "x: the same from both",
    }
    layout: dict[str, Any] = {}
    for row, domain in between.items():
        layout[row.replace("y", "yaxis")] = theme.axis(
            domain=domain, range=[-1.08, 1.08], nticks=3, anchor=row.replace("y", "x")
        )
    widest = len(shared.padded)
    for row in ("x", "x2"):
        layout[row.replace("x", "xaxis")] = theme.axis(
            range=[0, widest + 1], showgrid=False, anchor=row.replace("x", "y"), nticks=8
        )
    layout["xaxis3"] = _coordinates(shown) | {"anchor": "y3"}
    sketch = _sketch(540, "", layout)
    sketch.notes += [theme.heading(titles[row], domain[1]) for row, domain in between.items()]
    for row, values in (("", shared.z), ("2", shared.padded)):
        sketch.bar(
            x=np.arange(1, len(values) + 1),
            y=values.astype(np.float32),
            xaxis=f"x{row}",
            yaxis=f"y{row}",
            marker={"color": theme.ORANGE, "line": {"width": 0}},
            hovertemplate="%{y:.3f}<extra></extra>",
        )
    added = np.arange(len(shared.z) + 1, widest + 1)
    _dots(sketch, added, np.zeros(len(added)), theme.GREY, "x2", "y2", 4)
    x = shared.x[shown]
    _dots(sketch, np.arange(effective), x[:effective], theme.VERMILLION, "x3", "y3", 7)
    _dots(sketch, np.arange(effective, len(x)), x[effective:], theme.SKY, "x3", "y3", 5)
    return sketch.figure()


def clipped_figure(clipped: np.ndarray, D: int, t: int) -> go.Figure:
    """How many coordinates of x are cut off at the box, at each evaluation."""
    sketch = _sketch(
        280,
        f"Clipped coordinates of x, of D = {D}",
        {"xaxis": theme.iteration_axis(len(clipped)), "yaxis": theme.axis(rangemode="tozero", nticks=5)},
    )
    sketch.scatter(
        x0=1,
        dx=1,
        y=clipped.astype(np.int32),
        mode="lines",
        name="clipped",
        line={"color": theme.BLUE, "width": 2, "shape": "hv"},
        hovertemplate="%{y}<extra></extra>",
    )
    sketch.upright(t, "y")
    return sketch.figure()


def moved_figure(moves: Moves, shown: Indices, effective: int) -> go.Figure:
    """The interval that each shown coordinate covered, the effective ones marked."""
    sketch = _sketch(
        300,
        "What each coordinate covered",
        {"xaxis": _coordinates(shown), "yaxis": theme.axis(range=[-1.08, 1.08], nticks=5)},
    )
    low, high = moves.low[shown], moves.high[shown]
    for first, last, colour, width in (
        (0, effective, theme.VERMILLION, 4),
        (effective, len(shown), theme.SKY, 2),
    ):
        at = np.arange(first, last, dtype=float)
        gaps = np.full(last - first, np.nan)
        sketch.scatter(
            x=np.column_stack([at, at, at]).ravel(),
            mode="lines",
            hoverinfo="skip",
            y=np.column_stack([low[first:last], high[first:last], gaps]).ravel(),
            line={"color": colour, "width": width},
        )
    return sketch.figure()


def _coordinates(shown: Indices) -> dict[str, Any]:
    title = theme.axis_title("coordinates of x, the effective ones first")
    return theme.axis(showgrid=False, showticklabels=False, range=[-1, len(shown)], title=title)


def _sketch(height: int, title: str, layout: dict[str, Any]) -> Sketch:
    whole = {**theme.base_layout(height), "meta": {"quiet": True}, **layout}
    return Sketch(whole, notes=[theme.heading(title, 1)] if title else [])


def _dots(sketch: Sketch, at: np.ndarray, y: Array, colour: str, xaxis: str, yaxis: str, size: int) -> None:
    sketch.scatter(
        x=at,
        y=y.astype(np.float32),
        xaxis=xaxis,
        yaxis=yaxis,
        mode="markers",
        marker={"color": colour, "size": size, "line": {"width": 0}},
        hovertemplate="%{y:.3f}<extra></extra>",
    )
