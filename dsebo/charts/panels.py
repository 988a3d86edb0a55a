"""Best value and dimension of the cells of a sweep: overlaid, or as small multiples.

Both show the cells of one function, as only their values share an axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dsebo.analysis.curves import BandKind
from dsebo.charts import scales, theme
from dsebo.charts.compare import Curves, compare_figure, draw_band
from dsebo.charts.frames import fitting, known, labels
from dsebo.charts.scales import Scale
from dsebo.charts.sketch import Sketch
from dsebo.text import number

MOST_OVERLAID = 8  # curves in one chart, told apart by colour and dash; more have panels
MOST_PANELS = 48
TOO_MANY = f"The curves of more than {MOST_PANELS} cells are not drawn; the table has all."
WIDE, NARROW = 4, 2  # panels side by side; a phone has the second
PANEL, TITLE, HEAD, FOOT = 200, 34, 40, 54  # px: a panel, its title, the figure's top and bottom
LEGEND_LINE = 30  # px
GAP = 0.03  # share of the width between two panels
VALUE, BETWEEN = 0.60, 0.10  # shares of a panel: the value's row, and the gap above the dimension's


@dataclass(frozen=True)
class Panel:
    """One cell of the small multiples."""

    label: str
    curves: Sequence[Curves]
    planned: int
    minimum: float | None
    at_centre: float | None

    @property
    def title(self) -> str:
        """`β = 8 (n = 6 of 10)`."""
        n = len(self.curves)
        of = "" if n == self.planned else f" of {self.planned}"
        return f"<b>{self.label}</b> (n = {n}{of})"


def overlay_figure(
    frame: pd.DataFrame,
    axes: Sequence[str],
    curves: Mapping[str, Curves],
    kind: BandKind = "median",
    scale: Scale = "log",
    singles: bool = False,
) -> go.Figure:
    """All cells in one chart.

    Args:
        frame: A row for each planned run.
        axes: The swept fields that tell the cells apart.
        curves: What is drawn of each finished run, by its id.
        kind, scale, singles: As in Compare.
    """
    groups = {panel.label: panel.curves for panel in _panels(frame, axes, curves) if panel.curves}
    scale = fitting(scale, known(frame["minimum"]), np.empty(0))
    figure = compare_figure(
        groups, kind, scale, singles, known(frame["minimum"]), known(frame["at_centre"]), slopes=False
    )
    _legend_in_lines(figure, len(groups))
    figure.layout.uirevision = f"overlay {scale}"
    figure.layout.meta = {**figure.layout.meta, "file": "dsebo-sweep-curves"}
    return figure


def _legend_in_lines(figure: go.Figure, groups: int) -> None:
    """Short labels stand side by side, more of them where there is more room."""
    margin, inside = figure.layout.margin.to_plotly_json(), figure.layout.height
    inside -= margin["t"]

    def with_lines(lines: int) -> dict[str, Any]:
        top = 44 + LEGEND_LINE * lines
        return {"margin": {**margin, "t": top}, "height": inside + top}

    figure.layout.update(with_lines(-(-groups // 6)))
    figure.layout.legend.orientation = "h"
    figure.layout.meta = {**figure.layout.meta, "narrow": with_lines(-(-groups // 2))}


def panels_figure(
    frame: pd.DataFrame,
    axes: Sequence[str],
    curves: Mapping[str, Curves],
    kind: BandKind = "median",
    scale: Scale = "log",
    singles: bool = False,
) -> go.Figure:
    """A panel for each cell, all on the same axes: its best value, and its dimension under it."""
    panels = _panels(frame, axes, curves)
    shown = [curve for panel in panels for curve in panel.curves]
    lines = [line for panel in panels for line in (panel.minimum, panel.at_centre) if line]
    values = np.concatenate([*(curve.best for curve in shown), lines, np.empty(0)])
    scale = fitting(scale, known(frame["minimum"]), values)
    shared = _Shared(
        scale=scale,
        between=scales.span(scale, values),
        longest=max([int(frame["budget"].max()), *(len(curve.best) for curve in shown)]),
        largest_d=max((float(np.nanmax(c.d)) for c in shown if np.isfinite(c.d).any()), default=0),
    )
    columns = _columns(frame, axes)
    layout = _layout(panels, shared, columns)
    layout["meta"] = {"file": "dsebo-sweep-panels", "save": True}
    if columns > NARROW:
        layout["meta"]["narrow"] = _layout(panels, shared, NARROW)
    sketch = Sketch(layout, notes=layout.pop("annotations"))
    for index, panel in enumerate(panels):
        _draw(sketch, index, panel, shared, kind, singles)
    return sketch.figure()


@dataclass(frozen=True)
class _Shared:
    """What all panels have in common."""

    scale: Scale
    between: tuple[float, float]
    longest: int
    largest_d: float  # 0 where no method has a dimension

    @property
    def with_d(self) -> bool:
        """Whether the panels have a row for the dimension."""
        return self.largest_d > 0


def _panels(frame: pd.DataFrame, axes: Sequence[str], curves: Mapping[str, Curves]) -> list[Panel]:
    named = labels(frame, axes)
    return [
        Panel(
            named[int(rows["cell"].iloc[0])],
            [curves[run] for run in rows["run_id"] if run in curves],
            len(rows),
            known(rows["minimum"]),
            known(rows["at_centre"]),
        )
        for _, rows in frame.groupby("cell", sort=False)
    ]


def _columns(frame: pd.DataFrame, axes: Sequence[str]) -> int:
    """Panels side by side: of two axes the second, where it has few values."""
    across = frame[axes[-1]].nunique() if len(axes) == 2 else int(frame["cell"].nunique())
    return int(across) if across <= WIDE + 1 else WIDE


def _layout(panels: Sequence[Panel], shared: _Shared, columns: int) -> dict[str, Any]:
    """Axes and titles with so many panels side by side."""
    rows = -(-len(panels) // columns)
    inside = rows * (PANEL + TITLE)
    layout = theme.base_layout(HEAD + inside + FOOT)
    layout |= {"uirevision": f"panels {shared.scale}", "hovermode": "x"}
    layout["margin"] = {**layout["margin"], "t": HEAD, "b": FOOT}
    width = (1 - GAP * (columns - 1)) / columns
    under = ", dimension d under it" if shared.with_d else ""
    notes = [theme.heading(f"Best value so far{under}", 1)]
    for index, panel in enumerate(panels):
        row, column = divmod(index, columns)
        left = column * (width + GAP)
        top = 1 - (row * (PANEL + TITLE) + TITLE) / inside
        edges = _Edges((left, left + width), top, PANEL / inside, column == 0, index + columns >= len(panels))
        layout |= _panel_axes(index, edges, shared)
        notes.append(_title(panel, left, top))
        if column == 0:
            notes += _axis_names(edges, shared)
    layout["annotations"] = notes
    return layout


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
    found = {
        _long(x): theme.axis(
            domain=edges.across,
            anchor=d if shared.with_d else y,
            showgrid=False,
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
        found[_long(d)] = theme.axis(
            domain=of_d,
            anchor=x,
            nticks=3,
            range=[0, shared.largest_d * 1.1],
            showticklabels=edges.leftmost,
            matches=None if index == 0 else _axes(0)[2],
        )
    return found


def _axes(index: int) -> tuple[str, str, str]:
    """The names of a panel's axes, as traces have them."""
    x = "x" if index == 0 else f"x{index + 1}"
    return x, "y" if index == 0 else f"y{2 * index + 1}", f"y{2 * index + 2}"


