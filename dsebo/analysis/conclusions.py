"""What a run amounts to, in words: the same sentences on the page, in the terminal, a notebook and a report.

A decision is told by `dsebo.expansion.describe`, an experiment or a race by `dsebo.experiments.findings`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Any

from dsebo.events import Converged, Evaluated, Event, Finished, Probed, Started
from dsebo.text import count, number, spelled

Change = Mapping[str, Any]  # an `expanded` or `converged` event as the store keeps it

LARGEST = "d_h, the largest it may have"


@dataclass(frozen=True)
class Ending:
    """What a conclusion is drawn from.

    Attributes:
        t, budget: Evaluations made, and those that there were to be.
        best: The best value; None where every evaluation failed.
        at_centre: F at the centre of the box, where it is known.
        minimum: F*, where it is known.
        d: Dimension in which the last evaluation was made; None where the method has none.
        d_e: How many variables matter, where the objective has such a number.
        d_h: How far the subspace may grow; None where the method does not grow one.
        changes: The convergences, oldest first.
        reachable: The best value that is possible in a subspace, by its dimension, where computed.
        failed, why_failed: How many evaluations gave no value, and why the last of them did not.
        incumbent, expected: Where noise was declared: the evaluation with the least posterior mean, and that.
        probed: How many dimensions are enough by probes, where there were any.
    """

    t: int
    budget: int
    best: float | None
    at_centre: float | None = None
    minimum: float | None = None
    d: int | None = None
    d_e: int | None = None
    d_h: int | None = None
    changes: Sequence[Change] = ()
    reachable: Mapping[int, float] = field(default_factory=dict)
    failed: int = 0
    why_failed: str | None = None
    incumbent: int | None = None
    expected: float | None = None
    probed: int | None = None


def ending_of(
    config: Mapping[str, Any],
    evaluated: Mapping[str, Any] | None,
    changes: Sequence[Change],
    at_centre: float | None,
    minimum: float | None,
    budget: int,
    reachable: Mapping[int, float] | None = None,
    failures: Sequence[str | None] = (),
) -> Ending:
    """The same from a run's config, its last evaluation and its convergences."""
    last = evaluated or {}
    return Ending(
        t=int(last.get("t", 0)),
        budget=budget,
        best=last.get("best"),
        at_centre=at_centre,
        minimum=minimum,
        d=last.get("d"),
        d_e=config.get("objective", {}).get("d_e"),  # a function of one's own has none
        d_h=config["optimizer"].get("d_h"),
        changes=changes,
        reachable=reachable or {},
        failed=len(failures),
        why_failed=failures[-1] if failures else None,
        incumbent=last.get("incumbent"),
        expected=last.get("expected"),
        probed=last.get("probed"),
    )


def conclude(events: Iterable[Event]) -> str:
    """What a run amounts to, from its events: `conclude(run(config))`, `conclude(minimize(f, box).events)`.

    Empty where it was carried on and its beginning is not at hand.
    """
    started, last, ended, probed, changes, failures = None, None, None, None, [], []
    for event in events:
        if isinstance(event, Started):
            started = event
        elif isinstance(event, Evaluated):
            last = event
            failures += [event.error] if event.failed else []
        elif isinstance(event, Converged):
            changes.append(event.to_json())
        elif isinstance(event, Probed):
            probed = event.most
        elif isinstance(event, Finished):
            ended = event
    if started is None or started.t or last is None:
        return ""
    evaluated = {"t": last.t, "best": last.best if math.isfinite(last.best) else None, "d": last.d}
    evaluated["probed"] = probed
    if ended is not None:
        evaluated |= {"incumbent": ended.incumbent, "expected": ended.expected}
    config = started.config
    centre, minimum, budget = started.at_centre, started.minimum, config["budget"]
    return conclude_run(ending_of(config, evaluated, changes, centre, minimum, budget, failures=failures))


def conclude_run(run: Ending) -> str:
    """`From 30.1 at the centre to 3.62. The subspace grew from 5 to 28 in six expansions …`."""
    if run.best is None:
        return f"None of the {count(run.t, 'evaluation')} gave a value.{_reason(run)}" if run.t else ""
    failed = f"{count(run.failed, 'evaluation')} failed.{_reason(run)}" if run.failed else ""
    sentences = [_gain(run, run.best), failed, _likely(run), _growth(run), _rest(run, run.best)]
    return " ".join(sentence for sentence in sentences if sentence)


