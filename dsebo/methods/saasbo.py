"""SAASBO: a Gaussian process of all variables under a prior that lets few of them matter.

Eriksson, Jankowiak 2021; `dsebo.gp.saas` has the prior and both ways to learn under it. The authors
draw by NUTS at every evaluation and start from 20 points; here fits are shared out over the data as
in every method, and the draws come from plain Hamiltonian Monte Carlo.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from dsebo.events import Event, RelevanceChanged
from dsebo.gp.saas import SaasHmc, map_mixture
from dsebo.gp.surrogate import Kernel
from dsebo.methods._batches import BatchConfig
from dsebo.methods._shared import BoxBO, FullConfig, n_init_setting
from dsebo.methods.base import Candidate, stream
from dsebo.methods.cost import Coefficients, Prediction, fits
from dsebo.objectives.fields import setting

MATTERS = 5.0  # a variable with a shorter lengthscale than this matters
WARN_ABOVE = 3600.0  # seconds


class SaasboConfig(BatchConfig, FullConfig):
    """SAASBO: few of all variables matter."""

    label = "SAASBO"
    coefficients = Coefficients(n=4.87e7, n_D=9.61e4, n2_d=411, n3=156)

    method: Literal["saasbo"] = "saasbo"
    inference: Literal["map", "hmc"] = setting("map", "Inference")
    """How the model is learnt. map: four fits, each with its own idea of how many variables matter, in
    seconds. hmc: eight draws of the whole posterior, which know what they do not know; minutes per fit where
    D or n is large. Try hmc for up to 100 evaluations."""
    kernel: Kernel = setting("matern", "Kernel", advanced=True)
    """How smooth the function is taken to be: Matérn-5/2 (less) or squared exponential (very), with one
    lengthscale per variable."""
    draws: int = setting(8, "Draws", advanced=True, ge=1, le=256)
    """How many models hmc keeps, one of every 16 iterations. More: a smoother average, and longer fits."""
    warm_up: int = setting(256, "Warm-up", advanced=True, ge=4, le=10_000)
    """Iterations of the first hmc before a draw counts, in which it learns its step; later fits take a
    quarter. Too few: draws from where it started, not from the posterior."""
    n_init: int = n_init_setting(20, "Scrambled Sobol points of the box, evaluated before the model is used.")

    def build(self, D: int, budget: int, seed: int) -> SAASBO:
        """See `MethodConfig.build`."""
        return SAASBO(self, D, seed)

    def extra_bytes(self, D: int, budget: int) -> int:
        """Four or eight models: covariances, scaled points, hyper-parameters as they are stored."""
        models = 4 if self.inference == "map" else self.draws
        return super().extra_bytes(D, budget) + models * 8 * (2 * budget**2 + budget * D + 10 * D)

    def predict(self, D: int, budget: int) -> Prediction:
        """Of draws: besides the search, so many gradients per fit."""
        usual = super().predict(D, budget)
        if self.inference == "map":
            return usual
        return Prediction(usual.seconds + self._drawing(D, budget), usual.memory_bytes)

    def _drawing(self, D: int, budget: int) -> float:
        """Seconds of all draws: 16.5 gradients per iteration, of 0.1 ms + (D + n) n^2 1e-10 s about."""
        n = np.linspace(self.n_init, max(budget, self.n_init + 1), 50)
        gradients = 1e-4 + 1e-10 * n**2 * D + 1e-10 * n**3
        return float(
            gradients.mean() * 16.5 * (self.warm_up / 4 + 16 * self.draws) * fits(budget, self.refit_every)
        )

    def warnings(self, budget: int) -> list[str]:
        """That draws take long, whatever D."""
        if self.inference == "map" or (seconds := self._drawing(100, budget)) < WARN_ABOVE:
            return []
        return [
            f"Draws of the posterior take about {seconds / 3600:.0f} h even at D = 100: lower the budget, or "
            "take map."
        ]


class SAASBO(BoxBO):
    """Expected improvement, averaged over the models."""

    def __init__(self, config: SaasboConfig, D: int, seed: int) -> None:
        settings = config.surrogate_settings(
            kernel=config.kernel,
            fit_outputscale=True,
            outputscale_bounds=(1e-2, 1e4),
            noise_bounds=(1e-4, 1.0),
        )
        super().__init__(config, settings, config.n_init, None, D, seed)
        self.models = (
            map_mixture(settings)
            if config.inference == "map"
            else SaasHmc(settings, lambda n: stream(seed, n).spawn(1)[0], config.warm_up, config.draws)
        )
        self.gp = self.models  # type: ignore[assignment]
        self.top: list[int] = []  # the variables that were told last

    def after(self, candidate: Candidate, y: float) -> list[Event]:
        """The variables that matter most, where a fit has found others."""
        t = candidate.t
        if t <= self.n_init or self.models.n_fitted != t - 1 or not self.models.models:
            return []
        relevance = self.models.relevance
        active = int(np.count_nonzero(relevance > MATTERS**-2))
        most = np.argsort(-relevance, kind="stable")[: max(1, min(10, active))]
        if sorted(int(i) for i in most) == self.top:
            return []
        self.top = sorted(int(i) for i in most)
        shown = np.argsort(-relevance, kind="stable")[:10]
        shares = tuple(float(share) for share in relevance[shown] / relevance.sum())
        first = ", ".join(f"x{i}" for i in most[:5])
        text = f"Evaluation {t}: {active} of {self.D} variables matter" + (
            f", first {first}." if active else "."
        )
        if isinstance(self.models, SaasHmc):
            text += f" τ = {self.models.tau:.2g}."
        return [RelevanceChanged(t, tuple(int(i) for i in shown), shares, active, self.D, text)]

    def own_state(self) -> dict[str, Any]:
        """What was told, and all models."""
        return {"top": self.top, **super().own_state()}

    def load_own_state(self, state: dict[str, Any]) -> None:
        """The inverse of `own_state`."""
        self.top = [int(i) for i in state["top"]]
        super().load_own_state(state)
