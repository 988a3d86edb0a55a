"""The chart of a run: best value, subspace dimension and slopes over one iteration axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dsebo.charts import scales, theme
from dsebo.charts.error_split import draw_errors
from dsebo.charts.scales import Scale
from dsebo.charts.sketch import Sketch
from dsebo.charts.slopes import draw_slopes
from dsebo.paper.tables import paper_value
from dsebo.runs.data import RunData
from dsebo.store.rows import RunRow
from dsebo.text import number

Event = dict[str, Any]
HEIGHT = 620
ROWS = {  # where each row stands, from the bottom (0) to the top (1) of the figure
    "best": (0.60, 1.0),
    "d": (0.325, 0.52),
    "slopes": (0.0, 0.235),
}
NAMES = {  # what one should see, and the axis
    "best": ("Best value so far: lower is better", "value F(x)"),
    "d": ("The subspace grows when progress stalls", "dimension d"),
    "slopes": ("Slope: what each added dimension gained", "slope sᵢ"),
}
ALONE = {"best": (0.0, 1.0)}  # for a method that has no subspace
CLOSE = 0.11  # labels nearer than this share of a row are set side by side


@dataclass(frozen=True)
class References:
    """The grey lines that a run is read against; None: there is none to draw."""

    minimum: float | None = None
    at_centre: float | None = None
    paper: float | None = None
    d_e: int | None = None
    d_h: int | None = None


def references(row: RunRow) -> References:
    """The grey lines of a run."""
    optimizer = row.config["optimizer"]
    return References(
        minimum=row.minimum,
        at_centre=row.at_centre,
        paper=paper_value(row.config),
        d_e=row.config["objective"].get("d_e"),
        d_h=optimizer.get("d_h"),
    )


def common_span(runs: Sequence[RunData], scale: Scale) -> tuple[float, float]:
    """The value axis that holds all these runs."""
    spans = [value_span(run.evaluations, references(run.row), scale) for run in runs]
    return min(low for low, _ in spans), max(high for _, high in spans)


def figure_of(
    data: RunData,
    scale: Scale,
    chosen: int | None = None,
    value_range: tuple[float, float] | None = None,
    axis_end: int | None = None,
) -> go.Figure:
    """The chart of a run; a replay fixes its axes to those of the finished run."""
    figure = run_figure(
        data.evaluations,
        data.changes,
        references(data.row),
        axis_end or max(data.row.budget, data.t),
        scale,
        chosen,
        value_range,
        revision=f"{data.row.id} {scale}",
    )
    figure.layout.meta = {**figure.layout.meta, "file": f"dsebo-{data.row.id[:8]}"}
    return figure


def run_figure(
    evaluations: pd.DataFrame,
    changes: Sequence[Event],
    references: References,
    budget: int,
    scale: Scale = "log",
    chosen: int | None = None,
    value_range: tuple[float, float] | None = None,
    revision: str = "run",
) -> go.Figure:
    """Best-so-far, subspace dimension and slopes, in three rows that share the iteration axis.

    Args:
        evaluations: t, y, best, d; one row an evaluation, from t = 1. With a column `floor`, the
            space above F* is split there into two kinds of error.
        changes: The `expanded` and `converged` events, oldest first.
        references: The grey lines.
        budget: The end of the iteration axis.
        scale: Of the value axis.
        chosen: t of the convergence that is explained; the newest if None.
        value_range: Axis coordinates of the value axis; as the data need it if None.
        revision: A reader's zoom is kept while this stays the same.
    """
    event = _chosen(changes, chosen)
    has_d = bool(len(evaluations) == 0 or evaluations["d"].notna().any())
    rows = ROWS if has_d and references.d_h is not None else ALONE
    scale = scales.possible(scale, _all_values(evaluations, references))
    between = value_range or value_span(evaluations, references, scale)
    sketch = _empty(rows, budget, revision, [change["t"] for change in changes])
    _draw_values(sketch, evaluations, references, scale, between)
    if rows is ROWS:
        _draw_dimension(sketch, evaluations, changes, references, event)
        draw_slopes(sketch, changes, event, budget)
        _mark_chosen(sketch, event)
    return sketch.figure()


def value_span(evaluations: pd.DataFrame, references: References, scale: Scale) -> tuple[float, float]:
    """The range of the value axis, in its own coordinates, that holds a run and its lines."""
    values = _all_values(evaluations, references)
    return scales.span(scales.possible(scale, values), values)


def _all_values(evaluations: pd.DataFrame, references: References) -> scales.Array:
    y = evaluations["y"].to_numpy(dtype=float)
    floor = references.minimum
    lines = [references.at_centre, references.paper, floor if floor != 0 else None]
    lines += evaluations["floor"].dropna().unique().tolist() if "floor" in evaluations else []
    return np.append(y, [line for line in lines if line is not None])


def _chosen(changes: Sequence[Event], t: int | None) -> Event | None:
    found = [change for change in changes if change["t"] == t]
    return found[0] if found else (changes[-1] if changes else None)


def _empty(rows: dict[str, tuple[float, float]], budget: int, revision: str, changes: list[int]) -> Sketch:
    """The frame: axes, names and titles. One x axis, so that one hover reads all the rows."""
    layout = theme.base_layout(HEIGHT if rows is ROWS else HEIGHT // 2)
    layout |= {
        "uirevision": revision,
        "hovermode": "x unified",
        "hoversubplots": "axis",
        "meta": {"changes": changes, "budget": budget},
        "xaxis": theme.iteration_axis(budget, "y3" if rows is ROWS else "y"),
    }
    axes, notes = theme.stacked_rows(rows, NAMES)
    return Sketch(layout | axes, notes=notes)


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
        draw_errors(sketch, best, floor, references.minimum, scale, between)
    for values, name, style in (
        (y, "value", {"mode": "markers", "marker": _dots()}),
        (best, "best so far", {"mode": "lines", "line": _line(theme.BLUE)}),
    ):
        sketch.scatter(
            x0=1,
            dx=1,
            y=_small(scales.place(scale, values)),
            name=name,
            hovertemplate=_value_hover(scale),
            **_true_values(scale, values),
            **style,
        )
    sketch.layout["yaxis"] |= scales.axis_settings(scale, between)
    lines = [
        (references.at_centre, f"centre {number(references.at_centre)}"),
        (references.paper, f"paper {number(references.paper)}"),
        (references.minimum, f"F* = {number(references.minimum)}"),
    ]
    reference_lines(sketch, "y", lines, scale, between)


def _dots() -> dict[str, Any]:
    return {"color": theme.faint(theme.SKY, 0.55), "size": 5, "line": {"width": 0}}


def _line(colour: str) -> dict[str, Any]:
    return {"color": colour, "width": 2.5, "shape": "hv"}


def _small(values: scales.Array) -> np.ndarray:
    """Half the bytes on the wire; seven digits are more than a chart shows."""
    return values.astype(np.float32)


def _true_values(scale: Scale, values: scales.Array) -> dict[str, Any]:
    return {"customdata": _small(values)} if scale == "symlog" else {}


def _value_hover(scale: Scale) -> str:
    return "%{customdata:.5~g}" if scale == "symlog" else "%{y:.5~g}"


def reference_lines(
    sketch: Sketch,
    axis: str,
    lines: Sequence[tuple[float | None, str]],
    scale: Scale,
    between: tuple[float, float],
) -> None:
    """Grey lines with their names at the right end, set side by side where they are close."""
    reach = between[1] - between[0]
    taken: list[float] = []
    for value, label in lines:
        if value is None:
            continue
        at = scales.position(scale, value)
        if at == -np.inf:  # 0 on a log axis: a word under the row's lower edge
            note = {"x": 1, "xanchor": "right", "y": between[0], "yanchor": "top"}
            sketch.note(f"{label}, below a log axis", xref="paper", yref=axis, **note)
            continue
        line = float(scales.place(scale, np.array([value]))[0])
        sketch.line(
            xref="paper",
            x0=0,
            x1=1,
            yref=axis,
            y0=line,
            y1=line,
            line={"color": theme.GREY, "width": 1.5, "dash": "dash"},
        )
        beside = sum(abs(at - other) < CLOSE * reach for other in taken)
        taken.append(at)
        sketch.note(
            text=label,
            xref="paper",
            x=1 - 0.24 * beside,
            xanchor="right",
            yref=axis,
            y=at,
            yanchor="top" if at > between[1] - 0.05 * reach else "bottom",
        )


def _draw_dimension(
    sketch: Sketch,
    evaluations: pd.DataFrame,
    changes: Sequence[Event],
    references: References,
    event: Event | None,
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
    )
    high = max(references.d_h or 0, references.d_e or 0, *(int(v) for v in d[-1:]), 1)
    between = (0.0, high * 1.12)
    sketch.layout["yaxis2"]["range"] = list(between)
    lines = [(references.d_h, f"dₕ = {references.d_h}"), (references.d_e, f"dₑ = {references.d_e}")]
    reference_lines(sketch, "y2", lines, "linear", between)


def _mark_chosen(sketch: Sketch, event: Event | None) -> None:
    """A line through all rows at the convergence that is being explained."""
    if event is not None:
        sketch.line(
            x0=event["t"],
            x1=event["t"],
            yref="paper",
            y0=0,
            y1=1,
            line={"color": theme.VERMILLION, "width": 1.5, "dash": "dot"},
        )
