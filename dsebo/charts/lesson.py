"""A lesson's answer drawn over its chart, and a class's predictions as a distribution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from textwrap import wrap

import plotly.graph_objects as go

from dsebo.charts import scales, theme
from dsebo.charts.scales import Scale
from dsebo.charts.theme import Sketch
from dsebo.text import number

MOST_BARS = 20
WIDEST = 18  # letters of a line beside a row


def mark_level(figure: go.Figure, axis: str, value: float, text: str, scale: Scale) -> None:
    """A line across a row of the chart, with its name beside it; beyond its axis an arrow."""
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
    mark_end(figure, axis, min(max(at, low), high), text + beyond)


def mark_end(figure: go.Figure, axis: str, position: float, text: str) -> None:
    """Words beside a row, where a line of it ends: never in the data."""
    words = "<br>".join(wrap(text, WIDEST))
    figure.add_annotation(theme.beside(words, axis, position, colour=theme.VERMILLION))


def mark_place(figure: go.Figure, t: int, position: float, text: str) -> None:
    """An arrow to a place of the first row; its words stand under the falling curve, on their own ground."""
    ahead = t < figure.layout.xaxis.range[1] / 2
    figure.add_annotation(
        text=text,
        name="over",
        x=t,
        y=position,
        yref="y",
        showarrow=True,
        arrowhead=2,
        arrowcolor=theme.VERMILLION,
        ax=60 if ahead else -60,
        ay=56,
        font={"color": theme.VERMILLION},
    )


def distribution(values: Sequence[str], truth: str, options: Sequence[str] = ()) -> go.Figure:
    """How often each answer was predicted; the true one stands out. Without options they are numbers."""
    counted, numeric = Counter(values), not options
    labels = list(options) or sorted({*counted, *([truth] if truth else [])}, key=float)
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
        constraintext="none",  # else Plotly shrinks what is wider than its bar
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
