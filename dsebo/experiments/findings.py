"""What a sweep shows, in plain sentences, each comparison supported by a paired test over seeds.

Values of different functions are never compared with one another. With too few seeds for a test
nothing is said but that more are needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dsebo.config import part_of
from dsebo.experiments.paired import LEVEL, Outcomes, seeds_needed
from dsebo.experiments.sentences import Found, along, best_cell, short
from dsebo.text import function_name, part, several, symbol

_EXPLAINED = (
    "Every comparison is a paired Wilcoxon test over the seeds that two cells share, as many as it "
    f"takes, with Holm's correction for all pairs of its sentence, at {LEVEL:.0%}. "
)
_RATIO = "Times worse: the ratio of the medians of best − F*. "
_DIFFERENCE = "Higher: the difference of the medians of the best value. "
_SEEDS = "What the seeds do: the interquartile range over the seeds of one cell."


@dataclass(frozen=True)
class Report:
    """Sentences, and how they were come by."""

    sentences: tuple[str, ...]
    hint: str = ""


def findings(frame: pd.DataFrame, axes: Sequence[str]) -> list[str]:
    """The sentences alone."""
    return list(report(frame, axes).sentences)


def report(frame: pd.DataFrame, axes: Sequence[str]) -> Report:
    """What the finished runs of a sweep show.

    Args:
        frame: A row for each planned run: cell, a column for each axis, seed, state, best,
            minimum, at_centre.
        axes: The names of one or two swept fields.
    """
    done = finished(frame)
    if "function" in axes:
        return _within_functions(frame, done, [axis for axis in axes if axis != "function"])
    found = _sentences(frame, done, axes)
    texts = [*found.texts, *_own_centres(frame, axes)]
    return _summed(frame, Found(texts, True, found.ratio) if found.tested else found)


def _within_functions(frame: pd.DataFrame, done: pd.DataFrame, others: list[str]) -> Report:
    """Each function by itself: their values have nothing to do with one another."""
    if not others:
        return Report(("Each function has values of its own, so they are not compared with one another.",))
    parts = {
        name: _sentences(frame[frame["function"] == name], done[done["function"] == name], others)
        for name in dict.fromkeys(frame["function"])
    }
    if not any(found.tested for found in parts.values()):  # once is enough to say what is missing
        most = done.groupby("function").size()
        return Report(tuple(parts[most.idxmax() if len(most) else next(iter(parts))].texts))
    texts = [f"{function_name(name)}: {t}" for name, found in parts.items() for t in found.texts]
    texts += [
        f"{function_name(name)}: {text}"
        for name in parts
        for text in _own_centres(frame[frame["function"] == name], others)
    ]
    ratio = any(found.ratio for found in parts.values() if found.tested)
    return _summed(frame, Found(texts, True, ratio))


def _summed(frame: pd.DataFrame, found: Found) -> Report:
    """With what else must be known to read the sentences, where there are any to read."""
    if not found.tested:
        return Report(tuple(found.texts))
    texts = list(found.texts)
    failed = int((frame["state"] == "failed").sum())
    if failed:
        runs = "1 run has failed and is" if failed == 1 else f"{failed} runs have failed and are"
        texts.append(f"{runs} left out.")
    hint = _EXPLAINED + (_RATIO if found.ratio else _DIFFERENCE) + _SEEDS
    return Report(tuple(texts), hint)


def _own_centres(frame: pd.DataFrame, axes: Sequence[str]) -> list[str]:
    """A field of the objective changes what is easy: said by the value at the centre."""
    known = frame[frame["at_centre"].notna()].astype({"at_centre": float})
    return [
        f"{symbol(axis)} changes the function itself: {moved}."
        for axis in axes
        if axis != "function"
        and part_of(axis) == "objective"
        and (moved := _centre_moved(known, [other for other in axes if other != axis]))
    ]


def _centre_moved(known: pd.DataFrame, others: list[str]) -> str:
    """How the value at the centre moves while the other axis stands still; empty if it does not."""
    groups = known.groupby(others[0], sort=False) if others else [("", known)]
    ranges = {
        value: (short(rows["at_centre"].min()), short(rows["at_centre"].max())) for value, rows in groups
    }
    moved = [value for value, (low, high) in ranges.items() if low != high]
    if not moved:
        return ""
    same = len(set(ranges.values())) == 1
    where = "" if same else f"at {part(others[0], moved[0])} "
    return "{}its value at the centre goes from {} to {}".format(where, *ranges[moved[0]])


# --- what is compared -----------------------------------------------------------------------


def finished(frame: pd.DataFrame) -> pd.DataFrame:
    """The runs with a final value: those that ended as planned, with a number."""
    best = pd.to_numeric(frame["best"])
    chosen: pd.DataFrame = frame.assign(best=best)[(frame["state"] == "finished") & best.notna()]
    finite: pd.DataFrame = chosen[np.isfinite(chosen["best"])]
    return finite


def _outcomes(done: pd.DataFrame, cells: Sequence[int]) -> Outcomes:
    """(seeds, cells) final values: above F* where it is known and was never quite reached."""
    above = done["best"] - pd.to_numeric(done["minimum"])
    ratio = bool(len(done)) and bool((above > 0).all())
    value = above if ratio else done["best"]
    table = done.assign(value=value).pivot_table("value", "seed", "cell")
    return Outcomes(table.reindex(columns=list(cells)).to_numpy(dtype=float), ratio)


def _sentences(frame: pd.DataFrame, done: pd.DataFrame, axes: Sequence[str]) -> Found:
    """Of one function, or of a sweep without a choice of functions."""
    cells = frame.drop_duplicates("cell").set_index("cell")
    outcomes = _outcomes(done, list(cells.index))
    if len(axes) == 1:
        return along(axes[0], list(cells[axes[0]]), outcomes)
    labels = [", ".join(part(axis, row[axis]) for axis in axes) for _, row in cells.iterrows()]
    parts = [best_cell(labels, outcomes)]
    parts += [_along(cells, outcomes, *pair) for pair in (axes, tuple(reversed(axes)))]
    if not any(found.tested for found in parts):
        return Found(parts[0].texts)
    return Found([text for p in parts for text in p.texts], True, outcomes.ratio)


def _along(cells: pd.DataFrame, outcomes: Outcomes, axis: str, other: str) -> Found:
    """What an axis does on average over those values of the other one that all its own have."""
    every = list(dict.fromkeys(cells[other]))
    values = list(dict.fromkeys(cells[axis]))
    whole = _whole(cells, outcomes, other, seeds_needed(len(values)))
    if not whole:
        return Found([f"More seeds are needed to average over {symbol(other)}."])
    over = f"Averaged over {symbol(other)}, "
    if len(whole) < len(every):
        named = several(other, whole, every)
        over = f"{'At' if len(whole) == 1 else 'Averaged over'} {named}, "
    return along(axis, values, _averaged(cells, outcomes, axis, cells[other].isin(whole)), over)


def _whole(cells: pd.DataFrame, outcomes: Outcomes, other: str, needed: int) -> list[Any]:
    """The values of an axis at which every value of the other one has as many seeds."""
    enough = np.isfinite(outcomes.values).sum(axis=0) >= needed
    return [v for v in dict.fromkeys(cells[other]) if enough[(cells[other] == v).to_numpy()].all()]


def _averaged(cells: pd.DataFrame, outcomes: Outcomes, axis: str, chosen: pd.Series[bool]) -> Outcomes:
    """One column for each value of an axis: for each seed the mean over its chosen cells."""
    columns = [
        outcomes.scaled[:, (chosen & (cells[axis] == value)).to_numpy()].mean(axis=1)
        for value in dict.fromkeys(cells[axis])
    ]
    values = np.stack(columns, axis=1)
    return Outcomes(10**values if outcomes.ratio else values, outcomes.ratio)
