"""What the values of one axis do, and which cell of two axes is best: sentences, tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dsebo.experiments.paired import LEAST_SEEDS, Outcomes, Pair, compare, most_shared, seeds_needed, sharing
from dsebo.text import NAMED, is_range, joined, part, several, symbol


@dataclass(frozen=True)
class Found:
    """Sentences, whether any of them rests on a test, and whether ratios were compared."""

    texts: list[str]
    tested: bool = False
    ratio: bool = False


def along(axis: str, values: list[Any], outcomes: Outcomes, over: str = "") -> Found:
    """What the values of one axis do to the final value."""
    covered = [i for i in range(len(values)) if outcomes.seeds(i) >= LEAST_SEEDS]
    things = f"{axis}s" if axis in NAMED else f"values of {symbol(axis)}"
    if refused := _too_few(outcomes, covered, things):
        return Found([refused])
    needed = seeds_needed(len(covered))
    best = min(sharing(outcomes, covered, needed), key=outcomes.median)
    pairs = compare(outcomes, covered, needed)
    known = _seen_from(pairs, best)
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
    return Found(texts, True, outcomes.ratio)


def _too_few(outcomes: Outcomes, covered: Sequence[int], things: str) -> str:
    """Why nothing can be said; empty where something can."""
    shared = most_shared(outcomes, covered)
    if shared < LEAST_SEEDS:
        most = int(np.isfinite(outcomes.values).sum(axis=0).max(initial=0))
        so_far = "none has finished" if most == 0 else f"there are at most {most}"
        return (
            f"More seeds are needed: two {things} can be compared when they share "
            f"{seeds_needed(2)} finished seeds; so far {so_far}."
        )
    needed = seeds_needed(len(covered))
    if shared < needed:
        return (
            f"More seeds are needed: {shared} cannot tell {len(covered)} {things} apart, "
            f"{needed} or more can."
        )
    return ""


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


def best_cell(labels: list[str], outcomes: Outcomes) -> Found:
    """The cell with the lowest median, and how many others can be told from it."""
    covered = [i for i in range(len(labels)) if outcomes.seeds(i) >= LEAST_SEEDS]
    if refused := _too_few(outcomes, covered, "cells"):
        return Found([refused])
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
    return Found([text], True, outcomes.ratio)


def _seen_from(pairs: dict[tuple[int, int], Pair], best: int) -> dict[int, Pair]:
    """The pairs of `best`, as the first, by the other one."""
    return {
        (other if one == best else one): pair if one == best else _turned(pair)
        for (one, other), pair in pairs.items()
        if best in (one, other)
    }


def _turned(pair: Pair) -> Pair:
    return Pair(pair.seeds, pair.p, -pair.shift, (pair.medians[1], pair.medians[0]))


def _scaled(value: float, ratio: bool) -> float:
    return float(np.log10(value)) if ratio else value


def short(value: float) -> str:
    """Two significant digits; thousands set apart, as everywhere."""
    rounded = float(f"{value:.2g}")
    text = f"{rounded:,.0f}" if abs(rounded) >= 10 else f"{rounded:.10g}"
    return text.replace(",", "\u202f").replace("-", "−")
