"""What a bandit has seen, and nine rules that choose the next arm from it.

Each rule sees the pulls so far, all arms begun, and an rng. Notation: r the mean reward of an arm,
n its pulls, T the horizon. A rule gives the scores that it compares and the arm that it takes; in a
tie the smaller subspace.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dsebo.methods.base import Array


@dataclass(frozen=True)
class History:
    """The pulls so far.

    Attributes:
        arms: Number of arms.
        pulled: (n,) the arm of each pull, from 0.
        y: (n,) its value; NaN where the evaluation failed.
        horizon: T, the number of pulls that the strategy is computed with.
        reward: -y, or the rank of y among all so far in [0, 1].
    """

    arms: int
    pulled: NDArray[np.int64]
    y: Array
    horizon: int
    reward: Literal["value", "rank"] = "value"

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
        y = np.where(finite, self.y, self.y[finite].max())
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


Policy = Callable[[History, np.random.Generator], Choice]


def _largest(scores: Array, why: str) -> Choice:
    return Choice(int(np.argmax(scores)), scores, why)


def expectation(seen: History, rng: np.random.Generator) -> Choice:
    """Argmax r."""
    return _largest(seen.means, "largest mean reward")


def extreme(seen: History, rng: np.random.Generator) -> Choice:
    """Argmax of the best reward so far."""
    return _largest(seen.best_rewards, "largest single reward")


def epsilon_greedy(epsilon: float) -> Policy:
    """Uniform with probability epsilon, else argmax r."""

    def policy(seen: History, rng: np.random.Generator) -> Choice:
        if rng.random() < epsilon:
            return Choice(int(rng.integers(seen.arms)), seen.means, "drawn at random")
        return _largest(seen.means, "largest mean reward")

    return policy


def softmax(tau: float) -> Policy:
    """P of an arm proportional to exp(r / tau)."""

    def policy(seen: History, rng: np.random.Generator) -> Choice:
        means = seen.means
        weights = np.exp((means - means.max()) / tau)  # shifted by the largest: no overflow
        chances = weights / weights.sum()
        return Choice(int(rng.choice(seen.arms, p=chances)), chances, "drawn by its probability")

    return policy


def c_ucb(seen: History, rng: np.random.Generator) -> Choice:
    """Argmax r + sqrt(2 ln T / n)."""
    bonus = np.sqrt(2.0 * math.log(seen.horizon) / seen.pulls)
    return _largest(seen.means + bonus, "largest upper bound")


def ucb_e(c: float) -> Policy:
    """Argmax r + sqrt(c / n)."""

    def policy(seen: History, rng: np.random.Generator) -> Choice:
        return _largest(seen.means + np.sqrt(c / seen.pulls), "largest upper bound")

    return policy


def thompson(seen: History, rng: np.random.Generator) -> Choice:
    """Argmax of a draw of N(r, s^2 / n), s^2 = 1 until n = 2."""
    draws = rng.normal(seen.means, np.sqrt(seen.variances / seen.pulls))
    return _largest(draws, "largest draw")


def successive_halving(seen: History, rng: np.random.Generator) -> Choice:
    """Rounds of T / log2(arms) pulls, shared alike; the better half goes on, the last one stays."""
    alive, start = list(range(seen.arms)), 0
    rounds = math.ceil(math.log2(seen.arms)) if seen.arms > 1 else 0
    for number in range(1, rounds + 1):
        share = max(1, seen.horizon // (rounds * len(alive)))
        end = start + share * len(alive)
        if len(seen) < end:
            arm = alive[(len(seen) - start) % len(alive)]
            return Choice(arm, _of(alive, seen.means), f"round {number}, {len(alive)} arms left")
        means = seen.first(end).means
        alive = sorted(sorted(alive, key=lambda arm: -means[arm])[: math.ceil(len(alive) / 2)])
        start = end
    return Choice(alive[0], _of(alive, seen.means), "the winner")


def _of(alive: list[int], means: Array) -> Array:
    """The means of the arms that are left."""
    scores = np.full(means.size, np.nan)
    scores[alive] = means[alive]
    return scores


def uniform(seen: History, rng: np.random.Generator) -> Choice:
    """Any arm."""
    chances = np.full(seen.arms, 1.0 / seen.arms)
    return Choice(int(rng.integers(seen.arms)), chances, "drawn at random")
