"""VBO: vanilla Bayesian optimization in all D variables (Hvarfner et al. 2024).

What makes it work is the prior: ln l ~ N(√2 + ½ ln D, 3), so that the expected distance between
points, which grows with √D, stays about a lengthscale. No output scale; log EI.
"""

from __future__ import annotations

from dsebo.gp.peer_acquisition import log_expected_improvement
from dsebo.gp.peer_surrogate import GPSettings, Score
from dsebo.methods._box import BoxBO
from dsebo.methods.configs import VboConfig


class VBO(BoxBO):
    """One Gaussian process on the whole box."""

    def __init__(self, config: VboConfig, D: int, seed: int) -> None:
        model = GPSettings(
            kernel=config.kernel,
            lengthscale_prior="dimension-scaled",
            fit_iterations=config.fit_iterations,
            refit_every=config.refit_every,
        )
        super().__init__(config, model, config.n_init, None, D, seed)

    def score(self, best: float) -> Score:
        """Expected improvement, as its logarithm."""
        return log_expected_improvement(best)
