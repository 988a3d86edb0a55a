"""Population methods: LM-MA-ES and DCEM."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

from pydantic import ValidationInfo, field_validator

from dsebo.methods.cost import Coefficients, CostedConfig
from objectives.fields import setting


class LmMaEsConfig(CostedConfig):
    """LM-MA-ES (Loshchilov et al. 2019): an evolution strategy with a few direction vectors."""

    label: ClassVar[str] = "LM-MA-ES"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n=2.54e5, n_D=13.3)
    method: Literal["lm-ma-es"] = "lm-ma-es"
    offspring: int = setting(24, "Offspring", "Points of a generation; 4 + ⌊3 ln D⌋.", "λ", ge=4, le=100_000)
    paths: int = setting(24, "Direction vectors", "How many are kept; λ.", "m", ge=1, le=100_000)
    sigma: float = setting(0.3, "First step size", "Deviation of the first generation.", "σ", gt=0, le=10)

    @classmethod
    def complete(cls, given: dict[str, Any], D: int) -> dict[str, Any]:
        """λ = 4 + ⌊3 ln D⌋ and m = λ."""
        offspring = given.get("offspring", 4 + math.floor(3 * math.log(max(D, 1))))
        return {"offspring": offspring, "paths": offspring, **given}

    def check(self, D: int) -> None:
        """c_σ = 2 λ / D is a rate: it may not exceed 1."""
        if 2 * self.offspring > D:
            raise ValueError(
                f"offspring = {self.offspring} is not allowed at D = {D}: LM-MA-ES needs "
                f"D ≥ 2 λ = {2 * self.offspring}, as its rate c_σ = 2 λ / D may not exceed 1."
            )

    def extra_bytes(self, D: int, budget: int) -> int:
        """The direction vectors, before and after a generation, and its points."""
        return 8 * D * (2 * self.paths + 2 * self.offspring)


class DcemConfig(CostedConfig):
    """DCEM (Amos and Yarats 2020): the cross-entropy method with a soft choice of elites."""

    label: ClassVar[str] = "DCEM"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n=1.5e5, n_D=17.4)
    method: Literal["dcem"] = "dcem"
    population: int = setting(20, "Samples", "Points of a generation.", "N", ge=2, le=100_000)
    elites: int = setting(10, "Elites", "What the weights sum to.", "k", ge=1, le=100_000)
    sharpness: float = setting(
        1.0, "Sharpness", "Large: a hard choice of elites; small: equal weights.", "τ", gt=0, le=1e6
    )
    sigma: float = setting(0.3, "First deviation", "Deviation of the first generation.", "σ", gt=0, le=10)

    @field_validator("elites")
    @classmethod
    def _below_population(cls, elites: int, info: ValidationInfo) -> int:
        population = info.data.get("population")
        if population is not None and elites >= population:
            raise ValueError(f"elites = {elites} is not allowed: a whole number from 1 to population - 1.")
        return elites
