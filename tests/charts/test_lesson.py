"""What is drawn over a lesson's chart."""

from __future__ import annotations

import plotly.graph_objects as go

from dsebo.charts.lesson import distribution, mark_level


def test_the_distribution() -> None:
    bars = distribution(["9", "12", "9"], "12").data[0]
    assert list(bars.x) == ["9", "12"]
    assert list(bars.y) == [2, 1]
    assert list(bars.text) == ["", "the answer"]
    words = distribution(["No", "<b>"], "", ["Yes", "No", "<b>"]).data[0]
    assert list(words.y) == [0, 1, 1]  # in the order of the question
    assert "<" not in "".join(words.x)


def test_a_level_beyond_its_axis_is_an_arrow_at_the_edge() -> None:
    figure = go.Figure(layout={"yaxis": {"range": [0, 2]}, "yaxis2": {"range": [0, 48]}})
    mark_level(figure, "y2", 12, "predicted 12", "linear")
    mark_level(figure, "y2", 500, "predicted 500", "linear")
    mark_level(figure, "y", 0.01, "predicted 0.01", "log")
    mark_level(figure, "y", -3, "predicted −3", "log")
    assert [shape.y0 for shape in figure.layout.shapes] == [12]
    notes = {note.text: note.y for note in figure.layout.annotations}
    assert notes == {"predicted 12": 12, "predicted 500 ↑": 48, "predicted 0.01 ↓": 0, "predicted −3 ↓": 0}
