"""The response curve: final value against the swept value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dsebo.analysis.curves import BandKind
from dsebo.charts import scales, theme
from dsebo.charts.compare import SYMBOLS
from dsebo.charts.frames import Block, ValueAxis, blocks, cell_table, fitting, inner_axes, known, value_axis
from dsebo.charts.scales import Array, Scale
from dsebo.charts.sketch import Sketch
from dsebo.experiments.findings import finished
from dsebo.text import number, part, symbol

HEIGHT, HEAD, FOOT = 320, 44, 56  # px
LEGEND_ROW = 30  # px
TITLE = "Final value, lower is better"
WIDE, NARROW = 3, 1  # functions side by side, each with axes of its own; a phone has the second
GAP, BELOW = 0.10, 84  # share of the width, and px of the height, between two of them
JITTER = 0.012  # share of the axis by which seeds stand beside the line
ONE_PLACE = ValueAxis("", [""], False, False)  # where only functions vary


def response_figure(
    frame: pd.DataFrame, axes: Sequence[str], kind: BandKind = "median", scale: Scale = "log"
) -> go.Figure:
    """The final value of every cell over the swept value; each function on an axis of its own.

    The line is the median with quartiles, or the mean ± std; each seed is a faint dot. Of two axes
    the first is across, the second tells the lines apart. The grey lines are the value at the
    box's centre and F*.
    """
    inner = inner_axes(axes)
    parts = blocks(frame, axes)
    lines = frame[inner[1]].nunique() if len(inner) == 2 else 0
    responses = [_Response(index, block, inner, kind, scale) for index, block in enumerate(parts)]
    layout = _layout(responses, lines, min(WIDE, len(parts)))
    layout["meta"] = {"file": "dsebo-sweep-response", "save": True}
    if len(parts) > 1:
        layout["meta"]["narrow"] = _layout(responses, lines, NARROW)
    sketch = Sketch(layout, notes=layout.pop("annotations"))
    for response in responses:
        response.draw(sketch)
    return sketch.figure()


def _layout(responses: Sequence[_Response], lines: int, columns: int) -> dict[str, Any]:
    """With so many functions side by side."""
    rows = -(-len(responses) // columns)
    legend = LEGEND_ROW * -(-lines // 3)
    inside = rows * HEIGHT + (rows - 1) * BELOW
    layout = theme.base_layout(HEAD + legend + inside + FOOT)
    layout["margin"] = {**layout["margin"], "t": HEAD + legend, "b": FOOT}
    layout |= {
        "hovermode": "closest",
        "showlegend": bool(lines),
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "xanchor": "left",
            "bgcolor": theme.CLEAR,
            "font": {"size": theme.SIZE},
        },
    }
    notes = []
    width = (1 - GAP * (columns - 1)) / columns
    for index, response in enumerate(responses):
        row, column = divmod(index, columns)
        left = column * (width + GAP)
        top = 1 - row * (HEIGHT + BELOW) / inside
        bottom = top - HEIGHT / inside
        layout |= response.axes((left, left + width), (bottom, top))
        notes.append(theme.heading(response.title, top) | {"x": left})
        if column == 0:
            notes.append(theme.axis_name("final value F(x)", (bottom, top)))
    layout["annotations"] = notes
    layout["uirevision"] = f"response {responses[0].scale}"
    return layout


class _Response:
    """One function's part of the figure."""

    def __init__(self, index: int, block: Block, inner: Sequence[str], kind: BandKind, scale: Scale) -> None:
        self.block, self.kind = block, kind
        after = "" if index == 0 else str(index + 1)
        self.x_name, self.y_name, self.first = f"x{after}", f"y{after}", index == 0
        self.done = finished(block.rows)
        self.table = cell_table(block.rows, inner)
        self.across = value_axis(block.rows, inner[0]) if inner else ONE_PLACE
        self.second = inner[1] if len(inner) == 2 else None
        values = self.done["best"].to_numpy(dtype=float)
        self.scale = fitting(scale, known(block.rows["minimum"]), values)
        grey = self.table[["minimum", "at_centre"]].to_numpy(dtype=float).ravel()
        self.between = scales.span(self.scale, np.concatenate([values, grey]), 0.1)

    @property
    def title(self) -> str:
        """`Sphere: lower is better`."""
        return f"{self.block.name}: lower is better" if self.block.name else TITLE

    def axes(self, x_at: tuple[float, float], y_at: tuple[float, float]) -> dict[str, Any]:
        """The axes, standing there."""
        x, log = self.across, ", log axis" if self.across.log else ""
        title = theme.axis_title(f"{symbol(x.field)}{log}" if x.field else "")
        return {
            f"xaxis{self.x_name[1:]}": theme.axis(
                domain=x_at, anchor=self.y_name, showgrid=False, title=title, **x.ticks
            ),
            f"yaxis{self.y_name[1:]}": theme.axis(
                domain=y_at, anchor=self.x_name, **scales.axis_settings(self.scale, self.between)
            ),
        }

    def draw(self, sketch: Sketch) -> None:
        """The grey lines, the seeds and the line over them."""
        self._grey(sketch, "at_centre", "centre")
        self._grey(sketch, "minimum", "F*")
        if self.second is None:
            self._series(sketch, self.done, "", 0)
            return
        for place, value in enumerate(dict.fromkeys(self.block.rows[self.second])):
            chosen = self.done[self.done[self.second] == value]
            self._series(sketch, chosen, part(self.second, value), place)

    def _grey(self, sketch: Sketch, column: str, name: str) -> None:
        """A reference that may change along the axis, with its name at the right end."""
        there = self.table[self.table[column].notna()]
        if self.scale == "log":
            there = there[there[column] > 0]
        at = self._places(there)
        values = there[column].to_numpy(dtype=float)
        if not len(at) or len(set(zip(at, values, strict=True))) > len(set(at)):
            return  # unknown, or it changes with the other axis too
        if len(set(values)) == 1:  # a line across everything
            ends = np.asarray(self.across.ticks["range"])
            at, values = (10**ends if self.across.log else ends), np.repeat(values[0], 2)
        order = np.argsort(at, kind="stable")
        at, values = at[order], values[order]
        sketch.scatter(
            x=at,
            y=scales.place(self.scale, values),
            xaxis=self.x_name,
            yaxis=self.y_name,
            mode="lines+text",
            text=[""] * (len(at) - 1) + [f"{name} {number(values[-1])}"],
            textposition="top left",
            cliponaxis=False,
            line={"color": theme.GREY, "width": 1.5, "dash": "dash"},
            customdata=values,
            hovertemplate=f"{name} %{{customdata:.4~g}}<extra></extra>",
            showlegend=False,
        )

    def _places(self, rows: pd.DataFrame) -> Array:
        x = self.across
        return x.place(rows[x.field]) if x.field else np.zeros(len(rows))

    def _series(self, sketch: Sketch, done: pd.DataFrame, name: str, place: int) -> None:
        """One line over the swept values, and its seeds."""
        if done.empty:
            return
        colour, dash = theme.series_style(place)
        spots, best = self._places(done), done["best"].to_numpy(dtype=float)
        on = {"xaxis": self.x_name, "yaxis": self.y_name, "legendgroup": name}
        sketch.scatter(
            x=_beside(self.across, spots, done["seed"].to_numpy()),
            y=scales.place(self.scale, best),
            mode="markers",
            showlegend=False,
            marker={
                "color": theme.faint(colour if name else theme.SKY, 0.45),
                "size": 7,
                "line": {"width": 0},
            },
            customdata=done["seed"],
            text=[number(value) for value in best],
            hovertemplate="seed %{customdata}: %{text}<extra></extra>",
            **on,
        )
        at, n = np.unique(spots, return_counts=True)
        middle = np.array([_middle(best[spots == spot], self.kind) for spot in at])
        mid, low, high = middle.T
        if self.scale == "log":  # mean − std may leave the axis
            low = np.maximum(low, best.min() * 0.5)
        mid, low, high = (scales.place(self.scale, edge) for edge in (mid, low, high))
        sketch.scatter(
            x=at,
            y=mid,
            name=name,
            showlegend=bool(name) and self.first,
            mode="lines+markers" if self.across.numeric else "markers",
            line={"color": colour, "dash": dash, "width": 2.5},
            marker={"color": colour, "size": 11, "symbol": SYMBOLS[place % len(SYMBOLS)]},
            error_y={
                "type": "data",
                "symmetric": False,
                "array": high - mid,
                "arrayminus": mid - low,
                "color": colour,
                "thickness": 2,
                "width": 6,
            },
            customdata=np.stack([middle[:, 0], n], axis=1),
            hovertemplate=f"{self.kind} %{{customdata[0]:.4~g}} (n = %{{customdata[1]}})"
            f"<extra>{name}</extra>",
            **on,
        )


def _beside(x: ValueAxis, spots: Array, seeds: Array) -> Array:
    """Seeds stand a little to the right of their value, each at its own place, not on the bar."""
    low, high = x.ticks["range"]
    order = np.argsort(np.argsort(seeds)) / max(1, len(seeds) - 1)
    shift = (high - low) * (JITTER + JITTER * order)
    moved = np.log10(spots) + shift if x.log else spots + shift
    return np.asarray(10**moved if x.log else moved)


def _middle(values: Array, kind: BandKind) -> tuple[float, float, float]:
    if kind == "median":
        low, mid, high = np.quantile(values, [0.25, 0.5, 0.75])
        return float(mid), float(low), float(high)
    spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    mean = float(values.mean())
    return mean, mean - spread, mean + spread
