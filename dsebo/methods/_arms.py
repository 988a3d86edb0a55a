"""What a bandit has seen of its arms, and what it chooses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dsebo.methods.base import LARGEST, Array


@dataclass(frozen=True)
class History:
    """The pulls so far."""

    arms: int  # their number
    pulled: NDArray[np.int64]  # (n,) the arm of each pull, from 0
    y: Array  # (n,) its value; NaN where the evaluation failed
    horizon: int  # T, the number of pulls that the strategy is computed with
    reward: Literal["value", "rank"] = "value"  # -y, or the rank of y among all so far in [0, 1]

    def __len__(self) -> int:
        return self.y.size

    def first(self, n: int) -> History:
        """The history as it was after n pulls."""
        return History(self.arms, self.pulled[:n], self.y[:n], self.horizon, self.reward)

    @property
    def rewards(self) -> Array:
        """(n,) the higher the better; a failed pull counts as the worst one."""
        finite = np.isfinite(self.y)
        if not finite.any():
            return np.zeros(len(self))
        y = np.clip(np.where(finite, self.y, self.y[finite].max()), -LARGEST, LARGEST)
        if self.reward == "value":
            return -y
        # The share of the others that it beats, ties counted half.
        beaten = (y[:, None] < y).sum(axis=1) + 0.5 * ((y[:, None] == y).sum(axis=1) - 1)
        return np.asarray(beaten / max(1, len(self) - 1))

    @property
    def pulls(self) -> NDArray[np.int64]:
        """(arms,) how often each was pulled."""
        return np.bincount(self.pulled, minlength=self.arms)

    @property
    def means(self) -> Array:
        """(arms,) mean reward; -inf for an arm never pulled."""
        sums = np.bincount(self.pulled, weights=self.rewards, minlength=self.arms)
        return np.where(self.pulls > 0, sums / np.maximum(self.pulls, 1), -np.inf)

    @property
    def best_rewards(self) -> Array:
        """(arms,) largest reward; -inf for an arm never pulled."""
        best = np.full(self.arms, -np.inf)
        np.maximum.at(best, self.pulled, self.rewards)
        return best

    @property
    def variances(self) -> Array:
        """(arms,) sample variance of the rewards, 1 where an arm has fewer than two."""
        pulls = self.pulls
        deviations = self.rewards - np.where(pulls > 0, self.means, 0.0)[self.pulled]
        sums = np.bincount(self.pulled, weights=deviations**2, minlength=self.arms)
        return np.where(pulls >= 2, sums / np.maximum(pulls - 1, 1), 1.0)

    @property
    def least(self) -> Array:
        """(arms,) least y; NaN where an arm has none."""
        values = np.where(np.isfinite(self.y), self.y, np.inf)
        least = np.full(self.arms, np.inf)
        np.minimum.at(least, self.pulled, values)
        return np.where(np.isfinite(least), least, np.nan)


class Choice(NamedTuple):
    """An arm, what the rule compared (NaN: out of the race), and why, in words."""

    arm: int
    scores: Array
    why: str


def largest(scores: Array, why: str) -> Choice:
    """The arm with the largest score; in a tie the smaller subspace."""
    return Choice(int(np.argmax(scores)), scores, why)
