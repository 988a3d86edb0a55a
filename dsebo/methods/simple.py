"""The two methods without a model: random search and the centre of the box."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsebo.methods.base import Candidate, Observations, Told, stream
from dsebo.methods.configs import RandomConfig

Array = NDArray[np.float64]


class RandomSearch:
    """Random points of the box. A point's z is its number: (seed, t) draws it again."""

    done = False

    def __init__(self, config: RandomConfig, D: int, seed: int) -> None:
        self.D, self.seed = D, seed
        self.low = 0.0 if config.points == "upper-half" else -1.0
        self.sequence = SobolSequence(D, seed) if config.points == "sobol" else None
        self.observed = Observations()

    def ask(self) -> Candidate:
        """The next point."""
        t = len(self.observed) + 1
        z = np.array([float(t)])
        return Candidate(t, z, self.lift(z))

    def tell(self, candidate: Candidate, y: float) -> Told:
        """Nothing is learnt."""
        self.observed.add(candidate.z, y)
        return Told()

    def lift(self, z: Array) -> Array:
        """Draw the point of that number again."""
        number = int(z[0])
        if self.sequence is not None:
            return 2.0 * self.sequence.point(number) - 1.0
        return stream(self.seed, number).uniform(self.low, 1.0, size=self.D)

    def checksum(self) -> None:
        """No random matrix."""

    def state_dict(self) -> dict[str, Any]:
        """See `Optimizer.state_dict`."""
        return {"data": self.observed.as_data()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """See `Optimizer.load_state_dict`."""
        self.observed.load(state["data"])


class SobolSequence:
    """Scrambled Sobol points of [0, 1)^D, by their number from 1."""

    def __init__(self, D: int, seed: int) -> None:
        from scipy.stats import qmc  # half of what `import dsebo` would take otherwise

        self.engine = qmc.Sobol(D, rng=stream(seed, 0))

    def point(self, number: int) -> Array:
        """(D,) the point of that number; the next one is the quickest."""
        ahead = number - 1 - self.engine.num_generated
        if ahead < 0:
            self.engine.reset()
            ahead = number - 1
        if ahead:
            self.engine.fast_forward(ahead)
        drawn: Array = self.engine.random(1)[0]
        return drawn


class Centre(RandomSearch):
    """The centre of the box, once: the line that every curve should be read against."""

    def __init__(self, D: int, seed: int) -> None:
        super().__init__(RandomConfig(), D, seed)

    @property
    def done(self) -> bool:  # type: ignore[override]
        """After one evaluation that did not fail."""
        return self.observed.any_finite

    def lift(self, z: Array) -> Array:
        """The centre."""
        return np.zeros(self.D)
