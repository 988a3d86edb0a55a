"""DCEM: the cross-entropy method with a soft choice of elites (Amos and Yarats 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from pydantic import ValidationInfo, field_validator

from dsebo.methods._batches import BatchConfig
from dsebo.methods._population import Distribution, Population
from dsebo.methods.base import LARGEST, Array
from dsebo.methods.cost import Coefficients
from dsebo.objectives.fields import setting, whole_number


class DcemConfig(BatchConfig):
    """DCEM: the cross-entropy method with a soft choice of elites."""

    label = "DCEM"
    coefficients = Coefficients(n=1.5e5, n_D=17.4)

    method: Literal["dcem"] = "dcem"
    population: int = setting(20, "Samples", symbol="N", ge=2, le=100_000)
    """Points of a generation. Many: each step is surer, and there are fewer."""
    elites: int = setting(10, "Elites", symbol="k", ge=1, le=100_000)
    """How many of them the next generation is drawn around. Few: it narrows quickly. Below the samples;
    half of them where there are 10 or fewer."""
    sharpness: float = setting(1.0, "Sharpness", symbol="τ", gt=0, le=1e6)
    """How hard the choice of elites is. Large τ: the best only; small τ: equal weights."""
    sigma: float = setting(0.3, "First deviation", symbol="σ", gt=0, le=10)
    """How far the first generation spreads: its standard deviation, in a box from -1 to 1."""

    @classmethod
    def complete(cls, given: dict[str, Any], D: int) -> dict[str, Any]:
        """k = 10, or N / 2 where that is not below N."""
        population, usual = whole_number(given.get("population")), cls.model_fields["elites"].default
        fits = population is None or population < 2 or usual < population
        return given if fits else {"elites": (population or 2) // 2, **given}

    @field_validator("elites")
    @classmethod
    def _below_population(cls, elites: int, info: ValidationInfo) -> int:
        population = info.data.get("population")
        if population is not None and elites >= population:
            raise ValueError(
                f"elites must be a whole number from 1 to population - 1 = {population - 1} (got {elites})."
            )
        return elites

    def build(self, D: int, budget: int, seed: int) -> DCEM:
        """See `MethodConfig.build`."""
        return DCEM(self, D, seed)


@dataclass(frozen=True)
class Normal(Distribution):
    """Independent normals."""

    deviation: Array  # (D,)

    @property
    def step_size(self) -> float:
        """The mean deviation."""
        return float(self.deviation.mean())


def soft_elites(y: Array, elites: int, tau: float) -> Array:
    """(n,) weights sigmoid(-tau y' + nu) of standardised y', nu such that they sum to `elites`.

    This is the limited multi-label projection: the smooth version of taking the `elites` best.
    """
    from scipy.optimize import bisect
    from scipy.special import expit

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
        y = np.clip(np.minimum(y, y[np.isfinite(y)].max()), -LARGEST, LARGEST)
        weights = soft_elites(y, self.config.elites, self.config.sharpness)
        weights = weights / weights.sum()
        mean = weights @ X
        return Normal(state.generation + 1, mean, np.sqrt(weights @ (X - mean) ** 2))
