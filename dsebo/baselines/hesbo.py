"""HeSBO: Bayesian optimization in a hashing-enhanced subspace (Nayebi et al. 2019, Algorithm 1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsebo.baselines.acquisitions import log_expected_improvement, propose, search_settings
from dsebo.baselines.base import Array, Peer, sobol, starting_point
from dsebo.baselines.embeddings import SignedBins, random_signs
from dsebo.baselines.gp import GaussianProcess, GPSettings
from dsebo.optimizer import Candidate, stream
from dsebo.peer_configs import HesboConfig


class HeSBO(Peer):
    """A count sketch: h(i) and s(i) uniform, x_i = s(i) z_h(i), z in [-1, 1]^d."""

    def __init__(self, config: HesboConfig, D: int, seed: int) -> None:
        super().__init__(D, seed)
        self.config = config
        rng = stream(seed, 0)
        self.sketch = SignedBins(rng.integers(config.d, size=D), random_signs(D, rng))  # line 1
        self.gp = GaussianProcess(
            GPSettings(fit_iterations=config.fit_iterations, refit_every=config.refit_every)
        )
        self.search = search_settings(config)

    def ask(self) -> Candidate:
        """The z of largest expected improvement."""
        t, d = len(self.observed) + 1, self.config.d
        rng = stream(self.seed, t)
        if t <= self.config.n_init or not self.observed.any_finite:
            design = sobol(self.config.n_init, d, stream(self.seed, 1))
            z = 2.0 * starting_point(design, t - 1, rng) - 1.0
            return Candidate(t, z, self.lift(z), d)
        data = np.stack(self.observed.points), self.observed.values_for_model()
        z, *seconds = propose(self.gp, self.search, log_expected_improvement, data, (-1, 1), rng)
        return Candidate(t, z, self.lift(z), d, *seconds)

    def lift(self, z: Array) -> Array:
        """x_i = s(i) z_h(i)."""
        return self.sketch.lift(z)

    def checksum(self) -> str:
        """A fingerprint of h and s."""
        return self.sketch.checksum()

    def own_state(self) -> dict[str, Any]:
        """The model's hyper-parameters."""
        return {"surrogate": self.gp.state_dict()}

    def load_own_state(self, state: dict[str, Any]) -> None:
        """The inverse of `own_state`."""
        self.gp.load_state_dict(state["surrogate"])
