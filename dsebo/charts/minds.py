"""A model's mind: what it has learnt, from the events that tell it, the newest and over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dsebo.charts import theme
from dsebo.charts.theme import Sketch
from dsebo.events import (
    Generation,
    Moved,
    Probed,
    RegionChanged,
    RelevanceChanged,
    Retrained,
    StructureChanged,
    WallsMet,
)

Event = Mapping[str, Any]
ROW, GAP = 120, 90  # px, of a row and between two


@dataclass(frozen=True)
class Bars:
    """The newest event: one bar for each of a few things."""

    title: str
    labels: Sequence[str]
    values: Sequence[float | None]


@dataclass(frozen=True)
class Lines:
    """Numbers over the evaluations, one line each."""

    title: str
    t: Sequence[int]
    series: Mapping[str, Sequence[float | None]]


Rows = list[Bars | Lines]


def mind_sketch(events: Sequence[Event], budget: int) -> Sketch | None:
    """The rows of the kinds of events that a run has; None where its method tells of no mind."""
    rows: Rows = []
    for kind, rows_of in _ROWS.items():
        if told := [event for event in events if event["event"] == kind]:
            rows += rows_of(told)
    return _drawn(rows, budget) if rows else None


def _drawn(rows: Rows, budget: int) -> Sketch:
    whole = len(rows) * ROW + (len(rows) - 1) * GAP
    layout = theme.base_layout(whole + 86)
    layout |= {"uirevision": "mind", "meta": {"quiet": True}}
    sketch = Sketch(layout)
    colours = (theme.BLUE, theme.GREY, theme.ORANGE)
    for index, row in enumerate(rows):
        top = 1.0 - index * (ROW + GAP) / whole
        between = (top - ROW / whole, top)
        number = str(index + 1) if index else ""
        axes = {"xaxis": f"x{number}", "yaxis": f"y{number}"}
        layout[f"yaxis{number}"] = theme.axis(
            domain=between, anchor=f"x{number}", nticks=4, rangemode="tozero"
        )
        sketch.notes.append(theme.heading(row.title, top))
        if isinstance(row, Bars):
            layout[f"xaxis{number}"] = theme.axis(type="category", anchor=f"y{number}", showgrid=False)
            sketch.bar(
                x=list(row.labels),
                y=list(row.values),
                **axes,
                name="",
                hovertemplate="%{x}: %{y:.4~g}",
                marker={"color": theme.SKY},
            )
            continue
        layout[f"xaxis{number}"] = theme.iteration_axis(budget, f"y{number}")
        # The first on top, and thinner: where a map learns nothing, its error is the variance.
        for (name, values), colour in reversed(list(zip(row.series.items(), colours, strict=False))):
            sketch.scatter(
                x=list(row.t),
                y=list(values),
                **axes,
                name=name,
                mode="lines+markers",
                hovertemplate=f"{name} %{{y:.4~g}}",
                line={"color": colour, "shape": "hv", "width": 2 if colour == theme.BLUE else 4},
                marker={"size": 5},
            )
    return sketch


def _over_time(title: str, events: Sequence[Event], **fields: str) -> Lines:
    """The named fields of the events over t."""
    series = {name.replace("_", " "): [event[field] for event in events] for name, field in fields.items()}
    return Lines(title, [event["t"] for event in events], series)


def _variables(event: Event) -> Bars:
    return Bars(
        "Variables that matter most: share of relevance",
        [f"x{i}" for i in event["variables"]],
        event["shares"],
    )


def _relevance(events: Sequence[Event]) -> Rows:
    now = events[-1]
    title = f"How many variables matter, of {now['of']}"
    return [_variables(now), _over_time(title, events, matter="active")]


def _walls(events: Sequence[Event]) -> Rows:
    return [
        _variables(events[-1]),
        _over_time("How far out the point lies: 1 is on a wall of the box", events, gauge="gauge"),
        _over_time(
            "Walls it touches, directions in use (grey)",
            events,
            walls="tight",
            directions_in_use="directions",
        ),
    ]


def _retrained(events: Sequence[Event]) -> Rows:
    now = events[-1]
    error = "Error of the map, variance of points (grey)"
    return [
        Bars("Loss of the last training, from first to last", _numbers(now["losses"]), now["losses"]),
        _over_time(error, events, error="error", variance="variance"),
        _over_time(f"Numbers of the code in use, of {now['of']}", events, in_use="active"),
    ]


def _structure(events: Sequence[Event]) -> Rows:
    now = events[-1]
    rows: Rows = [Bars("The parts that weigh most", [_name(part) for part in now["members"]], now["weights"])]
    if len({event["parts"] for event in events}) > 1:
        rows.append(_over_time("Number of parts", events, parts="parts"))
    else:  # a forest has as many at every step
        heaviest = [event["weights"][0] if event["weights"] else None for event in events]
        rows.append(
            Lines("Weight of the heaviest part", [event["t"] for event in events], {"weight": heaviest})
        )
    return rows + _agreement(events) if now["gaps"] else rows


def _agreement(events: Sequence[Event]) -> Rows:
    """How copies of a point came to agree, and about what they do not."""
    now = events[-1]
    ends = [event["gaps"][-1] if event["gaps"] else None for event in events]
    rows: Rows = [
        Bars("Gap between copies of the point, by round", _numbers(now["gaps"]), now["gaps"]),
        Lines("Gap after the last round", [event["t"] for event in events], {"gap": ends}),
    ]
    if now.get("disputed"):  # of a later version than the event may be
        names = [f"x{i}" for i in now["disputed"]]
        rows.append(Bars("Variables whose copies are furthest apart", names, now["disputes"]))
    return rows


def _probed(events: Sequence[Event]) -> Rows:
    now = events[-1]
    if now.get("curvatures"):  # of a run of an earlier version
        curvatures = sorted(now["curvatures"], reverse=True)
        return [Bars("Curvature along each pair of probes", _numbers(curvatures), curvatures)]
    changes = sorted(now["changes"], reverse=True)
    return [Bars("What each block of variables changes, moved alone", _numbers(changes), changes)]


def _moved(events: Sequence[Event]) -> Rows:
    return [_over_time("Gained by moves of single blocks", events, gained="gained")]


def _region(events: Sequence[Event]) -> Rows:
    return [_from_first("Size of the trust region, the box being 1", events, "size", "length")]


def _generations(events: Sequence[Event]) -> Rows:
    spread = "Step size: how far a generation spreads"
    values = "Best value of each generation, median (grey)"
    return [
        _from_first(spread, events, "step size", "sigma"),
        _over_time(values, events, best="best", median="median"),
    ]


def _from_first(title: str, events: Sequence[Event], name: str, field: str) -> Lines:
    """What each event changed, from what it was at the first evaluation."""
    t, changed = [1, *(event["t"] for event in events)], [event[f"{field}_to"] for event in events]
    return Lines(title, t, {name: [events[0][f"{field}_from"], *changed]})


def _numbers(values: Sequence[Any]) -> list[str]:
    return [str(i) for i in range(1, len(values) + 1)]


def _name(variables: Sequence[int]) -> str:
    """Line by line: side by side, ten names would be turned and cut."""
    more = [f"+ {len(variables) - 2}"] if len(variables) > 2 else []
    return "<br>".join([*(f"x{i}" for i in variables[:2]), *more])


_ROWS: dict[str, Callable[[Sequence[Event]], Rows]] = {
    RelevanceChanged.kind: _relevance,
    WallsMet.kind: _walls,
    Retrained.kind: _retrained,
    StructureChanged.kind: _structure,
    Probed.kind: _probed,
    Moved.kind: _moved,
    RegionChanged.kind: _region,
    Generation.kind: _generations,
}
