"""Nine rules that choose the next arm. Each sees the pulls so far, all arms begun, and an rng.

Notation: r the mean reward of an arm, n its pulls, T the horizon. A rule gives the scores that it
compares and the arm that it takes; in a tie the smaller subspace.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dsebo.methods._arms import History
from dsebo.methods.configs.bandits import (
    BanditConfig,
    BanditCUcbConfig,
    BanditEpsilonGreedyConfig,
    BanditExpectationConfig,
    BanditExtremeConfig,
    BanditRandomConfig,
    BanditSoftmaxConfig,
    BanditSuccessiveHalvingConfig,
    BanditThompsonConfig,
    BanditUcbEConfig,
)

Array = NDArray[np.float64]


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


def policy_of(config: BanditConfig) -> Policy:
    """The rule that a config names."""
    match config:
        case BanditExtremeConfig():
            return extreme
        case BanditCUcbConfig():
            return c_ucb
        case BanditEpsilonGreedyConfig():
            return epsilon_greedy(config.epsilon)
        case BanditSoftmaxConfig():
            return softmax(config.temperature)
        case BanditSuccessiveHalvingConfig():
            return successive_halving
        case BanditUcbEConfig():
            return ucb_e(config.exploration)
        case BanditThompsonConfig():
            return thompson
        case BanditExpectationConfig():
            return expectation
        case BanditRandomConfig():
            return uniform
    raise TypeError(f"No policy for {type(config).__name__}.")
