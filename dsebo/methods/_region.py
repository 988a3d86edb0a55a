"""The trust region of TuRBO and BAxUS: how it moves, and the step inside it.

Notation (Eriksson et al. 2019, section 2):
    L               side of the region, a share of the unit box's
    tau_s, tau_f    successes and failures in a row after which L doubles or halves
    u               a point of [0, 1]^d
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import numpy as np
from pydantic import ValidationInfo, field_validator

from dsebo.events import RegionChanged
from dsebo.gp.acquisition import Proposal
from dsebo.gp.surrogate import Surrogate
from dsebo.gp.thompson import perturbations, sample_at
from dsebo.methods._shared import ModelConfig, refit_setting
from dsebo.methods.base import Array
from objectives.fields import setting


class RegionConfig(ModelConfig):
    """The trust region's own settings; lengths are in units of the box's side."""

    L_init: float = setting(
        0.8, "First length", "Side of the region at the start, the box being 1.", "L", gt=0, le=2
    )
    L_min: float = setting(
        2.0**-7, "Least length", "When a region has failed: smaller, it is given up.", "L_min", gt=0, le=1
    )
    L_max: float = setting(
        1.6, "Largest length", "How wide a successful region may grow.", "L_max", gt=0, le=2
    )
    success_tolerance: int = setting(
        3,
        "Success tolerance",
        "When the region is too small: after so many successes in a row its side doubles.",
        "τ_s",
        ge=1,
        le=1000,
    )
    candidates: int = setting(
        5000,
        "Candidates",
        "Points of the region among which a Thompson sample chooses; at most 100 d are drawn.",
        advanced=True,
        ge=1,
        le=100_000,
    )
    perturbed: int = setting(
        20,
        "Perturbed coordinates",
        "How many coordinates of a candidate differ from the best point, on average. Few: local steps "
        "along some axes, which high dimension needs.",
        advanced=True,
        ge=1,
        le=100_000,
    )
    features: int = setting(
        512,
        "Features",
        "How exactly a Thompson sample follows the prior: random Fourier features, more are slower.",
        advanced=True,
        ge=16,
        le=100_000,
    )
    refit_every: float = refit_setting(0.05)

    @field_validator("L_min")
    @classmethod
    def _below_first(cls, L_min: float, info: ValidationInfo) -> float:
        if "L_init" in info.data and L_min >= info.data["L_init"]:
            raise ValueError(f"L_min must be below L_init = {info.data['L_init']:g} (got {L_min:g}).")
        return L_min

    @field_validator("L_max")
    @classmethod
    def _above_first(cls, L_max: float, info: ValidationInfo) -> float:
        if "L_init" in info.data and L_max < info.data["L_init"]:
            raise ValueError(f"L_max must be L_init = {info.data['L_init']:g} or more (got {L_max:g}).")
        return L_max

    def model_dimension(self, D: int) -> float:
        """That of the region."""
        return float(D)

    def extra_bytes(self, D: int, budget: int) -> int:
        """The random features, and what a Thompson sample holds for its candidates."""
        return 3 * 8 * D * self.features + 4 * self.candidates * (3 * budget + 2 * self.features)

    def search_work(self) -> float:
        """All features of all candidates."""
        return float(self.candidates * self.features)

    def new_model(self) -> Surrogate:
        """Matérn-5/2 ARD by maximum likelihood, within the authors' bounds."""
        return Surrogate(
            self.surrogate_settings(
                flat=True,
                fit_outputscale=True,
                lengthscale_start=0.5,
                noise_start=5e-3,
                lengthscale_bounds=(0.005, 2.0),
                outputscale_bounds=(0.05, 20.0),
                noise_bounds=(5e-4, 0.2),
            )
        )


@dataclass(frozen=True)
class Region:
    """Where a trust region stands."""

    length: float
    successes: int = 0
    failures: int = 0
    best: float = float("inf")

    def collapsed(self, config: RegionConfig) -> bool:
        """Whether it is below L_min."""
        return self.length < config.L_min


def region_to_json(region: Region) -> dict[str, Any]:
    """Plain JSON, which knows no infinity."""
    return {**asdict(region), "best": region.best if np.isfinite(region.best) else None}


def region_from_json(given: dict[str, Any]) -> Region:
    """The inverse of `region_to_json`."""
    return Region(**{**given, "best": np.inf if given["best"] is None else given["best"]})


def is_success(y: float, best: float) -> bool:
    """Whether y beats the best by 1e-3 of its size."""
    return y < best - 1e-3 * abs(best)


def after_value(region: Region, config: RegionConfig, failure_tolerance: int, y: float) -> Region:
    """The region after a value: counts, then L doubled or halved."""
    success = is_success(y, region.best) if np.isfinite(region.best) else True
    successes = region.successes + 1 if success else 0
    failures = 0 if success else region.failures + 1
    length, best = region.length, min(y, region.best)
    if successes == config.success_tolerance:
        return Region(min(2.0 * length, config.L_max), best=best)
    if failures == failure_tolerance:
        return Region(length / 2.0, best=best)
    return Region(length, successes, failures, best)


def change_event(t: int, before: Region, after: Region, tolerance: int) -> RegionChanged:
    """A change of L, in words."""
    grows = after.length > before.length
    why = f"{tolerance} {'successes' if grows else 'failures'} in a row"
    what = "grows" if grows else "shrinks"
    text = (
        f"Evaluation {t}: {why}; the region {what} from L = {before.length:.3g} to "
        f"{after.length:.3g}. Best of the region {after.best:.6g}."
    )
    return RegionChanged(t, before.length, after.length, after.best, text)


def region_box(centre: Array, lengthscale: Array, length: float) -> tuple[Array, Array]:
    """(low, high): sides L l_j / (geometric mean of l), cut to the unit box."""
    weights = lengthscale / lengthscale.mean()
    weights /= np.exp(np.log(weights).mean())
    half = 0.5 * length * weights
    return np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)


def propose_inside(
    gp: Surrogate, config: RegionConfig, length: float, data: tuple[Array, Array], rng: np.random.Generator
) -> Proposal:
    """The u that minimises a Thompson sample over candidates of the region.

    Args:
        gp: The model, as the last step left it.
        config: Number of candidates and how many of their coordinates differ from the centre.
        length: L.
        data: (n, d) points of the unit box and (n,) values.
        rng: The random numbers of this step.
    """
    U, y = data
    began = perf_counter()
    gp.update(U, y)
    fitted = perf_counter()
    centre = U[int(np.argmin(y))]
    low, high = region_box(centre, gp.now.lengthscale, length)
    d = centre.size
    n = min(100 * d, config.candidates)
    moves = perturbations(n, centre, low, high, min(1.0, config.perturbed / d), rng)
    values = sample_at(gp, centre, moves, config.features, rng)
    u = centre.copy()
    chosen = moves[[int(np.argmin(values))]]
    u[chosen.indices] = np.clip(
        centre[chosen.indices] + chosen.data, low[chosen.indices], high[chosen.indices]
    )
    return Proposal(u, fitted - began, perf_counter() - fitted)
