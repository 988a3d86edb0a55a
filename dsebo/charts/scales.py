"""The value axis: linear, logarithmic, or symmetric-logarithmic (which Plotly does not have)."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dsebo.text import number

Scale = Literal["log", "linear", "symlog"]
SCALES: tuple[Scale, ...] = ("log", "linear", "symlog")
Array = NDArray[np.float64]


def possible(scale: Scale, values: Array) -> Scale:
    """The scale itself, or symlog where a logarithm of these values does not exist."""
    finite = values[np.isfinite(values)]
    return "symlog" if scale == "log" and finite.size and finite.min() <= 0 else scale


def default_scale(minimum: float | None) -> Scale:
    """Log shows the long tail of a run best; a negative minimum needs a linear axis."""
    return "linear" if minimum is not None and minimum < 0 else "log"


def place(scale: Scale, values: Array) -> Array:
    """Where values stand on the axis. Plotly takes the logarithm of a log axis itself."""
    if scale == "symlog":
        return np.asarray(np.sign(values) * np.log10(1.0 + np.abs(values)))
    return values


def position(scale: Scale, value: float) -> float:
    """The axis coordinate of a value, as ranges and annotations need it."""
    if scale == "log":
        return math.log10(value) if value > 0 else -math.inf
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
    ticks = _log_ticks(between) if scale == "log" else _symlog_ticks(between)
    return {
        "type": "log" if scale == "log" else "linear",
        "range": list(between),
        "tickmode": "array",
        "tickvals": ticks if scale == "log" else [position(scale, tick) for tick in ticks],
        "ticktext": [number(tick) for tick in ticks],
    }


def _log_ticks(between: tuple[float, float]) -> list[float]:
    """1, 2, 5, 10 ... written out (Plotly's own in-between digits are too small to read)."""
    decades = between[1] - between[0]
    steps: tuple[float, ...] = (1, 2, 5) if decades <= 2.5 else (1,)
    if decades <= 0.6:
        steps = (1, 1.5, 2, 3, 4, 5, 7)
    every = max(1, math.ceil(decades / 7))
    powers = range(math.floor(between[0]), math.ceil(between[1]) + 1, every)
    ticks = [float(f"{step}e{power}") for power in powers for step in steps]
    return [tick for tick in ticks if between[0] <= math.log10(tick) <= between[1]]


def _symlog_ticks(between: tuple[float, float]) -> list[float]:
    """0 and powers of ten on both sides, thinned to about six."""
    reach = math.ceil(max(abs(between[0]), abs(between[1]), 1.0))
    every = max(1, math.ceil(reach / 3))
    powers = [10.0**p for p in range(0, reach + 1, every)]
    ticks = [-value for value in reversed(powers)] + [0.0] + powers
    return [v for v in ticks if between[0] <= position("symlog", v) <= between[1]]
