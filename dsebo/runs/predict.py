"""What a run will cost, from a small model fitted to measured runs."""

from __future__ import annotations

from dataclasses import dataclass

from dsebo.config import RunConfig
from dsebo.methods.cost import Coefficients, CostedConfig
from dsebo.methods.effort import effort, search_bytes


@dataclass(frozen=True)
class Prediction:
    """Seconds of one core and bytes of memory, before the run begins."""

    seconds: float
    memory_bytes: int


_BASE_BYTES = 2_000_000
_DRAW = 16e-9  # seconds for an entry of S
_TOUCH = 2e-9  # seconds for an entry of A_d in a lift, or of x in an evaluation (some of them)
# Fit and acquisition of DSEBO, as `python -m benchmarks.peer_cost` measures and fits them.
_MODEL = Coefficients(n=8.03e6, n3=24.9)


def embedding_seconds(n: int, D: int, d_h: int) -> float:
    """Drawing S, and lifting and evaluating n points."""
    return _DRAW * D * d_h + n * _TOUCH * D * (d_h + 20)


def predict(config: RunConfig, budget: int | None = None) -> Prediction:
    """Seconds and bytes of a run. A peer method knows its own cost; DSEBO's is reckoned here."""
    n, D = budget or config.budget, config.objective.D
    method = config.optimizer
    if isinstance(method, CostedConfig):
        cost = method.cost(D, n)
        return Prediction(cost.seconds, _BASE_BYTES + cost.memory_bytes)
    points = 8 * n * method.d_h
    kernel = 8 * 6 * n * n  # the kernel matrix, its factor and some copies
    modelling = _MODEL.seconds(n, D, method.d_h) * effort(method, n)
    seconds = embedding_seconds(n, D, method.d_h) + modelling
    memory = 8 * D * method.d_h + points + kernel + search_bytes(method, n)
    return Prediction(seconds, _BASE_BYTES + memory)
