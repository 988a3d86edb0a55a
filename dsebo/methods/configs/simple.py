"""The two methods without a model."""

from __future__ import annotations

from typing import ClassVar, Literal

from dsebo.methods.cost import Coefficients, Cost, CostedConfig
from objectives.fields import setting

MAX_SOBOL = 21_201  # dimensions for which scipy has direction numbers


class RandomConfig(CostedConfig):
    """Random search."""

    label: ClassVar[str] = "Random search"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n=1.25e5, n_D=1.85)
    method: Literal["random"] = "random"
    points: Literal["uniform", "sobol", "upper-half"] = setting(
        "uniform",
        "Points",
        "Uniform in the box, scrambled Sobol, or in [0, 1] only, as most printed figures suggest.",
    )

    def check(self, D: int) -> None:
        """Sobol has a largest dimension."""
        if self.points == "sobol" and D > MAX_SOBOL:
            raise ValueError(f"points = 'sobol' is not allowed at D = {D}: up to D = {MAX_SOBOL}.")


class CentreConfig(CostedConfig):
    """One evaluation of the centre of the box: the line that every curve is read against."""

    label: ClassVar[str] = "Centre"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n_D=40)
    method: Literal["centre"] = "centre"

    def cost(self, D: int, budget: int) -> Cost:
        """Of one evaluation, whatever the budget."""
        return super().cost(D, 1)
