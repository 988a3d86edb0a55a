"""Acquisitions other than DSEBO's, and where the search for their minimum starts."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, log_ndtr

from dsebo.gp.acquisition import AcquisitionSettings, descend
from dsebo.gp.peer_surrogate import GaussianProcess, Score
from dsebo.methods.configs.model import SearchConfig

Array = NDArray[np.float64]

LOG_ROOT_2PI = 0.5 * float(np.log(2.0 * np.pi))


def lower_bound(kappa: float) -> Score:
    """mu - sqrt(kappa) sigma."""
    root = float(np.sqrt(kappa))

    def score(mu: Array, sigma: Array) -> tuple[Array, Array, Array]:
        return mu - root * sigma, np.ones_like(mu), np.full_like(mu, -root)

    return score


def log_expected_improvement(best: float) -> Score:
    """-log EI over `best`: EI = sigma h(u), u = (best - mu) / sigma, h(u) = phi(u) + u Phi(u)."""

    def score(mu: Array, sigma: Array) -> tuple[Array, Array, Array]:
        u = (best - mu) / sigma
        log_h = log_improvement(u)
        # d EI / d mu = -Phi(u), d EI / d sigma = phi(u): as logarithms, since all may underflow.
        by_mu = np.exp(log_ndtr(u) - log_h) / sigma
        by_sigma = -np.exp(-0.5 * u**2 - LOG_ROOT_2PI - log_h) / sigma
        return -(np.log(sigma) + log_h), by_mu, by_sigma

    return score


def log_improvement(u: Array) -> Array:
    """log h(u), h(u) = phi(u) + u Phi(u), without underflow (Ament et al. 2023)."""
    v = np.minimum(u, -1.0)
    tail = np.sqrt(np.pi / 2.0) * -v * erfcx(-v / np.sqrt(2.0))  # |u| Phi(u) / phi(u), below 1
    # 1 - tail tends to 1 / u^2 and cancels where u is far out.
    far = np.where(v < -1e3, -2.0 * np.log(-v), np.log1p(-np.minimum(tail, 1.0 - 1e-15)))
    w = np.maximum(u, -1.0)
    phi = np.exp(-0.5 * w**2 - LOG_ROOT_2PI)
    near = np.log(phi + w * np.exp(log_ndtr(w)))
    return np.where(u < -1.0, -0.5 * v**2 - LOG_ROOT_2PI + far, near)


def search_settings(config: SearchConfig, kappa_scale: float = 0.1) -> AcquisitionSettings:
    """How the acquisition is searched, from a method's config."""
    return AcquisitionSettings(
        kappa_scale, config.restarts, config.raw_samples, config.local_samples, config.acq_iterations
    )


def starting_points(
    settings: AcquisitionSettings, best: Array, low: Array, high: Array, rng: np.random.Generator
) -> Array:
    """(raw + local, d) uniform points of the box, and copies of the `best` (m, d) perturbed.

    Every second copy differs in about 20 coordinates only: in high dimension a point that differs
    in all of them is rarely better.
    """
    d, side = low.size, high - low
    uniform = low + side * rng.random((settings.raw_samples, d))
    n = settings.local_samples
    if n == 0:
        return uniform
    widths = 0.5 * side * rng.choice([0.01, 0.05, 0.2], size=(n, 1))
    kept = rng.random((n, d)) < np.where(np.arange(n) % 2 == 0, 1.0, 20.0 / d)[:, None]
    local = best[rng.integers(len(best), size=n)] + kept * widths * rng.standard_normal((n, d))
    return np.vstack([uniform, np.clip(local, low, high)])


class Proposal(NamedTuple):
    """A point of the model's box, and the time it took."""

    point: Array
    seconds_fit: float
    seconds_acq: float


def propose(
    gp: GaussianProcess,
    settings: AcquisitionSettings,
    score: Callable[[float], Score],
    data: tuple[Array, Array],
    box: tuple[float, float],
    rng: np.random.Generator,
) -> Proposal:
    """One step of Bayesian optimization: fit the model, search the acquisition over the box.

    Args:
        gp: The model, as the last step left it.
        settings: How to search.
        score: The acquisition, given the least standardised value so far.
        data: (n, d) points and (n,) values.
        box: Lower and upper bound of every coordinate.
        rng: The random numbers of this step.
    """
    Z, y = data
    began = perf_counter()
    gp.update(Z, y)
    fitted = perf_counter()
    d = Z.shape[1]
    low, high = np.full(d, box[0]), np.full(d, box[1])
    best = Z[np.argsort(y, kind="stable")[:5]]
    starts = starting_points(settings, best, low, high, rng)
    chosen = score(float(gp.target.min()))
    point = descend(lambda z: gp.score(z, chosen), starts, low, high, settings)
    return Proposal(point, fitted - began, perf_counter() - fitted)
