"""The two methods without a model."""

from __future__ import annotations

from typing import ClassVar, Literal

from dsebo.peer_configs.cost import Coefficients, Cost, CostedConfig


class RandomConfig(CostedConfig):
    """Random search."""

    label: ClassVar[str] = "Random search"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n=2.55e5, n_D=5.53)
    method: Literal["random"] = "random"


class CentreConfig(CostedConfig):
    """One evaluation of the centre of the box: the line that every curve is read against."""

    label: ClassVar[str] = "Centre"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n_D=40)
    method: Literal["centre"] = "centre"

    def cost(self, D: int, budget: int) -> Cost:
        """Of one evaluation, whatever the budget."""
        return super().cost(D, 1)
