"""The Gaussian process with one lengthscale for all of z: DSEBO's `lengthscales = common`.

Notation as in `gp/surrogate.py`, and
    members         the data that the model has: all, or beyond `most_data` those nearest to the best
    n_fitted        how many data there were at the last fit; those after it are all members

S is Gaussian, so every coordinate of z mixes all variables alike, and there is little for separate
lengthscales to learn. With one of them, a coordinate that is 0 in all data changes no distance: an
expansion costs nothing, and between two fits the inverse of the covariance grows by a row at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dsebo.gp.surrogate import (
    Array,
    Factorised,
    Loss,
    Surrogate,
    SurrogateSettings,
    as_loss,
    correlation,
    inverse_and_logdet,
    squared_distances,
)

DRIFT = 1e-8  # of the grown inverse: beyond it, it is computed afresh


@dataclass
class Grown:
    """Covariance and inverse of the members among the first `n` data."""

    n: int
    members: np.ndarray  # (m,) their numbers, ascending
    K: Array  # (m, m)
    inverse: Array  # (m, m)


class IsotropicSurrogate(Surrogate):
    """A Gaussian process of three parameters (ell, s2, eta), refitted from where it stood before."""

    def __init__(self, settings: SurrogateSettings) -> None:
        super().__init__(settings)
        self.n_factorised = 0  # number of data when the inverse was last computed as a whole
        self._grown: Grown | None = None

    def update(self, Z: Array, y: Array) -> None:
        """Take the data (n, d), (n,); refit the hyper-parameters if it is time to."""
        n, d = Z.shape
        self._grow_to(d)
        if self._grown is not None and self._grown.n > n:  # other data than before
            self._grown = None
        if n - self.n_fitted >= max(1, int(self.settings.refit_every * min(n, self._most))):
            members = nearest(Z, y, self._most)
            self._fit(Z[members], self._standardise(y[members]))
            self.n_fitted = self.n_factorised = n
            self._grown = None
        if self._grown is None:  # also after a resume: the same steps to the same bits
            members = nearest(Z[: self.n_fitted], y[: self.n_fitted], self._most)
            members = np.r_[members, np.arange(self.n_fitted, self.n_factorised)]
            self._grown = self._whole(Z, self.n_factorised, members)
        while self._grown.n < n:
            self._grown = self._with_next(Z, self._grown)
        grown = self._grown
        target = self._standardise(y[grown.members])
        self._data = (Z[grown.members], target)
        self._now = self._factorised(d, grown, target)

    @property
    def _most(self) -> int:
        return self.settings.most_data or 10**9

    def _grow_to(self, d: int) -> bool:
        """Start the hyper-parameters; they are as many in every dimension."""
        if self.log_params is None:
            starts = (self.lengthscale_prior(d), self.outputscale_prior, self.noise_prior)
            self.log_params = np.log([prior.start for prior in starts])
        return False

    def _bounds(self, d: int) -> list[tuple[float, float]]:
        return super()._bounds(1)

    # -- fitting ----------------------------------------------------------------------------

    def _loss(self, Z: Array, target: Array) -> Loss:
        r2 = squared_distances(Z, Z)  # once for all lengthscales
        return as_loss(partial(self._log_posterior, r2, Z.shape[1], target), target.size)

    def log_posterior(self, Z: Array, target: Array, log_params: Array) -> tuple[float, Array]:
        """log p(y | Z) + log prior and its gradient by the three log_params, the mean profiled out."""
        return self._log_posterior(squared_distances(Z, Z), Z.shape[1], target, log_params)

    def _log_posterior(self, r2: Array, d: int, target: Array, log_params: Array) -> tuple[float, Array]:
        n = target.size
        ell, s2, eta = np.exp(log_params)
        scaled = r2 / ell**2
        k, dk = correlation(self.settings.kernel, scaled)
        K = s2 * k
        K.flat[:: n + 1] += eta
        inverse, logdet = inverse_and_logdet(K)
        sums = inverse.sum(axis=0)
        mean = sums @ target / sums.sum()
        residual = target - mean
        a = inverse @ residual
        value = -0.5 * (residual @ a + logdet + n * np.log(2 * np.pi))
        # tr(W dK) with W = (a a' - K^-1) / 2: quadratic forms and products of entries, no matrix W.
        dk *= scaled
        dk *= -2.0 * s2  # dK / d log ell
        by_ell = 0.5 * (a @ (dk @ a) - np.vdot(inverse, dk))
        by_s2 = 0.5 * s2 * (a @ (k @ a) - np.vdot(inverse, k))
        by_eta = 0.5 * eta * (a @ a - np.trace(inverse))
        gradient = np.array([by_ell, by_s2, by_eta])
        for prior, part in self._priors(1, d):
            log_density, slope = prior.log_density(log_params[part])
            value += float(log_density.sum())
            gradient[part] += slope
        return float(value), gradient

    # -- growing ----------------------------------------------------------------------------

    def _covariance(self, a: Array, b: Array) -> Array:
        assert self.log_params is not None
        ell, s2, _ = np.exp(self.log_params)
        k, _ = correlation(self.settings.kernel, squared_distances(a / ell, b / ell))
        k *= s2
        return k

    def _whole(self, Z: Array, n: int, members: np.ndarray) -> Grown:
        assert self.log_params is not None
        own = without_padding(Z[:n])[members]
        K = self._covariance(own, own)
        K.flat[:: members.size + 1] += float(np.exp(self.log_params[2]))
        return Grown(n, members, K, inverse_and_logdet(K)[0])

    def _with_next(self, Z: Array, grown: Grown) -> Grown:
        """One more row, by the inverse of a matrix in blocks: O(m^2). Afresh where it has drifted."""
        assert self.log_params is not None
        members = np.r_[grown.members, grown.n]
        known = without_padding(Z[: grown.n + 1])
        column = self._covariance(known[grown.members], known[grown.n :])[:, 0]
        variance = float(np.exp(self.log_params[1]) + np.exp(self.log_params[2]))
        solved = grown.inverse @ column
        solved += grown.inverse @ (column - grown.K @ solved)  # refined: else errors grow with every row
        rest = variance - float(column @ solved)
        m = column.size
        K, inverse = np.empty((m + 1, m + 1)), np.empty((m + 1, m + 1))
        K[:m, :m], K[:m, m], K[m, :m], K[m, m] = grown.K, column, column, variance
        if rest > 0:
            scaled = solved / rest
            np.multiply.outer(scaled, solved, out=inverse[:m, :m])
            inverse[:m, :m] += grown.inverse
            inverse[:m, m] = inverse[m, :m] = -scaled
            inverse[m, m] = 1.0 / rest
            if drift(K, inverse) <= DRIFT:
                return Grown(grown.n + 1, members, K, inverse)
        self.n_factorised = grown.n + 1
        return self._whole(Z, grown.n + 1, members)

    def _factorised(self, d: int, grown: Grown, target: Array) -> Factorised:
        assert self.log_params is not None
        assert self._data is not None
        ell, s2, eta = (float(value) for value in np.exp(self.log_params))
        sums = grown.inverse.sum(axis=0)
        mean = float(sums @ target / sums.sum())
        weights = grown.inverse @ (target - mean)
        return Factorised(self._data[0] / ell, np.full(d, ell), s2, eta, mean, weights, grown.inverse)

    # -- state ------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """The hyper-parameters, when they were fitted, and from where the inverse has grown."""
        return {**super().state_dict(), "n_factorised": self.n_factorised}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The inverse of `state_dict`."""
        super().load_state_dict(state)
        self.n_factorised = int(state["n_factorised"])
        self._grown = None


def drift(K: Array, inverse: Array) -> float:
    """How far K times the inverse is from the identity, as seen by the vector of ones."""
    return float(np.abs(K @ inverse.sum(axis=0) - 1.0).max())


def without_padding(Z: Array) -> Array:
    """Z without the last columns that are 0 in all rows: sums then round as before the subspace grew."""
    used = np.flatnonzero(Z.any(axis=0))
    return Z[:, : used[-1] + 1] if used.size else Z[:, :1]


def nearest(Z: Array, y: Array, most: int) -> np.ndarray:
    """(at most `most`,) the numbers of the data nearest to the best one, ascending."""
    n = y.size
    if n <= most:
        return np.arange(n)
    Z = without_padding(Z)
    apart = Z - Z[int(np.argmin(y))]
    distances = np.einsum("ij,ij->i", apart, apart)
    return np.sort(np.argsort(distances, kind="stable")[:most])