def _reason(run: Ending) -> str:
    """Why the last of them failed, in one line."""
    if not run.why_failed:
        return ""
    why = shorten(run.why_failed, 120, placeholder=" …").rstrip(".")
    return f" {'Reason' if run.failed == 1 else 'The last reason'}: {why}."


def _gain(run: Ending, best: float) -> str:
    after = f" after {count(run.t, 'evaluation')}" if run.at_centre is None or run.t < run.budget else ""
    if run.at_centre is None:
        return f"{_short(best)}{after}."
    if best < run.at_centre:
        return f"From {_short(run.at_centre)} at the centre to {_short(best)}{after}."
    return f"{_short(best)}{after}, no better than the {_short(run.at_centre)} at the centre."


def _likely(run: Ending) -> str:
    if run.incumbent is None or run.expected is None:
        return ""
    expected = _short(run.expected)
    return f"By the posterior mean evaluation {run.incumbent} is the best: {expected} expected there."


def _growth(run: Ending) -> str:
    """How the subspace grew, and why it went no further."""
    if run.d is None or run.d_h is None:
        return ""
    grown = [change for change in run.changes if change["event"] == "expanded"]
    above = bool(run.d_e and run.changes) and run.d_e < run.changes[-1]["d_to"] < run.d_h
    more = "; a random subspace needs more than d_e" if above else ""
    matter = f" ({count(run.d_e, 'variable')} matter{'s' if run.d_e == 1 else ''}{more})" if run.d_e else ""
    stuck = _stuck(run.changes[-1], run.d_h) if run.changes else ""
    if not grown:
        return f"The subspace stayed at d = {run.d}{matter}: {stuck or 'it never stalled for long enough'}."
    first, last = grown[0]["d_from"], grown[-1]["d_to"]
    ended = f" and stopped because {stuck}" if stuck else ""
    if not stuck and last >= run.d_h:
        ended = f" and reached {LARGEST}"
    elif not stuck and last == run.probed:
        ended = f" and stopped because probes found {last} dimensions to be enough"
    text = f"The subspace grew from {first} to {last} in {spelled(len(grown), 'expansion')}{matter}{ended}."
    if grown[-1]["t"] >= run.t:
        text += f" The last expansion came with the last evaluation: nothing was tried at d = {last}."
    return text


def _stuck(change: Change, d_h: int) -> str:
    """Why a subspace that converged could not grow; empty where it did."""
    if change["event"] == "expanded":
        return ""
    if change["d_from"] >= d_h:
        return f"d = {change['d_from']} is {LARGEST}"
    if change.get("ruled") is not None and change["delta_after"] == 0:
        return "the step was set to 0 by hand"
    if change.get("enough") is not None:
        return "more dimensions no longer paid"
    return "the step became 0" if change["delta_before"] is not None else "the first step is 0"


def advice(change: Change, optimizer: Mapping[str, Any], D: int) -> dict[str, int]:
    """The setting that would have let a subspace grow that converged and stayed; nothing where it grew.

    Nor where it stayed by a decision: by hand, or as more dimensions no longer paid.
    """
    if change["event"] == "expanded" or change.get("ruled") is not None or change.get("enough") is not None:
        return {}
    d_h = int(optimizer["d_h"])
    if change["d_from"] < d_h:
        return {} if optimizer.get("min_step") else {"min_step": 1}
    return {"d_h": min(D, 2 * d_h)} if d_h < D else {}


def _rest(run: Ending, best: float) -> str:
    """What is left, and how much of it no search of this subspace could gain."""
    if run.minimum is None or run.d is None or run.d not in run.reachable:
        return ""
    left = best - run.minimum
    if left <= 0:
        return "Nothing is left to gain: this is the minimum."
    out_of_reach = max(0.0, min(run.reachable[run.d], best) - run.minimum)
    return f"Of the {_short(left)} left, {_short(out_of_reach)} is out of reach at d = {run.d}."


def _short(value: float) -> str:
    """Three significant digits."""
    return number(value, 3)
