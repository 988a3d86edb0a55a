"""What an experiment shows, in plain sentences, each comparison supported by a paired test over seeds.

Values of different functions are never compared with one another. With too few seeds for a test
nothing is said but that more are needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from dsebo.config import part_of
from dsebo.experiments.paired import (
    LEAST_SEEDS,
    LEVEL,
    Outcomes,
    Pair,
    compare,
    most_shared,
    seeds_needed,
    sharing,
    too_few,
)
from dsebo.text import function_name, is_range, joined, number, part, several, symbol

_EXPLAINED = (
    "Every comparison is a paired Wilcoxon test over the seeds that two cells share, as many as it "
    f"takes, with Holm's correction for all pairs of its sentence, at {LEVEL:.0%}. "
)
_RATIO = "Times worse: the ratio of the medians of best − F*. "
_DIFFERENCE = "Higher: the difference of the medians of the best value. "
_SEEDS = "What the seeds do: the interquartile range over the seeds of one cell."


@dataclass(frozen=True)
class Report:
    """What everyone sees, how sure that is, and how it was computed."""

    sentences: tuple[str, ...]
    hint: str = ""
    lead: str = ""
    more_seeds: int = 0  # with which it could be said what is chance, where it cannot

    @property
    def texts(self) -> list[str]:
        """All that is to be read, in order."""
        return [*filter(None, [self.lead]), *self.sentences]


def findings(frame: pd.DataFrame, axes: Sequence[str]) -> list[str]:
    """The sentences alone."""
    return list(report(frame, axes).sentences)


def report(frame: pd.DataFrame, axes: Sequence[str]) -> Report:
    """What the finished runs of an experiment show.

    Args:
        frame: A row for each planned run: cell, a column for each axis, seed, state, best,
            minimum, at_centre.
        axes: The names of the swept fields.
    """
    done = finished(frame)
    if "function" in axes:
        return _within_functions(frame, done, [axis for axis in axes if axis != "function"])
    finding = _sentences(frame, done, axes)
    texts = [*finding.texts, *_own_centres(frame, axes)]
    summed = _summed(frame, Finding(texts, True, finding.ratio) if finding.tested else finding)
    return replace(summed, lead="" if len(axes) > 1 and finding.tested else lead(done, axes))


def _within_functions(frame: pd.DataFrame, done: pd.DataFrame, others: list[str]) -> Report:
    """Each function by itself: their values have nothing to do with one another."""
    if not others:
        return Report(("Each function has values of its own, so they are not compared with one another.",))
    parts = {
        name: _sentences(frame[frame["function"] == name], done[done["function"] == name], others)
        for name in dict.fromkeys(frame["function"])
    }
    if not any(finding.tested for finding in parts.values()):  # once is enough to say what is missing
        most = done.groupby("function").size()
        name = most.idxmax() if len(most) else next(iter(parts))
        leads = {name: lead(done[done["function"] == name], others) for name in parts}
        leads = {name: text.replace("Lowest median: ", "lowest median ") for name, text in leads.items()}
        seen = [f"{function_name(name)}: {text}" for name, text in leads.items() if text]
        missing = _missing(frame[frame["function"] == name])
        return Report(tuple(parts[name].texts), lead=" ".join(seen), more_seeds=missing)
    texts = [f"{function_name(name)}: {text}" for name in parts for text in parts[name].texts]
    centres = {name: _own_centres(frame[frame["function"] == name], others) for name in parts}
    texts += [f"{function_name(name)}: {text}" for name in parts for text in centres[name]]
    ratio = any(finding.ratio for finding in parts.values() if finding.tested)
    return _summed(frame, Finding(texts, True, ratio))


def _summed(frame: pd.DataFrame, finding: Finding) -> Report:
    """With what else must be known to read the sentences, where there are any to read."""
    if not finding.tested:
        return Report(tuple(finding.texts), more_seeds=_missing(frame))
    texts = list(finding.texts)
    failed = int((frame["state"] == "failed").sum())
    if failed:
        runs = "1 run has failed and is" if failed == 1 else f"{failed} runs have failed and are"
        texts.append(f"{runs} left out.")
    hint = _EXPLAINED + (_RATIO if finding.ratio else _DIFFERENCE) + _SEEDS
    return Report(tuple(texts), hint)


def _missing(frame: pd.DataFrame) -> int:
    """How many seeds more it takes to compare all cells."""
    return max(0, seeds_needed(frame["cell"].nunique()) - frame["seed"].nunique())


def lead(done: pd.DataFrame, axes: Sequence[str]) -> str:
    """What everyone sees, before how sure it is: the lowest, the next and the highest value.

    A race is read by its means, as its standings are; what varies a setting by its medians, as its
    charts are.
    """
    if done["cell"].nunique() < 2:
        return ""
    race = list(axes) == ["method"]
    cells = done.groupby(list(axes), sort=False)["best"]
    ranked = (cells.mean() if race else cells.median()).sort_values(kind="stable")
    return ranking(
        {_named(axes, values): best for values, best in ranked.items()}, "mean" if race else "median"
    )


def _named(axes: Sequence[str], values: Any) -> str:
    """`β = 8, dₕ = 60` of what pandas groups by: of a single axis the value itself."""
    parts = values if isinstance(values, tuple) else (values,)
    return ", ".join(part(axis, value) for axis, value in zip(axes, parts, strict=True))


def ranking(values: Mapping[str, float], what: str) -> str:
    """`Lowest median: β = 4 (9.8), then β = 12 (11); highest: β = 1 (19).` of two or more."""
    ranked = sorted(values.items(), key=lambda pair: pair[1])
    shown = [f"{name} ({number(value, 3)})" for name, value in ranked]
    rest = f"; highest: {shown[-1]}" if len(shown) > 2 else ""
    return f"Lowest {what}: {shown[0]}, then {shown[1]}{rest}."


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
    """How the value at the centre moves while the other axes stand still; empty if it does not."""
    groups = known.groupby(others, sort=False) if others else [("", known)]
    ranges = {
        value: (short(rows["at_centre"].min()), short(rows["at_centre"].max())) for value, rows in groups
    }
    moved = [value for value, (low, high) in ranges.items() if low != high]
    if not moved:
        return ""
    same = len(set(ranges.values())) == 1
    where = "" if same else f"at {_named(others, moved[0])} "
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


def _sentences(frame: pd.DataFrame, done: pd.DataFrame, axes: Sequence[str]) -> Finding:
    """Of one function, or of an experiment without a choice of functions."""
    cells = frame.drop_duplicates("cell").set_index("cell")
    outcomes = _outcomes(done, list(cells.index))
    if len(axes) == 1:
        return along(axes[0], list(cells[axes[0]]), outcomes)
    labels = [_named(axes, tuple(row[axis] for axis in axes)) for _, row in cells.iterrows()]
    parts = [best_cell(labels, outcomes)]
    if len(axes) == 2:  # an average over a plane says little
        parts += [_along(cells, outcomes, *pair) for pair in (axes, tuple(reversed(axes)))]
    if not any(finding.tested for finding in parts):
        return Finding(parts[0].texts)
    return Finding([text for p in parts for text in p.texts], True, outcomes.ratio)


def _along(cells: pd.DataFrame, outcomes: Outcomes, axis: str, other: str) -> Finding:
    """What an axis does on average over those values of the other one that all its own have."""
    every, values = list(dict.fromkeys(cells[other])), list(dict.fromkeys(cells[axis]))
    enough = np.isfinite(outcomes.values).sum(axis=0) >= seeds_needed(len(values))
    whole = [v for v in every if enough[(cells[other] == v).to_numpy()].all()]
    if not whole:
        return Finding([f"More seeds are needed to average over {symbol(other)}."])
    over = f"Averaged over {symbol(other)}, "
    if len(whole) < len(every):
        named = several(other, whole, every)
        over = f"{'At' if len(whole) == 1 else 'Averaged over'} {named}, "
    return along(axis, values, _averaged(cells, outcomes, axis, cells[other].isin(whole)), over)


def _averaged(cells: pd.DataFrame, outcomes: Outcomes, axis: str, chosen: pd.Series[bool]) -> Outcomes:
    """One column for each value of an axis: for each seed the mean over its chosen cells."""
    columns = [
        outcomes.scaled[:, (chosen & (cells[axis] == value)).to_numpy()].mean(axis=1)
        for value in dict.fromkeys(cells[axis])
    ]
    values = np.stack(columns, axis=1)
    return Outcomes(10**values if outcomes.ratio else values, outcomes.ratio)


# --- sentences about one axis, or about all cells ------------------------------------------


@dataclass(frozen=True)
class Finding:
    """Sentences, whether any of them rests on a test, and whether ratios were compared."""

    texts: list[str]
    tested: bool = False
    ratio: bool = False


def along(axis: str, values: list[Any], outcomes: Outcomes, over: str = "") -> Finding:
    """What the values of one axis do to the final value."""
    covered = [i for i in range(len(values)) if outcomes.seeds(i) >= LEAST_SEEDS]
    if refused := _too_few(outcomes, covered):
        return Finding([refused])
    needed = seeds_needed(len(covered))
    best = min(sharing(outcomes, covered, needed), key=outcomes.median)
    pairs = compare(outcomes, covered, needed)
    known = _seen_from(pairs, best)
    alike = [i for i, pair in known.items() if not pair.differs]
    worse = [i for i, pair in known.items() if pair.differs and pair.shift > 0]
    mixed = [i for i, pair in known.items() if pair.differs and pair.shift <= 0]
    clauses = _alike(axis, values, outcomes, best, alike, pairs)
    named = part(axis, values[best])
    if worse:
        than = "" if not alike else f" than {named}"
        lead = "" if alike else f"{named} ends lowest: "
        listed = [f"{part(axis, values[i])} {_how_much(known[i], outcomes.ratio)}" for i in worse]
        clauses.append(f"{lead}{joined(listed)}{than}")
    clauses += [
        f"{part(axis, values[i])} has a higher median than {named}, though it wins on most seeds"
        for i in mixed
    ]
    texts = [f"{over}{'; '.join(clauses)}."] if clauses else []
    missing = [v for i, v in enumerate(values) if i != best and i not in known]
    if missing:
        texts.append(f"More seeds are needed at {several(axis, missing, values)}.")
    return Finding(texts, True, outcomes.ratio)


def _too_few(outcomes: Outcomes, covered: Sequence[int]) -> str:
    """Why nothing can be said; empty where something can. The form says the same before the start."""
    cells = outcomes.values.shape[1]
    shared = most_shared(outcomes, range(cells))
    enough = len(covered) > 1 and most_shared(outcomes, covered) >= seeds_needed(len(covered))
    return "" if enough else too_few(shared, cells)


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
    medians = [np.log10(outcomes.median(i)) if outcomes.ratio else outcomes.median(i) for i in group]
    seeds_do = float(np.median([outcomes.spread(i) for i in group]))
    if not apart and max(medians) - min(medians) <= seeds_do:
        chosen = [values[i] for i in group]
        what = "changes the final value" if is_range(chosen, values) else "differ"
        return [f"{several(axis, chosen, values)} {what} by less than the seeds do"]
    seeds = min(pairs[min(i, best), max(i, best)].seeds for i in alike)
    named = several(axis, [values[i] for i in alike], values)
    return [f"{seeds} seeds do not tell {named} from {part(axis, values[best])}, the lowest median"]


def _how_much(pair: Pair, ratio: bool) -> str:
    best, other = pair.medians
    if not ratio:
        return f"ends {short(other - best)} higher"
    times = other / best
    if times >= 1.95:
        return f"is {short(times)} times worse"
    return f"is {max(1, round((times - 1) * 100))} % worse"


def best_cell(labels: list[str], outcomes: Outcomes) -> Finding:
    """The cell with the lowest median, and how many others can be told from it."""
    covered = [i for i in range(len(labels)) if outcomes.seeds(i) >= LEAST_SEEDS]
    if refused := _too_few(outcomes, covered):
        return Finding([refused])
    needed = seeds_needed(len(covered))
    best = min(sharing(outcomes, covered, needed), key=outcomes.median)
    known = _seen_from(compare(outcomes, covered, needed, best), best)
    others = len(labels) - 1
    alike = sum(not pair.differs for pair in known.values())
    worse = sum(pair.differs and pair.shift > 0 for pair in known.values())
    mixed = len(known) - alike - worse
    counted = [f"{worse} {'is' if worse == 1 else 'are'} worse"]
    if alike:
        counted.append(f"{alike} cannot be told from it")
    if mixed:
        counted.append(f"{mixed} {'wins' if mixed == 1 else 'win'} on most seeds")
    if few := others - len(known):
        counted.append(f"{few} {'has' if few == 1 else 'have'} too few seeds")
    name = "best − F*" if outcomes.ratio else "best value"
    text = (
        f"{labels[best]} has the lowest median ({name} = {short(outcomes.median(best))}); of the "
        f"{others} other cells {', '.join(counted)}."
    )
    return Finding([text], True, outcomes.ratio)


def _seen_from(pairs: dict[tuple[int, int], Pair], best: int) -> dict[int, Pair]:
    """The pairs of `best`, as the first, by the other one."""
    return {
        (j if i == best else i): pair
        if i == best
        else Pair(pair.seeds, pair.p, -pair.shift, (pair.medians[1], pair.medians[0]))
        for (i, j), pair in pairs.items()
        if best in (i, j)
    }


def short(value: float) -> str:
    """Two significant digits; thousands set apart, as everywhere."""
    rounded = float(f"{value:.2g}")
    text = f"{rounded:,.0f}" if abs(rounded) >= 10 else f"{rounded:.10g}"
    return text.replace(",", "\u202f").replace("-", "−")
