"""SBO-SE: standard Bayesian optimization, squared exponential kernel (Xu et al. 2024).

What makes it work is where the fit starts: at l = √D the gradient of the likelihood does not
vanish, at l = 1 it does. No prior, so every fit starts there again: going on from the last one ends
in a worse place (Sphere, D = 1000: 13.8 instead of 4.8). The authors fit by 500 steps of Adam at
each evaluation, here by a few of L-BFGS and less often as data grow.
"""

from __future__ import annotations

import numpy as np

from dsebo.gp.peer_acquisition import lower_bound
from dsebo.gp.peer_surrogate import GPSettings, Score
from dsebo.methods._box import BoxBO
from dsebo.methods._peer import Array, latin_hypercube
from dsebo.methods.configs import SboSeConfig


class SBOSE(BoxBO):
    """One Gaussian process on the whole box, by maximum likelihood."""

    def __init__(self, config: SboSeConfig, D: int, seed: int) -> None:
        self.beta = config.ucb_beta
        model = GPSettings(
            kernel="rbf",
            fit_outputscale=True,
            flat=True,
            cold=True,
            lengthscale_start=float(np.sqrt(D)),
            fit_iterations=config.fit_iterations,
            refit_every=config.refit_every,
        )
        super().__init__(config, model, config.n_init, None, D, seed)

    def design(self, n: int, d: int, rng: np.random.Generator) -> Array:
        """A Latin hypercube."""
        return latin_hypercube(n, d, rng)

    def score(self, best: float) -> Score:
        """Mu - sqrt(beta) sigma."""
        return lower_bound(self.beta)
