"""What methods with a growing subspace share: the settings of the strategy in `dsebo/expansion.py`."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationInfo, field_validator

from dsebo.expansion import AlphaMode, Growth, Steps, Strategy
from dsebo.methods._batches import BatchConfig
from dsebo.objectives.fields import MAX_D, setting, whole_number


class GrowthConfig(BatchConfig):
    """When the subspace grows, and how far; the symbols are the paper's."""

    beta: float = setting(12.0, "Expansion scale", symbol="β", gt=0, le=1e6)
    """How cautious growth is. First step (d_h − d_l)/β, patience budget/2β. Large β: many small, impatient
    steps. Try 1, 12, 32."""
    d_l: int = setting(5, "First dimension", symbol="d_l", ge=1, le=MAX_D)
    """Where the subspace starts. Small: the first evaluations learn much about little. Default 5."""
    d_h: int = setting(100, "Largest dimension", symbol="d_h", ge=1, le=MAX_D)
    """How far the subspace may grow. Below d_e the optimum is out of reach. Default min(D, 100)."""
    alpha: float = setting(0.5, "Least gain", symbol="α", advanced=True, ge=0)
    """What counts as progress: a gain must exceed this, or patience runs on. Large α: sooner out of patience.
    Compare it with the values of the function."""
    alpha_mode: AlphaMode = setting("absolute", "Gain is measured", symbol="α_t", advanced=True)
    """In units of the function, as a share of the spread of the values so far, or as a share of what this
    subspace has gained."""
    min_step: int = setting(0, "Least step", symbol="Δd_min", advanced=True, ge=0, le=MAX_D)
    """The smallest growth. With 0, as in the paper, a step that has come to 0 stays 0 for good."""
    growth: Growth = setting("patience", "Growth", symbol="γ", advanced=True)
    """When the subspace grows: as the paper has it, when patience runs out without a gain; or steadily, every
    T evaluations, whatever they gained."""
    steps: Steps = setting("last", "Step is scaled from", symbol="Δd", advanced=True)
    """What k scales: the last step, as the paper has it, where 0 stays 0; or the first one, so that none dies
    out."""

    @classmethod
    def complete(cls, given: dict[str, Any], D: int) -> dict[str, Any]:
        """d_h = min(D, 100), d_l = 5 or d_h if that is less."""
        d_h = given.get("d_h", min(D, 100))
        return {"d_l": min(5, max(1, whole_number(d_h) or 5)), "d_h": d_h, **given}

    @field_validator("d_h")
    @classmethod
    def _not_below_d_l(cls, d_h: int, info: ValidationInfo) -> int:
        d_l = info.data.get("d_l")
        if d_l is not None and d_l > d_h:
            raise ValueError(f"d_l must be a whole number from 1 to d_h = {d_h} (got {d_l}).")
        return d_h

    def check(self, D: int) -> None:
        """d_h may not exceed D."""
        if self.d_h > D:
            raise ValueError(f"d_h must be a whole number from d_l = {self.d_l} to D = {D} (got {self.d_h}).")

    def warnings(self, budget: int) -> list[str]:
        """A first step of 0; a patience of the whole budget."""
        texts = []
        if self.beta > self.d_h - self.d_l and self.min_step == 0 and self.d_h > self.d_l:
            texts.append(
                f"β = {self.beta:g} is above d_h - d_l = {self.d_h - self.d_l}: the first step may "
                f"be 0, and then the subspace never grows."
            )
        if budget / (2 * self.beta) >= budget:
            texts.append(f"β = {self.beta:g} gives a patience of the whole budget or more.")
        return texts

    def strategy(self, budget: int) -> Strategy:
        """The expansion strategy of a run of that budget."""
        return Strategy(
            self.d_l,
            self.d_h,
            self.beta,
            budget,
            self.alpha,
            self.alpha_mode,
            min_step=self.min_step,
            growth=self.growth,
            steps=self.steps,
        )
