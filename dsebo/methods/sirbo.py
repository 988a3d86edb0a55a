"""SIRBO: a subspace learnt by sliced inverse regression (Zhang, Li, Su 2019).

Notation:
    X (n, D), y     the data; slices are runs of the points sorted by y
    B (D, d)        the directions in which the slices' means differ most
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, Literal

import numpy as np

from dsebo.events import Event, SubspaceChanged
from dsebo.gp.acquisition import best_points, descend, kappa, lower_bound, starting_points
from dsebo.gp.surrogate import Surrogate
from dsebo.methods._shared import (
    ModelOptimizer,
    SubspaceConfig,
    kappa_setting,
    latin_start,
    n_init_setting,
    refit_setting,
)
from dsebo.methods.base import Array, Candidate, stream
from dsebo.methods.cost import Coefficients
from dsebo.objectives.fields import setting


class SirboConfig(SubspaceConfig):
    """SIRBO: the subspace is learnt by sliced inverse regression."""

    label = "SIRBO"
    coefficients = Coefficients(n=4.25e5, n_D=5.12e4, n2_d=1.43e3)

    method: Literal["sirbo"] = "sirbo"
    n_init: int = n_init_setting(10, "Latin hypercube points of the box, from which B is learnt first.")
    ridge: float = setting(0.01, "Ridge", symbol="λ", gt=0, le=1e6)
    """How far B may trust few points: added to their covariance, which has rank n - 1. Large: smoother."""
    kappa_scale: float = kappa_setting()
    refit_every: float = refit_setting(0.05, "Refresh after", "B is learnt")

    def build(self, D: int, budget: int, seed: int) -> SIRBO:
        """See `MethodConfig.build`."""
        return SIRBO(self, D, seed)

    def extra_bytes(self, D: int, budget: int) -> int:
        """The points, which are all of x; B and the searches."""
        return 8 * D * (3 * budget + self.d + 4 * (self.raw_samples + self.local_samples))


def sliced_inverse_regression(X: Array, y: Array, d: int, ridge: float) -> Array:
    """(D, at most d) the top generalised eigenvectors of (scatter of slice means, Cov + ridge I).

    With d + 1 slices the scatter is M M' of rank d, so (Cov + ridge I)^-1 M holds all of them; that
    inverse is applied in the n-dimensional dual. Scaled to unit variance of the data along each.
    """
    n = y.size
    centred = X - X.mean(axis=0)
    slices = np.array_split(np.argsort(y, kind="stable"), min(d + 1, n))
    M = np.stack([np.sqrt(part.size / n) * centred[part].mean(axis=0) for part in slices], axis=1)
    # Woodbury: (C'C/n + r I)^-1 M = (M - C' (n r I + C C')^-1 C M) / r
    gram = centred @ centred.T
    gram.flat[:: n + 1] += n * ridge
    solved = (M - centred.T @ np.linalg.solve(gram, centred @ M)) / ridge
    values, U = np.linalg.eigh(M.T @ solved)
    kept = np.flatnonzero(values > 1e-9 * values[-1])[::-1][:d]
    B = solved @ U[:, kept]
    spread = (centred @ B).std(axis=0)
    return np.asarray(B / np.where(spread > 1e-12, spread, 1.0))


class SIRBO(ModelOptimizer):
    """A Gaussian process on X B; its bound is followed through B to a point of the whole box."""

    def __init__(self, config: SirboConfig, D: int, seed: int) -> None:
        super().__init__(D, seed)
        self.config = config
        self.search = config.search_settings(config.kappa_scale)
        self.learnt_from, self.learnt_before = 0, 0  # numbers of data of B, and of the B before it
        self.gp = self._new_model()
        # B by the number of data that it was learnt from: the newest, and the one before.
        self._known: dict[int, Array] = {}

    @property
    def d(self) -> int | None:
        """Number of directions; None until some are learnt."""
        return self.directions(self.learnt_from).shape[1] if self.learnt_from else None

    def _new_model(self) -> Surrogate:
        """Refitted with each new B only: its coordinates mean something else then."""
        return Surrogate(self.config.surrogate_settings(refit_every=1.0))

    def directions(self, n: int) -> Array:
        """(D, d) B as learnt from the first n data; not stored, as they give it again."""
        if n not in self._known:
            newest = list(self._known.items())[-1:]
            self._known = {**dict(newest), n: self._learnt(n)}
        return self._known[n]

    def _learnt(self, n: int) -> Array:
        X, y = np.stack(self.observed.points[:n]), np.array(self.observed.values[:n])
        y = np.where(np.isfinite(y), y, np.nanmax(y))  # of these n: it must not change later
        return sliced_inverse_regression(X, y, self.config.d, self.config.ridge)

    def next_point(self) -> Candidate:
        """A starting point, or the x with the least bound."""
        if (first := latin_start(self, self.config.n_init)) is not None:
            return first
        n, t = len(self.observed), len(self.observed) + 1
        rng = stream(self.seed, t)
        began = perf_counter()
        X, y = np.stack(self.observed.points), self.observed.values_for_model()
        B = self._refresh(n)
        self.gp.update(X @ B, y)
        fitted = perf_counter()
        x = self._follow(B, X, y, rng)
        return Candidate(t, x, x, B.shape[1], fitted - began, perf_counter() - fitted)

    def _refresh(self, n: int) -> Array:
        """B, learnt again when enough data have come."""
        if n - self.learnt_from >= max(1, int(self.config.refit_every * n)):
            self.learnt_before, self.learnt_from = self.learnt_from, n
            self.gp = self._new_model()
        return self.directions(self.learnt_from)

    def _follow(self, B: Array, X: Array, y: Array, rng: np.random.Generator) -> Array:
        """The x of the box with the least mu - sqrt(kappa) sigma at x B."""
        score = lower_bound(kappa(self.config.kappa_scale, B.shape[1], y.size))
        low, high = np.full(self.D, -1.0), np.full(self.D, 1.0)

        def bound(x: Array) -> tuple[Array, Array]:
            value, gradient = self.gp.score(x @ B, score)
            return value, gradient @ B.T

        starts = starting_points(self.search, best_points(X, y), low, high, rng)
        return descend(bound, starts, low, high, self.search)

    def after(self, candidate: Candidate, y: float) -> list[Event]:
        """An event for the first point of each new B."""
        n = candidate.t - 1
        if candidate.d is None or self.learnt_from != n:
            return []
        B = self._refresh(n)
        if self.learnt_before == 0:
            text = f"Evaluation {candidate.t}: {B.shape[1]} directions learnt from {n} points."
            return [SubspaceChanged(candidate.t, None, B.shape[1], (), None, text)]
        from scipy.linalg import subspace_angles

        before = self.directions(self.learnt_before)
        angle = float(np.degrees(subspace_angles(before, B).max()))
        text = (
            f"Evaluation {candidate.t}: {B.shape[1]} directions learnt again from {n} points, "
            f"turned by up to {angle:.0f}°."
        )
        return [SubspaceChanged(candidate.t, before.shape[1], B.shape[1], (), angle, text)]

    def own_state(self) -> dict[str, Any]:
        """When B was learnt, and the model's hyper-parameters."""
        return {"learnt": [self.learnt_before, self.learnt_from], **super().own_state()}

    def load_own_state(self, state: dict[str, Any]) -> None:
        """The inverse of `own_state`."""
        self.learnt_before, self.learnt_from = (int(n) for n in state["learnt"])
        super().load_own_state(state)
        self._known = {}
