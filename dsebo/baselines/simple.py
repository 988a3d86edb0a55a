"""The two methods without a model: random search and the centre of the box."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsebo.optimizer import Candidate, Observations, Told, stream

Array = NDArray[np.float64]


class RandomSearch:
    """Uniform points of the box. A point's z is its number: (seed, t) draws it again."""

    done = False

    def __init__(self, D: int, seed: int) -> None:
        self.D, self.seed = D, seed
        self.observed = Observations()

    def ask(self) -> Candidate:
        """The next uniform point."""
        t = len(self.observed) + 1
        z = np.array([float(t)])
        return Candidate(t, z, self.lift(z))

    def tell(self, candidate: Candidate, y: float) -> Told:
        """Nothing is learnt."""
        self.observed.add(candidate.z, y)
        return Told()

    def lift(self, z: Array) -> Array:
        """Draw the point of that number again."""
        return stream(self.seed, int(z[0])).uniform(-1.0, 1.0, size=self.D)

    def checksum(self) -> None:
        """No random matrix."""

    def state_dict(self) -> dict[str, Any]:
        """See `Optimizer.state_dict`."""
        return {"data": self.observed.as_data()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """See `Optimizer.load_state_dict`."""
        self.observed.load(state["data"])


class Centre(RandomSearch):
    """The centre of the box, once: the line that every curve should be read against."""

    @property
    def done(self) -> bool:  # type: ignore[override]
        """After one evaluation that did not fail."""
        return self.observed.any_finite

    def lift(self, z: Array) -> Array:
        """The centre."""
        return np.zeros(self.D)
