"""What has searched in other software. Its runs are imported to be looked at; none can be started here."""

from __future__ import annotations

from typing import Literal

from dsebo.methods.base import Candidate, MethodConfig, Optimizer
from dsebo.objectives.fields import ConfigError

WHY = "It was imported from an Optuna study, to be looked at."


class OptunaConfig(MethodConfig):
    """A study of Optuna, whose storage does not say which sampler it had."""

    label = "Optuna"
    family = "Elsewhere"

    method: Literal["optuna"] = "optuna"

    def build(self, D: int, budget: int, seed: int) -> Elsewhere:
        """See `MethodConfig.build`."""
        return Elsewhere(D, seed)

    def unavailable(self) -> str:
        """It never can be run here."""
        return WHY


class Elsewhere(Optimizer):
    """Knows where its points are, and no next one."""

    def next_point(self) -> Candidate:
        """None."""
        raise ConfigError(WHY)
