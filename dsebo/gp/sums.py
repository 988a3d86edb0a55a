"""A Gaussian process that is a sum over parts of the variables, and how the parts may change.

Notation:
    parts f         sets of variables; each variable is in one
    K = sum_f s_f k(|u_f - u_f'| / l_f) + eta I     k Matern-5/2, u in [0, 1]^D
    mu_f, v_f       mean and variance of part f given all data; the mu_f add up to the mean of the sum
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsebo.gp.surrogate import Array, as_loss, correlation, inverse_and_logdet, minimised, squared_distances

Indices = NDArray[np.int64]
Parts = tuple[Indices, ...]

NOISE = 1e-2  # where fits start, and the centre of its prior
SPREADS = (0.5, 0.5, 0.3)  # of the priors of log s, log l and log eta
LIMITS = ((-30.0, 3.0), (np.log(0.02), np.log(20.0)), (np.log(1e-4), 0.0))  # of log s, width, log eta
LEAST_VARIANCE = 1e-5  # of a part; the authors'
ROWS = 64  # of a covariance at a time: what is in the cache is not fetched again


# -- divisions of the variables --------------------------------------------------------------------


@dataclass(frozen=True)
class Move:
    """The parts that go and those that come; how much likelier the way back is, as a logarithm."""

    gone: tuple[int, ...]  # their places
    come: Parts
    log_odds: float


def propose(parts: Sequence[Indices], d_max: int, rng: np.random.Generator) -> Move | None:
    """A random split or merge, a coin where both are possible; None where neither is."""
    sizes = np.array([len(part) for part in parts])
    splits, partners = _choices(sizes, d_max)
    kinds = int(splits.size > 0) + int(partners.sum() > 0)
    if kinds == 0:
        return None
    if splits.size and (kinds == 1 or rng.random() < 0.5):
        place = int(rng.choice(splits))
        part = parts[place]
        first = rng.random(part.size) < 0.5
        while first.all() or not first.any():
            first = rng.random(part.size) < 0.5
        come = tuple(sorted((part[first], part[~first]), key=lambda half: int(half[0])))
        gone: tuple[int, ...] = (place,)
        there = -_log_ways(part.size) - np.log(splits.size)
    else:
        chosen = int(rng.choice(len(parts), p=partners / partners.sum()))
        fits_it = np.flatnonzero(sizes + sizes[chosen] <= d_max)
        other = int(rng.choice(fits_it[fits_it != chosen]))
        gone = (min(chosen, other), max(chosen, other))
        come = (np.sort(np.r_[parts[chosen], parts[other]]),)
        there = -np.log(partners.sum() / 2)
    after = np.r_[np.delete(sizes, gone), [part.size for part in come]]
    splits_then, partners_then = _choices(after, d_max)
    kinds_then = int(splits_then.size > 0) + int(partners_then.sum() > 0)
    if len(come) == 2:
        back = -np.log(partners_then.sum() / 2)
    else:
        back = -_log_ways(come[0].size) - np.log(splits_then.size)
    return Move(gone, come, float(back - there + np.log(kinds) - np.log(kinds_then)))


def _choices(sizes: Indices, d_max: int) -> tuple[Indices, Indices]:
    """(places of the parts that can be split, with how many others each part can be merged)."""
    room = d_max - sizes
    partners = np.searchsorted(np.sort(sizes), room, side="right") - (sizes <= room)
    return np.flatnonzero(sizes > 1), partners


def _log_ways(size: int) -> float:
    """The logarithm of 2^(size - 1) - 1, the ways to split a part."""
    return float((size - 1) * np.log(2.0) + np.log1p(-(0.5 ** (size - 1))))


@dataclass(frozen=True)
class Sum:
    """A division with its hyper-parameters, all as logarithms."""

    parts: Parts
    variance: Array  # (F,) s_f
    width: Array  # (F,) l_f, as a multiple of sqrt(|f|) / 2
    noise: float

    @classmethod
    def of(cls, parts: Sequence[Indices]) -> Sum:
        """The parts share a variance of 1."""
        F = len(parts)
        return cls(tuple(parts), np.full(F, -np.log(F)), np.zeros(F), float(np.log(NOISE)))

    @classmethod
    def start(cls, D: int, d_max: int, rng: np.random.Generator) -> Sum:
        """One part of all variables where D ≤ 50 allows it, else about 3 sqrt(D) parts of random ones."""
        F = 1 if D <= 50 else round(3 * np.sqrt(D))
        F = max(F, int(np.ceil(D / d_max)))
        return cls.of([np.sort(part) for part in np.array_split(rng.permutation(D), F)])

    def lengthscale(self) -> Array:
        """(F,) l_f."""
        sizes = np.array([part.size for part in self.parts])
        return np.asarray(0.5 * np.sqrt(sizes) * np.exp(self.width))

    def flat(self) -> Array:
        """(2 F + 1,)."""
        return np.asarray(np.r_[self.variance, self.width, self.noise])

    def with_flat(self, flat: Array) -> Sum:
        """The same parts, other hyper-parameters."""
        F = len(self.parts)
        return Sum(self.parts, flat[:F].copy(), flat[F:-1].copy(), float(flat[-1]))

    def moved(self, move: Move) -> tuple[Sum, Sum, Sum]:
        """(after it, what has gone, what has come): halves share a variance, a whole has their sum."""
        gone = self.only(move.gone)
        if len(move.come) == 2:
            variance, width = np.repeat(gone.variance - np.log(2.0), 2), np.repeat(gone.width, 2)
        else:
            variance, width = (
                np.logaddexp.reduce(gone.variance, keepdims=True),
                gone.width.mean(keepdims=True),
            )
        come = Sum(move.come, variance, width, self.noise)
        rest = self.only([place for place in range(len(self.parts)) if place not in move.gone])
        after = Sum(
            rest.parts + come.parts, np.r_[rest.variance, variance], np.r_[rest.width, width], self.noise
        )
        return after, gone, come

    def only(self, places: Sequence[int]) -> Sum:
        """Some of its parts."""
        chosen = list(places)
        parts = tuple(self.parts[place] for place in chosen)
        return Sum(parts, self.variance[chosen], self.width[chosen], self.noise)

    def labels(self, D: int) -> Indices:
        """(D,) the part of each variable."""
        places = np.empty(D, dtype=np.int64)
        for place, part in enumerate(self.parts):
            places[part] = place
        return places


# -- its Gaussian process --------------------------------------------------------------------------


class Data:
    """Points (n, D) of [0, 1]^D and standardised values: covariances and likelihoods of sums of parts."""

    def __init__(self, U: Array, target: Array) -> None:
        self.U, self.target = U, target

    def _blocks(self, part: Indices, lengthscale: float) -> Iterator[tuple[slice, Array]]:
        """Some rows of the points, and their squared scaled distances to those up to the last of them."""
        scaled = self.U[:, part] / lengthscale
        for first in range(0, len(scaled), ROWS):
            last = min(first + ROWS, len(scaled))
            yield slice(first, last), squared_distances(scaled[first:last], scaled[:last])

    def covariance(self, of: Sum) -> Array:
        """(n, n), without noise."""
        n = len(self.U)
        K = np.zeros((n, n))
        for part, s, lengthscale in zip(of.parts, np.exp(of.variance), of.lengthscale(), strict=True):
            for rows, r2 in self._blocks(part, lengthscale):
                K[rows, : rows.stop] += s * correlation("matern", r2)[0]
        K = np.tril(K, -1)
        K += K.T
        K.flat[:: n + 1] = np.exp(of.variance).sum()
        return K

    def likelihood(self, K: Array, noise: float) -> tuple[float, Array]:
        """(log p(y), (K + eta I)^-1)."""
        noisy = K.copy()
        noisy.flat[:: len(K) + 1] += np.exp(noise)
        inverse, logdet = inverse_and_logdet(noisy)
        fit = float(self.target @ inverse @ self.target)
        return -0.5 * (fit + logdet + len(K) * float(np.log(2.0 * np.pi))), inverse

    def log_posterior(self, of: Sum) -> tuple[float, Array]:
        """The log likelihood and priors, and the gradient by `Sum.flat`."""
        F, n = len(of.parts), len(self.U)
        value, inverse = self.likelihood(self.covariance(of), of.noise)
        a = inverse @ self.target
        W = 0.5 * (np.multiply.outer(a, a) - inverse)
        gradient = np.empty(2 * F + 1)
        gradient[-1] = float(np.exp(of.noise)) * float(np.trace(W))
        W = np.tril(W)
        W *= 2.0  # both sides of the diagonal
        W.flat[:: n + 1] *= 0.5
        for f, (part, lengthscale) in enumerate(zip(of.parts, of.lengthscale(), strict=True)):
            by_variance = by_width = 0.0
            for rows, r2 in self._blocks(part, lengthscale):
                k, dk = correlation("matern", r2)
                weights = W[rows, : rows.stop]
                by_variance += float(np.einsum("ij,ij->", weights, k))
                by_width += float(np.einsum("ij,ij,ij->", weights, dk, r2))
            s = float(np.exp(of.variance[f]))
            gradient[f], gradient[F + f] = s * by_variance, -2.0 * s * by_width
        away = of.flat() - Sum.of(of.parts).flat()
        spread = np.repeat(SPREADS, (F, F, 1))
        away /= spread
        return value - 0.5 * float(away @ away), gradient - away / spread

    def fitted(self, of: Sum, iterations: int) -> Sum:
        """The same parts, their hyper-parameters followed uphill."""
        from scipy.optimize import Bounds

        F = len(of.parts)
        loss = as_loss(lambda flat: self.log_posterior(of.with_flat(flat)), len(self.U))
        low, high = (np.repeat([pair[side] for pair in LIMITS], (F, F, 1)) for side in (0, 1))
        end = minimised(loss, of.flat(), Bounds(low, high), iterations)
        return of.with_flat(end[0]) if end else of


@dataclass(frozen=True)
class Bound:
    """How the parts of a division are scored."""

    beta: float
    sharing: Array  # (F,) |N_f|
    added: Array  # (F,) what the others of N_f add under the root


@dataclass(frozen=True)
class Pull:
    """What it costs a copy of a point to stand apart from the mean of all copies."""

    mean: Array  # (D,)
    prices: Array  # (D,) by the distance
    step: float  # by its square

    def price(self, x: Array) -> tuple[float, Array]:
        """(the price of x, its gradient)."""
        away = x - self.mean
        return float(self.prices @ away) + 0.5 * self.step * float(
            away @ away
        ), self.prices + self.step * away


class Posterior:
    """The parts' means and variances, ready for many points; variables stand in the order of the parts."""

    def __init__(self, data: Data, of: Sum, inverse: Array) -> None:
        sizes = [part.size for part in of.parts]
        self.order = np.concatenate(of.parts)
        self.of_part = np.repeat(np.arange(len(sizes)), sizes)
        self.ends = np.r_[0, np.cumsum(sizes)]
        self.lengthscale = of.lengthscale()[self.of_part]
        self.s = np.exp(of.variance)
        self.inverse, self.weights = inverse, inverse @ data.target
        self.scaled = np.ascontiguousarray(data.U.T[self.order] / self.lengthscale[:, None])  # (D, n)
        self.norms = self._by_part(np.ones(self.order.size), self.scaled**2)

    def _by_part(self, v: Array, columns: Array) -> Array:
        """(F, n) the sums of v_i columns_i over each part: a product with a sparse matrix."""
        from scipy.sparse import csr_matrix

        shape = self.ends.size - 1, v.size
        return np.asarray(csr_matrix((v, np.arange(v.size), self.ends), shape=shape) @ columns)

    def _known(self, x: Array) -> tuple[Array, Array, Array, Array, Array]:
        """(x in this order and scaled, dk/dr2, k K^-1, means, variances)."""
        v = x[self.order] / self.lengthscale
        r2 = self._by_part(v, self.scaled)
        r2 *= -2.0
        r2 += self.norms
        r2 += np.add.reduceat(v * v, self.ends[:-1])[:, None]
        k, dk = correlation("matern", np.maximum(r2, 0.0, out=r2))
        k *= self.s[:, None]
        known = k @ self.inverse
        variance = np.maximum(self.s - np.einsum("ij,ij->i", known, k), LEAST_VARIANCE)
        return v, dk, known, k @ self.weights, variance

    def variances(self, x: Array) -> Array:
        """(F,) of the parts at x (D,)."""
        return self._known(x)[4]

    def score(self, x: Array, bound: Bound) -> tuple[Array, Array]:
        """(the scores of the parts (F,), the gradient of their sum by x (D,))."""
        v, dk, known, mean, variance = self._known(x)
        root = np.sqrt(variance / bound.sharing**2 + bound.added)
        known *= (bound.beta / (root * bound.sharing**2))[:, None]
        known += self.weights
        known *= dk
        known *= 2.0 * self.s[:, None]
        by_v = v * known.sum(axis=1)[self.of_part]
        by_v -= np.einsum("ij,ij->i", known[self.of_part], self.scaled)
        gradient = np.empty(x.size)
        gradient[self.order] = by_v / self.lengthscale
        return mean - bound.beta * root, gradient

    def search(self, start: Array, bound: Bound, pull: Pull, iterations: int) -> Array:
        """The point of [0, 1]^D with the least sum of scores and price."""
        from scipy.optimize import Bounds

        def loss(x: Array) -> tuple[float, Array]:
            scores, gradient = self.score(x, bound)
            price, slope = pull.price(x)
            return float(scores.sum()) + price, gradient + slope

        end = minimised(loss, start, Bounds(np.zeros(start.size), np.ones(start.size)), iterations)
        return end[0] if end else start
