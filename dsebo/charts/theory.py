"""The phases of a bound: their dimension, their approximation error, and what each one adds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from dsebo.analysis.theory import Epsilon, Phase
from dsebo.charts import theme
from dsebo.charts.scales import GREY_LINE

HEIGHT = 560
NAMES = {
    "y": ("Dimension of each phase", "dimension d"),
    "y2": ("Approximation error of its subspace", "ε(d)"),
    "y3": ("What it adds under the root: (log T)ᵈ⁺¹", "power of 10"),
}
GROWN, FIXED = "DSEBO", "fixed d"


def phases_figure(phases: Sequence[Phase], d: int, epsilon: Epsilon) -> go.Figure:
    """DSEBO's phases beside GP-UCB in one d-dimensional subspace for as long."""
    T = sum(phase.T for phase in phases)
    ends = np.cumsum([0, *(phase.T for phase in phases)])
    layout = theme.base_layout(HEIGHT)
    layout["margin"] |= {"r": theme.RIGHT}
    layout |= {
        "xaxis": theme.iteration_axis(T, "y3"),
        "hovermode": "x unified",
        "hoversubplots": "axis",
        "uirevision": "theory",
        "meta": {"file": "dsebo-bounds"},
    }
    sketch = theme.stacked_rows(layout, list(NAMES), NAMES)
    dims = [phase.d for phase in phases]
    for axis, grown, fixed, colour in (
        ("y", dims, d, theme.ORANGE),
        ("y2", [epsilon(dim) for dim in dims], epsilon(d), theme.PURPLE),
        ("y3", [_power(phase.T, phase.d) for phase in phases], _power(T, d), theme.BLUE),
    ):
        steps = {"color": colour, "width": 2.5, "shape": "hv"}
        for name, x, values, line in (
            (GROWN, ends, [*grown, grown[-1]], steps),
            (FIXED, np.array([0, T]), [fixed, fixed], GREY_LINE),
        ):
            sketch.scatter(
                x=x,
                y=np.array(values, dtype=float),
                yaxis=axis,
                mode="lines",
                name=name,
                line=line,
                hovertemplate="%{y:.4~g}",
            )
        top = 1.08 * max(*grown, fixed)
        sketch.layout[axis.replace("y", "yaxis")]["range"] = [min(0.0, *grown, fixed), top or 1.0]
        sketch.beside(FIXED, axis, fixed)
    return sketch.figure()


def _power(T: int, d: int) -> float:
    """log10 of (log T)^(d+1): the numbers themselves have dozens of digits."""
    return (d + 1) * math.log10(math.log(T)) if T > 2 else 0.0
