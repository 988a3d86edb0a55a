"""The chart of a run: best value, subspace dimension and slopes over one iteration axis."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from textwrap import shorten
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dsebo.charts import scales, theme
from dsebo.charts.curves import ALONE, ROWS, Curves, curves_of, draw_errors, finite
from dsebo.charts.scales import GREY_LINE, References, Scale, reference_lines, task_lines
from dsebo.charts.theme import Sketch
from dsebo.events import Started
from dsebo.paper.tables import paper_value
from dsebo.runs.data import RunData
from dsebo.store.rows import RunRow
from dsebo.text import number, setting_line

Event = dict[str, Any]
HEIGHT, LEAST_HEIGHT = 620, 420  # px
NAMES = {  # what one should see, and the axis
    "best": ("Best value so far: lower is better", "value F(x)"),
    "d": ("The subspace grows when progress stalls", "dimension d"),
    "slopes": ("Slope: what each added dimension gained", "slope sᵢ"),
}
STEADY = ("The subspace grows every few evaluations", NAMES["d"][1])


def references(row: RunRow | Started) -> References:
    """The grey lines of a run; a function of one's own that is in no list has few."""
    optimizer, objective = row.config["optimizer"], row.config.get("objective", {})
    return References(
        minimum=row.minimum,
        at_centre=row.at_centre,
        paper=paper_value(row.config) if objective else None,
        d_e=objective.get("d_e"),
        d_h=optimizer.get("d_h"),
        of_task=task_lines([objective]) if objective else {},
    )


def drawn_scale(runs: Sequence[RunData], scale: Scale) -> Scale:
    """The scale that all these runs can be drawn on, whole: a part of one may not tell."""
    values = [_all_values(run.evaluations, references(run.row), scale, None) for run in runs]
    return scales.possible(scale, np.concatenate(values))


def common_span(runs: Sequence[RunData], scale: Scale) -> tuple[float, float]:
    """The value axis that holds all these runs."""
    spans = [value_span(run.evaluations, references(run.row), scale) for run in runs]
    return min(low for low, _ in spans), max(high for _, high in spans)


def figure_of(data: RunData, scale: Scale, chosen: int | None = None, **drawing: Any) -> go.Figure:
    """The chart of a run, checked: for files, and for drawing on."""
    return sketch_of(data, scale, chosen, **drawing).figure()


def sketch_of(
    data: RunData,
    scale: Scale,
    chosen: int | None = None,
    value_range: tuple[float, float] | None = None,
    axis_end: int | None = None,
    ghost: RunData | None = None,
    largest_d: float | None = None,
    height: int | None = None,
) -> Sketch:
    """The chart of a run; a replay fixes its axes to those of the finished run.

    Without a height it is as tall as its place in the window, where a page draws it.
    """
    behind = None if ghost is None else curves_of(ghost)
    sketch = run_sketch(
        data.evaluations,
        data.changes,
        references(data.row),
        axis_end or max(data.row.budget, data.t, 0 if behind is None else len(behind.best)),
        scale,
        chosen,
        value_range,
        revision=f"{data.row.id} {scale}",
        ghost=behind,
        largest_d=largest_d,
        height=height or HEIGHT,
        steady=data.row.config["optimizer"].get("growth") == "steady",
    )
    sketch.layout["meta"] |= {
        "file": f"dsebo-{data.row.short_id}",
        "fills": height is None,
        "caption": f"{setting_line(data.row.config)} · run {data.row.short_id}",
    }
    return sketch


def run_sketch(
    evaluations: pd.DataFrame,
    changes: Sequence[Event],
    references: References,
    budget: int,
    scale: Scale = "log",
    chosen: int | None = None,
    value_range: tuple[float, float] | None = None,
    revision: str = "run",
    ghost: Curves | None = None,
    largest_d: float | None = None,
    height: int = HEIGHT,
    steady: bool = False,
) -> Sketch:
    """Best-so-far, subspace dimension and slopes, in three rows that share the iteration axis.

    With a column `floor` in `evaluations`, the space above F* is split there into two kinds of error.
    `chosen` is t of the convergence that is explained (None: the newest); a reader's zoom is kept while
    `revision` stays the same. `ghost` is another run, in grey behind this one. `largest_d` is what the
    dimension's axis has to hold besides. All rows are legible from a `height` of 420 px on. `steady`: the
    subspace does not wait for a stall.
    """
    newest = changes[-1] if changes else None
    event = next((change for change in changes if change["t"] == chosen), newest)
    has_d = bool(len(evaluations) == 0 or evaluations["d"].notna().any())
    rows = ROWS if has_d and references.d_h is not None else ALONE
    scale = scales.possible(scale, _all_values(evaluations, references, scale, ghost))
    between = value_range or value_span(evaluations, references, scale, ghost)
    names = NAMES | ({"d": STEADY} if steady else {})
    times = [change["t"] for change in changes]
    sketch = _empty(rows, names, budget, revision, times, max(height, LEAST_HEIGHT))
    if ghost is not None:
        _draw_ghost(sketch, ghost, scale, rows is ROWS)
    _draw_values(sketch, evaluations, references, scale, between)
    if rows is ROWS:
        _draw_dimension(sketch, evaluations, changes, references, event, ghost, largest_d)
        _draw_slopes(sketch, changes, event, budget, ghost)
        if event is not None:  # where it has a bar, that stands out by itself, with words above it
            sketch.upright(event["t"], *(("y", "y2") if event["slopes"] else ("y", "y2", "y3")))
    _mark_failures(sketch, evaluations, scale, between)
    return sketch


