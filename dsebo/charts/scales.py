"""The value axis, linear, logarithmic or symmetric-logarithmic (which Plotly lacks), and its grey lines."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dsebo.charts import theme
from dsebo.charts.theme import Sketch
from dsebo.objectives import KINDS
from dsebo.objectives.references import CENTRE
from dsebo.text import number

Scale = Literal["log", "linear", "symlog"]
SCALES: tuple[Scale, ...] = ("log", "linear", "symlog")
Array = NDArray[np.float64]
GREY_LINE = {"color": theme.GREY, "width": 1.5, "dash": "dash"}
LOG_FROM = 30.0  # the ratio of the largest to the least dimension from which their axis is logarithmic


def possible(scale: Scale, values: Array) -> Scale:
    """The scale itself; where a logarithm of these values does not exist, linear, or symlog from 0 on."""
    least = np.min(values[np.isfinite(values)], initial=np.inf)
    if scale != "log" or least > 0:
        return scale
    return "symlog" if least == 0 else "linear"


def fitting(scale: Scale, minimum: float | None, values: Array) -> Scale:
    """The scale itself; for a function below zero a linear one, as a logarithm does not exist."""
    below = minimum is not None and minimum < 0
    return "linear" if scale == "log" and below else possible(scale, values)


def default_scale(minimum: float | None) -> Scale:
    """Log shows the long tail of a run best; a negative minimum needs a linear axis."""
    return "linear" if minimum is not None and minimum < 0 else "log"


def scales_from(usual: Scale) -> tuple[Scale, ...]:
    """Those that can be drawn where this is the usual one: where it is not log, no logarithm exists."""
    return SCALES if usual == "log" else tuple(scale for scale in SCALES if scale != "log")


def place(scale: Scale, values: Array) -> Array:
    """Where values stand on the axis. Plotly takes the logarithm of a log axis itself."""
    if scale == "symlog":
        return np.asarray(np.sign(values) * np.log10(1.0 + np.abs(values)))
    return values


def position(scale: Scale, value: float) -> float:
    """The axis coordinate of a value, as ranges and annotations need it."""
    if scale == "log":
        return math.log10(value) if value > 0 else -math.inf
    return level(scale, value)


def level(scale: Scale, value: float) -> float:
    """Where a line at a value is drawn, as traces and shapes need it."""
    return float(place(scale, np.array([value]))[0])


def span(scale: Scale, values: Array, pad: float = 0.06) -> tuple[float, float]:
    """The axis range, in axis coordinates, that shows all these values with some air."""
    finite = values[np.isfinite(values)]
    if scale == "log":
        finite = np.log10(finite[finite > 0])
    elif scale == "symlog":
        finite = place(scale, finite)
    if not finite.size:
        return (0.0, 1.0)
    low, high = float(finite.min()), float(finite.max())
    air = (high - low) * pad or max(abs(high) * pad, 0.1)
    return (low - air, high + air)


def axis_settings(scale: Scale, between: tuple[float, float]) -> dict[str, Any]:
    """The Plotly axis of that scale over a range in axis coordinates."""
    if scale == "linear":
        return {"type": "linear", "range": list(between), "nticks": 6}
    ticks = log_ticks(between) if scale == "log" else _symlog_ticks(between)
    return {
        "type": "log" if scale == "log" else "linear",
        "range": list(between),
        "tickmode": "array",
        "tickvals": ticks if scale == "log" else [position(scale, tick) for tick in ticks],
        "ticktext": [number(tick) for tick in ticks],
    }


def log_ticks(between: tuple[float, float]) -> list[float]:
    """1, 2, 5, 10 ... written out (Plotly's own in-between digits are too small to read)."""
    decades = between[1] - between[0]
    steps: tuple[float, ...] = (1, 2, 5) if decades <= 2.5 else (1,)
    if decades <= 0.6:
        steps = (1, 1.5, 2, 3, 4, 5, 7)
    every = max(1, math.ceil(decades / 7))
    powers = range(math.floor(between[0]), math.ceil(between[1]) + 1, every)
    ticks = [float(f"{step}e{power}") for power in powers for step in steps]
    return [tick for tick in ticks if tick > 0 and between[0] <= math.log10(tick) <= between[1]]


_LARGEST_POWER = 308  # of ten that is a number


def _symlog_ticks(between: tuple[float, float]) -> list[float]:
    """0 and powers of ten on both sides, thinned to about six."""
    reach = math.ceil(max(abs(between[0]), abs(between[1]), 1.0))
    every = max(1, math.ceil(reach / 3))
    powers = [10.0**p for p in range(0, min(reach, _LARGEST_POWER) + 1, every)]
    ticks = [-value for value in reversed(powers)] + [0.0] + powers
    return [v for v in ticks if between[0] <= position("symlog", v) <= between[1]]


def dimension_axis(dimensions: Array, d_e: int | None) -> tuple[Scale, tuple[float, float]]:
    """(scale, range) of an axis for these dimensions: to 1.2 times the largest, d_e among them.

    Logarithmic where a method goes on to all D variables: the others would lie on the ground.
    """
    known = np.append(dimensions[np.isfinite(dimensions)], [] if d_e is None else [d_e])
    least, largest = float(known.min(initial=np.inf)), max(1.0, float(known.max(initial=1.0)))
    if least > 0 and largest / least >= LOG_FROM:
        return "log", (math.log10(least) - 0.1, math.log10(largest * 1.2))
    return "linear", (0.0, largest * 1.2)


# --- grey lines ---


@dataclass(frozen=True)
class References:
    """The grey lines that a run is read against; None: there is none to draw."""

    minimum: float | None = None
    at_centre: float | None = None
    paper: float | None = None
    d_e: int | None = None
    d_h: int | None = None
    of_task: Mapping[str, float] = field(default_factory=dict)
    """What else curves of a real task are read against."""

    def on_value_axis(self, paper: str = "paper") -> list[tuple[float | None, str]]:
        """(value, label) of those that stand on the value axis."""
        return [
            (self.at_centre, f"centre {number(self.at_centre)}"),
            *((value, f"{name} {number(value)}") for name, value in self.of_task.items()),
            (self.paper, f"{paper} {number(self.paper)}"),
            (self.minimum, f"F* = {number(self.minimum)}"),
        ]

    def values(self, scale: Scale) -> list[float]:
        """What the value axis has to hold; F* = 0 is below any logarithmic one."""
        minimum = self.minimum if scale != "log" else self.minimum or None
        return [v for v in (self.at_centre, self.paper, minimum, *self.of_task.values()) if v is not None]


NO_LINES = References()


def task_lines(objectives: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The reference lines that all these objectives have, besides their centre."""
    kept = {json.dumps(objective, sort_keys=True): objective for objective in objectives}
    return shared_lines([_lines_of(objective) for objective in kept.values()])


def shared_lines(each: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Those that have the same name and value in all: no other may stand in one chart for all."""
    first = each[0] if each else {}
    return {name: v for name, v in first.items() if all(lines.get(name) == v for lines in each)}


def _lines_of(objective: Mapping[str, Any]) -> dict[str, float]:
    kind = KINDS.get(objective.get("kind", "embedded"))
    lines = {} if kind is None else kind.model_validate(objective).references()
    return {name: value for name, value in lines.items() if name != CENTRE}


def reference_lines(
    sketch: Sketch,
    axis: str,
    lines: Sequence[tuple[float | None, str]],
    scale: Scale,
    between: tuple[float, float],
) -> None:
    """Grey lines with their names beside them; one beyond the axis is an arrow at its edge."""
    low, high = between
    for value, label in lines:
        if value is None:
            continue
        at = position(scale, value)
        if low <= at <= high:
            sketch.across(level(scale, value), axis, GREY_LINE)
            sketch.beside(label, axis, at)
        else:
            sketch.beside(f"{label} {'↑' if at > high else '↓'}", axis, high if at > high else low)


def reference_curve(
    sketch: Sketch, x: Array, values: Array, name: str, scale: Scale, axes: tuple[str, str]
) -> None:
    """The same in a panel that has axes of its own, where it may change along the way.

    It is a trace, so that it moves with its panel to a narrower page; its name is up to the layout.
    """
    sketch.scatter(
        x=x,
        y=place(scale, values),
        xaxis=axes[0],
        yaxis=axes[1],
        mode="lines",
        line=GREY_LINE,
        name=name,
        customdata=values,
        hovertemplate=f"{name} %{{customdata:.4~g}}<extra></extra>",
        showlegend=False,
    )
