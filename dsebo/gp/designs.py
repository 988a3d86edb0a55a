"""Points spread over the unit cube: starting designs, and what a Thompson sample moves along."""

from __future__ import annotations

import numpy as np

from dsebo.embedding import Array

MAX_SOBOL = 21_201  # dimensions for which SciPy has direction numbers


def sobol(n: int, d: int, rng: np.random.Generator) -> Array:
    """(n, d) scrambled Sobol points of [0, 1)^d; uniform ones beyond the dimensions it has."""
    if d > MAX_SOBOL:
        return rng.random((n, d))
    from scipy.stats import qmc

    engine = qmc.Sobol(d, rng=rng)
    whole: Array = engine.random_base2(max(0, int(np.ceil(np.log2(n)))))
    return whole[:n]


class SobolSequence:
    """Scrambled Sobol points of [0, 1)^d, one at a time by their number from 1."""

    def __init__(self, d: int, rng: np.random.Generator) -> None:
        from scipy.stats import qmc

        self.engine = qmc.Sobol(d, rng=rng)

    def point(self, number: int) -> Array:
        """(d,) the point of that number; the next one is the quickest."""
        ahead = number - 1 - self.engine.num_generated
        if ahead < 0:
            self.engine.reset()
            ahead = number - 1
        if ahead:
            self.engine.fast_forward(ahead)
        drawn: Array = self.engine.random(1)[0]
        return drawn


def latin_hypercube(n: int, d: int, rng: np.random.Generator) -> Array:
    """(n, d) points of [0, 1)^d, one in each of the n strata of each coordinate."""
    strata = rng.permuted(np.tile(np.arange(n), (d, 1)), axis=1).T
    return (strata + rng.random((n, d))) / n


def starting_point(design: Array, number: int, rng: np.random.Generator) -> Array:
    """The point of that number of a design; a uniform one where all of the design has failed."""
    if number < len(design):
        chosen: Array = design[number, :]
        return chosen
    return rng.random((design.shape[1],))
