"""LM-MA-ES: limited-memory matrix adaptation (Loshchilov, Glasmachers, Beyer 2019, Algorithm 1).

Notation:
    lambda, mu, w   offspring, parents, their weights; mu_w = 1 / sum w^2
    y, sigma        mean and step size (the paper's y; here `mean`)
    z, v            z ~ N(0, I), v = z transformed by the direction vectors
    M (m, D)        direction vectors; s the evolution path of the step size
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dsebo.methods._batches import BatchConfig
from dsebo.methods._population import Distribution, Population
from dsebo.methods.base import Array, stream
from dsebo.methods.cost import Coefficients
from dsebo.objectives.fields import setting


class LmMaEsConfig(BatchConfig):
    """LM-MA-ES: an evolution strategy with a few direction vectors."""

    label = "LM-MA-ES"
    coefficients = Coefficients(n=2.54e5, n_D=13.3)

    method: Literal["lm-ma-es"] = "lm-ma-es"
    offspring: int = setting(24, "Offspring", symbol="λ", ge=4, le=100_000)
    """Points of a generation. Many: each step is surer, and there are fewer. Default 4 + ⌊3 ln D⌋."""
    paths: int = setting(24, "Direction vectors", symbol="m", ge=1, le=100_000)
    """How much is remembered of past steps: vectors along which new points are stretched. Default λ."""
    sigma: float = setting(0.3, "First step size", symbol="σ", gt=0, le=10)
    """How far the first generation spreads: its standard deviation, in a box from -1 to 1."""

    @classmethod
    def complete(cls, given: dict[str, Any], D: int) -> dict[str, Any]:
        """λ = 4 + ⌊3 ln D⌋ and m = λ."""
        offspring = given.get("offspring", 4 + math.floor(3 * math.log(max(D, 1))))
        return {"offspring": offspring, "paths": offspring, **given}

    def build(self, D: int, budget: int, seed: int) -> LMMAES:
        """See `MethodConfig.build`."""
        return LMMAES(self, D, seed)

    def check(self, D: int) -> None:
        """c_σ = 2 λ / D is a rate: it may not exceed 1."""
        if 2 * self.offspring > D:
            raise ValueError(
                f"offspring must be D / 2 = {D // 2} or less at D = {D} (got {self.offspring}): the rate "
                f"c_σ = 2 λ / D of LM-MA-ES may not exceed 1."
            )

    def extra_bytes(self, D: int, budget: int) -> int:
        """The direction vectors, before and after a generation, and its points."""
        return 8 * D * (2 * self.paths + 2 * self.offspring)


@dataclass(frozen=True)
class Strategy(Distribution):
    """Where the evolution strategy stands."""

    sigma: float
    s: Array  # (D,)
    M: Array  # (m, D)

    @property
    def step_size(self) -> float:
        """Sigma."""
        return self.sigma


class LMMAES(Population[Strategy]):
    """An evolution strategy that learns m directions, not a D x D matrix."""

    def __init__(self, config: LmMaEsConfig, D: int, seed: int) -> None:
        self.config, self.size = config, config.offspring
        mu = config.offspring // 2
        weights = np.log(mu + 0.5) - np.log(np.arange(1, mu + 1))
        self.w = weights / weights.sum()
        self.mu_w = 1.0 / float(np.sum(self.w**2))
        i = np.arange(config.paths)
        self.c_sigma = 2.0 * config.offspring / D
        self.c_d = 1.0 / (D * 1.5**i)
        self.c_c = config.offspring / (D * 4.0**i)
        super().__init__(D, seed)

    def start(self, rng: np.random.Generator) -> Strategy:
        """A uniform mean: the centre would be a gift on these functions."""
        m = self.config.paths
        mean = rng.uniform(-1.0, 1.0, size=self.D)
        return Strategy(0, mean, self.config.sigma, np.zeros(self.D), np.zeros((m, self.D)))

    def sample(self, state: Strategy, rng: np.random.Generator) -> Array:
        """x = mean + sigma v (lines 7 to 14)."""
        return state.mean + state.sigma * self.direction(state, rng.standard_normal(self.D))

    def direction(self, state: Strategy, z: Array) -> Array:
        """v: z stretched along the vectors learnt so far."""
        v = z
        for c_d, M in zip(self.c_d[: state.generation], state.M, strict=False):
            v = (1.0 - c_d) * v + c_d * (M @ v) * M
        return v

    def update(self, state: Strategy, first: int, X: Array, y: Array) -> Strategy:
        """Lines 15 to 21: recombine the better half, then learn."""
        best = np.argsort(y, kind="stable")[: self.w.size]
        Z = np.stack([stream(self.seed, first + int(k)).standard_normal(self.D) for k in best])
        V = np.stack([self.direction(state, z) for z in Z])
        step_z, mu_w = self.w @ Z, self.mu_w
        c, c_c = self.c_sigma, self.c_c[:, None]
        s = (1.0 - c) * state.s + np.sqrt(mu_w * c * (2.0 - c)) * step_z
        M = (1.0 - c_c) * state.M + np.sqrt(mu_w * c_c * (2.0 - c_c)) * step_z
        sigma = state.sigma * float(np.exp(0.5 * c * (s @ s / self.D - 1.0)))
        # Cut to the box: outside it all offspring are clipped alike, and nothing pulls back.
        mean = np.clip(state.mean + state.sigma * (self.w @ V), -1.0, 1.0)
        return Strategy(state.generation + 1, mean, sigma, s, M)
