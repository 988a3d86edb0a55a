"""Priors of the surrogate's hyper-parameters, with gradients by the logarithm of the parameter.

The densities are those of the parameter itself, without the Jacobian of the logarithm, as in
GPyTorch: a maximum of the posterior is then the same in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dsebo.embedding import Array


class Prior(Protocol):
    """A density of a positive parameter."""

    @property
    def start(self) -> float:
        """Where a search begins: the mode."""
        ...

    def log_density(self, log_value: Array) -> tuple[Array, Array]:
        """(log p(value), its derivative by log value), elementwise."""
        ...


@dataclass(frozen=True)
class LogNormal:
    """log value ~ N(mu, sigma^2)."""

    mu: float
    sigma: float

    @property
    def start(self) -> float:
        """The mode of the density: exp(mu - sigma^2)."""
        return float(np.exp(self.mu - self.sigma**2))

    def log_density(self, log_value: Array) -> tuple[Array, Array]:
        """log p = -(log v - mu)^2 / (2 sigma^2) - log v - log(sigma sqrt(2 pi))."""
        u = (log_value - self.mu) / self.sigma
        constant = np.log(self.sigma) + 0.5 * np.log(2 * np.pi)
        return -0.5 * u**2 - log_value - constant, -u / self.sigma - 1.0


@dataclass(frozen=True)
class Gamma:
    """value ~ Gamma(shape, rate)."""

    shape: float
    rate: float

    @property
    def start(self) -> float:
        """The mode: (shape - 1) / rate."""
        return (self.shape - 1.0) / self.rate

    def log_density(self, log_value: Array) -> tuple[Array, Array]:
        """log p = shape log rate - log Gamma(shape) + (shape - 1) log v - rate v."""
        from scipy.special import gammaln

        value = np.exp(log_value)
        constant = self.shape * np.log(self.rate) - gammaln(self.shape)
        slope = self.shape - 1.0 - self.rate * value
        return constant + (self.shape - 1.0) * log_value - self.rate * value, slope


@dataclass(frozen=True)
class Fixed:
    """No prior: the parameter is held at `start`."""

    start: float = 1.0

    def log_density(self, log_value: Array) -> tuple[Array, Array]:
        """Flat."""
        return np.zeros_like(log_value), np.zeros_like(log_value)
