"""The floor under best-so-far, and the two kinds of error that it splits the regret into."""

from __future__ import annotations

import numpy as np

from dsebo.charts import scales, theme
from dsebo.charts.scales import Array, Scale
from dsebo.charts.sketch import Sketch

APPROXIMATION = theme.faint(theme.PURPLE, 0.3)  # below the floor: only a larger d removes it
OPTIMIZATION = theme.faint(theme.BLUE, 0.13)  # above it: only more evaluations remove it


def draw_errors(
    sketch: Sketch,
    best: Array,
    floor: Array,
    minimum: float | None,
    scale: Scale,
    between: tuple[float, float],
) -> None:
    """Two areas with the floor as a quiet step line between them.

    Args:
        sketch: The figure in the making.
        best, floor: (n,) at t = 1, 2, …; NaN from where the floor is not known yet.
        minimum: F*; None where it is not known, and then nothing is filled below the floor.
        scale: Of the value axis.
        between: Its range, in axis coordinates: where F* is below the axis, the area ends there.
    """
    unknown = np.flatnonzero(~(np.isfinite(floor) & np.isfinite(best)))
    known = int(unknown[0]) if unknown.size else len(floor)
    if not known:
        return
    if minimum is not None:
        _area(sketch, np.full(known, _lowest(minimum, scale, between)), None)
    _area(sketch, _place(scale, floor[:known]), APPROXIMATION if minimum is not None else None)
    _area(sketch, _place(scale, best[:known]), OPTIMIZATION)
    sketch.scatter(
        x0=1,
        dx=1,
        y=_place(scale, floor[:known]),
        name="floor (upper bound)",
        mode="lines",
        line={"color": theme.PURPLE, "width": 1.5, "shape": "hv"},
        customdata=floor[:known].astype(np.float32),
        hovertemplate="%{customdata:.5~g}",
        showlegend=False,
    )


def _area(sketch: Sketch, y: Array, colour: str | None) -> None:
    """An edge; what lies between it and the edge before it is filled."""
    fill = {"fill": "tonexty", "fillcolor": colour} if colour else {}
    sketch.scatter(
        x0=1,
        dx=1,
        y=y.astype(np.float32),
        mode="lines",
        hoverinfo="skip",
        showlegend=False,
        line={"width": 0, "shape": "hv"},
        **fill,
    )


def _place(scale: Scale, values: Array) -> Array:
    return scales.place(scale, values).astype(np.float32)


def _lowest(minimum: float, scale: Scale, between: tuple[float, float]) -> float:
    """Where the lower area ends, as a value of the axis."""
    at = max(scales.position(scale, minimum), between[0])
    return 10.0**at if scale == "log" else at