def value_span(
    evaluations: pd.DataFrame, references: References, scale: Scale, ghost: Curves | None = None
) -> tuple[float, float]:
    """The range of the value axis, in its own coordinates, that holds a run, its lines and its ghost."""
    values = _all_values(evaluations, references, scale, ghost)
    return scales.span(scales.possible(scale, values), values)


def _all_values(
    evaluations: pd.DataFrame, references: References, scale: Scale, ghost: Curves | None
) -> scales.Array:
    y = evaluations["y"].to_numpy(dtype=float)
    floors = evaluations["floor"].dropna().unique().tolist() if "floor" in evaluations else []
    behind = [] if ghost is None else ghost.best.tolist()
    return np.append(y, [*references.values(scale), *floors, *behind])


def _empty(
    rows: Sequence[str],
    names: dict[str, tuple[str, str]],
    budget: int,
    revision: str,
    changes: list[int],
    height: int,
) -> Sketch:
    """The frame: axes, names and titles. One x axis, so that one hover reads all the rows."""
    layout = theme.base_layout(height if rows is ROWS else height // 2)
    layout["margin"] |= {"r": theme.RIGHT}
    layout |= {
        "uirevision": revision,
        "hovermode": "x unified",
        "hoversubplots": "axis",
        "meta": {"changes": changes, "budget": budget},
        "xaxis": theme.iteration_axis(budget, "y3" if rows is ROWS else "y"),
    }
    return theme.stacked_rows(layout, rows, names)


def _draw_values(
    sketch: Sketch,
    evaluations: pd.DataFrame,
    references: References,
    scale: Scale,
    between: tuple[float, float],
) -> None:
    """Every evaluation as a faint dot, the best so far as a line."""
    y = evaluations["y"].to_numpy(dtype=float)
    best = evaluations["best"].to_numpy(dtype=float)
    if "floor" in evaluations:
        floor = evaluations["floor"].to_numpy(dtype=float)
        end = float(sketch.layout["xaxis"]["range"][1])
        draw_errors(sketch, best, floor, references.minimum, scale, between, end)
    dots = {"color": theme.faint(theme.SKY, 0.55), "size": 5, "line": {"width": 0}}
    for values, name, style in (
        (y, "value", {"mode": "markers", "marker": dots}),
        (best, "best so far", {"mode": "lines", "line": _line(theme.BLUE)}),
    ):
        sketch.scatter(x0=1, dx=1, name=name, **_placed(scale, values), **style)
    sketch.layout["yaxis"] |= scales.axis_settings(scale, between)
    reference_lines(sketch, "y", references.on_value_axis(), scale, between)


def _mark_failures(
    sketch: Sketch, evaluations: pd.DataFrame, scale: Scale, between: tuple[float, float]
) -> None:
    """A cross on the ground of the value axis for each evaluation that has no value."""
    rows = evaluations.loc[~np.isfinite(evaluations["y"].to_numpy(dtype=float))]
    failed = rows["t"].to_numpy()
    if len(failed):
        why = [
            f": {escape(shorten(error, 120, placeholder=' …'))}" if error else ""
            for error in rows.get("error", [None] * len(rows))
        ]
        low, high = between
        ground = low + 0.02 * (high - low)  # a rounding below the axis, Plotly draws nothing
        sketch.scatter(
            x=failed,
            y=np.full(len(failed), 10.0**ground if scale == "log" else ground),
            mode="markers",
            name="failed",
            marker={"symbol": "x", "size": 9, "color": theme.VERMILLION, "line": {"width": 0}},
            cliponaxis=False,
            customdata=np.array(why, dtype=object),
            hovertemplate="failed%{customdata}<extra></extra>",
        )


def _draw_ghost(sketch: Sketch, ghost: Curves, scale: Scale, has_rows: bool) -> None:
    """Another run's best value, dimension and slopes; drawn first, so that all else covers it."""
    colour = theme.faint(theme.GREY, 0.6)
    steps = {"x0": 1, "dx": 1, "mode": "lines", "line": {**_line(colour), "width": 2}}
    sketch.scatter(name="ghost: best so far", **_placed(scale, ghost.best), **steps)
    if not has_rows or not np.isfinite(ghost.d).any():
        return
    sketch.scatter(y=_small(ghost.d), yaxis="y2", name="ghost: dimension d", hovertemplate="%{y}", **steps)
    sketch.scatter(
        x=np.array([t for t, _ in ghost.slopes]),
        y=np.array([slope for _, slope in ghost.slopes]),
        yaxis="y3",
        name="ghost: slope",
        mode="markers",
        marker={"symbol": "circle", "size": 10, "color": colour, "line": {"width": 0}},
        hovertemplate="%{y:.3~g}",
    )


def _placed(scale: Scale, values: scales.Array) -> dict[str, Any]:
    """Where values stand on their axis, and the true ones for the hover."""
    y = {"y": _small(scales.place(scale, values))}
    if scale == "symlog":
        return {**y, "hovertemplate": "%{customdata:.5~g}", "customdata": _small(values)}
    return {**y, "hovertemplate": "%{y:.5~g}"}


def _line(colour: str) -> dict[str, Any]:
    return {"color": colour, "width": 2.5, "shape": "hv"}


def _small(values: scales.Array) -> np.ndarray:
    """Half the bytes on the wire; seven digits are more than a chart shows."""
    return values.astype(np.float32)


def _draw_dimension(
    sketch: Sketch,
    evaluations: pd.DataFrame,
    changes: Sequence[Event],
    references: References,
    event: Event | None,
    ghost: Curves | None,
    largest_d: float | None,
) -> None:
    """The dimension as steps, a mark at each expansion, lines at d_e and d_h."""
    d = evaluations["d"].to_numpy(dtype=float)
    sketch.scatter(
        x0=1,
        dx=1,
        y=_small(d),
        yaxis="y2",
        name="dimension d",
        mode="lines",
        line=_line(theme.ORANGE),
        hovertemplate="%{y}",
    )
    grown = [change for change in changes if change["event"] == "expanded"]
    sketch.scatter(
        x=np.array([change["t"] for change in grown]),
        y=np.array([change["d_to"] for change in grown]),
        yaxis="y2",
        name="expands to",
        mode="markers",
        hovertemplate="d = %{y}",
        marker={
            "symbol": "diamond",
            "size": [15 if c is event else 11 for c in grown],
            "color": [theme.VERMILLION if c is event else theme.ORANGE for c in grown],
            "line": {"width": 0},
            "opacity": 1,
        },
        cliponaxis=False,
    )
    behind = finite(np.empty(0) if ghost is None else ghost.d)
    grown_to = [change["d_to"] for change in grown]
    all_d = np.concatenate([finite(d), grown_to, behind, [] if largest_d is None else [largest_d]])
    scale, between = scales.dimension_axis(all_d, references.d_e)
    sketch.layout["yaxis2"] |= scales.axis_settings(scale, between)
    lines = [(references.d_h, f"dₕ = {references.d_h}"), (references.d_e, f"dₑ = {references.d_e}")]
    reference_lines(sketch, "y2", lines, scale, between)


# --- the slopes that decide how far the subspace grows ---


def _draw_slopes(
    sketch: Sketch, changes: Sequence[Event], event: Event | None, budget: int, ghost: Curves | None
) -> None:
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
    drawn = np.append(newest, [slope for _, slope in ghost.slopes] if ghost else [])
    high = max(float(drawn.max(initial=0.0)), 0.0) or 1.0
    sketch.layout["yaxis3"]["range"] = [
        min(0.0, float(drawn.min(initial=0.0))),
        high * 2.0,
    ]  # above a bar its two lines, also where presented
    for change, slope in zip(sloped, newest, strict=True):
        _label_bar(sketch, change, float(slope), change is event)
    if not drawn.size:
        place = {"xref": "x domain", "x": 0.5, "yref": "y3 domain", "y": 0.5}
        sketch.note("From the second stall on.", name="over", **place)  # fits half a window, too
    _mark_extremes(sketch, event)


def _decision(change: Event) -> str:
    """k and the step, as text: `k = 0.50, Δd 7 → 3`."""
    before, after = change["delta_before"], change["delta_after"]
    step = f"Δd = {after}" if before is None else f"Δd {before} → {after}"
    return step if change["k"] is None else f"k = {change['k']:.2f}, {step}"


def _label_bar(sketch: Sketch, change: Event, slope: float, chosen: bool) -> None:
    """k and Δd above a bar, unless nothing came of it. Labels for which there is no room are not drawn."""
    labelled = chosen or change["event"] == "expanded" or change["delta_before"] != change["delta_after"]
    sketch.note(
        text=_decision(change).replace(", ", "<br>") if labelled else "",
        x=change["t"],
        y=max(slope, 0.0),
        yref="y3",
        yanchor="bottom",
        name="bar chosen" if chosen else "bar",
        font={"color": theme.VERMILLION} if chosen else {},
    )


def _mark_extremes(sketch: Sketch, event: Event | None) -> None:
    """s_min and s_max, between which the newest slope is scaled."""
    if event is None or event["k"] is None:
        return
    for value, label in ((event["s_max"], "sₘₐₓ"), (event["s_min"], "sₘᵢₙ")):
        sketch.across(value, "y3", GREY_LINE | {"dash": "dot"})
        sketch.beside(f"{label} = {number(value, 3)}", "y3", value)
