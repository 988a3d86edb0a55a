"""Cells of a sweep compared seed by seed: Wilcoxon's test for each pair, Holm's correction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import wilcoxon

Array = NDArray[np.float64]

LEAST_SEEDS = 5
LEVEL = 0.05


@dataclass(frozen=True)
class Outcomes:
    """What is compared: one row a seed, one column a cell, NaN where a run has no final value.

    Attributes:
        values: Best value less F* where that is known and never reached, else the best value.
        ratio: Whether they are compared by their ratio (the first of the two), not difference.
    """

    values: Array
    ratio: bool

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


def compare(outcomes: Outcomes, cells: Sequence[int]) -> dict[tuple[int, int], Pair]:
    """Every pair (one, other) of these cells that shares enough seeds, one before other."""
    shared = {pair: outcomes.common(*pair) for pair in combinations(cells, 2)}
    shared = {pair: seeds for pair, seeds in shared.items() if seeds.sum() >= LEAST_SEEDS}
    shifts = {
        (one, other): outcomes.scaled[seeds, other] - outcomes.scaled[seeds, one]
        for (one, other), seeds in shared.items()
    }
    corrected = holm([signed_rank(shift) for shift in shifts.values()])
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


def signed_rank(differences: Array) -> float:
    """The two-sided p of Wilcoxon's signed-rank test; seeds without a difference drop out."""
    moved = differences[differences != 0]
    if not moved.size:
        return 1.0
    tied = len(np.unique(np.abs(moved))) < len(moved)
    return float(wilcoxon(moved, method="auto" if tied else "exact").pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction, in the order given."""
    corrected = [1.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(np.argsort(p_values, kind="stable")):
        largest = max(largest, p_values[index] * (len(p_values) - rank))
        corrected[index] = min(1.0, largest)
    return corrected


def seeds_needed(cells: int) -> int:
    """The fewest seeds with which the test can tell any two of so many cells apart.

    With n seeds no p is below 2 / 2^n, and Holm's first step multiplies it by the pairs.
    """
    pairs = cells * (cells - 1) / 2
    return max(LEAST_SEEDS, math.ceil(math.log2(2 * max(1.0, pairs) / LEVEL)))
