"""REMBO: Bayesian optimization in a random embedding (Wang et al. 2016, Algorithm 2)."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from dsebo.gp.acquisition import propose as propose_like_dsebo
from dsebo.gp.peer_acquisition import log_expected_improvement, propose, search_settings
from dsebo.gp.peer_surrogate import GaussianProcess, GPSettings
from dsebo.methods._embeddings import GaussianEmbedding
from dsebo.methods._peer import Array, Peer, sobol, starting_point
from dsebo.methods.base import Candidate, stream
from dsebo.methods.configs import RemboConfig


class REMBO(Peer):
    """x = clip(A z) with one Gaussian A; a Gaussian process on z."""

    def __init__(self, config: RemboConfig, D: int, seed: int) -> None:
        super().__init__(D, seed)
        self.config = config
        self.embedding = GaussianEmbedding(D, config.d, config.scale, stream(seed, 0))  # line 1
        self.gp = GaussianProcess(
            GPSettings(fit_iterations=config.fit_iterations, refit_every=config.refit_every)
        )
        self.search = search_settings(config, config.kappa_scale)

    def ask(self) -> Candidate:
        """Lines 4 and 5: the z that maximises the acquisition over the box, embedded."""
        t = len(self.observed) + 1
        rng = stream(self.seed, t)
        if t <= self.config.n_init or not self.observed.any_finite:
            return self._candidate(t, self._start(t, rng), 0.0, 0.0)
        u, seconds_fit, seconds_acq = self._propose(rng)
        return self._candidate(t, u, seconds_fit, seconds_acq)

    def _start(self, t: int, rng: np.random.Generator) -> Array:
        """A point of the starting design, in [-1, 1]^d."""
        if self.config.n_init == 1:  # as DSEBO starts
            return rng.uniform(-1.0, 1.0, size=self.config.d)
        design = sobol(self.config.n_init, self.config.d, stream(self.seed, 1))
        return 2.0 * starting_point(design, t - 1, rng) - 1.0

    def _propose(self, rng: np.random.Generator) -> tuple[Array, float, float]:
        """The next u = z / half-width: the model sees [-1, 1]^d whatever the box."""
        U = np.stack(self.observed.points) / self.embedding.half_width
        y = self.observed.values_for_model()
        if self.config.acquisition == "ei":
            data = (U, y)
            return propose(self.gp, self.search, log_expected_improvement, data, (-1, 1), rng)
        began = perf_counter()
        self.gp.update(U, y)
        fitted = perf_counter()
        u = propose_like_dsebo(self.gp, self.search, U, y, 1.0, rng)
        return u, fitted - began, perf_counter() - fitted

    def _candidate(self, t: int, u: Array, seconds_fit: float, seconds_acq: float) -> Candidate:
        z = u * self.embedding.half_width
        return Candidate(t, z, self.lift(z), self.config.d, seconds_fit, seconds_acq)

    def lift(self, z: Array) -> Array:
        """x = clip(A z)."""
        return self.embedding.lift(z)

    def checksum(self) -> str:
        """A fingerprint of A."""
        return self.embedding.checksum()

    def own_state(self) -> dict[str, Any]:
        """The model's hyper-parameters."""
        return {"surrogate": self.gp.state_dict()}

    def load_own_state(self, state: dict[str, Any]) -> None:
        """The inverse of `own_state`."""
        self.gp.load_state_dict(state["surrogate"])
