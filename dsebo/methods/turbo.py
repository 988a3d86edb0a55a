"""TuRBO-1: one trust region in the whole box (Eriksson et al. 2019)."""

from __future__ import annotations

from typing import Any, Literal

from dsebo.events import Restarted
from dsebo.methods._region import RegionConfig, RegionOptimizer
from dsebo.methods._shared import n_init_setting
from dsebo.methods.cost import Coefficients
from dsebo.objectives.fields import setting


class TurboConfig(RegionConfig):
    """TuRBO-1.

    The authors' failure tolerance, max(4, D), and 2 D starting points both exceed a budget of 500
    at D = 1000: the region would never move. Hence the caps of 20.
    """

    label = "TuRBO-1"
    coefficients = Coefficients(n=2.52e7, n_D=1.76e4, n3=87.3)

    method: Literal["turbo"] = "turbo"
    n_init: int = n_init_setting(20, "Sobol points that each new region starts from. Default min(2 D, 20).")
    failure_tolerance: int = setting(20, "Failure tolerance", symbol="τ_f", ge=1, le=100_000)
    """When the region is too large: after so many failures in a row its side halves. Default min(max(4, D),
    20)."""

    @classmethod
    def complete(cls, given: dict[str, Any], D: int) -> dict[str, Any]:
        """The authors' 2 D starting points and tolerance max(4, D), both at most 20."""
        return {"n_init": min(2 * D, 20), "failure_tolerance": min(max(4, D), 20), **given}

    def build(self, D: int, budget: int, seed: int) -> TuRBO:
        """See `MethodConfig.build`."""
        return TuRBO(self, D, seed)


class TuRBO(RegionOptimizer):
    """A region of the whole box; a new one where it collapses."""

    config: TurboConfig

    @property
    def failure_tolerance(self) -> int:
        """As set."""
        return self.config.failure_tolerance

    def collapse(self, t: int) -> Restarted:
        """A new region, from new points."""
        best = self.region.best
        self.restart()
        text = (
            f"Evaluation {t}: the region is below L_min = {self.config.L_min:.3g}; a new one "
            f"starts from {self.config.n_init} points. Best of the one given up {best:.6g}."
        )
        return Restarted(t, best, text)
