"""The trust region of TuRBO and BAxUS: how it moves, and the step inside it.

Notation (Eriksson et al. 2019, section 2):
    L               side of the region, a share of the unit box's
    tau_s, tau_f    successes and failures in a row after which L doubles or halves
    u               a point of [0, 1]^d
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import numpy as np
from pydantic import ValidationInfo, field_validator

from dsebo.events import Event, RegionChanged
from dsebo.gp.acquisition import Proposal
from dsebo.gp.designs import sobol, starting_point
from dsebo.gp.surrogate import Surrogate
from dsebo.gp.thompson import perturbations, sample_at
from dsebo.methods._batches import BatchConfig
from dsebo.methods._shared import ModelConfig, ModelLiar, n_init_setting, refit_setting
from dsebo.methods.base import Array, Candidate, stream
from dsebo.objectives.fields import setting


class RegionConfig(BatchConfig, ModelConfig):
    """The trust region's own settings; lengths are in units of the box's side."""

    L_init: float = setting(0.8, "First length", symbol="L", gt=0, le=2)
    """Side of the region at the start, the box being 1."""
    L_min: float = setting(2.0**-7, "Least length", symbol="L_min", gt=0, le=1)
    """When a region has failed: smaller, it is given up."""
    L_max: float = setting(1.6, "Largest length", symbol="L_max", gt=0, le=2)
    """How wide a successful region may grow."""
    success_tolerance: int = setting(3, "Success tolerance", symbol="τ_s", ge=1, le=1000)
    """When the region is too small: after so many successes in a row its side doubles."""
    candidates: int = setting(5000, "Candidates", advanced=True, ge=1, le=100_000)
    """Points of the region among which a Thompson sample chooses; at most 100 d are drawn."""
    perturbed: int = setting(20, "Perturbed coordinates", advanced=True, ge=1, le=100_000)
    """How many coordinates of a candidate differ from the best point, on average. Few: local steps along some
    axes, which high dimension needs."""
    features: int = setting(512, "Features", advanced=True, ge=16, le=100_000)
    """How exactly a Thompson sample follows the prior: random Fourier features, more are slower."""
    refit_every: float = refit_setting(0.05)
    n_init: int = n_init_setting(20, "Sobol points that each new region starts from.")

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

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, which knows no infinity."""
        return {**asdict(self), "best": self.best if np.isfinite(self.best) else None}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Region:
        """The inverse of `to_json`."""
        return cls(**{**plain, "best": np.inf if plain["best"] is None else plain["best"]})


def after_value(
    region: Region, y: float, success_tolerance: int, failure_tolerance: int, L_max: float
) -> Region:
    """L doubles after so many successes in a row, and halves after so many failures.

    A success is better than the best by 1e-3 of the best's size.
    """
    success = not np.isfinite(region.best) or y < region.best - 1e-3 * abs(region.best)
    successes = region.successes + 1 if success else 0
    failures = 0 if success else region.failures + 1
    length, best = region.length, min(y, region.best)
    if successes == success_tolerance:
        return Region(min(2.0 * length, L_max), best=best)
    if failures == failure_tolerance:
        return Region(length / 2.0, best=best)
    return Region(length, successes, failures, best)


def region_box(centre: Array, lengthscale: Array, length: float) -> tuple[Array, Array]:
    """(low, high): sides L l_j / (geometric mean of l), cut to the unit box."""
    weights = lengthscale / lengthscale.mean()
    weights /= np.exp(np.log(weights).mean())
    half = 0.5 * length * weights
    return np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)


def propose_inside(
    gp: Surrogate, config: RegionConfig, length: float, data: tuple[Array, Array], rng: np.random.Generator
) -> Proposal:
    """The u that minimises a Thompson sample over candidates of the region."""
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


class RegionOptimizer(ModelLiar):
    """A local model around the best point of a region that doubles, halves and is given up.

    A method gives the failure tolerance and what follows a region that is given up.
    """

    config: RegionConfig

    def __init__(self, config: RegionConfig, D: int, seed: int) -> None:
        super().__init__(D, seed)
        self.config = config
        self.restart()

    def restart(self) -> None:
        """A new region, whose data begin after what has been asked so far."""
        self.first = len(self.observed) + len(self.pending)
        self.region, self.gp = Region(self.config.L_init), self.config.new_model()

    @property
    @abstractmethod
    def failure_tolerance(self) -> int:
        """Failures in a row after which the region halves."""

    @abstractmethod
    def collapse(self, t: int) -> Event:
        """Go on after evaluation t from a region that is below L_min."""

    def refine(self, z: Array) -> Array:
        """A stored point in the space that the region is in now."""
        return z

    def next_point(self) -> Candidate:
        """A starting point of the region, or the minimum of a Thompson sample inside it."""
        t, number = len(self.observed) + 1, len(self.observed) - self.first
        rng, n_init = stream(self.seed, t), self.config.n_init
        if number < n_init or not np.isfinite(self.region.best):
            design = sobol(n_init, self.d or self.D, stream(self.seed, self.first + 1))
            z = 2.0 * starting_point(design, number, rng) - 1.0
            return Candidate(t, z, self.lift(z), self.d)
        U = np.stack([(self.refine(z) + 1.0) / 2.0 for z in self.observed.points[self.first :]])
        y = self.observed.values_for_model()[self.first :]
        u, *seconds = propose_inside(self.gp, self.config, self.region.length, (U, y), rng)
        z = np.clip(2.0 * u - 1.0, -1.0, 1.0)
        return Candidate(t, z, self.lift(z), self.d, *seconds)

    def after(self, candidate: Candidate, y: float) -> list[Event]:
        """Move the region; give it up below L_min."""
        before, config, tolerance = self.region, self.config, self.failure_tolerance
        if not np.isfinite(y):  # a failure spends budget, not patience
            return []
        if len(self.observed) <= self.first:  # asked together with the last point of the region before
            return []
        if len(self.observed) - self.first <= config.n_init:
            self.region = Region(before.length, best=min(y, before.best))
            return []
        self.region = after_value(before, y, config.success_tolerance, tolerance, config.L_max)
        if self.region.length == before.length:
            return []
        if self.region.length < config.L_min:
            return [self.collapse(candidate.t)]
        grows = self.region.length > before.length
        why = f"{config.success_tolerance} successes" if grows else f"{tolerance} failures"
        text = (
            f"Evaluation {candidate.t}: {why} in a row; the region {'grows' if grows else 'shrinks'} from "
            f"L = {before.length:.3g} to {self.region.length:.3g}. Best of the region {self.region.best:.6g}."
        )
        return [RegionChanged(candidate.t, before.length, self.region.length, self.region.best, text)]

    def own_state(self) -> dict[str, Any]:
        """The region, where its data begin, and the model's hyper-parameters."""
        return {"region": self.region.to_json(), "first": self.first, **super().own_state()}

    def load_own_state(self, state: dict[str, Any]) -> None:
        """The inverse of `own_state`."""
        super().load_own_state(state)
        self.region, self.first = Region.from_json(state["region"]), int(state["first"])
