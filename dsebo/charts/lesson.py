"""A lesson's answer drawn over its chart, and a class's predictions as a distribution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import plotly.graph_objects as go

from dsebo.charts import scales, theme
from dsebo.charts.scales import Scale
from dsebo.charts.theme import Sketch
from dsebo.text import number

MOST_BARS = 20


def mark_level(figure: go.Figure, axis: str, value: float, text: str, scale: Scale) -> None:
    """A line across a row of the chart, with its words at the left end; beyond its axis an arrow."""
    low, high = figure.layout[f"yaxis{axis[1:]}"].range
    at = scales.position(scale, value)
    beyond = " ↑" if at > high else " ↓" if at < low else ""
    if not beyond:
        level = scales.level(scale, value)
        figure.add_shape(
            type="line",
            xref="paper",
            x0=0,
            x1=1,
            yref=axis,
            y0=level,
            y1=level,
            line={"color": theme.VERMILLION, "width": 2, "dash": "dot"},
        )
    figure.add_annotation(
        text=text + beyond,
        xref="paper",
        x=0.01 if axis == "y2" else 0.5,
        xanchor="left",
        yref=axis,
        y=min(max(at, low), high),
        yanchor="top" if at > high else "bottom",
        showarrow=False,
        font={"color": theme.VERMILLION},
    )


def mark_end(figure: go.Figure, t: int, value: float, text: str, scale: Scale, axis: str = "y") -> None:
    """An arrow to where a run ended."""
    figure.add_annotation(
        text=text,
        x=t,
        y=scales.position(scale, value),
        yref=axis,
        showarrow=True,
        arrowhead=2,
        arrowcolor=theme.VERMILLION,
        ax=-60,
        ay=-46 if axis == "y" else 24,
        xanchor="right",
        font={"color": theme.VERMILLION},
    )


def distribution(values: Sequence[str], truth: str, numeric: bool) -> go.Figure:
    """How often each answer was predicted; the true one stands out."""
    counted = Counter(values)
    labels = list(counted)
    if numeric:
        labels = sorted({*labels, *([truth] if truth else [])}, key=float)
    else:
        labels = sorted(labels, key=lambda label: -counted[label])
    labels = labels[:MOST_BARS]
    layout = theme.base_layout(260)
    layout |= {
        "meta": {"quiet": True},
        "bargap": 0.4,
        "xaxis": theme.axis(type="category", showgrid=False),
        "yaxis": theme.axis(rangemode="tozero", tickformat="d", dtick=max(1, len(values) // 4)),
    }
    sketch = Sketch(layout, notes=[theme.heading(f"What the room predicts (n = {len(values)})", 1)])
    right = [_same(label, truth, numeric) for label in labels]
    sketch.bar(
        x=[_label(label, numeric) for label in labels],
        y=[counted[label] for label in labels],
        width=0.5,
        marker={"color": [theme.VERMILLION if is_right else theme.SKY for is_right in right]},
        text=["the answer" if is_right else "" for is_right in right],
        textposition="outside",
        textfont={"size": theme.SIZE},
        cliponaxis=False,
        hovertemplate="%{x}: %{y}<extra></extra>",
    )
    return sketch.figure()


def _label(text: str, numeric: bool) -> str:
    # Plotly reads tags in labels: what people chose is shown as text.
    return number(float(text)) if numeric else text.replace("<", "‹").replace(">", "›")


def _same(label: str, truth: str, numeric: bool) -> bool:
    if not truth:
        return False
    return float(label) == float(truth) if numeric else label == truth
