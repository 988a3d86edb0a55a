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

from dsebo.sweeps.naming import function_label, is_range, joined, part, several, symbol
from dsebo.sweeps.paired import LEAST_SEEDS, LEVEL, Outcomes, Pair, compare, seeds_needed

OBJECTIVE_FIELDS = ("D", "d_e", "c", "K", "coordinates", "coordinates_seed")
_EXPLAINED = (
    f"Every comparison is a paired Wilcoxon test over the seeds that two cells share, at least "
    f"{LEAST_SEEDS}, with Holm's correction for all pairs of its sentence, at {LEVEL:.0%}. "
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
    return _summed(frame, _sentences(frame, done, axes), axes)


def _within_functions(frame: pd.DataFrame, done: pd.DataFrame, others: list[str]) -> Report:
    """Each function by itself: their values have nothing to do with one another."""
    if not others:
        return Report(
            ("Each function has values of its own, so they are not compared with one another.",)
        )
    parts = {
        name: _sentences(frame[frame["function"] == name], done[done["function"] == name], others)
        for name in dict.fromkeys(frame["function"])
    }
    if not any(found.tested for found in parts.values()):  # once is enough to say what is missing
        most = done.groupby("function").size()
        return Report(tuple(parts[most.idxmax() if len(most) else next(iter(parts))].texts))
    texts = [f"{function_label(name)}: {t}" for name, found in parts.items() for t in found.texts]
    ratio = any(found.ratio for found in parts.values() if found.tested)
    return _summed(frame, _Found(texts, True, ratio), others)


@dataclass(frozen=True)
class _Found:
    """Sentences, whether any of them rests on a test, and whether ratios were compared."""

    texts: list[str]
    tested: bool = False
    ratio: bool = False


def _summed(frame: pd.DataFrame, found: _Found, axes: Sequence[str]) -> Report:
    """With what else must be known to read the sentences, where there are any to read."""
    if not found.tested:
        return Report(tuple(found.texts))
    texts = found.texts + [text for axis in axes if (text := _own_centre(frame, axis))]
    failed = int((frame["state"] == "failed").sum())
    if failed:
        runs = "1 run has failed and is" if failed == 1 else f"{failed} runs have failed and are"
        texts.append(f"{runs} left out.")
    hint = _EXPLAINED + (_RATIO if found.ratio else _DIFFERENCE) + _SEEDS
    return Report(tuple(texts), hint)


def _own_centre(frame: pd.DataFrame, axis: str) -> str:
    """A field of the objective changes what is easy: said by the value at the centre."""
    centres = frame.loc[frame["at_centre"].notna(), "at_centre"].astype(float)
    if axis not in OBJECTIVE_FIELDS or centres.nunique() < 2:
        return ""
    return (
        f"{symbol(axis)} changes the function itself: its value at the centre goes from "
        f"{_short(centres.min())} to {_short(centres.max())}."
    )


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


def _sentences(frame: pd.DataFrame, done: pd.DataFrame, axes: Sequence[str]) -> _Found:
    """Of one function, or of a sweep without a choice of functions."""
    cells = frame.drop_duplicates("cell").set_index("cell")
    outcomes = _outcomes(done, list(cells.index))
    if len(axes) == 1:
        return _along(axes[0], list(cells[axes[0]]), outcomes)
    labels = [", ".join(part(axis, row[axis]) for axis in axes) for _, row in cells.iterrows()]
    parts = [_best_cell(labels, outcomes)]
    for axis, other in (axes, tuple(reversed(axes))):
        values = list(dict.fromkeys(cells[axis]))
        averaged = _averaged(cells, outcomes, axis, other)
        parts.append(_along(axis, values, averaged, f"Averaged over {symbol(other)}, "))
    if not any(found.tested for found in parts):
        return _Found(parts[0].texts)
    return _Found([text for p in parts for text in p.texts], True, outcomes.ratio)


def _averaged(cells: pd.DataFrame, outcomes: Outcomes, axis: str, other: str) -> Outcomes:
    """One column for each value of an axis: for each seed the mean over the other axis.

    Only over those of its values at which every value of the axis has enough seeds, so that all
    are averaged over the same.
    """
    enough = np.isfinite(outcomes.values).sum(axis=0) >= LEAST_SEEDS
    whole = [v for v in dict.fromkeys(cells[other]) if enough[(cells[other] == v).to_numpy()].all()]
    columns = []
    for value in dict.fromkeys(cells[axis]):
        chosen = (cells[axis] == value).to_numpy() & cells[other].isin(whole).to_numpy()
        none = np.full(len(outcomes.values), np.nan)
        columns.append(outcomes.scaled[:, chosen].mean(axis=1) if chosen.any() else none)
    values = np.stack(columns, axis=1)
    return Outcomes(10**values if outcomes.ratio else values, outcomes.ratio)


# --- one axis -------------------------------------------------------------------------------


def _along(axis: str, values: list[Any], outcomes: Outcomes, over: str = "") -> _Found:
    """What the values of one axis do to the final value."""
    covered = [i for i in range(len(values)) if outcomes.seeds(i) >= LEAST_SEEDS]
    pairs = compare(outcomes, covered)
    if refused := _too_few(outcomes, pairs, len(covered), f"values of {symbol(axis)}"):
        return _Found([refused])
    best = min(covered, key=outcomes.median)
    against = {i: _seen_from(pairs, best, i) for i in covered if i != best}
    known = {i: pair for i, pair in against.items() if pair is not None}
    alike = [i for i, pair in known.items() if not pair.differs]
    worse = [i for i, pair in known.items() if pair.differs and pair.shift > 0]
    mixed = [i for i, pair in known.items() if pair.differs and pair.shift <= 0]
    said = _alike(axis, values, outcomes, best, alike, pairs)
    named = part(axis, values[best])
    if worse:
        than = "" if not alike else f" than {named}"
        lead = "" if alike else f"{named} ends lowest: "
        listed = [f"{part(axis, values[i])} {_how_much(known[i], outcomes.ratio)}" for i in worse]
        said.append(f"{lead}{joined(listed)}{than}")
    said += [
        f"{part(axis, values[i])} has a higher median than {named}, though it wins on most seeds"
        for i in mixed
    ]
    texts = [f"{over}{'; '.join(said)}."] if said else []
    missing = [v for i, v in enumerate(values) if i != best and i not in known]
    if missing:
        texts.append(f"More seeds are needed at {several(axis, missing, values)}.")
    return _Found(texts, True, outcomes.ratio)


def _too_few(outcomes: Outcomes, pairs: dict[Any, Pair], cells: int, things: str) -> str:
    """Why nothing can be said; empty where something can."""
    most = int(np.isfinite(outcomes.values).sum(axis=0).max(initial=0))
    if not pairs:
        return (
            f"More seeds are needed: two {things} can be compared when they share "
            f"{LEAST_SEEDS} finished seeds; so far {_at_most(most)}."
        )
    seeds = max(pair.seeds for pair in pairs.values())
    needed = seeds_needed(cells)
    if seeds < needed:
        return (
            f"More seeds are needed: {seeds} cannot tell {cells} {things} apart, "
            f"{needed} or more can."
        )
    return ""


def _at_most(seeds: int) -> str:
    return "none has finished" if seeds == 0 else f"there are at most {seeds}"


def _alike(
    axis: str,
    values: list[Any],
    outcomes: Outcomes,
    best: int,
    alike: list[int],
    pairs: dict[tuple[int, int], Pair],
) -> list[str]:
    """What cannot be told from the best, and whether that is because it hardly matters."""
    if not alike:
        return []
    group = sorted([best, *alike])
    apart = any(pairs[i, j].differs for i in group for j in group if (i, j) in pairs)
    medians = [_scaled(outcomes.median(i), outcomes.ratio) for i in group]
    seeds_do = float(np.median([outcomes.spread(i) for i in group]))
    if not apart and max(medians) - min(medians) <= seeds_do:
        chosen = [values[i] for i in group]
        what = "changes the final value" if is_range(chosen, values) else "differ"
        return [f"{several(axis, chosen, values)} {what} by less than the seeds do"]
    seeds = max(pairs[min(i, best), max(i, best)].seeds for i in alike)
    named = several(axis, [values[i] for i in alike], values)
    return [f"{seeds} seeds do not tell {named} from {part(axis, values[best])}, the lowest median"]


def _how_much(pair: Pair, ratio: bool) -> str:
    best, other = pair.medians
    if not ratio:
        return f"ends {_short(other - best)} higher"
    times = other / best
    if times >= 1.95:
        return f"is {_short(times)} times worse"
    return f"is {max(1, round((times - 1) * 100))} % worse"


# --- two axes -------------------------------------------------------------------------------


def _best_cell(labels: list[str], outcomes: Outcomes) -> _Found:
    """The cell with the lowest median, and how many others can be told from it."""
    covered = [i for i in range(len(labels)) if outcomes.seeds(i) >= LEAST_SEEDS]
    pairs = compare(outcomes, covered)
    if refused := _too_few(outcomes, pairs, len(covered), "cells"):
        return _Found([refused])
    best = min(covered, key=outcomes.median)
    against = [_seen_from(pairs, best, i) for i in covered if i != best]
    worse = sum(pair is not None and pair.differs and pair.shift > 0 for pair in against)
    median = _short(outcomes.median(best))
    name = "best − F*" if outcomes.ratio else "best value"
    others = len(covered) - 1
    rest = f", {others - worse} cannot be told from it" if worse < others else ""
    text = (
        f"{labels[best]} has the lowest median ({name} = {median}); of the {others} other cells "
        f"{worse} {'is' if worse == 1 else 'are'} worse{rest}."
    )
    return _Found([text], True, outcomes.ratio)


# --- words ----------------------------------------------------------------------------------


def _seen_from(pairs: dict[tuple[int, int], Pair], best: int, other: int) -> Pair | None:
    """The pair with `best` as the first."""
    if (best, other) in pairs:
        return pairs[best, other]
    turned = pairs.get((other, best))
    if turned is None:
        return None
    return Pair(turned.seeds, turned.p, -turned.shift, (turned.medians[1], turned.medians[0]))


def _scaled(value: float, ratio: bool) -> float:
    return float(np.log10(value)) if ratio else value


def _short(value: float) -> str:
    """Two significant digits; thousands set apart, as everywhere."""
    rounded = float(f"{value:.2g}")
    text = f"{rounded:,.0f}" if abs(rounded) >= 10 else f"{rounded:.10g}"
    return text.replace(",", "\u202f").replace("-", "−")
