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

from dsebo.events import RegionChanged
from dsebo.gp.peer_acquisition import Proposal
from dsebo.gp.peer_surrogate import GaussianProcess, GPSettings
from dsebo.gp.thompson import perturbations, sample_at
from dsebo.methods._peer import Array
from dsebo.methods.configs.region import RegionConfig


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


def new_model(config: RegionConfig) -> GaussianProcess:
    """Matérn-5/2 ARD by maximum likelihood, within the authors' bounds."""
    return GaussianProcess(
        GPSettings(
            flat=True,
            fit_outputscale=True,
            fit_iterations=config.fit_iterations,
            refit_every=config.refit_every,
            lengthscale_start=0.5,
            noise_start=5e-3,
            lengthscale_bounds=(0.005, 2.0),
            outputscale_bounds=(0.05, 20.0),
            noise_bounds=(5e-4, 0.2),
        )
    )


def region_box(centre: Array, lengthscale: Array, length: float) -> tuple[Array, Array]:
    """(low, high): sides L l_j / (geometric mean of l), cut to the unit box."""
    weights = lengthscale / lengthscale.mean()
    weights /= np.exp(np.log(weights).mean())
    half = 0.5 * length * weights
    return np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)


def propose_inside(
    gp: GaussianProcess,
    config: RegionConfig,
    length: float,
    data: tuple[Array, Array],
    rng: np.random.Generator,
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
