"""Groups of runs over one iteration axis: best value, dimension and slopes, with bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from dsebo.analysis.curves import Array, BandKind, band
from dsebo.charts import scales, theme
from dsebo.charts.error_split import draw_errors
from dsebo.charts.run import ALONE, ROWS
from dsebo.charts.scales import Scale
from dsebo.charts.sketch import Sketch
from dsebo.text import number

HEIGHTS = {1: 340, 2: 560, 3: 680}  # px, by the number of rows
WITHOUT_SLOPES = {"best": (0.42, 1.0), "d": (0.0, 0.30)}
NAMES = {
    "best": ("Best value so far: the lower curve wins", "value F(x)"),
    "d": ("Subspace dimension: who grows, and when", "dimension d"),
    "slopes": ("Slopes: what each added dimension gained", "slope sᵢ"),
}
SYMBOLS = ("circle", "square", "diamond", "cross", "x", "triangle-up", "triangle-down", "pentagon")
LEGEND_ROWS = 31  # px for each row of the legend


@dataclass(frozen=True)
class Curves:
    """What is drawn of one run: best and d at t = 1, 2, …, and the (t, slope) of convergences."""

    best: Array
    d: Array
    slopes: Sequence[tuple[int, float]] = ()
    floor: Array | None = None


def compare_figure(
    groups: Mapping[str, Sequence[Curves]],
    kind: BandKind = "mean",
    scale: Scale = "log",
    singles: bool = False,
    minimum: float | None = None,
    at_centre: float | None = None,
    slopes: bool = True,
    split: str | None = None,
) -> go.Figure:
    """Each group as one curve with its band; n stands in the legend.

    Args:
        groups: The runs of each group by its label.
        kind: Mean ± standard deviation, or median and quartiles.
        scale: Of the value axis.
        singles: Whether single runs are drawn as well, faintly.
        minimum, at_centre: Grey lines, where they are the same for all runs.
        slopes: Whether the slopes have a row, under the dimension.
        split: The group whose regret is coloured as its two errors, where its floor is known;
            None for the first. Those of several groups would lie over one another.
    """
    curves = [curve for group in groups.values() for curve in group]
    rows: Mapping[str, tuple[float, float]] = ROWS if slopes else WITHOUT_SLOPES
    if not any(np.isfinite(curve.d).any() for curve in curves):
        rows = ALONE
    longest = max((len(curve.best) for curve in curves), default=1)
    lines = [line for line in (minimum, at_centre) if line is not None and line != 0]
    known = [c.floor[np.isfinite(c.floor)] for c in curves if c.floor is not None]
    values = np.concatenate([*(curve.best for curve in curves), *known, lines, np.empty(0)])
    scale = scales.possible(scale, values)
    sketch = _frame(rows, longest, len(groups))
    between = scales.span(scale, values)
    _draw_floors(sketch, groups, split, kind, minimum, scale, between)
    for index, (label, group) in enumerate(groups.items()):
        name = f"{label} (n = {len(group)})"
        style = theme.series_style(index)
        draw_band(sketch, [c.best for c in group], kind, scale, "y", name, style, singles)
        if "d" in rows:
            of_d = [c.d for c in group if np.isfinite(c.d).any()]
            draw_band(sketch, of_d, kind, "linear", "y2", name, style, singles)
        if "slopes" in rows:
            _draw_slopes(sketch, group, name, index)
    for below in range(2, len(rows) + 1):
        sketch.layout[f"yaxis{below}"]["rangemode"] = "tozero"
    sketch.layout["yaxis"] |= scales.axis_settings(scale, between)
    for value, label in ((at_centre, "centre"), (minimum, "F*")):
        _grey_line(sketch, value, label, scale)
    return sketch.figure()


def _frame(rows: Mapping[str, tuple[float, float]], longest: int, groups: int) -> Sketch:
    legend = min(groups, 10) * LEGEND_ROWS
    layout = theme.base_layout(HEIGHTS[len(rows)] + legend)
    layout |= {
        "showlegend": True,
        "legend": {
            "orientation": "v",
            "x": 0,
            "xanchor": "left",
            "y": 1,
            "yanchor": "top",
            "yref": "container",
            "bgcolor": theme.CLEAR,
            "font": {"size": theme.SIZE},
        },
        "uirevision": "compare",
        "hovermode": "x unified",
        "hoversubplots": "axis",
        "meta": {"file": "dsebo-compare", "save": True},
        "xaxis": theme.iteration_axis(longest, f"y{len(rows)}" if len(rows) > 1 else "y"),
    }
    layout["margin"] = {**layout["margin"], "t": 44 + legend}
    axes, notes = theme.stacked_rows(rows, NAMES)
    return Sketch(layout | axes, notes=notes)


def draw_band(
    sketch: Sketch,
    curves: Sequence[Array],
    kind: BandKind,
    scale: Scale,
    axis: str,
    name: str,
    style: tuple[str, str],
    singles: bool,
    xaxis: str = "x",
    legend: bool = True,
) -> None:
    """The middle line of a group, its band, and its single runs on demand.

    Args:
        sketch: Where it is drawn.
        curves: A curve for each run, from t = 1 on.
        kind: Mean ± standard deviation, or median and quartiles.
        scale: Of the value axis.
        axis: The value axis; the first has the legend's entries.
        name: Of the group.
        style: (colour, dash).
        singles: Whether single runs are drawn as well, faintly.
        xaxis: The iteration axis.
        legend: Whether the legend names it, where it is on the first value axis.
    """
    if not curves:
        return
    colour, dash = style
    frame = band(curves, kind)
    t = frame["t"].to_numpy()
    mid, low, high = (frame[c].to_numpy(dtype=float) for c in ("mid", "low", "high"))
    if scale == "log":  # mean − std may leave the axis
        low = np.maximum(low, np.nanmin(np.concatenate(list(curves))) * 0.5)
    place = {"xaxis": xaxis, "yaxis": axis, "legendgroup": name}
    if len(curves) > 1:
        edge = np.concatenate([scales.place(scale, high), scales.place(scale, low)[::-1]])
        sketch.scatter(
            x=np.concatenate([t, t[::-1]]),
            y=edge.astype(np.float32),
            mode="lines",
            line={"width": 0},
            fill="toself",
            fillcolor=theme.faint(colour, 0.18),
            hoverinfo="skip",
            showlegend=False,
            **place,
        )
        if singles:
            _draw_singles(sketch, curves, scale, colour, place)
    sketch.scatter(
        x=t,
        y=scales.place(scale, mid).astype(np.float32),
        mode="lines",
        name=name,
        showlegend=legend and axis == "y",
        customdata=mid.astype(np.float32),
        line={"color": colour, "dash": dash, "width": 2.5, "shape": "hv"},
        hovertemplate="%{customdata:.4~g}",
        **place,
    )


def _draw_floors(
    sketch: Sketch,
    groups: Mapping[str, Sequence[Curves]],
    split: str | None,
    kind: BandKind,
    minimum: float | None,
    scale: Scale,
    between: tuple[float, float],
) -> None:
    """The floor of each group, as its curve is made; of one of them the two errors too."""
    coloured = split if split in groups else next(iter(groups), None)
    for index, (label, group) in enumerate(groups.items()):
        lines = [curve.floor for curve in group if curve.floor is not None]
        if not lines or any(np.isnan(line).any() for line in lines):  # being computed
            continue
        floor = band(lines, kind)["mid"].to_numpy(dtype=float)
        best = band([curve.best for curve in group], kind)["mid"].to_numpy(dtype=float)
        if label == coloured:
            draw_errors(sketch, best[: len(floor)], floor, minimum, scale, between)
            continue
        colour, _ = theme.series_style(index)
        sketch.scatter(
            x0=1,
            dx=1,
            y=scales.place(scale, floor).astype(np.float32),
            mode="lines",
            line={"color": theme.faint(colour, 0.75), "width": 1.5, "shape": "hv"},
            customdata=floor.astype(np.float32),
            hovertemplate="floor %{customdata:.4~g}",
            name="floor",
            showlegend=False,
        )


def _draw_singles(
    sketch: Sketch, curves: Sequence[Array], scale: Scale, colour: str, place: Mapping[str, str]
) -> None:
    for curve in curves:
        sketch.scatter(
            x0=1,
            dx=1,
            y=scales.place(scale, curve).astype(np.float32),
            mode="lines",
            line={"color": theme.faint(colour, 0.4), "width": 1, "shape": "hv"},
            hoverinfo="skip",
            showlegend=False,
            **place,
        )


def _draw_slopes(sketch: Sketch, group: Sequence[Curves], name: str, index: int) -> None:
    """Every slope of every run of the group, at its convergence."""
    points = [point for curve in group for point in curve.slopes]
    colour, _ = theme.series_style(index)
    sketch.scatter(
        x=np.array([t for t, _ in points]),
        y=np.array([s for _, s in points]),
        yaxis="y3",
        mode="markers",
        name=name,
        legendgroup=name,
        showlegend=False,
        cliponaxis=False,
        hovertemplate="slope %{y:.3~g}",
        marker={
            "color": colour,
            "size": 9,
            "symbol": SYMBOLS[index % len(SYMBOLS)],
            "opacity": 0.8,
            "line": {"width": 0},
        },
    )


def _grey_line(sketch: Sketch, value: float | None, label: str, scale: Scale) -> None:
    if value is None or (scale == "log" and value <= 0):
        return
    at = float(scales.place(scale, np.array([value]))[0])
    sketch.line(
        xref="paper",
        x0=0,
        x1=1,
        yref="y",
        y0=at,
        y1=at,
        line={"color": theme.GREY, "width": 1.5, "dash": "dash"},
    )
    sketch.note(
        f"{label} {number(value)}",
        xref="paper",
        x=1,
        xanchor="right",
        yref="y",
        y=scales.position(scale, value),
        yanchor="bottom",
    )
