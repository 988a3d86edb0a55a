"""A Thompson sample of a Gaussian process at thousands of candidates, without their covariance.

A posterior draw is a prior draw, corrected by what it got wrong at the data (Matheron's rule;
Wilson et al. 2020):
    f(u) | y  =  f(u) + k(u, U) K^-1 (y - f(U) - noise)
with the prior draw f from random Fourier features. The candidates differ from the region's centre
in a few coordinates only, so distances and features come from a sparse product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dsebo.gp.designs import sobol
from dsebo.gp.surrogate import Array, Surrogate

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_SOBOL_HERE = 100  # beyond, so few coordinates of a candidate move that Sobol adds nothing


def perturbations(
    n: int, centre: Array, low: Array, high: Array, probability: float, rng: np.random.Generator
) -> csr_array:
    """(n, d) sparse moves from the centre; each coordinate moves with that probability."""
    from scipy.sparse import csr_array

    d = centre.size
    where = _bernoulli_positions(n * d, probability, rng)
    rows, columns = np.divmod(where, d)
    still = np.setdiff1d(np.arange(n), rows)  # these move in one coordinate
    rows = np.concatenate([rows, still])
    columns = np.concatenate([columns, rng.integers(d, size=still.size)])
    share = sobol(n, d, rng)[rows, columns] if d <= MAX_SOBOL_HERE else rng.random(rows.size)
    to = low[columns] + share * (high[columns] - low[columns])
    return csr_array((to - centre[columns], (rows, columns)), shape=(n, d))


def _bernoulli_positions(length: int, probability: float, rng: np.random.Generator) -> np.ndarray:
    """Positions of the successes among `length` trials, drawn by the gaps between them."""
    if probability >= 1.0:
        return np.arange(length)
    expected = length * probability
    positions = np.cumsum(rng.geometric(probability, size=int(expected + 6 * expected**0.5 + 6)))
    return positions[positions <= length] - 1


def sample_at(
    gp: Surrogate, centre: Array, moves: csr_array, features: int, rng: np.random.Generator
) -> Array:
    """(n,) one draw of the posterior at centre + moves, in standardised units."""
    now, origin = gp.now, centre / gp.now.lengthscale
    steps = moves.astype(np.float32)  # half the time, and a draw is random anyway
    steps.data /= now.lengthscale[steps.indices].astype(np.float32)
    at_candidates, at_data = _prior_draw(gp, origin, steps, features, rng)
    noise = np.sqrt(now.noise) * rng.standard_normal(at_data.size)
    surprise = gp.target - now.mean - at_data - noise
    weights = now.outputscale * (now.inverse @ surprise)
    learnt = _correlations(gp, origin, steps) @ weights.astype(np.float32)
    return np.asarray(now.mean + at_candidates + learnt, dtype=np.float64)


def _prior_draw(
    gp: Surrogate, origin: Array, steps: csr_array, features: int, rng: np.random.Generator
) -> tuple[np.ndarray, Array]:
    """One draw of the prior at origin + steps (n,) and at the data, all scaled by lengthscales."""
    now = gp.now
    # The spectral density of Matérn-5/2 is Student's t with 5 degrees of freedom.
    omega = rng.standard_normal((origin.size, features))
    omega *= np.sqrt(5.0 / rng.chisquare(5.0, size=features))
    phase = rng.uniform(0.0, 2.0 * np.pi, size=features)
    weights = rng.standard_normal(features) * np.sqrt(2.0 * now.outputscale / features)
    angles = steps @ omega.astype(np.float32)
    angles += np.mod(origin @ omega + phase, 2.0 * np.pi).astype(np.float32)
    at_data = np.cos(now.scaled @ omega + phase) @ weights
    return np.cos(angles, out=angles) @ weights.astype(np.float32), at_data


def _correlations(gp: Surrogate, origin: Array, steps: csr_array) -> np.ndarray:
    """(n, n_data) of origin + steps with the data."""
    # |o + s - x|^2 = |o - x|^2 + 2 s.(o - x) + |s|^2
    towards = origin - gp.now.scaled
    r2 = steps @ np.ascontiguousarray(2.0 * towards.T, dtype=np.float32)
    r2 += np.einsum("ij,ij->i", towards, towards).astype(np.float32)
    r2 += (steps * steps).sum(axis=1)[:, None]
    root5_r = np.sqrt(5.0 * np.maximum(r2, 0.0, out=r2))
    r2 *= 5.0 / 3.0
    r2 += 1.0 + root5_r
    r2 *= np.exp(-root5_r)
    return np.asarray(r2)
