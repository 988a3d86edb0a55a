"""Two axes at a glance: a heat map of final value, final dimension or seconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dsebo.charts import theme
from dsebo.charts.frames import FUNCTION, cell_table, value_axis
from dsebo.charts.scales import Array
from dsebo.charts.sketch import Sketch
from dsebo.text import number, symbol, value_label

ROW, HEAD, FOOT = 54, 44, 58  # px
HeatOf = Literal["median", "final_d", "seconds"]
NAMES: dict[HeatOf, str] = {"median": "Final value", "final_d": "Final dimension", "seconds": "Seconds"}
_TITLES: dict[HeatOf, str] = {
    "median": "Median final value: dark is low",
    "final_d": "Median final dimension d: dark is large",
    "seconds": "Seconds of one run: dark is long",
}
_PALE = "#F3F6F8"
_DARK = 0.18  # shades of blue below it have white numbers
_SHADES: dict[HeatOf, list[list[Any]]] = {
    "median": [[0.0, theme.BLUE], [1.0, _PALE]],
    "final_d": [[0.0, _PALE], [1.0, theme.ORANGE]],
    "seconds": [[0.0, _PALE], [1.0, theme.GREY]],
}


def heat_figure(frame: pd.DataFrame, axes: Sequence[str], of: HeatOf = "median") -> go.Figure:
    """The axis with more values is across. Functions are coloured each by itself.

    Args:
        frame: A row for each planned run.
        axes: Two swept fields.
        of: What the colour and the number say.
    """
    across, down = sorted(axes, key=lambda axis: (axis == FUNCTION, -frame[axis].nunique()))
    x, y = value_axis(frame, across), value_axis(frame, down)
    table = cell_table(frame, axes).set_index([down, across])
    order = pd.MultiIndex.from_product([y.values, x.values])
    values = table[of].reindex(order).to_numpy(dtype=float).reshape(len(y.values), len(x.values))
    n = table["n"].reindex(order, fill_value=0).to_numpy().reshape(values.shape)
    planned = int(table["planned"].max())
    title = _TITLES[of]
    if down == FUNCTION and of == "median":
        title += " for its function"
    layout = theme.base_layout(HEAD + ROW * len(y.values) + FOOT)
    layout["margin"] = {**layout["margin"], "t": HEAD, "b": FOOT, "l": 110}
    layout |= {
        "uirevision": f"heat {of}",
        "meta": {"file": f"dsebo-sweep-{of.replace('_', '-')}", "save": True},
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
            "colorscale": _SHADES[of],
            "showscale": False,
            "xgap": 3,
            "ygap": 3,
            "text": texts,
            "hovertemplate": f"{symbol(across)} = %{{x}}, {symbol(down)} = %{{y}}: %{{text}}<extra></extra>",
            "hoverongaps": False,
        }
    )
    white = (shades < _DARK) & (of == "median")
    sketch.scatter(
        x=columns * len(rows),
        y=[row for row in rows for _ in columns],
        mode="text",
        text=[text for line in texts for text in line],
        hoverinfo="skip",
        textfont={"color": np.where(white, "#FFFFFF", theme.TEXT).ravel().tolist()},
    )
    return sketch.figure()


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
