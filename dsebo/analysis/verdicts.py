"""What the floor says of a run: two kinds of error, and whether each expansion was right.

Of the regret best - F*, the part below the floor of the current subspace is approximation error
(only a larger d can remove it), the part above is optimization error (only more evaluations can).
Pure functions of arrays and events.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dsebo.embedding import Array
from dsebo.text import number

Judgement = Literal["right", "premature", "in vain"]

SAME = 0.01  # a floor that falls by less than this share of itself has not fallen


@dataclass(frozen=True)
class Verdict:
    """Whether an expansion was right, in a word and in a sentence."""

    t: int
    judgement: Judgement
    text: str


def lowered(floors: Mapping[int, float], d: Array, best: Array) -> dict[int, float]:
    """The floors, none above what the run itself has reached in its subspace, none rising.

    A floor is the least value that a search found: a run that gets below it has found a lower one.
    """
    low, lowest = math.inf, {}
    for dimension in sorted(floors):
        reached = best[d <= dimension]
        reached = reached[np.isfinite(reached)]
        low = min(low, floors[dimension], float(reached.min()) if reached.size else math.inf)
        lowest[dimension] = low
    return lowest


def floor_line(d: Array, best: Array, floors: Mapping[int, float]) -> Array:
    """(n,) the floor of the subspace that each evaluation was made in; NaN where not known."""
    known = lowered(floors, d, best)
    line = np.full(len(d), np.nan)
    for dimension, value in known.items():
        line[d == dimension] = value
    return line


def verdicts(
    changes: Sequence[Mapping[str, Any]], floors: Mapping[int, float], minimum: float | None
) -> list[Verdict]:
    """A verdict on each expansion whose floor is known."""
    return [
        judge(change, floors, minimum)
        for change in changes
        if change["event"] == "expanded" and change["d_from"] in floors
    ]


def judge(change: Mapping[str, Any], floors: Mapping[int, float], minimum: float | None) -> Verdict:
    """Right where the larger part of what was missing was out of the subspace's reach.

    Where F* is not known, the floor after the expansion stands in for it.
    """
    d_from, d_to, best = change["d_from"], change["d_to"], float(change["bests"][-1])
    floor, after = floors[d_from], floors.get(d_to)
    target = minimum if minimum is not None else after
    facts = f"At d = {d_from} the best possible was {number(floor, 3)}; the run had {number(best, 3)}."
    gap = best - floor
    if after is not None and floor - after <= SAME * abs(floor):
        text = f"{facts} Expanding to d = {d_to} was in vain: {number(after, 3)} is possible there."
        return Verdict(change["t"], "in vain", text)
    if target is None or gap <= floor - target:
        return Verdict(change["t"], "right", f"{facts} Expanding was right.")
    text = f"{facts} Expanding was premature: {number(gap, 3)} was still to be gained there."
    return Verdict(change["t"], "premature", text)