def _long(axis: str) -> str:
    """As the layout has it."""
    return f"{axis[0]}axis{axis[1:]}"


def _title(panel: Panel, left: float, top: float) -> dict[str, Any]:
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


def _axis_names(edges: _Edges, shared: _Shared) -> list[dict[str, Any]]:
    of_value, of_d = edges.rows(shared.with_d)
    names = [theme.axis_name("value F(x)", of_value)]
    return [*names, theme.axis_name("d", of_d)] if shared.with_d else names


def _draw(sketch: Sketch, index: int, panel: Panel, shared: _Shared, kind: BandKind, singles: bool) -> None:
    """The curves and grey lines of one panel."""
    x, y, d = _axes(index)
    best = [curve.best for curve in panel.curves]
    blue = (theme.BLUE, "solid")
    draw_band(sketch, best, kind, shared.scale, y, "best", blue, singles, x, legend=False)
    of_d = [curve.d for curve in panel.curves if np.isfinite(curve.d).any()]
    orange = (theme.ORANGE, "solid")
    draw_band(sketch, of_d, kind, "linear", d, "d", orange, singles, x, legend=False)
    for value, name in ((panel.at_centre, "centre"), (panel.minimum, "F*")):
        _grey_line(sketch, (x, y), value, name, shared)


def _grey_line(
    sketch: Sketch, axes: tuple[str, str], value: float | None, name: str, shared: _Shared
) -> None:
    """A reference across one panel; not where the axis cannot show it."""
    if value is None or (shared.scale == "log" and value <= 0):
        return
    at = float(scales.place(shared.scale, np.array([value]))[0])
    if not shared.between[0] <= scales.position(shared.scale, value) <= shared.between[1]:
        return
    x, y = axes
    sketch.line(
        xref=f"{x} domain",
        x0=0,
        x1=1,
        yref=y,
        y0=at,
        y1=at,
        line={"color": theme.GREY, "width": 1.5, "dash": "dash"},
    )
    sketch.scatter(
        x=[shared.longest],
        y=[at],
        xaxis=x,
        yaxis=y,
        mode="text",
        text=[f"{name} {number(value)}"],
        textposition="top left",
        hoverinfo="skip",
        showlegend=False,
        cliponaxis=False,
    )
