"""What population methods share: generations of points that are told one at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from dsebo.events import Event, Generation
from dsebo.methods.base import Array, Candidate, Optimizer, stream


@dataclass(frozen=True)
class Distribution(ABC):
    """Where a population is drawn from after `generation` generations."""

    generation: int
    mean: Array  # (D,)

    @property
    @abstractmethod
    def step_size(self) -> float:
        """Its deviation, or the mean of its deviations."""


State = TypeVar("State", bound=Distribution)


def generation_event(t: int, now: Distribution, sigma_before: float, values: Array) -> Generation:
    """That a generation of these values is complete, and where the distribution stands now."""
    finite = values[np.isfinite(values)]
    best, median = (finite.min(), np.median(finite)) if finite.size else (np.nan, np.nan)
    number, sigma = now.generation, now.step_size
    text = (
        f"Evaluation {t}: generation {number}, best {best:.6g}, median {median:.6g}; "
        f"step size {sigma_before:.3g} → {sigma:.3g}."
    )
    return Generation(t, number, sigma_before, sigma, float(best), float(median), text)


class Population(Optimizer, Generic[State]):
    """A distribution of points, updated after each generation of `size` evaluations.

    The distribution depends on nothing but the seed and the values, so it is not stored: a loaded
    run goes through its generations again, with the same random numbers.
    """

    size: int

    def __init__(self, D: int, seed: int) -> None:
        super().__init__(D, seed)
        self.state = self.start(stream(seed, 0))

    @abstractmethod
    def start(self, rng: np.random.Generator) -> State:
        """The distribution of the first generation."""

    @abstractmethod
    def sample(self, state: State, rng: np.random.Generator) -> Array:
        """(D,) a point, not yet clipped to the box."""

    @abstractmethod
    def update(self, state: State, first: int, X: Array, y: Array) -> State:
        """The next distribution, its `generation` one more; at least one value is finite."""

    def next_point(self) -> Candidate:
        """The next point of the generation."""
        self.advance()
        return self._point(len(self.observed) + 1)

    def next_points(self, q: int) -> list[Candidate]:
        """The next q points of the generation, or as many as it still has: none needs another's value."""
        self.advance()
        n = len(self.observed)
        return [self._point(n + 1 + i) for i in range(min(q, self.size - n % self.size))]

    def _point(self, t: int) -> Candidate:
        x = np.clip(self.sample(self.state, stream(self.seed, t)), -1.0, 1.0)
        return Candidate(t, x, x)

    def advance(self) -> None:
        """Go through all generations that are complete."""
        while (self.state.generation + 1) * self.size <= len(self.observed):
            first = self.state.generation * self.size
            X = np.stack(self.observed.points[first : first + self.size])
            y = np.array(self.observed.values[first : first + self.size])
            if np.isfinite(y).any():
                y = np.where(np.isfinite(y), y, np.inf)
                self.state = self.update(self.state, first + 1, X, y)
            else:  # nothing to learn from
                self.state = replace(self.state, generation=self.state.generation + 1)

    def after(self, candidate: Candidate, y: float) -> list[Event]:
        """An event when the generation is complete."""
        if len(self.observed) % self.size:
            return []
        before = self.state.step_size
        self.advance()
        values = np.array(self.observed.values[-self.size :])
        return [generation_event(candidate.t, self.state, before, values)]

    def load_own_state(self, state: object) -> None:
        """Begin again, and go through the generations."""
        self.state = self.start(stream(self.seed, 0))
        self.advance()
