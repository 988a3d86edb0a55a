"""Runs that differ in more than two settings: each a line through its settings to its best value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dsebo.charts import theme
from dsebo.charts.scales import Array, log_ticks
from dsebo.text import is_number, number, symbol, value_label, value_text

HEIGHT = 360  # px
MOST_AXES = 8
FROM_AXES = 3  # fewer are better seen on a plane
LOG_FROM = 20.0  # the ratio of the largest to the least value from which an axis is logarithmic
MOST_TICKS = 8
CLOSEST = 0.07  # two ticks, as a share of the axis: closer ones would stand on one another
LETTER = 8  # px


def parallel_figure(
    settings: Sequence[Mapping[Any, Any]], names: Sequence[str], best: Sequence[float]
) -> go.Figure:
    """An axis for each setting and one for the best value, which also colours the lines.

    Args:
        settings: The flat config of each run.
        names: The settings in which they differ.
        best: The best value of each run.
    """
    values = np.asarray(best, dtype=float)
    axes = [_axis(name, [own.get(name) for own in settings]) for name in names[:MOST_AXES]]
    final = _numbers("best value", values, partial(number, digits=3))
    axes.append(final)
    layout = theme.base_layout(HEIGHT)
    longest = max(len(text) for text in axes[0]["ticktext"])
    layout["margin"] = {"l": max(70, 16 + LETTER * longest), "r": 70, "t": 60, "b": 30}
    layout["meta"] = {"file": "dsebo-parallel", "save": True}
    figure = go.Figure(layout=layout)
    figure.add_parcoords(
        dimensions=axes,
        line={"color": final["values"], "colorscale": list(theme.SEQUENCE), "showscale": False},
        labelfont={"size": 14},
        tickfont={"size": 14},
        rangefont={"size": 14},
    )
    return figure


def _axis(name: str, values: Sequence[Any]) -> dict[str, Any]:
    """Numbers at their place; names one above the other."""
    if all(value is None or is_number(value) for value in values):
        numbers = np.array([np.nan if value is None else value for value in values], dtype=float)
        return _numbers(symbol(name), numbers, lambda tick: value_text(float(f"{tick:.6g}")))
    different = list(dict.fromkeys(values))
    texts = ["–" if value is None else value_label(name, value) for value in different]
    return {
        "label": symbol(name),
        "values": [different.index(value) for value in values],
        "tickvals": list(range(len(different))),
        "ticktext": texts,
    }


def _numbers(label: str, values: Array, shown: Callable[[float], str]) -> dict[str, Any]:
    """Where they span orders of magnitude by their logarithm: their ticks say the numbers themselves."""
    seen = np.unique(values[np.isfinite(values)])
    log = seen.size > 1 and seen[0] > 0 and seen[-1] / seen[0] >= LOG_FROM
    places = np.log10(seen) if log else seen
    if seen.size > MOST_TICKS:
        ends = (places[0], places[-1])
        between = np.log10(log_ticks(ends)) if log else np.linspace(*ends, MOST_TICKS)
        places = np.unique([*ends, *between])
    places = _apart(places)
    ticks = 10**places if log else places
    return {
        "label": f"{label}, log axis" if log else label,
        "values": np.log10(values) if log else values,
        "tickvals": places,
        "ticktext": [shown(tick) for tick in ticks],
    }


def _apart(places: Array) -> Array:
    """Those of these places, in order, whose ticks do not stand on one another; the ends always."""
    least = CLOSEST * (places[-1] - places[0]) if places.size else 0.0
    kept: list[float] = []
    for place in places[:-1]:
        if not kept or (place - kept[-1] >= least and places[-1] - place >= least):
            kept.append(place)
    return np.array([*kept, *places[-1:]])
