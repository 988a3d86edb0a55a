"""Methods with a trust region: TuRBO in the whole box, BAxUS in nested subspaces."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import ValidationInfo, field_validator

from dsebo.methods.configs.model import ModelConfig, n_init_setting
from dsebo.methods.cost import Coefficients
from objectives.fields import setting


class RegionConfig(ModelConfig):
    """The trust region's own settings; lengths are in units of the box's side."""

    L_init: float = setting(0.8, "First length", "Side of the region at the start.", "L", gt=0, le=2)
    L_min: float = setting(2.0**-7, "Least length", "Below it the region is given up.", "L_min", gt=0, le=1)
    L_max: float = setting(1.6, "Largest length", "It grows no further.", "L_max", gt=0, le=2)
    success_tolerance: int = setting(
        3, "Success tolerance", "Successes in a row that double the region.", "τ_s", ge=1, le=1000
    )
    candidates: int = setting(
        5000,
        "Candidates",
        "Points of the region that a Thompson sample chooses from, ≤ 100 d.",
        advanced=True,
        ge=1,
        le=100_000,
    )
    perturbed: int = setting(
        20,
        "Perturbed coordinates",
        "How many of a candidate's coordinates differ, on average.",
        advanced=True,
        ge=1,
        le=100_000,
    )
    features: int = setting(
        512,
        "Features",
        "Random features that carry the prior part of a Thompson sample.",
        advanced=True,
        ge=16,
        le=100_000,
    )
    refit_every: float = setting(
        0.05,
        "Refit after",
        "Share of new data after which hyper-parameters are refitted.",
        advanced=True,
        ge=0,
        le=1,
    )

    def model_dimension(self, D: int) -> float:
        """That of the region."""
        return float(D)

    def extra_bytes(self, D: int, budget: int) -> int:
        """The random features, and what a Thompson sample holds for its candidates."""
        return 3 * 8 * D * self.features + 4 * self.candidates * (3 * budget + 2 * self.features)

    @field_validator("L_min")
    @classmethod
    def _below_first(cls, L_min: float, info: ValidationInfo) -> float:
        if "L_init" in info.data and L_min >= info.data["L_init"]:
            raise ValueError(f"L_min = {L_min:g} is not allowed: below L_init.")
        return L_min

    @field_validator("L_max")
    @classmethod
    def _above_first(cls, L_max: float, info: ValidationInfo) -> float:
        if "L_init" in info.data and L_max < info.data["L_init"]:
            raise ValueError(f"L_max = {L_max:g} is not allowed: not below L_init.")
        return L_max


class TurboConfig(RegionConfig):
    """TuRBO-1 (Eriksson et al. 2019).

    The authors' failure tolerance, max(4, D), and 2 D starting points both exceed a budget of 500
    at D = 1000: the region would never move. Hence the caps of 20.
    """

    label: ClassVar[str] = "TuRBO-1"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n=2.52e7, n_D=1.76e4, n3=87.3)
    method: Literal["turbo"] = "turbo"
    n_init: int = n_init_setting(20, "Sobol points of each new region; min(2 D, 20).")
    failure_tolerance: int = setting(
        20,
        "Failure tolerance",
        "Failures in a row that halve the region; min(max(4, D), 20).",
        "τ_f",
        ge=1,
        le=100_000,
    )

    @classmethod
    def complete(cls, given: dict[str, Any], D: int) -> dict[str, Any]:
        """The authors' 2 D starting points and tolerance max(4, D), both at most 20."""
        return {"n_init": min(2 * D, 20), "failure_tolerance": min(max(4, D), 20), **given}


class BaxusConfig(RegionConfig):
    """BAxUS (Papenmeier et al. 2022): a trust region in subspaces that split their bins."""

    label: ClassVar[str] = "BAxUS"
    COEFFICIENTS: ClassVar[Coefficients] = Coefficients(n2_d=121, n3=133)
    method: Literal["baxus"] = "baxus"
    b: int = setting(3, "New bins a split", "Each bin splits into b + 1.", "b", ge=1, le=1000)
    n_init: int = n_init_setting(10, "Scrambled Sobol points of the first subspace.")

    def model_dimension(self, D: int) -> float:
        """The last split comes late, if at all."""
        return D / 4
