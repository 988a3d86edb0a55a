"""Algorithm 1 with the numbers of one convergence filled in, as LaTeX, and the feed in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Event = Mapping[str, Any]


@dataclass(frozen=True)
class Step:
    """One line of the algorithm: what it decides, and the formula with its numbers."""

    words: str
    latex: str


def steps(event: Event, optimizer: Mapping[str, Any], budget: int) -> list[Step]:
    """Algorithm 1, line by line, for one `expanded` or `converged` event of DSEBO."""
    return [
        *_slope(event),
        _step_size(event, optimizer),
        _next_dimension(event, optimizer),
        _patience(event, optimizer, budget),
    ]


def _slope(event: Event) -> list[Step]:
    if not event["slopes"]:
        return []
    (d_0, d_1), (b_0, b_1) = event["dims"][-2:], event["bests"][-2:]
    s = r"-\frac{b_n - b_{n-1}}{d_n - d_{n-1}}"
    filled = rf"-\frac{{{_g(b_1)} - {_signed(b_0)}}}{{{d_1} - {d_0}}} = {_g(event['slopes'][-1])}"
    found = [Step("Newest slope: gain per added dimension", _two("s_{n-1}", s, filled))]
    if event["k"] is not None:
        low, high, newest = event["s_min"], event["s_max"], event["slopes"][-1]
        k = r"\frac{s_{n-1} - s_{\min}}{s_{\max} - s_{\min}} + 0.5"
        numbers = (
            rf"\frac{{{_g(newest)} - {_signed(low)}}}{{{_g(high)} - {_signed(low)}}} + 0.5"
            rf" = {_g(event['k'])}"
        )
        found.append(Step("Scaled between the least and the greatest so far", _two("k", k, numbers)))
    return found


def _step_size(event: Event, optimizer: Mapping[str, Any]) -> Step:
    before, after, k = event["delta_before"], event["delta_after"], event["k"]
    least = optimizer.get("min_step", 0)
    at_least = rf"\max({least},\ " if least else ""
    close = ")" if least else ""
    if k is not None:
        general = rf"{at_least}\lfloor k\,\Delta d_{{\mathrm{{prev}}}} \rfloor{close}"
        filled = rf"{at_least}\lfloor {_g(k)} \cdot {before} \rfloor{close}"
        return Step("Next step", _two(r"\Delta d", general, f"{filled} = {after}"))
    if before is not None and not _is_fixed(event, optimizer):
        return Step(
            "All slopes are equal, so the step stays", rf"\Delta d = \Delta d_{{\mathrm{{prev}}}} = {after}"
        )
    twice = r"2\," if optimizer.get("variant") == "authors" else ""
    filled = (
        rf"\left\lfloor \frac{{{twice}({optimizer['d_h']} - {optimizer['d_l']})}}"
        rf"{{{_g(optimizer['beta'])}}} \right\rfloor"
    )
    general = rf"\left\lfloor \frac{{{twice}(d_h - d_l)}}{{\beta}} \right\rfloor"
    return Step("First step, from β alone", _two(r"\Delta d", general, f"{filled} = {after}"))


def _is_fixed(event: Event, optimizer: Mapping[str, Any]) -> bool:
    """Whether the strategy takes its first step at this convergence, whatever the slopes."""
    return len(event["dims"]) <= (3 if optimizer.get("variant") == "authors" else 1)


def _next_dimension(event: Event, optimizer: Mapping[str, Any]) -> Step:
    d, delta, d_h, d_to = event["d_from"], event["delta_after"], optimizer["d_h"], event["d_to"]
    return Step(
        "Next dimension", _two("d'", r"\min(d + \Delta d,\ d_h)", rf"\min({d} + {delta},\ {d_h}) = {d_to}")
    )


def _patience(event: Event, optimizer: Mapping[str, Any], budget: int) -> Step:
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
        "Patience in the next subspace",
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
    """One line of the feed: what happened at evaluation t."""

    t: int
    text: str
    kind: str
    repeated: int = 0  # how many like it came right before, and changed as little

    @property
    def in_words(self) -> str:
        """The sentence, with what it stands for."""
        if not self.repeated:
            return self.text
        before = f"{self.repeated} convergences" if self.repeated > 1 else "convergence"
        return f"{self.text} The {before} before changed nothing either."


def feed(events: Sequence[Event]) -> list[Entry]:
    """What happened, newest first; a run that converges again and again in place says so once."""
    entries: list[Entry] = []
    stuck: Event | None = None
    for event in events:
        if event["event"] == "started" or "text" not in event:
            continue
        entry = Entry(event["t"], event["text"], event["event"])
        if event["event"] == "converged" and stuck and stuck["d_to"] == event["d_to"]:
            entries[-1] = Entry(entry.t, entry.text, entry.kind, entries[-1].repeated + 1)
        else:
            entries.append(entry)
        stuck = event if event["event"] == "converged" else None
    return entries[::-1]
