"""The surrogate of the peer methods: DSEBO's, with bounds, flat priors and other acquisitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsebo.gp.priors import Fixed, Prior
from dsebo.gp.surrogate import (
    LENGTHSCALE_BOUNDS,
    NOISE_BOUNDS,
    OUTPUTSCALE_BOUNDS,
    Surrogate,
    SurrogateSettings,
    correlation,
    squared_distances,
)

Array = NDArray[np.float64]
Bounds = tuple[float, float]

# (mu, sigma) -> (value, d value / d mu, d value / d sigma), the least value being the best.
Score = Callable[[Array, Array], tuple[Array, Array, Array]]


@dataclass(frozen=True)
class GPSettings(SurrogateSettings):
    """What a method changes of DSEBO's.

    Attributes:
        flat: No priors: maximum likelihood within the bounds, begun at the `start`s.
        cold: Each fit begins there again, where going on from the last one overfits.
    """

    flat: bool = False
    cold: bool = False
    lengthscale_start: float = 1.0
    outputscale_start: float = 1.0
    noise_start: float = 1e-2
    lengthscale_bounds: Bounds = LENGTHSCALE_BOUNDS
    outputscale_bounds: Bounds = OUTPUTSCALE_BOUNDS
    noise_bounds: Bounds = NOISE_BOUNDS


class GaussianProcess(Surrogate):
    """A Gaussian process that any acquisition of (mu, sigma) can be followed on."""

    def __init__(self, settings: GPSettings) -> None:
        super().__init__(settings)
        self.own = settings

    def lengthscale_prior(self, d: int) -> Prior:
        """Flat, or the surrogate's."""
        return Fixed(self.own.lengthscale_start) if self.own.flat else super().lengthscale_prior(d)

    @property
    def outputscale_prior(self) -> Prior:
        """Flat, or the surrogate's."""
        return Fixed(self.own.outputscale_start) if self.own.flat else super().outputscale_prior

    @property
    def noise_prior(self) -> Prior:
        """Flat, or the surrogate's."""
        return Fixed(self.own.noise_start) if self.own.flat else super().noise_prior

    def _fit(self, Z: Array, target: Array) -> None:
        """From the last hyper-parameters, or from the first ones again."""
        if self.own.cold:
            self.log_params = None
            self._grow_to(Z.shape[1])
        super()._fit(Z, target)

    def _bounds(self, d: int) -> list[tuple[float, float]]:
        own = self.own
        outputscale = own.outputscale_bounds if own.fit_outputscale else (1.0, 1.0)
        pairs = [own.lengthscale_bounds] * d + [outputscale, own.noise_bounds]
        return [(float(np.log(low)), float(np.log(high))) for low, high in pairs]

    @property
    def target(self) -> Array:
        """(n,) the standardised values of the last update."""
        assert self._data is not None
        return self._data[1]

    def score(self, z: Array, score: Score) -> tuple[Array, Array]:
        """An acquisition at z (m, d) in standardised units, and its gradient (m, d)."""
        gp = self.now
        scaled = z / gp.lengthscale
        k, dk = correlation(self.settings.kernel, squared_distances(scaled, gp.scaled))
        k *= gp.outputscale
        V = k @ gp.inverse
        variance = gp.outputscale - np.einsum("ij,ij->i", V, k)
        sigma = np.sqrt(np.maximum(variance, 1e-12))
        value, by_mu, by_sigma = score(gp.mean + k @ gp.weights, sigma)
        # d mu = a . dk, d sigma = -(V / sigma) . dk, and dk = s2 k'(r2) 2 (z - z_i) / l^2
        V *= -(by_sigma / sigma)[:, None]
        V += by_mu[:, None] * gp.weights
        V *= dk
        V *= 2.0 * gp.outputscale
        gradient = (V.sum(axis=1)[:, None] * scaled - V @ gp.scaled) / gp.lengthscale
        return value, gradient
