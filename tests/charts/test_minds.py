"""What a model has learnt, drawn from its events."""

from typing import Any

import pytest

from dsebo.charts.minds import mind_sketch
from dsebo.events import Generation, RegionChanged, RelevanceChanged, Retrained, StructureChanged, WallsMet

EVENTS = [
    (RelevanceChanged(5, (3, 7), (0.6, 0.3), 2, 50, ""), ["x3", "x7"], 2),
    (WallsMet(5, 1.0, 4, 7, (3, 7), (0.6, 0.3), ""), ["x3", "x7"], 3),
    (Retrained(5, 0.3, 0.33, 0.01, 0, 30, (0.5, 0.4), ""), ["1", "2"], 3),
    (StructureChanged(5, 8, ((4, 5), (6, 7, 8)), (1.0, 0.2), (), ""), ["x4<br>x5", "x6<br>x7<br>+ 1"], 2),
    (StructureChanged(5, 8, ((3,),), (1.0,), (0.5, 0.04), ""), ["x3"], 4),
    (StructureChanged(5, 8, ((3,),), (1.0,), (0.5, 0.04), "", (7, 2), (0.04, 0.01)), ["x3"], 5),
]


@pytest.mark.parametrize(("event", "labels", "rows"), EVENTS, ids=lambda value: getattr(value, "kind", ""))
def test_each_kind_of_mind_has_its_rows(event: Any, labels: list[str], rows: int) -> None:
    later = {**event.to_json(), "t": 9}
    sketch = mind_sketch([{"event": "started", "t": 0}, event.to_json(), later], 20)
    assert sketch is not None
    figure = sketch.figure()
    assert list(figure.data[0].x) == labels
    assert sum(key.startswith("yaxis") for key in figure.to_plotly_json()["layout"]) == rows
    assert next(list(trace.x) for trace in figure.data if trace.type == "scatter") == [5, 9]


def test_a_trust_region_is_drawn_from_its_first_size_on() -> None:
    events = [RegionChanged(12, 0.8, 0.4, 3.0, ""), RegionChanged(30, 0.4, 0.8, 2.0, "")]
    sketch = mind_sketch([event.to_json() for event in events], 50)
    assert sketch is not None
    (line,) = sketch.figure().data
    assert (list(line.x), list(line.y)) == ([1, 12, 30], [0.8, 0.4, 0.8])


def test_generations_are_drawn_by_their_step_size_and_values() -> None:
    events = [Generation(8, 1, 0.3, 0.25, 4.0, 6.0, ""), Generation(16, 2, 0.25, 0.2, float("nan"), 5.0, "")]
    sketch = mind_sketch([event.to_json() for event in events], 50)
    assert sketch is not None
    lines = {trace.name: (list(trace.x), list(trace.y)) for trace in sketch.figure().data}
    assert lines["step size"] == ([1, 8, 16], [0.3, 0.25, 0.2])
    assert lines["best"] == ([8, 16], [4.0, None])
    assert lines["median"] == ([8, 16], [6.0, 5.0])


def test_a_method_without_a_mind_has_no_chart() -> None:
    assert mind_sketch([{"event": "started", "t": 0}, {"event": "split", "t": 3}], 20) is None
