"""A bandit's mind: its arms, as its newest pull left them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dsebo.charts import theme
from dsebo.charts.sketch import Sketch

# What a strategy compared before a pull, where it is not the mean itself: in the rewards' units, or
# on a scale of its own.
SCORES = {
    "bandit-extreme": ("best single reward", True),
    "bandit-c-ucb": ("upper bound", True),
    "bandit-ucb-e": ("upper bound", True),
    "bandit-thompson": ("draw", True),
    "bandit-softmax": ("probability", False),
}


def arms_figure(event: Mapping[str, Any], method: str) -> go.Figure:
    """A bandit's mind: how often each arm was pulled, its mean reward, and what it was chosen by.

    Args:
        event: The newest `arm-pulled`.
        method: Whose it is.
    """
    words, same_units = SCORES.get(method, ("", True))
    scored = bool(words and event["scores"])
    rows = _arm_rows(scored and not same_units)
    arms = [f"d = {d}" for d in event["dims"]]
    layout = theme.base_layout(100 + 110 * len(rows))
    layout |= {
        "uirevision": "arms",
        "meta": {"quiet": True},
        "xaxis": theme.axis(type="category", anchor=f"y{len(rows)}", showgrid=False),
    }
    notes = []
    both = f"Mean reward −y (dots) and {words} (diamonds)"
    titles = {
        "pulls": "How often each arm was pulled",
        "reward": both if scored and same_units else "Mean reward −y of each arm",
        "score": f"What it was chosen by: {words}",
    }
    for index, (row, between) in enumerate(rows.items(), start=1):
        axis = theme.axis(domain=between, anchor="x", nticks=4)
        if row != "reward":
            axis |= {"rangemode": "tozero"} if row == "pulls" else {"range": [-0.1, 1.1]}
        layout[f"yaxis{index if index > 1 else ''}"] = axis
        notes.append(theme.heading(titles[row], between[1]))
    sketch = Sketch(layout, notes=notes)
    now = [d == event["d_to"] for d in event["dims"]]
    sketch.bar(
        x=arms,
        y=np.array(event["pulls"]),
        name="pulls",
        showlegend=False,
        marker={"color": [theme.VERMILLION if one else theme.SKY for one in now]},
        hovertemplate="%{y} pulls",
    )
    _dots(sketch, arms, event["means"], "y2", "mean reward", theme.SKY, "circle")
    if scored:
        place = "y2" if same_units else "y3"
        _dots(sketch, arms, event["scores"], place, words, theme.VERMILLION, "diamond-open")
    return sketch.figure()


def _arm_rows(own_scale: bool) -> dict[str, tuple[float, float]]:
    if own_scale:
        return {"pulls": (0.74, 1.0), "reward": (0.37, 0.63), "score": (0.0, 0.26)}
    return {"pulls": (0.58, 1.0), "reward": (0.0, 0.42)}


def _dots(
    sketch: Sketch,
    arms: Sequence[str],
    values: Sequence[float | None],
    axis: str,
    name: str,
    colour: str,
    symbol: str,
) -> None:
    sketch.scatter(
        x=list(arms),
        y=np.array([np.nan if v is None else v for v in values], dtype=float),
        yaxis=axis,
        mode="markers",
        name=name,
        hovertemplate=f"{name} %{{y:.5~g}}",
        marker={"color": colour, "size": 11, "symbol": symbol, "line": {"width": 2}},
    )
