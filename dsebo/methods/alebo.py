"""ALEBO: Bayesian optimization in a linear embedding that is never clipped (Letham et al. 2020).

Notation:
    B (d, D)        Gaussian, its columns scaled to length 1; B+ its pseudo-inverse
    x = B+ z        so that B x = z; the search is over P = {z : -1 <= B+ z <= 1}
    |z|_P           the gauge max |B+ z|: a norm, and P its unit ball
    U (d, d)        upper triangular: the kernel is s2 exp(-|U (z - z')|^2 / 2), as a squared
                    exponential of an unknown subspace of x looks like this from within B's

Because P is a ball, z / max(1, |z|_P) is inside for every z: no linear program and no rejection.
The authors fit at each evaluation from ten random U and average over 25 draws of U; here a fit goes
on from the last one, with a new random U each time the data have doubled, and there is one U (their
draws, n times too wide, cost more than they give: benchmarks/results/peers_notes.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any, Literal

import numpy as np

from dsebo.events import Event, WallsMet
from dsebo.gp.acquisition import AcquisitionSettings, best_points, descend, log_expected_improvement
from dsebo.gp.surrogate import (
    Array,
    Factorised,
    Score,
    Surrogate,
    SurrogateSettings,
    correlation,
    factorised,
    inverse_and_logdet,
    minimised,
    squared_distances,
)
from dsebo.methods._embeddings import fingerprint
from dsebo.methods._shared import ModelOptimizer, SubspaceConfig, fit_iterations_setting, n_init_setting
from dsebo.methods.base import Candidate, stream
from dsebo.methods.cost import Coefficients
from dsebo.objectives.fields import must, setting

PENALTIES = (10.0, 1000.0)  # on what is outside of P, one search after the other
REACH = 16.0  # the first b: starting points are B w, w uniform in ±b
DRAWS = 10_000  # of w, from which b is found
TIGHT = 1e-3  # a wall that is nearer than this is touched


class AleboConfig(SubspaceConfig):
    """ALEBO: a linear embedding without clipping, a kernel that may turn."""

    label = "ALEBO"
    coefficients = Coefficients(n=1.75e7, n_D=7.36e3, n2_d=433, n3=25.2)

    method: Literal["alebo"] = "alebo"
    d: int = setting(30, "Subspace dimension", symbol="d", ge=1)
    """How many dimensions are searched. The authors take twice as many as matter; below that, the optimum is
    rarely in reach. Their kernel has d (d + 1) / 2 parameters. Default min(D − 1, 30)."""
    n_init: int = n_init_setting(10, "Random points of the polytope, evaluated before the model is used.")
    fit_restarts: int = setting(1, "New starts of a fit", advanced=True, ge=0, le=100)
    """How many random U a fit also starts from, each time the data have doubled. More: less likely that the
    kernel looks along the wrong directions for good. The best likelihood is kept."""
    model_noise: float = setting(1e-6, "Noise of the model", "", "η", advanced=True, ge=1e-8, le=1)
    """Variance of the noise that values are taken to have, as a share of the function's own. The authors' is
    next to none. Try 0.01 where values are noisy."""
    fit_iterations: int = fit_iterations_setting(15, "Few of them keep so many parameters in check.")

    @classmethod
    def complete(cls, given: dict[str, Any], D: int) -> dict[str, Any]:
        """d = min(D - 1, 30)."""
        return {"d": max(1, min(D - 1, 30)), **given}

    def check(self, D: int) -> None:
        """d must be below D: else there is nothing to embed."""
        if self.d >= D:
            raise ValueError(must("d", f"a whole number from 1 to D − 1 = {D - 1}", self.d))

    def build(self, D: int, budget: int, seed: int) -> ALEBO:
        """See `MethodConfig.build`."""
        return ALEBO(self, D, seed)

    def extra_bytes(self, D: int, budget: int) -> int:
        """B and its pseudo-inverse, and the draws of a search lifted to x."""
        return 8 * D * (2 * self.d + 500 + 2 * (self.raw_samples + self.local_samples))


class Polytope:
    """P = {z : -1 <= B+ z <= 1}, by its gauge."""

    def __init__(self, D: int, d: int, rng: np.random.Generator) -> None:
        B = rng.standard_normal((d, D))
        self.B: Array = B / np.linalg.norm(B, axis=0)
        self.rows: Array = np.linalg.solve(self.B @ self.B.T, self.B)  # (d, D): x = z rows

    def gauge(self, z: Array) -> Array:
        """(m,) how far out each of z (m, d) lies: 1 on a wall."""
        return np.asarray(np.abs(z @ self.rows).max(axis=-1))

    def pulled(self, z: Array) -> Array:
        """(m, d) the same points, those outside moved towards the centre until they touch a wall."""
        return z / np.maximum(1.0, self.gauge(z))[:, None]

    def penalty(self, z: Array, weight: float) -> tuple[Array, Array]:
        """(m,) weight / 2 times the squared distances of x beyond the box, and its gradient (m, d)."""
        x = z @ self.rows
        over = x - np.clip(x, -1.0, 1.0)
        return 0.5 * weight * np.einsum("ij,ij->i", over, over), weight * over @ self.rows.T

    def uniform(self, n: int, reach: float, rng: np.random.Generator) -> Array:
        """(n, d) B w, w uniform in ±reach."""
        return rng.uniform(-reach, reach, size=(n, self.B.shape[1])) @ self.B.T

    def design(self, n: int, rng: np.random.Generator) -> tuple[Array, float, float]:
        """((n, d) random points inside, b, the share of the draws that are inside).

        The gauge is a norm, so that the draws of one b, scaled, are those of any other: b is 16,
        halved until n of them are inside.
        """
        count = int(min(DRAWS, max(1000, 1e8 // self.B.shape[1])))
        draws = np.concatenate([self.uniform(500, 1.0, rng) for _ in range(max(count, 2 * n) // 500 + 1)])
        gauges = np.concatenate([self.gauge(part) for part in np.array_split(draws, len(draws) // 500)])
        b = REACH
        while np.count_nonzero(b * gauges <= 1.0) < n:
            b /= 2.0
        inside = b * gauges <= 1.0
        return b * draws[inside][:n], b, float(inside.mean())


def search(
    polytope: Polytope,
    score: Callable[[Array], tuple[Array, Array]],
    starts: Array,
    settings: AcquisitionSettings,
) -> Array:
    """(d,) the least score that is found inside: by penalties, from the best of the starts (m, d)."""
    free = np.full(starts.shape[1], np.inf)
    half = replace(settings, iterations=(settings.iterations + 1) // 2)
    points = starts
    for weight in PENALTIES:

        def penalised(z: Array, weight: float = weight) -> tuple[Array, Array]:
            value, gradient = score(z)
            outside, inwards = polytope.penalty(z, weight)
            return value + outside, gradient + inwards

        points = descend(penalised, points, -free, free, half)[None]
    inside: Array = polytope.pulled(points)[0]
    return inside


class Mahalanobis(Surrogate):
    """A squared exponential of U z; `log_params` are U's upper triangle in its `unit`, and log s2.

    The unit is the size of an entry of a random U: without it a search moves s2 hardly at all and
    finds next to nothing (Sphere, D = 1000, n = 100: correlation with the truth 0.1, with it 0.65).
    """

    def __init__(
        self,
        settings: SurrogateSettings,
        noise: float,
        unit: float,
        restarts: int,
        fresh: Callable[[int, int], list[Array]],
    ) -> None:
        super().__init__(settings)
        self.noise, self.unit, self.restarts, self.fresh = noise, unit, restarts, fresh

    def unpack(self, params: Array) -> tuple[Array, float]:
        """(U, s2)."""
        d = int(np.sqrt(2 * params.size))
        U = np.zeros((d, d))
        U[np.triu_indices(d)] = self.unit * params[:-1]
        return U, float(np.exp(params[-1]))

    @property
    def U(self) -> Array:
        """(d, d) of the last fit."""
        assert self.log_params is not None
        return self.unpack(self.log_params)[0]

    def _grow_to(self, d: int) -> bool:
        """d never changes."""
        return self.log_params is None

    def _fit(self, Z: Array, target: Array) -> None:
        """From the last U; where the data have doubled since, also from new ones, the best is kept."""
        n, starts = target.size, [] if self.log_params is None else [self.log_params]
        if n.bit_length() > self.n_fitted.bit_length():
            wanted = max(self.restarts, 1 - len(starts))
            starts += [np.append(U[np.triu_indices(len(U))] / self.unit, 0.0) for U in self.fresh(n, wanted)]
        bounds = [(None, None)] * (starts[0].size - 1) + [(-10.0, 10.0)]
        loss, iterations = self._loss(Z, target), self.settings.fit_iterations
        ends = [end for start in starts if (end := minimised(loss, start, bounds, iterations))]
        self.log_params = min(ends, key=lambda end: end[1])[0] if ends else starts[0]

    def log_posterior(self, Z: Array, target: Array, log_params: Array) -> tuple[float, Array]:
        """The log likelihood, the mean profiled out, and its gradient by U's upper triangle and log s2."""
        U, s2 = self.unpack(log_params)
        n, turned = target.size, Z @ U.T
        k, dk = correlation("rbf", squared_distances(turned, turned))
        K = s2 * k
        K.flat[:: n + 1] += s2 * self.noise
        inverse, logdet = inverse_and_logdet(K)
        residual = target - inverse.sum(axis=0) @ target / inverse.sum()
        a = inverse @ residual
        value = -0.5 * (residual @ a + logdet + n * np.log(2 * np.pi))
        W = 0.5 * (np.multiply.outer(a, a) - inverse)
        by_log_s2 = float(np.vdot(W, K))
        W *= s2 * dk  # d value / d r2
        # r2 = |U (z - z')|^2, and sum_ab W_ab (z_a - z_b)(z_a - z_b)' = 2 (Z' diag(W 1) Z - Z' W Z)
        M = 2.0 * ((Z.T * W.sum(axis=1)) @ Z - Z.T @ W @ Z)
        return float(value), np.append((2.0 * self.unit * U @ M)[np.triu_indices(len(U))], by_log_s2)

    def _factorise(self, Z: Array, target: Array) -> Factorised:
        assert self.log_params is not None
        U, s2 = self.unpack(self.log_params)
        return factorised("rbf", Z @ U.T, np.ones(len(U)), s2, s2 * self.noise, target)

    def posterior(self, z: Array) -> tuple[Array, Array]:
        """See `Surrogate.posterior`."""
        return super().posterior(z @ self.U.T)

    def values(self, z: Array, score: Score) -> Array:
        """See `Surrogate.values`."""
        return super().values(z @ self.U.T, score)

    def score(self, z: Array, score: Score) -> tuple[Array, Array]:
        """See `Surrogate.score`."""
        value, gradient = super().score(z @ self.U.T, score)
        return value, gradient @ self.U


