"""TuRBO-1: one trust region in the whole box (Eriksson et al. 2019)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from dsebo.events import Event, Restarted
from dsebo.gp.designs import sobol, starting_point
from dsebo.methods._region import (
    Region,
    RegionConfig,
    after_value,
    change_event,
    propose_inside,
    region_from_json,
    region_to_json,
)
from dsebo.methods._shared import n_init_setting
from dsebo.methods.base import Array, Candidate, Optimizer, stream
from dsebo.methods.cost import Coefficients
from objectives.fields import setting


class TurboConfig(RegionConfig):
    """TuRBO-1.

    The authors' failure tolerance, max(4, D), and 2 D starting points both exceed a budget of 500
    at D = 1000: the region would never move. Hence the caps of 20.
    """

    label = "TuRBO-1"
    coefficients = Coefficients(n=2.52e7, n_D=1.76e4, n3=87.3)

    method: Literal["turbo"] = "turbo"
    n_init: int = n_init_setting(20, "Sobol points that each new region starts from. Default min(2 D, 20).")
    failure_tolerance: int = setting(
        20,
        "Failure tolerance",
        "When the region is too large: after so many failures in a row its side halves. Default "
        "min(max(4, D), 20).",
        "τ_f",
        ge=1,
        le=100_000,
    )

    @classmethod
    def complete(cls, given: dict[str, Any], D: int) -> dict[str, Any]:
        """The authors' 2 D starting points and tolerance max(4, D), both at most 20."""
        return {"n_init": min(2 * D, 20), "failure_tolerance": min(max(4, D), 20), **given}

    def build(self, D: int, budget: int, seed: int) -> TuRBO:
        """See `MethodConfig.build`."""
        return TuRBO(self, D, seed)


class TuRBO(Optimizer):
    """A local model around the best point of a region that doubles, halves and starts again."""

    def __init__(self, config: TurboConfig, D: int, seed: int) -> None:
        super().__init__(D, seed)
        self.config = config
        self._restart(0)

    def _restart(self, first: int) -> None:
        """A new region, whose data begin with the evaluation of that index."""
        self.first = first
        self.region = Region(self.config.L_init)
        self.gp = self.config.new_model()

    def ask(self) -> Candidate:
        """A starting point of the region, or the minimum of a Thompson sample inside it."""
        t = len(self.observed) + 1
        rng = stream(self.seed, t)
        number = len(self.observed) - self.first
        if number < self.config.n_init or not np.isfinite(self.region.best):
            design = sobol(self.config.n_init, self.D, stream(self.seed, self.first + 1))
            x = 2.0 * starting_point(design, number, rng) - 1.0
            return Candidate(t, x, x)
        U = (np.stack(self.observed.points[self.first :]) + 1.0) / 2.0
        u, *seconds = propose_inside(self.gp, self.config, self.region.length, (U, self._values()), rng)
        x = np.clip(2.0 * u - 1.0, -1.0, 1.0)
        return Candidate(t, x, x, None, *seconds)

    def _values(self) -> Array:
        """(n,) the region's values, a failed one at the worst of all."""
        return self.observed.values_for_model()[self.first :]

    def after(self, candidate: Candidate, y: float) -> list[Event]:
        """Move the region; give it up below L_min."""
        if not np.isfinite(y):  # a failure spends budget, not patience
            return []
        if len(self.observed) - self.first <= self.config.n_init:
            self.region = Region(self.region.length, best=min(y, self.region.best))
            return []
        before, tolerance = self.region, self.config.failure_tolerance
        self.region = after_value(before, self.config, tolerance, y)
        if self.region.length == before.length:
            return []
        if self.region.collapsed(self.config):
            best = self.region.best
            self._restart(len(self.observed))
            return [self._restarted(candidate.t, best)]
        grows = self.region.length > before.length
        counted = self.config.success_tolerance if grows else tolerance
        return [change_event(candidate.t, before, self.region, counted)]

    def _restarted(self, t: int, best: float) -> Restarted:
        text = (
            f"Evaluation {t}: the region is below L_min = {self.config.L_min:.3g}; a new one "
            f"starts from {self.config.n_init} points. Best of the one given up {best:.6g}."
        )
        return Restarted(t, best, text)

    def own_state(self) -> dict[str, Any]:
        """The region, where its data begin, and the model's hyper-parameters."""
        return {"region": region_to_json(self.region), "first": self.first, "surrogate": self.gp.state_dict()}

    def load_own_state(self, state: dict[str, Any]) -> None:
        """The inverse of `own_state`."""
        self.region = region_from_json(state["region"])
        self.first = int(state["first"])
        self.gp.load_state_dict(state["surrogate"])
