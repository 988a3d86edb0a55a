"""Why a method did what it did: Algorithm 1 with its numbers, the feed in words, a bandit's arms."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dsebo.charts import theme
from dsebo.charts.theme import Sketch
from dsebo.expansion import floor, second_largest

Event = Mapping[str, Any]
VERDICT = "verdict"  # in an event: whether an expansion was right, where what is reachable is known
# What a strategy compared before a pull, where it is not the mean itself: in the rewards' units, or
# on a scale of its own.
SCORES = {
    "bandit-extreme": ("best single reward", True),
    "bandit-c-ucb": ("upper bound", True),
    "bandit-ucb-e": ("upper bound", True),
    "bandit-thompson": ("draw", True),
    "bandit-softmax": ("probability", False),
}


@dataclass(frozen=True)
class Step:
    """One line of the algorithm: what it decides, and the formula with its numbers."""

    words: str
    latex: str


def steps(event: Event, optimizer: Mapping[str, Any], budget: int) -> list[Step]:
    """Algorithm 1, line by line, for one `expanded` or `converged` event of DSEBO."""
    step, most = f"{event['d_from']} + {event['delta_after']}", event.get("most")
    largest, number = ("d_h", optimizer["d_h"]) if most is None else (r"d_{\mathrm{enough}}", most)
    general = rf"\min(d + \Delta d,\ {largest})"
    grown = _two("d'", general, rf"\min({step},\ {number}) = {event['d_to']}")
    return [
        *_slope(event),
        _step_size(event, optimizer),
        Step("Next dimension", grown),
        _patience(event, optimizer, budget),
    ]


def _slope(event: Event) -> list[Step]:
    if not event["slopes"]:
        return []
    (d_0, d_1), (b_0, b_1) = event["dims"][-2:], event["bests"][-2:]
    s = r"-\frac{b_n - b_{n-1}}{d_n - d_{n-1}}"
    filled = rf"-\frac{{{_g(b_1)} - {_signed(b_0)}}}{{{d_1} - {d_0}}} = {_g(event['slopes'][-1])}"
    lines = [Step("Newest slope: gain per added dimension", _two("s_{n-1}", s, filled))]
    if event["k"] is not None:
        low, high, newest = event["s_min"], event["s_max"], event["slopes"][-1]
        k = r"\frac{s_{n-1} - s_{\min}}{s_{\max} - s_{\min}} + 0.5"
        numbers = (
            rf"\frac{{{_g(newest)} - {_signed(low)}}}{{{_g(high)} - {_signed(low)}}} + 0.5"
            rf" = {_g(event['k'])}"
        )
        lines.append(Step("Scaled between the least and the greatest so far", _two("k", k, numbers)))
    return lines


def _step_size(event: Event, optimizer: Mapping[str, Any]) -> Step:
    before, after, k = event["delta_before"], event["delta_after"], event["k"]
    least = optimizer.get("min_step", 0)
    at_least = rf"\max({least},\ " if least else ""
    close = ")" if least else ""
    if (ruled := event.get("ruled")) is not None:
        return Step(f"Next step, by hand; the strategy's own would be {ruled}", rf"\Delta d = {after}")
    if event.get("enough") is not None:
        return _enough(event, optimizer)
    steady = optimizer.get("growth") == "steady"
    if k is not None:
        from_first = optimizer.get("steps") == "first"
        scaled = r"\Delta d_1" if from_first else r"\Delta d_{\mathrm{prev}}"
        number = _first_step(optimizer) if from_first else before
        general = rf"{at_least}\lfloor k\,{scaled} \rfloor{close}"
        filled = rf"{at_least}\lfloor {_g(k)} \cdot {number} \rfloor{close}"
        return Step("Next step", _two(r"\Delta d", general, f"{filled} = {after}"))
    first_steps = 3 if optimizer.get("variant") == "authors" else 1  # whatever the slopes
    if before is not None and len(event["dims"]) > first_steps and not steady:
        return Step(
            "All slopes are equal, so the step stays", rf"\Delta d = \Delta d_{{\mathrm{{prev}}}} = {after}"
        )
    twice = r"2\," if optimizer.get("variant") == "authors" else ""
    filled = (
        rf"\left\lfloor \frac{{{twice}({optimizer['d_h']} - {optimizer['d_l']})}}"
        rf"{{{_g(optimizer['beta'])}}} \right\rfloor"
    )
    general = rf"\left\lfloor \frac{{{twice}(d_h - d_l)}}{{\beta}} \right\rfloor"
    words = "Steady growth: the step is from β alone" if steady else "First step, from β alone"
    return Step(words, _two(r"\Delta d", general, f"{filled} = {after}"))


def _first_step(optimizer: Mapping[str, Any]) -> int:
    return floor((optimizer["d_h"] - optimizer["d_l"]) / optimizer["beta"])


def _enough(event: Event, optimizer: Mapping[str, Any]) -> Step:
    """Why there are no more dimensions."""
    last, large = max(event["slopes"][-2:]), second_largest(event["slopes"])
    general = r"\max(s_{n-2},\ s_{n-1}) < \tau\, s_{(2)}"
    filled = rf"{_g(last)} < {_g(optimizer['stop'])} \cdot {_g(large)} \Rightarrow \Delta d = 0"
    return Step(
        "Enough: the last two slopes are small beside the second largest",
        rf"\begin{{aligned}} & {general} \\[12pt] & {filled} \end{{aligned}}",
    )


def _patience(event: Event, optimizer: Mapping[str, Any], budget: int) -> Step:
    if event.get("enough") is not None and event["event"] == "converged":
        left = _two("T", r"budget - t", f"{budget} - {event['t']} = {event['T_after']}")
        return Step("All that is left goes into this subspace", left)
    steady = optimizer.get("growth") == "steady"
    authors = optimizer.get("variant") == "authors"
    d = event["d_to"] if authors else event["d_from"]
    d_l, d_h, beta = optimizer["d_l"], optimizer["d_h"], optimizer["beta"]
    under = r"\beta" if authors else r"2\beta"
    number = _g(beta) if authors else rf"2 \cdot {_g(beta)}"
    if d_l == d_h:
        general, filled = rf"\frac{{budget}}{{{under}}}", rf"\frac{{{budget}}}{{{number}}}"
    else:
        general = rf"\left(1 + \frac{{d - d_l}}{{d_h - d_l}}\right) \frac{{budget}}{{{under}}}"
        filled = rf"\left(1 + \frac{{{d} - {d_l}}}{{{d_h} - {d_l}}}\right) \frac{{{budget}}}{{{number}}}"
    return Step(
        "Evaluations in the next subspace" if steady else "Patience in the next subspace",
        _two(
            "T",
            rf"\left\lfloor {general} \right\rfloor",
            rf"\left\lfloor {filled} \right\rfloor = {event['T_after']}",
        ),
    )


def _two(left: str, general: str, filled: str) -> str:
    """The formula, and under it the same with its numbers: narrow enough for half a page."""
    return rf"\begin{{aligned}} {left} &= {general} \\[12pt] &= {filled} \end{{aligned}}"


def _g(value: float) -> str:
    text = f"{value:.4g}"
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"


def _signed(value: float) -> str:
    """A number after a minus sign."""
    return f"({_g(value)})" if value < 0 else _g(value)


@dataclass(frozen=True)
class Entry:
    """One line of the feed: what happened at evaluation t, and the numbers behind it."""

    t: int
    text: str
    kind: str
    repeated: int = 0  # how many like it came right before, and changed as little
    numbers: str = ""
    event: Event = field(default_factory=dict)

    @property
    def in_words(self) -> str:
        """The sentence, with what it stands for."""
        if not self.repeated:
            return self.text
        before = f"{self.repeated} convergences" if self.repeated > 1 else "convergence"
        return f"{self.text} The {before} before changed nothing either."


_NUMBERED = re.compile(r"(.*) \(([^()]*T \d+ → \d+)\)", re.DOTALL)  # as `dsebo.expansion.describe` ends


def _entry(event: Event, repeated: int = 0) -> Entry:
    """Told first, counted second; between them whether it was right, where that is known."""
    match = _NUMBERED.fullmatch(event["text"])
    text, numbers = (match[1], match[2]) if match else (event["text"], "")
    judged = f"{text} {event[VERDICT]}" if VERDICT in event else text
    return Entry(event["t"], judged, event["event"], repeated, numbers, event)


def feed(events: Sequence[Event]) -> list[Entry]:
    """What happened, newest first; a run that converges again and again in place says so once."""
    entries: list[Entry] = []
    stuck: Event | None = None
    for event in events:
        if event["event"] == "started" or "text" not in event:
            continue
        if event["event"] == "converged" and stuck and stuck["d_to"] == event["d_to"]:
            entries[-1] = _entry(event, entries[-1].repeated + 1)
        else:
            entries.append(_entry(event))
        stuck = event if event["event"] == "converged" else None
    return entries[::-1]


def arms_figure(event: Event, method: str) -> go.Figure:
    """A bandit's mind: how often each arm was pulled, its mean reward, and what it was chosen by."""
    words, same_units = SCORES.get(method, ("", True))
    scored = bool(words and event["scores"])
    rows = {"pulls": (0.58, 1.0), "reward": (0.0, 0.42)}
    if scored and not same_units:
        rows = {"pulls": (0.74, 1.0), "reward": (0.37, 0.63), "score": (0.0, 0.26)}
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
        marker={"color": [theme.VERMILLION if pulled else theme.SKY for pulled in now]},
        hovertemplate="%{y} pulls",
    )
    dots = [("means", "y2", "mean reward", theme.SKY, "circle")]
    if scored:
        dots.append(("scores", "y2" if same_units else "y3", words, theme.VERMILLION, "diamond-open"))
    for values, place, name, colour, symbol in dots:
        sketch.scatter(
            x=arms,
            y=np.array([np.nan if v is None else v for v in event[values]], dtype=float),
            yaxis=place,
            mode="markers",
            name=name,
            hovertemplate=f"{name} %{{y:.5~g}}",
            marker={"color": colour, "size": 11, "symbol": symbol, "line": {"width": 2}},
        )
    return sketch.figure()
