"""What a run of a peer method costs, before it starts: a small model of measured runs.

Over a run of n evaluations with a model of d dimensions the time is a sum of
    n           a step's own overhead, and the search of the acquisition in few data
    n D         points made and evaluated
    n^2 d       distances and gradients, in the acquisition and in the fits
    n^3         factorising the data's covariance in the fits
    n^3 d       the distances of all data to each other, at every step
    n^4         factorising their covariance, at every step (0.02e-9 s for any model)
with coefficients that `python -m benchmarks.peer_cost` measures and fits, in CPU seconds of one
core at a method's default settings; `effort` scales it for others. Without a model d = 0 and the
first two remain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dsebo.methods.config import MethodConfig
from dsebo.methods.effort import effort, search_bytes


@dataclass(frozen=True)
class Cost:
    """Seconds of one core and bytes of memory."""

    seconds: float
    memory_bytes: int


@dataclass(frozen=True)
class Coefficients:
    """Seconds for each term, all in units of 1e-9."""

    n: float = 0.0
    n_D: float = 0.0
    n2_d: float = 0.0
    n3: float = 0.0
    n3_d: float = 0.0

    def seconds(self, n: int, D: int, d: float) -> float:
        """The sum of the terms; d = 0 where there is no model."""
        weights = (self.n, self.n_D, self.n2_d, self.n3, self.n3_d)
        terms = zip(weights, features(n, D, d), strict=True)
        return 1e-9 * float(sum(weight * term for weight, term in terms)) + factorising(n, d)


def features(n: int, D: int, d: float) -> tuple[float, ...]:
    """The terms, in the order of `Coefficients`."""
    return float(n), float(n) * D, float(n) ** 2 * d, float(n) ** 3 * (d > 0), float(n) ** 3 * d


def factorising(n: int, d: float) -> float:
    """Seconds for the covariance of all data at every step; 0 without a model."""
    return 0.02e-9 * float(n) ** 4 * (d > 0)


class CostedConfig(MethodConfig):
    """A method that knows what it costs."""

    COEFFICIENTS: ClassVar[Coefficients]

    def model_dimension(self, D: int) -> float:
        """d, the dimension of its model (on average over a run)."""
        return 0.0

    def extra_bytes(self, D: int, budget: int) -> int:
        """Memory besides the points and the model: an embedding, a population, candidates."""
        return 0

    def cost(self, D: int, budget: int) -> Cost:
        """Of a run of that many evaluations."""
        d = self.model_dimension(D)
        points = 2 * 8 * budget * int(d or D)  # as they are stored, and scaled for the model
        model = 8 * 8 * budget**2 if d else 0  # the covariance, its inverse and some copies
        seconds = self.COEFFICIENTS.seconds(budget, D, d) * effort(self, budget)
        memory = points + model + self.extra_bytes(D, budget) + search_bytes(self, budget)
        return Cost(seconds, memory)