class ALEBO(ModelOptimizer):
    """Expected improvement over the polytope; z is the point of the subspace."""

    gp: Mahalanobis

    def __init__(self, config: AleboConfig, D: int, seed: int) -> None:
        super().__init__(D, seed)
        self.config, self.search = config, config.search_settings()
        self.polytope = Polytope(D, config.d, stream(seed, 0))
        settings = config.surrogate_settings(kernel="rbf")
        unit = float(np.sqrt(config.d)) / D
        self.gp = Mahalanobis(settings, config.model_noise, unit, config.fit_restarts, self._random_kernels)
        self._design: tuple[Array, float, float] | None = None  # from the seed alone

    @property
    def d(self) -> int:
        """Dimension of z."""
        return self.config.d

    def _random_kernels(self, n: int, wanted: int) -> list[Array]:
        """(d, d) each: U of an ARD kernel on random orthogonal directions of x, all lengthscales 1."""
        rng = stream(self.seed, n).spawn(1)[0]
        roots = []
        for _ in range(wanted):
            Q, _ = np.linalg.qr(rng.standard_normal((self.D, self.d)))
            seen = self.polytope.rows @ Q  # (d, d)
            metric = seen @ seen.T
            roots.append(np.linalg.cholesky(metric + 1e-9 * np.trace(metric) * np.eye(self.d)).T)
        return roots

    @property
    def design(self) -> tuple[Array, float, float]:
        """The starting points, b, and the share of the draws that are inside."""
        if self._design is None:
            self._design = self.polytope.design(self.config.n_init, stream(self.seed, 1))
        return self._design

    def next_point(self) -> Candidate:
        """A random point of the polytope, or the one with the largest expected improvement."""
        t = len(self.observed) + 1
        rng = stream(self.seed, t)
        if t <= self.config.n_init:
            return self._candidate(t, self.design[0][t - 1])
        if not self.observed.any_finite:
            return self._candidate(t, self.polytope.pulled(self.polytope.uniform(1, self.design[1], rng))[0])
        began = perf_counter()
        Z, y = np.stack(self.observed.points), self.observed.values_for_model()
        self.gp.update(Z, y)
        fitted = perf_counter()
        improvement = log_expected_improvement(float(self.gp.target.min()))
        starts = self._starts(best_points(Z, y), rng)
        z = search(self.polytope, lambda z: self.gp.score(z, improvement), starts, self.search)
        return self._candidate(t, z, fitted - began, perf_counter() - fitted)

    def _candidate(self, t: int, z: Array, *seconds: float) -> Candidate:
        return Candidate(t, z, self.lift(z), self.d, *seconds)

    def _starts(self, best: Array, rng: np.random.Generator) -> Array:
        """(raw + local, d) random points, and the best ones moved a part of the way to a random wall."""
        raw = self.polytope.uniform(self.search.raw_samples, self.design[1], rng)
        n = self.search.local_samples
        towards = rng.standard_normal((n, self.d))
        steps = rng.choice([0.02, 0.1, 0.4], size=n) / self.polytope.gauge(towards)
        local = best[rng.integers(len(best), size=n)] + steps[:, None] * towards
        return self.polytope.pulled(np.concatenate([raw, local]))

    def after(self, candidate: Candidate, y: float) -> list[Event]:
        """What the start was, and after each fit which walls are met and what the kernel looks along."""
        t = candidate.t
        if t <= self.config.n_init or self.gp.log_params is None or self.gp.n_fitted != t - 1:
            return []
        gauge = float(self.polytope.gauge(candidate.z))
        tight = int(np.count_nonzero(np.abs(candidate.x) > 1.0 - TIGHT))
        values = np.linalg.eigvalsh(self.gp.U.T @ self.gp.U)
        directions = int(np.count_nonzero(values > 0.01 * values[-1]))
        relevance = np.einsum("ij,ij->j", reaction := self.gp.U @ self.polytope.B, reaction)
        top = np.argsort(-relevance, kind="stable")[:10]
        walls = "no wall" if not tight else f"{tight} wall{'s' if tight > 1 else ''}"
        text = (
            f"Evaluation {t}: the kernel looks along {directions} of {self.d} directions; the point touches "
            f"{walls} of the box ({100 * gauge:.0f} % of the way out)."
        )
        if t == self.config.n_init + 1:
            text += f" {100 * self.design[2]:.2g} % of the first draws were inside (b = {self.design[1]:g})."
        shares = tuple(float(share) for share in relevance[top] / relevance.sum())
        return [WallsMet(t, gauge, tight, directions, tuple(int(i) for i in top), shares, text)]

    def lift(self, z: Array) -> Array:
        """x = B+ z; what is cut off is rounding."""
        return np.clip(z @ self.polytope.rows, -1.0, 1.0)

    def checksum(self) -> str:
        """A fingerprint of B."""
        return fingerprint(self.polytope.B)
