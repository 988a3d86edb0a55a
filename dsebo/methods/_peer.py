"""What the peer methods share: their evaluations, their state, their starting designs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsebo.events import Event
from dsebo.methods.base import Candidate, Observations, Told
from dsebo.methods.configs.simple import MAX_SOBOL

Array = NDArray[np.float64]


class Peer:
    """A method whose z is x itself and whose state is its evaluations, unless it says otherwise.

    A method gives `ask`; `after` for what a value leads to; `own_state` and `load_own_state` for
    what its evaluations do not tell.
    """

    done = False

    def __init__(self, D: int, seed: int) -> None:
        self.D, self.seed = D, seed
        self.observed = Observations()

    def tell(self, candidate: Candidate, y: float) -> Told:
        """Keep the value, and say what it led to."""
        self.observed.add(candidate.z, y)
        return Told(events=self.after(candidate, y))

    def after(self, candidate: Candidate, y: float) -> list[Event]:
        """What the value of that point changes."""
        return []

    def lift(self, z: Array) -> Array:
        """z is x itself."""
        return z

    def checksum(self) -> str | None:
        """No random matrix."""
        return None

    def own_state(self) -> dict[str, Any]:
        """What the next `ask` depends on besides the evaluations; plain JSON."""
        return {}

    def load_own_state(self, state: dict[str, Any]) -> None:
        """The inverse of `own_state`; the evaluations are there already."""

    def state_dict(self) -> dict[str, Any]:
        """See `Optimizer.state_dict`."""
        return {**self.own_state(), "data": self.observed.as_data()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """See `Optimizer.load_state_dict`."""
        self.observed.load(state["data"])
        self.load_own_state(state)


def sobol(n: int, d: int, rng: np.random.Generator) -> Array:
    """(n, d) scrambled Sobol points of [0, 1)^d; uniform ones beyond the dimensions it has."""
    if d > MAX_SOBOL:
        return rng.random((n, d))
    from scipy.stats import qmc  # half of what `import dsebo` would take otherwise

    engine = qmc.Sobol(d, rng=rng)
    whole: Array = engine.random_base2(max(0, int(np.ceil(np.log2(n)))))
    return whole[:n]


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
