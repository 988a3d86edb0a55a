"""VBO: vanilla Bayesian optimization in all D variables (Hvarfner et al. 2024).

What makes it work is the prior: ln l ~ N(√2 + ½ ln D, 3), so that the expected distance between
points, which grows with √D, stays about a lengthscale. No output scale; log EI.
"""

from __future__ import annotations

from typing import Literal

from dsebo.methods._batches import BatchConfig
from dsebo.methods._shared import BoxBO, FullConfig, n_init_setting
from dsebo.methods.cost import Coefficients
from dsebo.objectives.fields import setting


class VboConfig(BatchConfig, FullConfig):
    """Vanilla Bayesian optimization: a prior that grows with √D."""

    label = "VBO"
    coefficients = Coefficients(n=1.46e7, n_D=3.52e4, n2_d=137)

    method: Literal["vbo"] = "vbo"
    kernel: Literal["rbf", "matern"] = setting("rbf", "Kernel", advanced=True)
    """How smooth the function is taken to be: squared exponential (very) or Matérn-5/2 (less), with one
    lengthscale per variable."""
    n_init: int = n_init_setting(10, "Scrambled Sobol points of the box, evaluated before the model is used.")

    def build(self, D: int, budget: int, seed: int) -> VBO:
        """See `MethodConfig.build`."""
        return VBO(self, D, seed)


class VBO(BoxBO):
    """One Gaussian process on the whole box."""

    def __init__(self, config: VboConfig, D: int, seed: int) -> None:
        super().__init__(
            config, config.surrogate_settings(kernel=config.kernel), config.n_init, None, D, seed
        )
