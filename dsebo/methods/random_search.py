"""Random search: points of the box, drawn without looking at any value."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dsebo.gp.designs import MAX_SOBOL, SobolSequence
from dsebo.methods._batches import BatchConfig, Liar
from dsebo.methods.base import Array, Candidate, stream
from dsebo.methods.cost import Coefficients
from dsebo.objectives.fields import setting


class RandomConfig(BatchConfig):
    """Random search."""

    label = "Random search"
    coefficients = Coefficients(n=1.25e5, n_D=1.85)

    method: Literal["random"] = "random"
    points: Literal["uniform", "sobol", "upper-half"] = setting("uniform", "Points")
    """Where they are drawn: uniform in the box, spread evenly (scrambled Sobol), or in [0, 1] only, as most
    printed figures suggest."""

    def build(self, D: int, budget: int, seed: int) -> RandomSearch:
        """See `MethodConfig.build`."""
        return RandomSearch(self, D, seed)

    def check(self, D: int) -> None:
        """Sobol has a largest dimension."""
        if self.points == "sobol" and D > MAX_SOBOL:
            raise ValueError(f"points = 'sobol' needs D = {MAX_SOBOL} or less (got D = {D}).")


class RandomSearch(Liar):
    """Random points of the box. A point's z is its number: (seed, t) draws it again."""

    def __init__(self, config: RandomConfig, D: int, seed: int) -> None:
        super().__init__(D, seed)
        self.low = 0.0 if config.points == "upper-half" else -1.0
        self.sequence = SobolSequence(D, stream(seed, 0)) if config.points == "sobol" else None

    def next_point(self) -> Candidate:
        """The next point."""
        t = len(self.observed) + 1
        z = np.array([float(t)])
        return Candidate(t, z, self.lift(z))

    def lift(self, z: Array) -> Array:
        """Draw the point of that number again."""
        number = int(z[0])
        if self.sequence is not None:
            return 2.0 * self.sequence.point(number) - 1.0
        return stream(self.seed, number).uniform(self.low, 1.0, size=self.D)
