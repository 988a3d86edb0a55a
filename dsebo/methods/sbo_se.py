"""SBO-SE: standard Bayesian optimization, squared exponential kernel (Xu et al. 2024).

What makes it work is where the fit starts: at l = √D the gradient of the likelihood does not
vanish, at l = 1 it does. No prior, so every fit starts there again: going on from the last one ends
in a worse place (Sphere, D = 1000: 13.8 instead of 4.8). The authors fit by 500 steps of Adam at
each evaluation, here by a few of L-BFGS and less often as data grow.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from dsebo.gp.acquisition import lower_bound
from dsebo.gp.designs import latin_hypercube
from dsebo.gp.surrogate import Score
from dsebo.methods._batches import BatchConfig
from dsebo.methods._shared import BoxBO, FullConfig, fit_iterations_setting, n_init_setting
from dsebo.methods.base import Array
from dsebo.methods.cost import Coefficients
from dsebo.objectives.fields import setting


class SboSeConfig(BatchConfig, FullConfig):
    """SBO-SE: no prior, lengthscales started at √D."""

    label = "SBO-SE"
    coefficients = Coefficients(n=1.3e7, n_D=1.32e4, n2_d=310, n3=55.7)

    method: Literal["sbo-se"] = "sbo-se"
    ucb_beta: float = setting(1.5, "Exploration", symbol="β", ge=0, le=1e6)
    """How much uncertainty attracts: the bound is μ − √β σ. 0: the mean alone."""
    n_init: int = n_init_setting(20, "Latin hypercube points of the box, evaluated before the model is used.")
    fit_iterations: int = fit_iterations_setting(40, "Each fit starts at √D again.")

    def build(self, D: int, budget: int, seed: int) -> SBOSE:
        """See `MethodConfig.build`."""
        return SBOSE(self, D, seed)


class SBOSE(BoxBO):
    """One Gaussian process on the whole box, by maximum likelihood."""

    def __init__(self, config: SboSeConfig, D: int, seed: int) -> None:
        self.beta = config.ucb_beta
        model = config.surrogate_settings(
            kernel="rbf", fit_outputscale=True, flat=True, cold=True, lengthscale_start=float(np.sqrt(D))
        )
        super().__init__(config, model, config.n_init, None, D, seed)

    def design(self, n: int, d: int, rng: np.random.Generator) -> Array:
        """A Latin hypercube."""
        return latin_hypercube(n, d, rng)

    def score(self, best: float) -> Score:
        """Mu - sqrt(beta) sigma."""
        return lower_bound(self.beta)
