"""HeSBO: Bayesian optimization in a hashing-enhanced subspace (Nayebi et al. 2019, Algorithm 1)."""

from __future__ import annotations

from dsebo.gp.peer_acquisition import log_expected_improvement
from dsebo.gp.peer_surrogate import GPSettings, Score
from dsebo.methods._box import BoxBO
from dsebo.methods._embeddings import SignedBins, random_signs
from dsebo.methods._peer import Array
from dsebo.methods.base import stream
from dsebo.methods.configs import HesboConfig


class HeSBO(BoxBO):
    """A count sketch: h(i) and s(i) uniform, x_i = s(i) z_h(i), z in [-1, 1]^d."""

    def __init__(self, config: HesboConfig, D: int, seed: int) -> None:
        model = GPSettings(fit_iterations=config.fit_iterations, refit_every=config.refit_every)
        super().__init__(config, model, config.n_init, config.d, D, seed)
        rng = stream(seed, 0)
        self.sketch = SignedBins(rng.integers(config.d, size=D), random_signs(D, rng))  # line 1

    def score(self, best: float) -> Score:
        """Expected improvement, as its logarithm."""
        return log_expected_improvement(best)

    def lift(self, z: Array) -> Array:
        """x_i = s(i) z_h(i)."""
        return self.sketch.lift(z)

    def checksum(self) -> str:
        """A fingerprint of h and s."""
        return self.sketch.checksum()
