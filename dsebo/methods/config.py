"""The settings of a method: their common base, and DSEBO's own in the paper's symbols."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import ValidationInfo, field_validator

from objectives.fields import MAX_D, MAX_SEED, Frozen, setting


class MethodConfig(Frozen):
    """Base of every method's settings. `method` is its name."""

    label: ClassVar[str]

    @classmethod
    def complete(cls, given: dict[str, Any], D: int) -> dict[str, Any]:
        """`given` with the defaults filled in that depend on other settings."""
        return given

    def check(self, D: int) -> None:
        """Raise ValueError, in one sentence, where a setting does not fit D."""

    def warnings(self, budget: int) -> list[str]:
        """What is allowed but will surprise, in words."""
        return []


class DseboConfig(MethodConfig):
    """DSEBO; the symbols are the paper's."""

    label: ClassVar[str] = "DSEBO"
    method: Literal["dsebo"] = "dsebo"
    variant: Literal["paper", "authors"] = setting(
        "paper", "Variant", "As the paper describes it, or as its authors' code does it."
    )
    beta: float = setting(12.0, "Expansion scale", "Larger: smaller steps, less patience.", "β", gt=0, le=1e6)
    d_l: int = setting(5, "First dimension", "Where the subspace starts.", "d_l", ge=1, le=MAX_D)
    d_h: int = setting(
        100, "Largest dimension", "How far the subspace may grow; min(D, 100).", "d_h", ge=1, le=MAX_D
    )
    alpha: float = setting(0.5, "Least gain", "A gain must exceed this to count.", "α", advanced=True, ge=0)
    alpha_mode: Literal["absolute", "relative"] = setting(
        "absolute",
        "Gain is measured",
        "α itself, or a share of the spread of the values so far.",
        advanced=True,
    )
    min_step: int = setting(
        0,
        "Least step",
        "With 0, as in the paper, a step of 0 is for good.",
        "Δd_min",
        advanced=True,
        ge=0,
        le=MAX_D,
    )
    kappa_scale: float = setting(
        0.1, "Exploration", "Factor on κ = 0.2 d log 2n of the acquisition.", "κ", advanced=True, ge=0, le=1e6
    )
    kernel: Literal["matern", "rbf"] = setting(
        "matern", "Kernel", "Matérn-5/2 or squared exponential, one lengthscale a dimension.", advanced=True
    )
    lengthscale_prior: Literal["dimension-scaled", "gamma"] = setting(
        "dimension-scaled",
        "Prior of the lengthscales",
        "Growing with √d (BoTorch's now), or Gamma(3, 6) (BoTorch's then).",
        advanced=True,
    )
    fit_outputscale: bool = setting(
        False, "Fit the output scale", "Else it is fixed at the targets' variance.", advanced=True
    )
    targets: Literal["standardised", "centred"] = setting(
        "standardised", "Targets", "What the Gaussian process is fitted to.", advanced=True
    )
    fit_iterations: int = setting(
        15,
        "Iterations of a fit",
        "Cap of L-BFGS iterations; each fit starts from the last.",
        advanced=True,
        ge=1,
        le=1000,
    )
    refit_every: float = setting(
        0.02,
        "Refit after",
        "Share of new data after which hyper-parameters are refitted.",
        advanced=True,
        ge=0,
        le=1,
    )
    restarts: int = setting(
        5, "Restarts", "Starting points of the acquisition's search.", advanced=True, ge=1, le=1000
    )
    raw_samples: int = setting(
        100,
        "Raw samples",
        "Random points among which the restarts are chosen.",
        advanced=True,
        ge=1,
        le=100_000,
    )
    local_samples: int = setting(
        50,
        "Local samples",
        "Points around the best ones, chosen from likewise.",
        advanced=True,
        ge=0,
        le=100_000,
    )
    acq_iterations: int = setting(
        40,
        "Iterations of the acquisition",
        "Cap of L-BFGS iterations; 0: the best sample is taken as it is.",
        advanced=True,
        ge=0,
        le=10_000,
    )
    embedding_seed: int | None = setting(
        None,
        "Seed of the embedding",
        "Changes S alone; else it follows the run's seed.",
        advanced=True,
        ge=0,
        le=MAX_SEED,
    )

    AUTHORS: ClassVar[dict[str, Any]] = {
        "kappa_scale": 1.0,
        "kernel": "matern",
        "lengthscale_prior": "gamma",
        "fit_outputscale": True,
        "targets": "centred",
    }

    @classmethod
    def complete(cls, given: dict[str, Any], D: int) -> dict[str, Any]:
        """d_h = min(D, 100), d_l = 5 or d_h if that is less; the authors' GP for their variant."""
        d_h = given.get("d_h", min(D, 100))
        d_l = min(5, d_h) if isinstance(d_h, int) and d_h > 0 else 5
        of_variant = cls.AUTHORS if given.get("variant") == "authors" else {}
        return {**of_variant, "d_l": d_l, "d_h": d_h, **given}

    @field_validator("d_h")
    @classmethod
    def _not_below_d_l(cls, d_h: int, info: ValidationInfo) -> int:
        d_l = info.data.get("d_l")
        if d_l is not None and d_l > d_h:
            raise ValueError(f"d_l = {d_l} is not allowed: a whole number from 1 to d_h = {d_h}.")
        return d_h

    def check(self, D: int) -> None:
        """d_h may not exceed D."""
        if self.d_h > D:
            raise ValueError(
                f"d_h = {self.d_h} is not allowed: a whole number from d_l = {self.d_l} to D = {D}."
            )

    def warnings(self, budget: int) -> list[str]:
        """A first step of 0; a patience of the whole budget."""
        said = []
        if self.beta > self.d_h - self.d_l and self.min_step == 0 and self.d_h > self.d_l:
            said.append(
                f"β = {self.beta:g} is above d_h - d_l = {self.d_h - self.d_l}: the first step may "
                f"be 0, and then the subspace never grows."
            )
        if budget / (2 * self.beta) >= budget:
            said.append(f"β = {self.beta:g} gives a patience of the whole budget or more.")
        return said
