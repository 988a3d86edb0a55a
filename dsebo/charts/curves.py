"""Curves over evaluations: what is drawn of a run, bands over seeds, and groups of runs in one chart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dsebo.analysis.curves import BandKind, band
from dsebo.charts import scales, theme
from dsebo.charts.scales import NO_LINES, Array, References, Scale, reference_lines
from dsebo.charts.theme import Sketch, Style
from dsebo.experiments.findings import finished
from dsebo.experiments.progress import read_curves
from dsebo.runs.data import RunData
from dsebo.store.store import Store

ROWS = {"best": (0.60, 1.0), "d": (0.325, 0.52), "slopes": (0.0, 0.235)}  # shares of the height
WITHOUT_SLOPES = {"best": (0.42, 1.0), "d": (0.0, 0.30)}
ALONE = {"best": (0.0, 1.0)}  # for methods that have no subspace
HEIGHTS = {1: 340, 2: 560, 3: 680}  # px, by the number of rows
NAMES = {
    "best": ("Best value so far: the lower curve wins", "value F(x)"),
    "d": ("Subspace dimension: who grows, and when", "dimension d"),
    "slopes": ("Slopes: what each added dimension gained", "slope sᵢ"),
}
SYMBOLS = ("circle", "square", "diamond", "cross", "x", "triangle-up", "triangle-down", "pentagon")
COLUMNS = ((26, 3), (50, 2), (math.inf, 1))  # of the legend, by the characters of its longest name
WIDTHS = {3: 0.26, 2: 0.42, 1: 0.8}  # share of the width that an entry of so many columns has
LEGEND_ROW, MOST_ROWS = 31, 10  # px; more rows than that are scrolled
APPROXIMATION = theme.faint(theme.PURPLE, 0.3)  # below the floor: only a larger d removes it
OPTIMIZATION = theme.faint(theme.BLUE, 0.13)  # above it: only more evaluations remove it


# --- what is drawn of a run ---


@dataclass(frozen=True)
class Curves:
    """What is drawn of one run: best and d at t = 1, 2, …, and the (t, slope) of convergences."""

    best: Array
    d: Array
    slopes: Sequence[tuple[int, float]] = ()
    floor: Array | None = None


def curves_of(data: RunData) -> Curves:
    """What is drawn of a run."""
    best = data.evaluations["best"].to_numpy(dtype=float)
    return Curves(
        best=to_the_end(best, data.row.budget) if data.row.state == "finished" else best,
        d=data.evaluations["d"].to_numpy(dtype=float),
        slopes=[(c["t"], c["slopes"][-1]) for c in data.changes if c["slopes"] and c["event"] == "expanded"],
        floor=data.evaluations["floor"].to_numpy(float) if "floor" in data.evaluations else None,
    )


def finished_curves(store: Store, frame: pd.DataFrame) -> dict[str, Curves]:
    """What is drawn of the finished runs of an experiment, by their ids, from the frame of its runs."""
    done = finished(frame)
    budgets = dict(zip(done["run_id"], done["budget"].astype(int), strict=True))
    curves = read_curves(store, list(budgets)) if budgets else {}
    return {run: Curves(to_the_end(best, budgets[run]), d) for run, (best, d) in curves.items()}


def to_the_end(best: Array, budget: int) -> Array:
    """A finished run that had nothing more to ask keeps its best value to the end."""
    return np.append(best, np.full(budget - len(best), best[-1])) if 0 < len(best) < budget else best


def abreast(curves: Sequence[Curves]) -> list[Curves]:
    """The runs of one method that have all come as far: of n runs that reached t, the most n·t.

    A mean over fewer and fewer runs would jump at its end each time that one is ahead.
    """
    lengths = sorted((len(curve.best) for curve in curves), reverse=True)
    far = max(enumerate(lengths, start=1), key=lambda pair: pair[0] * pair[1], default=(0, 0))[1]
    ahead = [curve for curve in curves if far and len(curve.best) >= far]
    return [Curves(curve.best[:far], curve.d[:far]) for curve in ahead]


# --- groups of runs in one chart ---


def curves_figure(
    groups: Mapping[str, Sequence[Curves]],
    kind: BandKind = "mean",
    scale: Scale = "log",
    *,
    styles: Mapping[str, Style] | None = None,
    lines: References = NO_LINES,
    end: int | None = None,
    singles: bool = False,
    slopes: bool = False,
    split: str | None = None,
    file: str = "dsebo-compare",
) -> go.Figure:
    """Each group as one curve with its band; n stands in the legend.

    `styles` has (colour, dash) of each label, `end` is that of the iteration axis (None: of the longest
    run), `singles` draws single runs as well, faintly. `split` names the group whose regret is coloured
    as its two errors (None: the first), as those of several would lie over one another.
    """
    begun = {label: [curve for curve in group if len(curve.best)] for label, group in groups.items()}
    curves = [curve for group in begun.values() for curve in group]
    has_d = any(np.isfinite(curve.d).any() for curve in curves)
    rows = (ROWS if slopes else WITHOUT_SLOPES) if has_d else ALONE
    floors = [c.floor[np.isfinite(c.floor)] for c in curves if c.floor is not None]
    values = np.concatenate([*(curve.best for curve in curves), *floors, lines.values, np.empty(0)])
    scale = scales.possible(scale, values)
    between = scales.span(scale, values)
    styles = styles or {label: theme.series_style(index) for index, label in enumerate(groups)}
    names = {label: f"{label} (n = {len(group)})" for label, group in begun.items()}
    longest = max((len(curve.best) for curve in curves), default=1)
    sketch = _frame(rows, end or longest, list(names.values()))
    sketch.layout |= {"uirevision": f"{file} {scale}"}
    sketch.layout["meta"] |= {"file": file}
    _draw_floors(sketch, begun, styles, split, kind, lines.minimum, scale, between)
    for index, (label, group) in enumerate(begun.items()):
        name, style = names[label], styles[label]
        draw_band(sketch, [c.best for c in group], kind, scale, "y", name, style, singles)
        of_d = [c.d for c in group if np.isfinite(c.d).any()]
        draw_band(sketch, of_d, kind, "linear", "y2", name, style, singles)
        if "slopes" in rows:
            _draw_slopes(sketch, group, name, style[0], SYMBOLS[index % len(SYMBOLS)])
    for below in range(2, len(rows) + 1):
        sketch.layout[f"yaxis{below}"]["rangemode"] = "tozero"
    sketch.layout["yaxis"] |= scales.axis_settings(scale, between)
    reference_lines(sketch, "y", lines.on_value_axis("paper's DSEBO"), scale, between, name="over")
    return sketch.figure()


def _frame(rows: Mapping[str, tuple[float, float]], end: int, names: Sequence[str]) -> Sketch:
    """Axes, titles, and a legend above them: in columns where there is room, else in one."""
    longest = max(map(len, names), default=0)
    columns = next(count for most, count in COLUMNS if longest <= most)
    wide, narrow = (_with_legend(len(rows), len(names), count) for count in (columns, 1))
    layout = theme.base_layout(0) | wide
    layout |= {
        "showlegend": True,
        "hovermode": "x unified",
        "hoversubplots": "axis",
        "meta": {"save": True, "narrow": narrow},
        "xaxis": theme.iteration_axis(end, f"y{len(rows)}" if len(rows) > 1 else "y"),
    }
    axes, notes = theme.stacked_rows(rows, NAMES)
    return Sketch(layout | axes, notes=notes)


def _with_legend(rows: int, entries: int, columns: int) -> dict[str, Any]:
    """Height, margin and legend with so many columns."""
    room = LEGEND_ROW * min(MOST_ROWS, math.ceil(entries / columns))
    layout = theme.base_layout(HEIGHTS[rows] + room)
    width = {"entrywidthmode": "fraction", "entrywidth": WIDTHS[columns]}
    return {
        "height": layout["height"],
        "margin": {**layout["margin"], "t": 48 + room},
        "legend": theme.legend_above() | width,
    }


def draw_band(
    sketch: Sketch,
    curves: Sequence[Array],
    kind: BandKind,
    scale: Scale,
    axis: str,
    name: str,
    style: Style,
    singles: bool,
    xaxis: str = "x",
    legend: bool = True,
) -> None:
    """The middle line of a group, its band, and its single runs on demand."""
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
    for curve in curves if singles and len(curves) > 1 else ():
        line = {"color": theme.faint(colour, 0.4), "width": 1}
        _steps(sketch, scales.place(scale, curve), line, hoverinfo="skip", **place)
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


def _draw_slopes(sketch: Sketch, group: Sequence[Curves], name: str, colour: str, symbol: str) -> None:
    """Every slope of every run of the group, at its convergence."""
    points = [point for curve in group for point in curve.slopes]
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
        marker={"color": colour, "size": 9, "symbol": symbol, "opacity": 0.8, "line": {"width": 0}},
    )


# --- the floor under best-so-far, and the two kinds of error that it splits the regret into ---


def _draw_floors(
    sketch: Sketch,
    groups: Mapping[str, Sequence[Curves]],
    styles: Mapping[str, Style],
    split: str | None,
    kind: BandKind,
    minimum: float | None,
    scale: Scale,
    between: tuple[float, float],
) -> None:
    """The floor of each group, as its curve is made; of one of them the two errors too."""
    coloured = split if split in groups else next(iter(groups), None)
    for label, group in groups.items():
        lines = [curve.floor for curve in group if curve.floor is not None]
        if not lines or any(np.isnan(line).any() for line in lines):  # being computed
            continue
        floor = band(lines, kind)["mid"].to_numpy(dtype=float)
        best = band([curve.best for curve in group], kind)["mid"].to_numpy(dtype=float)
        if label == coloured:
            draw_errors(sketch, best[: len(floor)], floor, minimum, scale, between)
            continue
        line = {"color": theme.faint(styles[label][0], 0.75), "width": 1.5}
        _floor_line(sketch, floor, scale, line, "floor", "floor %{customdata:.4~g}")


def draw_errors(
    sketch: Sketch,
    best: Array,
    floor: Array,
    minimum: float | None,
    scale: Scale,
    between: tuple[float, float],
) -> None:
    """Two areas with the floor as a quiet step line between them.

    `best` and `floor` are at t = 1, 2, …, NaN from where the floor is not known yet; where F* is below
    the axis, whose range is `between`, the area ends there.
    """
    unknown = np.flatnonzero(~(np.isfinite(floor) & np.isfinite(best)))
    known = int(unknown[0]) if unknown.size else len(floor)
    if not known:
        return
    edges: list[tuple[Array, str | None]] = []  # what lies between an edge and the one before is filled
    if minimum is not None:
        lowest = max(scales.position(scale, minimum), between[0])
        edges.append((np.full(known, 10.0**lowest if scale == "log" else lowest), None))
    edges.append((scales.place(scale, floor[:known]), APPROXIMATION if minimum is not None else None))
    edges.append((scales.place(scale, best[:known]), OPTIMIZATION))
    for edge, colour in edges:
        fill = {"fill": "tonexty", "fillcolor": colour} if colour else {}
        _steps(sketch, edge, {"width": 0}, hoverinfo="skip", **fill)
    line = {"color": theme.PURPLE, "width": 1.5}
    _floor_line(sketch, floor[:known], scale, line, "floor (upper bound)", "%{customdata:.5~g}")


def _floor_line(
    sketch: Sketch, floor: Array, scale: Scale, line: dict[str, Any], name: str, hover: str
) -> None:
    true_values = floor.astype(np.float32)
    _steps(sketch, scales.place(scale, floor), line, name=name, customdata=true_values, hovertemplate=hover)


def _steps(sketch: Sketch, y: Array, line: dict[str, Any], **more: Any) -> None:
    """A line of steps from t = 1 on, which the legend does not name."""
    line = {**line, "shape": "hv"}
    sketch.scatter(x0=1, dx=1, y=y.astype(np.float32), mode="lines", showlegend=False, line=line, **more)
