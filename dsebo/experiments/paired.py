"""Cells of an experiment compared seed by seed: Wilcoxon's test for each pair, Holm's correction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dsebo.embedding import Array
from dsebo.text import spelled

LEAST_SEEDS = 5
LEVEL = 0.05


@dataclass(frozen=True)
class Outcomes:
    """What is compared: a row for each seed, a column for each cell, NaN where a run has no final value."""

    values: Array  # best value less F* where that is known and never reached, else the best value
    ratio: bool  # whether they are compared by their ratio (the first of the two), not difference

    @property
    def scaled(self) -> Array:
        """On the scale on which differences are taken: the logarithm where ratios count."""
        return np.log10(self.values) if self.ratio else self.values

    def common(self, one: int, other: int) -> NDArray[np.bool_]:
        """The seeds that two cells share."""
        known = np.isfinite(self.values)
        return np.logical_and(known[:, one], known[:, other])

    def seeds(self, cell: int) -> int:
        """How many seeds of a cell have a final value."""
        return int(np.isfinite(self.values[:, cell]).sum())

    def median(self, cell: int) -> float:
        """Over all seeds of a cell."""
        return float(np.nanmedian(self.values[:, cell]))

    def spread(self, cell: int) -> float:
        """The interquartile range over seeds, on the scale of the differences."""
        low, high = np.nanquantile(self.scaled[:, cell], [0.25, 0.75])
        return float(high - low)


@dataclass(frozen=True)
class Pair:
    """Two cells over the seeds that both have."""

    seeds: int
    p: float  # corrected for all pairs that were compared together
    shift: float  # median over seeds of other less one, on the scale of the differences
    medians: tuple[float, float]

    @property
    def differs(self) -> bool:
        """Whether the seeds support it."""
        return self.p <= LEVEL


def most_shared(outcomes: Outcomes, cells: Sequence[int]) -> int:
    """How many seeds two of these cells share at most."""
    return int(_shared(outcomes, cells).max(initial=0))


def sharing(outcomes: Outcomes, cells: Sequence[int], least: int) -> list[int]:
    """The cells that share at least so many seeds with another of them."""
    most = _shared(outcomes, cells).max(axis=1, initial=0)
    return [cell for cell, seeds in zip(cells, most, strict=True) if seeds >= least]


def _shared(outcomes: Outcomes, cells: Sequence[int]) -> NDArray[np.int_]:
    """(cells, cells) how many seeds two of them share; 0 of a cell with itself."""
    known = np.isfinite(outcomes.values[:, list(cells)]).astype(int)
    shared: NDArray[np.int_] = known.T @ known
    np.fill_diagonal(shared, 0)
    return shared


def compare(
    outcomes: Outcomes, cells: Sequence[int], least: int, best: int | None = None
) -> dict[tuple[int, int], Pair]:
    """Every pair (one, other) of these cells that shares so many seeds, one before other.

    The correction is for all pairs of `cells`, tested or not; with `best`, only its pairs are tested.
    """
    among = [pair for pair in combinations(cells, 2) if best is None or best in pair]
    shared = {pair: outcomes.common(*pair) for pair in among}
    shared = {pair: seeds for pair, seeds in shared.items() if seeds.sum() >= least}
    scaled = outcomes.scaled
    shifts = {
        (one, other): scaled[seeds, other] - scaled[seeds, one] for (one, other), seeds in shared.items()
    }
    corrected = holm(signed_ranks(list(shifts.values())), tests=math.comb(len(cells), 2))
    return {
        (one, other): Pair(
            seeds=len(shift),
            p=p,
            shift=float(np.median(shift)),
            medians=(
                float(np.median(outcomes.values[shared[one, other], one])),
                float(np.median(outcomes.values[shared[one, other], other])),
            ),
        )
        for ((one, other), shift), p in zip(shifts.items(), corrected, strict=True)
    }


def signed_ranks(differences: Sequence[Array]) -> list[float]:
    """The two-sided p of Wilcoxon's signed-rank test of each; seeds without one drop out.

    Those of one length are tested in one call, which takes hardly longer than a single test.
    """
    from scipy.stats import wilcoxon  # a quarter of what `dsebo --help` would take otherwise

    p_values = [1.0] * len(differences)
    by_length: dict[int, list[int]] = {}
    moved = [difference[difference != 0] for difference in differences]
    for index, shifts in enumerate(moved):
        if len(np.unique(np.abs(shifts))) < len(shifts):  # ties: exact by permutation where it can be
            p_values[index] = float(wilcoxon(shifts, method="auto").pvalue)
        elif shifts.size:
            by_length.setdefault(shifts.size, []).append(index)
    for places in by_length.values():
        tested = wilcoxon(np.stack([moved[index] for index in places]), axis=1, method="exact")
        for index, p in zip(places, tested.pvalue, strict=True):
            p_values[index] = float(p)
    return p_values


def holm(p_values: Sequence[float], tests: int | None = None) -> list[float]:
    """Holm's step-down correction, in the order given.

    `tests`: how many there are in all, where these are some of them; the result is then never less
    than theirs would be among all.
    """
    corrected = [1.0] * len(p_values)
    tests, largest = tests or len(p_values), 0.0
    for rank, index in enumerate(np.argsort(p_values, kind="stable")):
        largest = max(largest, p_values[index] * (tests - rank))
        corrected[index] = min(1.0, largest)
    return corrected


def seeds_needed(cells: int) -> int:
    """The fewest seeds with which the test can tell any two of so many cells apart.

    With n seeds no p is below 2 / 2^n, and Holm's first step multiplies it by the pairs.
    """
    pairs = max(1, math.comb(cells, 2))
    return max(LEAST_SEEDS, math.ceil(math.log2(2 * pairs / LEVEL)))


def too_few(seeds: int, cells: int) -> str:
    """`Five seeds cannot exclude chance; 8 can.`; empty where there are enough for so many cells."""
    needed = seeds_needed(cells)
    if seeds >= needed:
        return ""
    if seeds == 0:
        return f"No two of them have finished with the same seed yet; {needed} such seeds can exclude chance."
    return f"{spelled(seeds, 'seed').capitalize()} cannot exclude chance; {needed} can."
