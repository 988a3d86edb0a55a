"""What follows from a setting before anything is run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dsebo.config import RunConfig
from dsebo.methods._growth import GrowthConfig
from dsebo.objectives import EmbeddedConfig, EmbeddedFunction
from dsebo.objectives.base import ObjectiveConfig
from dsebo.objectives.references import CENTRE

LARGEST_D_FOR_FACTS = 1_000_000  # beyond it a point alone takes longer than a form may
FLOAT_BYTES = 8


@dataclass(frozen=True)
class Facts:
    """What follows from a setting before anything is run; None where it does not apply."""

    first_step: int | None
    first_patience: int | None
    most_patience: int | None
    largest_tail: float | None
    effective_reach: float | None
    matrix_bytes: int | None
    at_centre: float | None
    minimum: float | None
    minimum_note: str
    gradient_note: str


def facts(config: RunConfig) -> Facts:
    """The derived facts of a setting."""
    method = config.optimizer
    strategy = method.strategy(config.budget) if isinstance(method, GrowthConfig) else None
    embedded = config.objective if isinstance(config.objective, EmbeddedConfig) else None
    reach, centre, minimum, note = _values(config.objective)
    return Facts(
        first_step=strategy.first_step() if strategy else None,
        first_patience=strategy.first_patience() if strategy else None,
        most_patience=strategy.next_patience(strategy.d_h, strategy.d_h) if strategy else None,
        largest_tail=embedded.build().largest_tail() if embedded else None,
        effective_reach=reach,
        matrix_bytes=config.D * strategy.d_h * FLOAT_BYTES if strategy else None,
        at_centre=centre,
        minimum=minimum,
        minimum_note=note,
        gradient_note=config.objective.build().gradient_note,
    )


@lru_cache(maxsize=256)
def _values(config: ObjectiveConfig) -> tuple[float | None, float | None, float | None, str]:
    """(largest f found, F(centre), F*, why F* is not known); the slow part, so it is kept."""
    if config.D > LARGEST_D_FOR_FACTS:
        return None, None, None, f"D = {config.D} is too large to evaluate while one types."
    objective, known = config.build(), config.references()
    if objective.dear:
        return None, None, objective.minimum, objective.minimum_note
    if CENTRE in known:  # a real task: an evaluation takes longer than a form may
        return None, known[CENTRE], objective.minimum, objective.minimum_note
    return _reach(config), objective.at_centre(), objective.minimum, objective.minimum_note


def _reach(config: ObjectiveConfig) -> float | None:
    """The largest f at the corners of the effective box that were tried."""
    if not isinstance(config, EmbeddedConfig):
        return None
    alone = EmbeddedFunction(config.name, config.d_e, config.d_e, config.c, config.K)
    samples = max(2, min(512, 1_000_000 // config.d_e))
    corners = np.random.default_rng(0).choice([-1.0, 1.0], size=(samples, config.d_e))
    corners[0], corners[1] = -1.0, 1.0
    return float(alone(corners).max())
