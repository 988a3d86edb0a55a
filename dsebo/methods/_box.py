"""Ordinary Bayesian optimization in a box; a method says which model, design and acquisition."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from dsebo.gp.peer_acquisition import propose, search_settings
from dsebo.gp.peer_surrogate import GaussianProcess, GPSettings, Score
from dsebo.methods._peer import Array, Peer, sobol, starting_point
from dsebo.methods.base import Candidate, stream
from dsebo.methods.configs.model import SearchConfig


class BoxBO(Peer, ABC):
    """z in [-1, 1]^d; the model sees u = (z + 1) / 2, as the authors' priors are for [0, 1]^d.

    Args:
        config: How the acquisition is searched.
        settings: The model's.
        n_init: Size of the starting design.
        d: Dimension of z; None where z is x itself.
    """

    def __init__(
        self, config: SearchConfig, settings: GPSettings, n_init: int, d: int | None, D: int, seed: int
    ) -> None:
        super().__init__(D, seed)
        self.n_init, self.d = n_init, d
        self.gp = GaussianProcess(settings)
        self.search = search_settings(config)

    def design(self, n: int, d: int, rng: np.random.Generator) -> Array:
        """(n, d) the starting points in [0, 1]^d."""
        return sobol(n, d, rng)

    @abstractmethod
    def score(self, best: float) -> Score:
        """The acquisition, given the least standardised value so far."""

    def ask(self) -> Candidate:
        """A starting point, or the best point of the acquisition."""
        t, d = len(self.observed) + 1, self.d or self.D
        rng = stream(self.seed, t)
        if t <= self.n_init or not self.observed.any_finite:
            design = self.design(self.n_init, d, stream(self.seed, 1))
            z = 2.0 * starting_point(design, t - 1, rng) - 1.0
            return Candidate(t, z, self.lift(z), self.d)
        U = (np.stack(self.observed.points) + 1.0) / 2.0
        data = U, self.observed.values_for_model()
        u, *seconds = propose(self.gp, self.search, self.score, data, (0.0, 1.0), rng)
        z = np.clip(2.0 * u - 1.0, -1.0, 1.0)
        return Candidate(t, z, self.lift(z), self.d, *seconds)

    def own_state(self) -> dict[str, Any]:
        """The model's hyper-parameters."""
        return {"surrogate": self.gp.state_dict()}

    def load_own_state(self, state: dict[str, Any]) -> None:
        """The inverse of `own_state`."""
        self.gp.load_state_dict(state["surrogate"])
