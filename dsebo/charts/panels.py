"""Best value and dimension of the cells of an experiment as small multiples.

They show the cells of one function, as only their values share an axis.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dsebo.analysis.curves import BandKind
from dsebo.charts import scales, theme
from dsebo.charts.cells import CellCurves, OfTask, cell_curves, known
from dsebo.charts.curves import Curves, draw_band, finite
from dsebo.charts.scales import Array, Scale, fitting, reference_curve, shared_lines
from dsebo.charts.theme import Sketch
from dsebo.text import number

MOST_PANELS = 48
TOO_MANY = f"The curves of more than {MOST_PANELS} cells are not drawn; the table has all."
WIDE, NARROW = 4, 2  # panels side by side; a phone has the second
PANEL, TITLE, HEAD, FOOT = 200, 34, 40, 54  # px: a panel, its title, the figure's top and bottom
LINE, IN_LINE = 18, 15  # px that a further line of a title takes, and letters of one in a narrow panel
GAPS = {NARROW: 0.09}  # share of the width between two panels, where they are so many; else GAP
GAP = 0.045
VALUE, BETWEEN = 0.60, 0.10  # shares of a panel: the value's row, and the gap above the dimension's


def panels_figure(
    frame: pd.DataFrame,
    axes: Sequence[str],
    curves: Mapping[str, Curves],
    kind: BandKind = "median",
    scale: Scale = "log",
    singles: bool = False,
    of_task: OfTask | None = None,
) -> go.Figure:
    """A panel for each cell, all on the same axes: its best value, and its dimension under it."""
    panels = cell_curves(frame, axes, curves, of_task)
    shown = [curve for panel in panels for curve in panel.curves]
    lines = [line for panel in panels for line in panel.grey.values() if line]
    values = np.concatenate([*(curve.best for curve in shown), lines, np.empty(0)])
    scale = fitting(scale, known(frame["minimum"]), values)
    shared = _Shared(
        scale=scale,
        between=scales.span(scale, values),
        longest=max([int(frame["budget"].max()), *(len(curve.best) for curve in shown)]),
        lines=_common_lines(frame, panels, scale, values),
        dimensions=finite(np.concatenate([*(curve.d for curve in shown), np.empty(0)])),
    )
    columns = _columns(frame, axes)
    layout = _layout(panels, shared, columns)
    layout["meta"] = {"file": "dsebo-experiment-panels", "save": True}
    if columns > NARROW:
        layout["meta"]["narrow"] = _layout(panels, shared, NARROW)
    sketch = Sketch(layout, notes=layout.pop("annotations"))
    for index, panel in enumerate(panels):
        _draw(sketch, index, panel, shared, kind, singles)
    return sketch.figure()


def _common_lines(
    frame: pd.DataFrame, panels: Sequence[CellCurves], scale: Scale, values: Array
) -> list[tuple[float, str]]:
    """The grey lines that are on the axis and the same for all: named once, beside each row of panels."""
    low, high = scales.span(scale, values)
    of_task = [(value, name) for name, value in shared_lines([panel.of_task for panel in panels]).items()]
    all_of_them = ((known(frame["at_centre"]), "centre"), *of_task, (known(frame["minimum"]), "F*"))
    there = [(value, name) for value, name in all_of_them if value is not None]
    return [(v, f"{name} {number(v)}") for v, name in there if low <= scales.position(scale, v) <= high]


@dataclass(frozen=True)
class _Shared:
    """What all panels have in common."""

    scale: Scale
    between: tuple[float, float]
    longest: int
    dimensions: Array  # none where no method has a dimension
    lines: Sequence[tuple[float, str]]  # those that all panels have, and their names

    @property
    def with_d(self) -> bool:
        """Whether the panels have a row for the dimension."""
        return self.dimensions.size > 0

    @cached_property
    def of_d(self) -> tuple[Scale, tuple[float, float]]:
        """Scale and range of the dimension's axis."""
        return scales.dimension_axis(self.dimensions, None)


def _columns(frame: pd.DataFrame, axes: Sequence[str]) -> int:
    """Panels side by side: of two axes the second, where it has few values."""
    across = frame[axes[-1]].nunique() if len(axes) == 2 else int(frame["cell"].nunique())
    return int(across) if across <= WIDE + 1 else WIDE


