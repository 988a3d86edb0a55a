"""The charts of an experiment: its curves in one chart, the response to what varies, a heat map, the time."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import cached_property
from textwrap import wrap
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dsebo.analysis.curves import BandKind, band, stack
from dsebo.charts import scales, theme
from dsebo.charts.cells import (
    FUNCTION,
    Block,
    OfTask,
    ValueAxis,
    blocks,
    cell_curves,
    cell_table,
    inner_axes,
    known,
    value_axis,
)
from dsebo.charts.curves import SYMBOLS, Curves, curves_figure
from dsebo.charts.scales import Array, References, Scale, fitting, reference_curve, shared_lines
from dsebo.charts.theme import Sketch, Style
from dsebo.experiments.findings import finished
from dsebo.runs.data import RunData
from dsebo.text import number, part, symbol, value_label

MOST_OVERLAID = 8  # curves in one chart, told apart by colour and dash; more have panels


# --- curves ---


def race_figure(
    lanes: Mapping[str, Sequence[Curves]],
    styles: Mapping[str, Style],
    lines: References,
    budget: int,
    kind: BandKind = "mean",
    scale: Scale = "log",
) -> go.Figure:
    """Where the method varies: each with the style that it has everywhere, while it runs too."""
    return curves_figure(lanes, kind, scale, styles=styles, lines=lines, end=budget, file="dsebo-race")


def overlay_figure(
    frame: pd.DataFrame,
    axes: Sequence[str],
    curves: Mapping[str, Curves],
    kind: BandKind = "median",
    scale: Scale = "log",
    singles: bool = False,
    of_task: OfTask | None = None,
) -> go.Figure:
    """All cells of one function in one chart, with the lines of their task that all of them share."""
    cells = cell_curves(frame, axes, curves, of_task)
    styles = theme.styles_for({cell.label: cell.values for cell in cells})
    groups = {cell.label: cell.curves for cell in cells if cell.curves}
    of_all = shared_lines([cell.of_task for cell in cells])
    lines = References(known(frame["minimum"]), known(frame["at_centre"]), of_task=of_all)
    scale = fitting(scale, lines.minimum, np.empty(0))
    return curves_figure(
        groups, kind, scale, styles=styles, lines=lines, singles=singles, file="dsebo-experiment-curves"
    )


# --- response: the final value against what varies ---

HEIGHT, HEAD, FOOT = 320, 44, 56  # px
TITLE = "Final value, lower is better"
WIDE, NARROW = 3, 1  # functions side by side, each with axes of its own; a phone has the second
GAP, BELOW = 0.14, 84  # share of the width, and px of the height, between two of them
IN_GAP = 14  # letters of a line's name that fit between two of them
JITTER = 0.012  # share of the axis by which seeds stand beside the line
ONE_PLACE = ValueAxis("", [""], False, False)  # where only functions vary


def response_figure(
    frame: pd.DataFrame,
    axes: Sequence[str],
    kind: BandKind = "median",
    scale: Scale = "log",
    of_task: OfTask | None = None,
) -> go.Figure:
    """The final value of every cell over the swept value; each function on an axis of its own.

    The line is the median with quartiles, or the mean ± std; each seed is a faint dot. Of two axes
    the first is across, the second tells the lines apart. The grey lines are the value at the
    box's centre, F*, and what else a task is read against, where it changes along the first only.
    """
    inner = inner_axes(axes)
    parts = blocks(frame, axes)
    lines = frame[inner[1]].nunique() if len(inner) == 2 else 0
    lines_of = of_task or {}
    responses = [_Response(index, block, inner, kind, scale, lines_of) for index, block in enumerate(parts)]
    layout = _layout(responses, lines, min(WIDE, len(parts)))
    layout["meta"] = {"file": "dsebo-experiment-response", "save": True}
    if len(parts) > 1:
        layout["meta"]["narrow"] = _layout(responses, lines, NARROW)
    sketch = Sketch(layout, notes=layout.pop("annotations"))
    for response in responses:
        response.draw(sketch)
    return sketch.figure()


def _layout(responses: Sequence[_Response], lines: int, columns: int) -> dict[str, Any]:
    """With so many functions side by side."""
    rows = -(-len(responses) // columns)
    inside = rows * HEIGHT + (rows - 1) * BELOW
    layout = theme.base_layout(HEAD + inside + FOOT)
    layout["margin"] |= {"t": HEAD, "b": FOOT, "r": theme.RIGHT}
    layout |= {"hovermode": "closest", "showlegend": bool(lines), "legend": theme.legend_above()}
    notes = []
    width = (1 - GAP * (columns - 1)) / columns
    for index, response in enumerate(responses):
        row, column = divmod(index, columns)
        left = column * (width + GAP)
        top = 1 - row * (HEIGHT + BELOW) / inside
        bottom = top - HEIGHT / inside
        layout |= response.axes((left, left + width), (bottom, top))
        notes.append(theme.heading(response.title, top) | {"x": left})
        notes += response.names(left + width, column < columns - 1)
        if column == 0:
            notes.append(theme.axis_name("final value F(x)", (bottom + top) / 2))
    layout["annotations"] = notes
    layout["uirevision"] = f"response {responses[0].scale}"
    return layout


class _Response:
    """One function's part of the figure."""

    def __init__(
        self, index: int, block: Block, inner: Sequence[str], kind: BandKind, scale: Scale, of_task: OfTask
    ) -> None:
        self.block, self.kind = block, kind
        after = "" if index == 0 else str(index + 1)
        self.x_name, self.y_name, self.first = f"x{after}", f"y{after}", index == 0
        self.done = finished(block.rows)
        self.table = cell_table(block.rows, inner)
        each = [of_task.get(cell, {}) for cell in self.table["cell"]]
        named = [name for name in each[0] if all(name in lines for lines in each)]
        self.table = self.table.assign(**{name: [lines[name] for lines in each] for name in named})
        self.references = {"at_centre": "centre", **{name: name for name in named}, "minimum": "F*"}
        self.across = value_axis(block.rows, inner[0]) if inner else ONE_PLACE
        self.second = inner[1] if len(inner) == 2 else None
        values = self.done["best"].to_numpy(dtype=float)
        self.scale = fitting(scale, known(block.rows["minimum"]), values)
        grey = self.table[list(self.references)].to_numpy(dtype=float).ravel()
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

    def names(self, right: float, in_gap: bool) -> list[dict[str, Any]]:
        """Of the grey lines, beside their right end; broken where the next function stands there."""
        last = [(f"{name} {number(values[-1])}", float(values[-1])) for name, _, values in self.grey]
        return [
            theme.beside(
                "<br>".join(wrap(name, IN_GAP)) if in_gap else name,
                self.y_name,
                scales.position(self.scale, value),
                right,
            )
            for name, value in last
        ]

    def draw(self, sketch: Sketch) -> None:
        """The grey lines, the seeds and the line over them."""
        for name, at, values in self.grey:
            reference_curve(sketch, at, values, name, self.scale, (self.x_name, self.y_name))
        if self.second is None:
            self._series(sketch, self.done, "", theme.series_style(0), SYMBOLS[0])
            return
        styles = theme.value_styles(self.second, list(self.block.rows[self.second]))
        for (value, style), mark in zip(styles.items(), itertools.cycle(SYMBOLS), strict=False):
            chosen = self.done[self.done[self.second] == value]
            self._series(sketch, chosen, part(self.second, value), style, mark)

    @cached_property
    def grey(self) -> list[tuple[str, Array, Array]]:
        """(name, places, values) of the references that are known; they may change along the axis."""
        lines = []
        for column, name in self.references.items():
            there = self.table[self.table[column].notna()]
            if self.scale == "log":
                there = there[there[column] > 0]
            at = self._places(there)
            values = there[column].to_numpy(dtype=float)
            if not len(at) or len(set(zip(at, values, strict=True))) > len(set(at)):
                continue  # unknown, or it changes with the other axis too
            if len(set(values)) == 1:  # a line across everything
                ends = np.asarray(self.across.ticks["range"])
                at, values = (10**ends if self.across.log else ends), np.repeat(values[0], 2)
            order = np.argsort(at, kind="stable")
            lines.append((name, at[order], values[order]))
        return lines

    def _places(self, rows: pd.DataFrame) -> Array:
        x = self.across
        return x.place(rows[x.field]) if x.field else np.zeros(len(rows))

    def _series(self, sketch: Sketch, done: pd.DataFrame, name: str, style: Style, mark: str) -> None:
        """One line over the swept values, and its seeds."""
        if done.empty:
            return
        colour, dash = style
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
        at = np.unique(spots)
        over_seeds = band(list(stack([best[spots == spot] for spot in at]).T), self.kind)
        middle, low, high = (over_seeds[edge].to_numpy(dtype=float) for edge in ("mid", "low", "high"))
        if self.scale == "log":  # mean − std may leave the axis
            low = np.maximum(low, best.min() * 0.5)
        mid, low, high = (scales.place(self.scale, edge) for edge in (middle, low, high))
        sketch.scatter(
            x=at,
            y=mid,
            name=name,
            showlegend=bool(name) and self.first,
            mode="lines+markers" if self.across.numeric else "markers",
            line={"color": colour, "dash": dash, "width": 2.5},
            marker={"color": colour, "size": 11, "symbol": mark},
            error_y={
                "type": "data",
                "symmetric": False,
                "array": high - mid,
                "arrayminus": mid - low,
                "color": colour,
                "thickness": 2,
                "width": 6,
            },
            customdata=np.stack([middle, over_seeds["n"]], axis=1),
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


# --- two axes at a glance ---

HEAT_ROW, HEAT_HEAD, HEAT_FOOT = 54, 44, 58  # px
HeatOf = Literal["median", "final_d", "seconds"]
HEAT_NAMES: dict[HeatOf, str] = {"median": "Final value", "final_d": "Final dimension", "seconds": "Seconds"}
_HEAT_TITLES: dict[HeatOf, str] = {
    "median": "Median final value: dark is low",
    "final_d": "Median final dimension d: dark is large",
    "seconds": "Seconds of one run: dark is long",
}
_PALE = "#F3F6F8"
_HEAT_SHADES: dict[HeatOf, list[list[Any]]] = {
    "median": [[0.0, theme.BLUE], [1.0, _PALE]],
    "final_d": [[0.0, _PALE], [1.0, theme.ORANGE]],
    "seconds": [[0.0, _PALE], [1.0, theme.GREY]],
}


def heat_figure(frame: pd.DataFrame, axes: Sequence[str], of: HeatOf = "median") -> go.Figure:
    """The axis with more values is across. Functions are coloured each by itself."""
    across, down = sorted(axes, key=lambda axis: (axis == FUNCTION, -frame[axis].nunique()))
    x, y = value_axis(frame, across), value_axis(frame, down)
    table = cell_table(frame, axes).set_index([down, across])
    order = pd.MultiIndex.from_product([y.values, x.values])
    values = table[of].reindex(order).to_numpy(dtype=float).reshape(len(y.values), len(x.values))
    n = table["n"].reindex(order, fill_value=0).to_numpy().reshape(values.shape)
    planned = int(table["planned"].max())
    title = _HEAT_TITLES[of]
    if down == FUNCTION and of == "median":
        title += " for its function"
    layout = theme.base_layout(HEAT_HEAD + HEAT_ROW * len(y.values) + HEAT_FOOT)
    layout["margin"] = {**layout["margin"], "t": HEAT_HEAD, "b": HEAT_FOOT, "l": 110}
    layout |= {
        "uirevision": f"heat {of}",
        "meta": {"file": f"dsebo-experiment-{of.replace('_', '-')}", "save": True},
        "xaxis": theme.axis(
            type="category", showgrid=False, ticks="", title=theme.axis_title(symbol(across))
        ),
        "yaxis": theme.axis(
            type="category",
            showgrid=False,
            autorange="reversed",
            ticks="",
            title=theme.axis_title("" if down == FUNCTION else symbol(down)),
        ),
    }
    sketch = Sketch(layout, notes=[theme.heading(title, 1)])
    shades = _shade(values, of, by_row=down == FUNCTION)
    texts = _texts(values, n, planned)
    columns, rows = ([value_label(a.field, v) for v in a.values] for a in (x, y))
    sketch.traces.append(
        {
            "type": "heatmap",
            "z": shades,
            "x": columns,
            "y": rows,
            "zmin": 0.0,
            "zmax": 1.0,
            "colorscale": _HEAT_SHADES[of],
            "showscale": False,
            "xgap": 3,
            "ygap": 3,
            "text": texts,
            "hovertemplate": f"{symbol(across)} = %{{x}}, {symbol(down)} = %{{y}}: %{{text}}<extra></extra>",
            "hoverongaps": False,
        }
    )
    inks = [theme.readable_on(_shade_colour(of, float(shade))) for shade in shades.ravel()]
    sketch.scatter(
        x=columns * len(rows),
        y=[row for row in rows for _ in columns],
        mode="text",
        text=[text for line in texts for text in line],
        hoverinfo="skip",
        textfont={"color": inks},
    )
    return sketch.figure()


def _shade_colour(of: HeatOf, shade: float) -> str:
    """The colour of a cell; of an empty one that of any."""
    (_, low), (_, high) = _HEAT_SHADES[of]
    return theme.mixed(low, high, shade if np.isfinite(shade) else 0.5)


def _texts(values: Array, n: Array, planned: int) -> list[list[str]]:
    """The number, and how many seeds it rests on while some are missing."""
    return [
        [
            "" if not count else number(value, 3) + (f" (n = {count})" if count < planned else "")
            for value, count in zip(row, counts, strict=True)
        ]
        for row, counts in zip(values, n, strict=True)
    ]


def _shade(values: Array, of: HeatOf, by_row: bool) -> Array:
    """From 0 to 1; values that span orders of magnitude by their logarithm."""
    if of == "median" and by_row:
        return np.stack([_shade(row[None], of, False)[0] for row in values])
    seen = values[np.isfinite(values)]
    if not seen.size:
        return values
    if seen.min() > 0 and seen.max() / seen.min() > 10:
        values, seen = np.log10(values), np.log10(seen)
    reach = float(np.ptp(seen))
    return (values - seen.min()) / reach if reach > 0 else np.where(np.isfinite(values), 0.5, values)


# --- what the seconds went to ---

BAR = 46  # px a method in the chart of seconds
SHADES = (0.95, 0.6, 0.3)  # of one colour: what is told apart is one thing's parts
PARTS = {
    "seconds_fit": "model fit",
    "seconds_acq": "acquisition",
    "seconds_eval": "evaluation",
    "rest": "the rest",
}


def time_spent(lanes: Mapping[str, Sequence[RunData]]) -> pd.DataFrame:
    """Mean seconds of a run so far, by method (index) and by what they were spent on."""
    rows = [{"method": label, **_seconds(run.evaluations)} for label, runs in lanes.items() for run in runs]
    frame = pd.DataFrame(rows, columns=["method", *PARTS])
    return frame.groupby("method", sort=False).mean()


def _seconds(evaluations: pd.DataFrame) -> dict[str, float]:
    """What a run's seconds so far were spent on."""
    names = [name for name in PARTS if name != "rest"]
    parts = {name: float(evaluations[name].sum()) for name in names}
    rest = float(evaluations["seconds"].sum()) - sum(parts.values())
    return {**parts, "rest": max(0.0, rest)}


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
        "legend": theme.legend_above()
        | {"y": 0, "yanchor": "bottom"}
        | {"entrywidthmode": "fraction", "entrywidth": 0.36, "traceorder": "normal"},
        "xaxis": theme.axis(
            range=[0, max(total.max(initial=0.0), 1e-3) * 1.12], nticks=6, ticksuffix=" s", tickangle=0
        ),
        "yaxis": theme.axis(showticklabels=False, showgrid=False, range=[-0.5, len(spent) - 0.15]),
    }
    sketch = Sketch(layout)
    colours = [*(theme.faint(theme.PURPLE, shade) for shade in SHADES), theme.faint(theme.GREY, 0.5)]
    for (name, words), colour in zip(PARTS.items(), colours, strict=True):
        sketch.bar(
            x=spent[name].to_numpy(dtype=float),
            y=np.arange(len(spent)),
            orientation="h",
            name=words,
            marker={"color": colour},
            hovertemplate="%{x:.3~g} s",
        )
    for place, (label, seconds) in enumerate(zip(spent.index, total, strict=True)):
        sketch.note(
            f"{label}: {number(seconds, 2 if seconds < 10 else 3)} s",
            x=0,
            xanchor="left",
            xref="x",
            yref="y",
            y=place + 0.19,
            yanchor="bottom",
        )
    return sketch.figure()
