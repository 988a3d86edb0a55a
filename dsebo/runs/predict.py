"""What a run will cost, from a small model fitted to measured runs."""

from __future__ import annotations

from dataclasses import dataclass

from dsebo.config import RunConfig
from dsebo.peer_configs.cost import CostedConfig
from dsebo.peer_configs.effort import effort, search_bytes


@dataclass(frozen=True)
class Prediction:
    """Seconds of one core and bytes of memory, before the run begins."""

    seconds: float
    memory_bytes: int


# Measured on one 2.x GHz core; `benchmarks/runs_proof.py` prints measured against predicted.
_BASE_BYTES = 2_000_000
_DRAW = 16e-9  # seconds for an entry of S
_TOUCH = 2e-9  # seconds for an entry of A_d in a lift, or of x in an evaluation (some of them)
_STEP = 0.011  # seconds of an evaluation with a small model: fit and acquisition
_MODEL = 2.0e-7  # seconds n^2 of an evaluation with n observations: n^3 / 3 over a run


def predict(config: RunConfig, budget: int | None = None) -> Prediction:
    """Seconds and bytes of a run. A peer method knows its own cost; DSEBO's is reckoned here."""
    n, D = budget or config.budget, config.objective.D
    method = config.optimizer
    if isinstance(method, CostedConfig):
        cost = method.cost(D, n)
        return Prediction(cost.seconds, _BASE_BYTES + cost.memory_bytes)
    points = 8 * n * method.d_h
    kernel = 8 * 6 * n * n  # the kernel matrix, its factor and some copies
    draw = _DRAW * D * method.d_h
    modelling = (n * _STEP + _MODEL * n**3 / 3) * effort(method, n)
    seconds = draw + n * _TOUCH * D * (method.d_h + 20) + modelling
    memory = 8 * D * method.d_h + points + kernel + search_bytes(method, n)
    return Prediction(seconds, _BASE_BYTES + memory)