def _layout(panels: Sequence[CellCurves], shared: _Shared, columns: int) -> dict[str, Any]:
    """Axes and titles with so many panels side by side."""
    rows = -(-len(panels) // columns)
    height = _title_height(panels)
    inside = rows * (PANEL + height)
    layout = theme.base_layout(HEAD + inside + FOOT)
    layout |= {"uirevision": f"panels {shared.scale}", "hovermode": "x"}
    layout["margin"] |= {"t": HEAD, "b": FOOT, "r": theme.RIGHT}
    gap = GAPS.get(columns, GAP)
    width = (1 - gap * (columns - 1)) / columns
    under = ", dimension d under it" if shared.with_d else ""
    notes = [theme.heading(f"Best value so far{under}", 1)]
    for index, panel in enumerate(panels):
        row, column = divmod(index, columns)
        left = column * (width + gap)
        top = 1 - (row * (PANEL + height) + height) / inside
        edges = _Edges((left, left + width), top, PANEL / inside, column == 0, index + columns >= len(panels))
        layout |= _panel_axes(index, edges, shared)
        notes.append(_title(panel, left, top))
        if column == columns - 1 or index == len(panels) - 1:
            places = ((name, scales.position(shared.scale, value)) for value, name in shared.lines)
            notes += [theme.beside(name, _axes(index)[1], at, left + width) for name, at in places]
        if column == 0:
            of_value, of_d = edges.rows(shared.with_d)
            notes.append(theme.axis_name("value F(x)", sum(of_value) / 2))
            notes += [theme.axis_name("d", sum(of_d) / 2)] if shared.with_d else []
    layout["annotations"] = notes
    return layout


def _title_height(panels: Sequence[CellCurves]) -> int:
    """px above a panel: of two lines, or of as many as the longest title takes where panels are narrow."""
    longest = max((len(re.sub("<[^>]*>", "", panel.title)) for panel in panels), default=0)
    return TITLE + LINE * max(0, math.ceil(longest / IN_LINE) - 2)


@dataclass(frozen=True)
class _Edges:
    """Where a panel stands, in shares of the figure's inside, and whether it has tick labels."""

    across: tuple[float, float]
    top: float
    height: float
    leftmost: bool
    lowest: bool

    def rows(self, with_d: bool) -> tuple[tuple[float, float], tuple[float, float]]:
        """(bottom, top) of the value's row and of the dimension's."""
        split = self.top - self.height * (VALUE if with_d else 1.0)
        return (split, self.top), (self.top - self.height, split - BETWEEN * self.height)


def _panel_axes(index: int, edges: _Edges, shared: _Shared) -> dict[str, Any]:
    """The iteration axis of a panel, its value axis and its dimension axis."""
    x, y, d = _axes(index)
    of_value, of_d = edges.rows(shared.with_d)
    title = theme.axis_title("evaluation t" if edges.lowest else "")
    axes = {
        _long(x): theme.axis(
            domain=edges.across,
            anchor=d if shared.with_d else y,
            showgrid=False,
            ticklabelstandoff=theme.CLEAR_OF_0,
            nticks=4,
            range=[0, shared.longest * 1.02],
            showticklabels=edges.lowest,
            title=title,
            matches=None if index == 0 else "x",
        ),
        _long(y): theme.axis(
            domain=of_value,
            anchor=x,
            showticklabels=edges.leftmost,
            matches=None if index == 0 else "y",
            **scales.axis_settings(shared.scale, shared.between),
        ),
    }
    if shared.with_d:
        axes[_long(d)] = theme.axis(
            domain=of_d,
            anchor=x,
            showticklabels=edges.leftmost,
            matches=None if index == 0 else _axes(0)[2],
            **_few_ticks(scales.axis_settings(*shared.of_d)),
        )
    return axes


def _few_ticks(settings: dict[str, Any]) -> dict[str, Any]:
    """Of a logarithmic axis in a low row the powers of ten; of another about three ticks."""
    if "tickvals" not in settings:
        return settings | {"nticks": 3}
    powers = [tick for tick in settings["tickvals"] if math.log10(tick).is_integer()]
    return settings | {"tickvals": powers, "ticktext": [number(tick) for tick in powers]}


def _axes(index: int) -> tuple[str, str, str]:
    """The names of a panel's axes, as traces have them."""
    x = "x" if index == 0 else f"x{index + 1}"
    return x, "y" if index == 0 else f"y{2 * index + 1}", f"y{2 * index + 2}"


def _long(axis: str) -> str:
    """As the layout has it."""
    return f"{axis[0]}axis{axis[1:]}"


def _title(panel: CellCurves, left: float, top: float) -> dict[str, Any]:
    return {
        "text": panel.title,
        "showarrow": False,
        "xref": "paper",
        "yref": "paper",
        "x": left,
        "y": top,
        "xanchor": "left",
        "yanchor": "bottom",
        "yshift": 2,
        "name": "panel",
    }


def _draw(
    sketch: Sketch, index: int, panel: CellCurves, shared: _Shared, kind: BandKind, singles: bool
) -> None:
    """The curves and grey lines of one panel."""
    x, y, d = _axes(index)
    best = [curve.best for curve in panel.curves]
    blue = (theme.BLUE, "solid")
    draw_band(sketch, best, kind, shared.scale, y, "best", blue, singles, x, legend=False)
    of_d = [curve.d for curve in panel.curves if np.isfinite(curve.d).any()]
    orange = (theme.ORANGE, "solid")
    draw_band(sketch, of_d, kind, shared.of_d[0], d, "d", orange, singles, x, legend=False)
    for name, value in panel.grey.items():
        low, high = shared.between
        if low <= scales.position(shared.scale, value) <= high:
            ends = np.array([0.0, shared.longest * 1.02])
            reference_curve(sketch, ends, np.repeat(value, 2), name, shared.scale, (x, y))
