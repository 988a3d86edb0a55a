"""Curves over evaluations: what is drawn of a run, bands over seeds, and groups of runs in one chart."""

from __future__ import annotations

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
from dsebo.text import number

Rows = tuple[str, ...]
ROWS: Rows = ("best", "d", "slopes")  # from the top
WITHOUT_SLOPES: Rows = ("best", "d")
ALONE: Rows = ("best",)  # for methods that have no subspace
HEIGHTS = {1: 340, 2: 560, 3: 680}  # px, by the number of rows
NAMES = {
    "best": ("Best value so far: the lower curve wins", "value F(x)"),
    "d": ("Subspace dimension: who grows, and when", "dimension d"),
    "slopes": ("Slopes: what each added dimension gained", "slope sᵢ"),
}
SYMBOLS = ("circle", "square", "diamond", "cross", "x", "triangle-up", "triangle-down", "pentagon")
OUT_OF_REACH = theme.faint(theme.PURPLE, 0.25)  # below the floor: only a larger d removes it; hatched too
WITHIN_REACH = theme.faint(theme.BLUE, 0.28)  # above it: only more evaluations remove it
AREA = "area"  # how the place of the name of an area is called
AREA_WIDTHS = (0.08, 0.12, 0.2, 0.3, 0.5)  # shares of a row that may be wide enough for it
AREA_LEAST = 0.04  # its height from which it is worth a name
FEWEST = 4  # runs that make a band; fewer are drawn one by one


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
    whole = data.row.state == "finished" and data.t >= data.row.n_done  # not a replay, half-way
    return Curves(
        best=to_the_end(best, data.row.budget) if whole else best,
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


def finite(values: Array) -> Array:
    """Those that are numbers."""
    return values[np.isfinite(values)]


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
    values = np.concatenate([*(curve.best for curve in curves), *floors, lines.values(scale), np.empty(0)])
    scale = scales.possible(scale, values)
    between = scales.span(scale, values)
    styles = styles or {label: theme.series_style(index) for index, label in enumerate(groups)}
    names = {label: f"{label} (n = {len(group)})" for label, group in begun.items()}
    longest = max((len(curve.best) for curve in curves), default=1)
    sketch = _frame(rows, end or longest)
    sketch.layout |= {"uirevision": f"{file} {scale}"}
    sketch.layout["meta"] |= {"file": file}
    _draw_floors(sketch, begun, styles, split, kind, lines.minimum, scale, between)
    all_d = finite(np.concatenate([*(curve.d for curve in curves), np.empty(0)]))
    d_scale, d_between = scales.dimension_axis(all_d, lines.d_e)
    for index, (label, group) in enumerate(begun.items()):
        name, style = names[label], styles[label]
        draw_band(sketch, [c.best for c in group], kind, scale, "y", name, style, singles)
        of_d = [c.d for c in group if np.isfinite(c.d).any()]
        draw_band(sketch, of_d, kind, d_scale, "y2", name, style, singles)
        if "slopes" in rows:
            _draw_slopes(sketch, group, name, style[0], SYMBOLS[index % len(SYMBOLS)])
    if "d" in rows:
        sketch.layout["yaxis2"] |= scales.axis_settings(d_scale, d_between)
        reference_lines(sketch, "y2", [(lines.d_e, f"dₑ = {lines.d_e}")], d_scale, d_between)
    if "slopes" in rows:
        sketch.layout["yaxis3"]["rangemode"] = "tozero"
    sketch.layout["yaxis"] |= scales.axis_settings(scale, between)
    reference_lines(sketch, "y", lines.on_value_axis("paper's<br>DSEBO"), scale, between)
    return sketch.figure()


def band_words(kind: BandKind, sizes: Sequence[int]) -> str:
    """What the lines and bands over groups of so many runs are, for a caption."""
    bands = " and quartiles" if kind == "median" else " ± standard deviation"
    few = f"; of fewer than {FEWEST} runs, each of them" if min(sizes) < FEWEST else ""
    return f"{kind}{bands if max(sizes) >= FEWEST else ''} over the seeds{few}"


def _frame(rows: Rows, end: int) -> Sketch:
    """Axes, titles, and a legend above them, for which `figure.js` makes room."""
    layout = theme.base_layout(HEIGHTS[len(rows)])
    layout["margin"] |= {"t": 40, "r": theme.RIGHT}
    layout |= {
        "showlegend": True,
        "legend": theme.legend_above(),
        "hovermode": "x unified",
        "hoversubplots": "axis",
        "meta": {"save": True},
        "xaxis": theme.iteration_axis(end, f"y{len(rows)}" if len(rows) > 1 else "y"),
    }
    return theme.stacked_rows(layout, rows, NAMES)


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
    place = {"xaxis": xaxis, "yaxis": axis, "legendgroup": name, "hoverinfo": "skip"}
    if len(curves) >= FEWEST:
        fill = {"fill": "tonexty", "fillcolor": theme.faint(colour, 0.2)}
        for edge, more in ((low, {}), (high, fill)):
            _steps(sketch, scales.place(scale, edge), {"width": 0}, x=t, **place, **more)
    for curve in curves if len(curves) > 1 and (singles or len(curves) < FEWEST) else ():
        line = {"color": theme.faint(colour, 0.5), "width": 1}
        _steps(sketch, scales.place(scale, curve), line, **place)
    sketch.scatter(
        x=t,
        y=scales.place(scale, mid).astype(np.float32),
        mode="lines",
        name=name,
        showlegend=legend and axis == "y",
        customdata=mid.astype(np.float32),
        line={"color": colour, "dash": dash, "width": 2.5, "shape": "hv"},
        hovertemplate="%{customdata:.4~g}",
        xaxis=xaxis,
        yaxis=axis,
        legendgroup=name,
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


# --- what is reachable: the floor under best-so-far, and the two kinds of error that it divides ---


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
    end = float(sketch.layout["xaxis"]["range"][1])
    for label, group in groups.items():
        lines = [curve.floor for curve in group if curve.floor is not None]
        if not lines or any(np.isnan(line).any() for line in lines):  # being computed
            continue
        floor = band(lines, kind)["mid"].to_numpy(dtype=float)
        best = band([curve.best for curve in group], kind)["mid"].to_numpy(dtype=float)
        if label == coloured:
            draw_errors(sketch, best[: len(floor)], floor, minimum, scale, between, end)
            continue
        line = {"color": theme.faint(styles[label][0], 0.75), "width": 1.5}
        _floor_line(sketch, floor, scale, line)


def draw_errors(
    sketch: Sketch,
    best: Array,
    floor: Array,
    minimum: float | None,
    scale: Scale,
    between: tuple[float, float],
    end: float,
) -> None:
    """Two named areas with the floor as a step line between them.

    `best` and `floor` are at t = 1, 2, …, NaN from where the floor is not known yet; where F* is below
    the axis, whose range is `between`, the area ends there. `end` is that of the iteration axis.
    """
    unknown = np.flatnonzero(~(np.isfinite(floor) & np.isfinite(best)))
    known = int(unknown[0]) if unknown.size else len(floor)
    if not known:
        return
    best, floor = best[:known], floor[:known]
    if minimum is not None:  # what lies between an edge and the one before is filled
        lowest = max(scales.position(scale, minimum), between[0])
        bottom = np.full(known, 10.0**lowest if scale == "log" else lowest)
        hatch = {"shape": "/", "size": 7, "solidity": 0.22, "fgcolor": theme.PURPLE, "fgopacity": 0.9}
        _steps(sketch, bottom, {"width": 0}, hoverinfo="skip")
        _steps(
            sketch,
            scales.place(scale, floor),
            {"width": 0},
            hoverinfo="skip",
            fill="tonexty",
            fillcolor=OUT_OF_REACH,
            fillpattern=hatch | {"bgcolor": OUT_OF_REACH},
        )
        _name_area(sketch, "out of reach", np.full(known, lowest), _positions(scale, floor), between, end)
    else:
        _steps(sketch, scales.place(scale, floor), {"width": 0}, hoverinfo="skip")
    _steps(
        sketch,
        scales.place(scale, best),
        {"width": 0},
        hoverinfo="skip",
        fill="tonexty",
        fillcolor=WITHIN_REACH,
    )
    _name_area(sketch, "within reach", _positions(scale, floor), _positions(scale, best), between, end)
    _floor_line(sketch, floor, scale, {"color": theme.PURPLE, "width": 2})
    last = scales.position(scale, float(floor[-1]))
    if between[0] <= last <= between[1]:
        sketch.beside(f"reachable {number(float(floor[-1]), 3)}", "y", last, theme.PURPLE)


def _positions(scale: Scale, values: Array) -> Array:
    """As `scales.position`, of many values."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log10(values) if scale == "log" else scales.place(scale, values)


def _name_area(
    sketch: Sketch, name: str, low: Array, high: Array, between: tuple[float, float], end: float
) -> None:
    """Words inside the area between two lines, where it is tallest over their width.

    How wide words are only the browser knows: each place says the shares of the row that it offers, and
    `figure.js` takes the first that is large enough; the last one is right of the area's end.
    """
    low, high = np.maximum(low, between[0]), np.minimum(high, between[1])
    row = between[1] - between[0]
    if np.max(high - low) < AREA_LEAST * row:
        return
    for share in AREA_WIDTHS:
        wide = max(1, round(share * end))
        if len(low) < wide:
            break
        top = np.lib.stride_tricks.sliding_window_view(high, wide).min(axis=1)
        bottom = np.lib.stride_tricks.sliding_window_view(low, wide).max(axis=1)
        at = int(np.argmax(top - bottom))
        if top[at] <= bottom[at]:
            break
        place = {"x": 1 + at + wide / 2, "y": float(top[at] + bottom[at]) / 2, "yref": "y"}
        offers = f"{AREA} {share} {(top[at] - bottom[at]) / row:.3f}"
        sketch.note(name, name=offers, yanchor="middle", **place)
    place = {"x": 1 + len(low), "y": float(low[-1] + high[-1]) / 2, "yref": "y"}
    sketch.note(name, name=f"{AREA} end", xanchor="left", yanchor="middle", **place)


def _floor_line(sketch: Sketch, floor: Array, scale: Scale, line: dict[str, Any]) -> None:
    true_values = floor.astype(np.float32)
    hover = "%{customdata:.4~g}"
    y = scales.place(scale, floor)
    _steps(sketch, y, line, name="reachable", customdata=true_values, hovertemplate=hover)


def _steps(sketch: Sketch, y: Array, line: dict[str, Any], **more: Any) -> None:
    """A line of steps from t = 1 on, which the legend does not name."""
    along = {} if "x" in more else {"x0": 1, "dx": 1}
    line = {**line, "shape": "hv"}
    sketch.scatter(y=y.astype(np.float32), mode="lines", showlegend=False, line=line, **along, **more)
