"""What a run costs, before it starts: a small model of measured runs.

Over a run of n evaluations with a model of d dimensions the time is a sum of
    n           a step's own overhead, and the search of the acquisition in few data
    n D         points made and evaluated
    n^2 d       distances and gradients, in the acquisition and in the fits
    n^3         factorising the data's covariance in the fits
    n^3 d       the distances of all data to each other, at every step
    n^4         factorising their covariance, at every step (0.02e-9 s for any model)
with coefficients that `python -m benchmarks.peer_cost` measures and fits, in CPU seconds of one
core at a method's default settings; `MethodConfig.effort` scales it for others. Without a model
d = 0 and the first two remain. How fast a machine is, is measured (`runs/machine.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

BASE_BYTES = 2_000_000  # of any run
FIT_SHARE = 0.4  # of a step at the defaults; the acquisition takes the rest (benchmarks/README.md)


@dataclass(frozen=True)
class Prediction:
    """Seconds of one core and bytes of memory, before the run begins."""

    seconds: float
    memory_bytes: int

    def wall_seconds(self, n: int, speed: float | None) -> float:
        """How long n evaluations take at a chosen speed, in evaluations per second; None: as it can."""
        return self.seconds if speed is None else max(self.seconds, n / speed)


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


_pace = 1.0


def set_pace(pace: float) -> None:
    """Seconds that this machine takes for each one of the machine that was measured."""
    global _pace
    _pace = pace


def on_this_machine(prediction: Prediction) -> Prediction:
    """What was predicted for the machine that was measured, as it will be here."""
    return replace(prediction, seconds=_pace * prediction.seconds)


# Until a method is measured: about what the dearer ones of its kind take.
NOT_MEASURED = Coefficients(n=8e6, n_D=40, n2_d=1e3, n3=50)


def features(n: int, D: int, d: float) -> tuple[float, ...]:
    """The terms, in the order of `Coefficients`."""
    return float(n), float(n) * D, float(n) ** 2 * d, float(n) ** 3 * (d > 0), float(n) ** 3 * d


def factorising(n: int, d: float) -> float:
    """Seconds for the covariance of all data at every step; 0 without a model."""
    return 0.02e-9 * float(n) ** 4 * (d > 0)


def fits(n: int, refit_every: float) -> float:
    """How many fits: one per step at first, then one after each `refit_every` n further data."""
    grown = n * refit_every
    return float(n) if grown <= 1.0 else (1.0 + math.log(grown)) / refit_every
