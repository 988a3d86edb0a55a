"""The protocol that DSEBO and every other method share: ask for a point, tell its value.

The caller owns the loop and evaluates the objective; an optimizer never sees it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dsebo.events import Event

Array = NDArray[np.float64]


def stream(seed: int, t: int) -> np.random.Generator:
    """The random numbers of step t (0: of what is drawn before the first step).

    They depend on nothing but (seed, t), so a run can be carried on from any step, and two runs
    in two threads share nothing.
    """
    return np.random.default_rng(np.random.SeedSequence(entropy=seed, spawn_key=(t,)))


@dataclass(frozen=True)
class Candidate:
    """A point to be evaluated.

    Attributes:
        t: Its number, from 1.
        z: The point in the method's own space; `Optimizer.lift(z)` gives x.
        x: (D,) the point of the box.
        d: Dimension of the subspace it was chosen in; None where a method has none.
    """

    t: int
    z: Array
    x: Array
    d: int | None = None
    seconds_fit: float = 0.0
    seconds_acq: float = 0.0


@dataclass(frozen=True)
class Told:
    """What a value led to: the patience as it was counted, and the events that it caused."""

    T: int | None = None
    since_gain: int | None = None
    events: list[Event] = field(default_factory=list)


class Optimizer(Protocol):
    """One method at work on one run."""

    @property
    def done(self) -> bool:
        """Whether the method has nothing more to ask, whatever the budget."""
        ...

    def ask(self) -> Candidate:
        """The next point. Asking again before `tell` gives the same point."""
        ...

    def tell(self, candidate: Candidate, y: float) -> Told:
        """Take the value of an asked point; NaN or infinity where its evaluation failed."""
        ...

    def lift(self, z: Array) -> Array:
        """The x in [-1, 1]^D that a stored z stands for."""
        ...

    def checksum(self) -> str | None:
        """A fingerprint of the random matrix behind `lift`; None where there is none."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """All that the next `ask` depends on.

        `state["data"]` is a list of (z, y), one for each evaluation; the rest is small and plain
        JSON. A store that keeps the evaluations anyway can leave "data" out and put it back.
        """
        ...

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a `state_dict` of an optimizer with the same settings."""
        ...


class Observations:
    """The evaluations told so far: z of whatever length, y (NaN where failed)."""

    def __init__(self) -> None:
        self.points: list[Array] = []
        self.values: list[float] = []

    def add(self, z: Array, y: float) -> None:
        """Record one evaluation; a value that is not finite is kept as NaN."""
        self.points.append(z)
        self.values.append(y if np.isfinite(y) else float("nan"))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def any_finite(self) -> bool:
        """Whether any evaluation has succeeded."""
        return bool(np.isfinite(self.values).any())

    def values_for_model(self) -> Array:
        """(n,) y, with a failed evaluation at the worst finite value."""
        y = np.array(self.values)
        return np.where(np.isfinite(y), y, np.nanmax(y))

    def as_data(self) -> list[tuple[Array, float]]:
        """As `state_dict` gives it."""
        return list(zip(self.points, self.values, strict=True))

    def load(self, data: list[tuple[Any, float]]) -> None:
        """From what `as_data` gave."""
        self.points = [np.array(z, dtype=np.float64) for z, _ in data]
        self.values = [float("nan") if y is None else float(y) for _, y in data]
