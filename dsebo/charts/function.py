"""A small picture of a function: what its first two variables look like from above."""

from __future__ import annotations

import numpy as np

from dsebo.charts import theme
from dsebo.charts.theme import Sketch
from dsebo.objectives import EmbeddedFunction, get_function

POINTS = 48  # a side
HEIGHT = 150
# What is high fades into the page, light or dark.
SHADES = [[0.0, theme.BLUE], [0.5, theme.faint(theme.SKY, 0.7)], [1.0, theme.faint(theme.GREY, 0.12)]]


def function_picture(name: str, c: float) -> Sketch:
    """Contours of the function of two variables, shifted by c; its minimum and the centre marked.

    Colour is the logarithm of the height above the lowest value: blue is low.
    """
    base = get_function(name)
    objective = EmbeddedFunction(name, 2, 2, c)
    side = np.linspace(-1.0, 1.0, POINTS)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    values = objective(grid).reshape(POINTS, POINTS)
    height = np.log10(values - values.min() + 1e-3 * (np.ptp(values) or 1.0))
    u = np.linspace(base.lower, base.upper, POINTS)
    layout = theme.base_layout(HEIGHT) | {
        "margin": {"l": 34, "r": 8, "t": 12, "b": 26},
        "meta": {"quiet": True},
        "xaxis": theme.axis(showgrid=False, nticks=5, fixedrange=True),
        "yaxis": theme.axis(showgrid=False, nticks=4, fixedrange=True),
    }
    sketch = Sketch(layout)
    sketch.traces.append(
        {
            "type": "contour",
            "x": u,
            "y": u,
            "z": height.astype(np.float32),
            "ncontours": 14,
            "colorscale": SHADES,
            "showscale": False,
            "contours": {"coloring": "heatmap"},
            "line": {"width": 0.5, "color": theme.GREY},
            "hoverinfo": "skip",
        }
    )
    middle = (base.lower + base.upper) / 2
    _mark(sketch, middle, middle, "cross", "#FFFFFF", "centre")
    if objective.minimiser is not None:
        half = (base.upper - base.lower) / 2
        x, y = middle + half * objective.minimiser
        _mark(sketch, float(x), float(y), "circle", theme.VERMILLION, "minimum")
    return sketch


def _mark(sketch: Sketch, x: float, y: float, symbol: str, colour: str, name: str) -> None:
    edge = {"width": 1.5, "color": theme.readable_on(colour)}
    marker = {"symbol": symbol, "size": 11, "color": colour, "line": edge}
    sketch.scatter(
        x=[x], y=[y], mode="markers", marker=marker, name=name, hovertemplate=f"{name}<extra></extra>"
    )
