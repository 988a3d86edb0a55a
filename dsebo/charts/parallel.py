"""Runs that differ in more than two settings: each a line through its settings to its best value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dsebo.charts import theme
from dsebo.text import is_number, symbol, value_label

HEIGHT = 360  # px
MOST_AXES = 8
FROM_AXES = 3  # fewer are better seen on a plane


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
    axes.append({"label": "best value", "values": values})
    layout = theme.base_layout(HEIGHT)
    layout["margin"] = {"l": 70, "r": 60, "t": 60, "b": 30}
    layout["meta"] = {"file": "dsebo-parallel", "save": True}
    figure = go.Figure(layout=layout)
    figure.add_parcoords(
        dimensions=axes,
        line={"color": values, "colorscale": "Viridis", "reversescale": True, "showscale": False},
        labelfont={"size": 14},
        tickfont={"size": 14},
        rangefont={"size": 14},
    )
    return figure


def _axis(name: str, values: Sequence[Any]) -> dict[str, Any]:
    """Numbers at their place; names one above the other."""
    if all(value is None or is_number(value) for value in values):
        known = [value for value in values if value is not None]
        ticks = sorted(set(known))
        numbers = [np.nan if value is None else float(value) for value in values]
        few = (
            {"tickvals": ticks, "ticktext": [value_label(name, tick) for tick in ticks]}
            if len(ticks) <= 8
            else {}
        )
        return {"label": symbol(name), "values": numbers, **few}
    different = list(dict.fromkeys(values))
    texts = ["–" if value is None else value_label(name, value) for value in different]
    return {
        "label": symbol(name),
        "values": [different.index(value) for value in values],
        "tickvals": list(range(len(different))),
        "ticktext": texts,
    }
