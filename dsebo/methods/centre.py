"""The centre of the box, once: the line that every curve should be read against."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dsebo.methods.base import Array, Candidate, MethodConfig, Optimizer
from dsebo.methods.cost import Coefficients, Prediction


class CentreConfig(MethodConfig):
    """One evaluation of the centre of the box."""

    label = "Centre"
    family = "Reference"
    coefficients = Coefficients(n_D=40)

    method: Literal["centre"] = "centre"

    def build(self, D: int, budget: int, seed: int) -> Centre:
        """See `MethodConfig.build`."""
        return Centre(D, seed)

    def predict(self, D: int, budget: int) -> Prediction:
        """Of one evaluation, whatever the budget."""
        return super().predict(D, 1)


class Centre(Optimizer):
    """One point. Its z is its number."""

    @property
    def done(self) -> bool:
        """After one evaluation that did not fail."""
        return self.observed.any_finite

    def next_point(self) -> Candidate:
        """The centre."""
        t = len(self.observed) + 1
        z = np.array([float(t)])
        return Candidate(t, z, self.lift(z))

    def lift(self, z: Array) -> Array:
        """The centre, whatever z."""
        return np.zeros(self.D)
