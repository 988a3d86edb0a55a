"""DCEM: the cross-entropy method with a soft choice of elites (Amos and Yarats 2020)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import bisect
from scipy.special import expit

from dsebo.methods._peer import Array
from dsebo.methods._population import Population
from dsebo.methods.configs import DcemConfig


@dataclass(frozen=True)
class Normal:
    """Where the points are drawn from after `generation` generations."""

    generation: int
    mean: Array  # (D,)
    deviation: Array  # (D,)

    @property
    def step_size(self) -> float:
        """The mean deviation."""
        return float(self.deviation.mean())


def soft_elites(y: Array, elites: int, tau: float) -> Array:
    """(n,) weights sigmoid(-tau y' + nu) of standardised y', nu such that they sum to `elites`.

    This is the limited multi-label projection: the smooth version of taking the `elites` best.
    """
    spread = float(y.std())
    target = -tau * (y - y.mean()) / (spread if spread > 1e-12 else 1.0)
    reach = float(np.abs(target).max()) + np.log(y.size) + 1.0  # beyond, all weights are 0 or 1
    nu = bisect(lambda nu: float(expit(target + nu).sum()) - elites, -reach, reach, xtol=1e-12)
    return np.asarray(expit(target + nu))


class DCEM(Population[Normal]):
    """Independent normals, moved to the weighted mean and deviation of each generation."""

    def __init__(self, config: DcemConfig, D: int, seed: int) -> None:
        self.config, self.size = config, config.population
        super().__init__(D, seed)

    def start(self, rng: np.random.Generator) -> Normal:
        """A uniform mean: the centre would be a gift on these functions."""
        return Normal(0, rng.uniform(-1.0, 1.0, size=self.D), np.full(self.D, self.config.sigma))

    def sample(self, state: Normal, rng: np.random.Generator) -> Array:
        """x ~ N(mean, deviation^2)."""
        return state.mean + state.deviation * rng.standard_normal(self.D)

    def update(self, state: Normal, first: int, X: Array, y: Array) -> Normal:
        """Mean and deviation by the weights."""
        finite = np.isfinite(y)
        if not finite.any():  # nothing to learn from
            return Normal(state.generation + 1, state.mean, state.deviation)
        y = np.where(finite, y, y[finite].max())
        weights = soft_elites(y, self.config.elites, self.config.sharpness)
        weights = weights / weights.sum()
        mean = weights @ X
        return Normal(state.generation + 1, mean, np.sqrt(weights @ (X - mean) ** 2))
