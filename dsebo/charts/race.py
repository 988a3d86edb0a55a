"""A race's charts: best values and dimensions together, and the time spent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dsebo.analysis.curves import BandKind
from dsebo.charts import scales, theme
from dsebo.charts.compare import Curves, draw_band
from dsebo.charts.run import References, reference_lines
from dsebo.charts.scales import Scale
from dsebo.charts.sketch import Sketch
from dsebo.charts.styles import Style
from dsebo.text import number
from dsebo.ui.experiments.race_data import PARTS

ROWS = {"best": (0.42, 1.0), "d": (0.0, 0.29)}
ALONE = {"best": (0.0, 1.0)}
NAMES = {
    "best": ("Best value so far: the lower curve wins", "value F(x)"),
    "d": ("Dimension of those that search a subspace", "dimension d"),
}
HEIGHT, LEGEND_ROW = 560, 31
LEGENDS = {3: 0.26, 2: 0.42, 1: 0.8}  # columns of the legend: share of an entry
SHORT = 26  # characters of a name up to which three columns have room
BAR = 46  # px a method in the chart of seconds
SHADES = (0.95, 0.6, 0.3)  # of one colour: what is told apart is one thing's parts


def race_figure(
    lanes: Mapping[str, Sequence[Curves]],
    styles: Mapping[str, Style],
    lines: References,
    budget: int,
    kind: BandKind = "mean",
    scale: Scale = "log",
) -> go.Figure:
    """Each method as one curve with its band over seeds; n stands in the legend.

    Args:
        lanes: The runs of each method by its label.
        styles: (colour, dash) of each label.
        lines: The grey lines.
        budget: The end of the iteration axis.
        kind: Mean ± standard deviation, or median and quartiles.
        scale: Of the value axis.
    """
    curves = [curve for group in lanes.values() for curve in group]
    rows = ROWS if any(np.isfinite(curve.d).any() for curve in curves) else ALONE
    known = [v for v in (lines.at_centre, lines.paper, lines.minimum or None) if v is not None]
    values = np.concatenate([*(curve.best for curve in curves), known, np.empty(0)])
    scale = scales.possible(scale, values)
    between = scales.span(scale, values)
    names = {label: f"{label} (n = {_begun(group)})" for label, group in lanes.items()}
    sketch = _frame(rows, budget, list(names.values()))
    for label, group in lanes.items():
        begun = [curve for curve in group if len(curve.best)]
        name, style = names[label], styles[label]
        draw_band(sketch, [c.best for c in begun], kind, scale, "y", name, style, False)
        of_d = [curve.d for curve in begun if np.isfinite(curve.d).any()]
        draw_band(sketch, of_d, kind, "linear", "y2", name, style, False)
    sketch.layout["yaxis"] |= scales.axis_settings(scale, between)
    if rows is ROWS:
        sketch.layout["yaxis2"]["rangemode"] = "tozero"
    shown = [
        (lines.at_centre, f"centre {number(lines.at_centre)}"),
        (lines.paper, f"paper's DSEBO {number(lines.paper)}"),
        (lines.minimum, f"F* = {number(lines.minimum)}"),
    ]
    before = len(sketch.notes)
    reference_lines(sketch, "y", shown, scale, between)
    for note in sketch.notes[before:]:
        note["name"] = "over"  # legible over the many curves
    return sketch.figure()


def _begun(group: Sequence[Curves]) -> int:
    return sum(len(curve.best) > 0 for curve in group)


def _frame(rows: Mapping[str, tuple[float, float]], budget: int, names: Sequence[str]) -> Sketch:
    """Axes, titles, and a legend above them: in columns where there is room, else in one."""
    height = HEIGHT if rows is ROWS else HEIGHT * 3 // 5
    columns = 3 if max(map(len, names), default=0) <= SHORT else 2
    wide, tall = (math.ceil(len(names) / n) * LEGEND_ROW for n in (columns, 1))
    legend = {
        "orientation": "h",
        "x": 0,
        "xanchor": "left",
        "y": 1,
        "yanchor": "top",
        "yref": "container",
        "bgcolor": theme.CLEAR,
        "font": {"size": theme.SIZE},
        "entrywidthmode": "fraction",
        "entrywidth": LEGENDS[columns],
    }
    layout = theme.base_layout(height + wide)
    margin = {**layout["margin"], "t": 48 + wide}
    narrow = {
        "height": height + tall,
        "margin": {**margin, "t": 48 + tall},
        "legend": {**legend, "entrywidth": LEGENDS[1]},
    }
    layout |= {
        "showlegend": True,
        "legend": legend,
        "margin": margin,
        "uirevision": "race",
        "hovermode": "x unified",
        "hoversubplots": "axis",
        "meta": {"file": "dsebo-race", "save": True, "narrow": narrow},
        "xaxis": theme.iteration_axis(budget, "y2" if rows is ROWS else "y"),
    }
    axes, notes = theme.stacked_rows(rows, NAMES)
    return Sketch(layout | axes, notes=notes)


def time_figure(spent: pd.DataFrame) -> go.Figure:
    """Mean seconds of a run by method, and what they went to; the method's name above its bar."""
    spent = spent.iloc[::-1]  # the first stands at the top
    total = spent.sum(axis=1).to_numpy(dtype=float)
    layout = theme.base_layout(96 + BAR * len(spent))
    layout |= {
        "barmode": "stack",
        "bargap": 0.62,
        "showlegend": True,
        "uirevision": "time",
        "margin": {"l": 8, "r": 8, "t": 8, "b": 88},
        "meta": {"quiet": True},
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 0,
            "yanchor": "bottom",
            "yref": "container",
            "entrywidthmode": "fraction",
            "entrywidth": 0.36,
            "traceorder": "normal",
            "font": {"size": theme.SIZE},
            "bgcolor": theme.CLEAR,
        },
        "xaxis": theme.axis(
            range=[0, max(total.max(initial=0.0), 1e-3) * 1.12], nticks=6, ticksuffix=" s", tickangle=0
        ),
        "yaxis": theme.axis(showticklabels=False, showgrid=False, range=[-0.5, len(spent) - 0.15]),
    }
    sketch = Sketch(layout)
    colours = [*(theme.faint(theme.PURPLE, shade) for shade in SHADES), theme.faint(theme.GREY, 0.5)]
    for (part, words), colour in zip(PARTS.items(), colours, strict=True):
        sketch.bar(
            x=spent[part].to_numpy(dtype=float),
            y=np.arange(len(spent)),
            orientation="h",
            name=words,
            marker={"color": colour},
            hovertemplate="%{x:.3~g} s",
        )
    for place, (label, seconds) in enumerate(zip(spent.index, total, strict=True)):
        sketch.note(
            f"{label}: {_seconds(float(seconds))}",
            x=0,
            xanchor="left",
            xref="x",
            yref="y",
            y=place + 0.19,
            yanchor="bottom",
        )
    return sketch.figure()


def _seconds(value: float) -> str:
    return f"{number(value, 2 if value < 10 else 3)} s"
