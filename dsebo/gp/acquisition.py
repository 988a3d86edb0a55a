"""The next point of a subspace: minimise mu - sqrt(kappa) sigma over the box of z."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, minimize

from dsebo.gp.surrogate import Surrogate

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AcquisitionSettings:
    """How the acquisition function is searched; the paper leaves it open."""

    kappa_scale: float = 0.1
    restarts: int = 5  # starting points that are followed to a local minimum
    raw_samples: int = 100  # random points of the box among which they are chosen
    local_samples: int = 50  # and points around the best ones so far
    iterations: int = 40  # cap of L-BFGS iterations, for all restarts together; 0: no search


def kappa(scale: float, d: int, n: int) -> float:
    """kappa = kappa_scale 0.2 d log 2n."""
    return scale * 0.2 * d * float(np.log(2 * n))


def propose(
    surrogate: Surrogate,
    settings: AcquisitionSettings,
    Z: Array,
    y: Array,
    box: float,
    rng: np.random.Generator,
) -> Array:
    """The (d,) point of [-box, box]^d with the least confidence bound that was found.

    Args:
        surrogate: Fitted to Z and y.
        Z: (n, d) data, for starting points around the best of them.
        y: (n,) values.
        box: Half the width of the box.
        rng: The random numbers of this step.
    """
    n, d = Z.shape
    kappa_now = kappa(settings.kappa_scale, d, n)
    starts = _starting_points(settings, Z, y, box, rng)
    low, high = np.full(d, -box), np.full(d, box)

    def bound(z: Array) -> tuple[Array, Array]:
        return surrogate.lower_confidence_bound(z, kappa_now)

    return descend(bound, starts, low, high, settings)


def descend(
    function: Callable[[Array], tuple[Array, Array]],
    starts: Array,
    low: Array,
    high: Array,
    settings: AcquisitionSettings,
) -> Array:
    """(d,) the least end of the searches from the best of the `starts` (m, d).

    Args:
        function: Gives values (m,) and gradients (m, d) at m points.
        starts: Points of the box.
        low, high: (d,) the box.
        settings: How many are followed, and how far.
    """
    values, _ = function(starts)
    chosen = starts[np.argsort(values, kind="stable")[: settings.restarts]]
    if settings.iterations == 0:
        first: Array = chosen[0]
        return first
    shape = chosen.shape

    def total(flat: Array) -> tuple[float, Array]:
        # The sum over restarts: its gradient is theirs, one matrix product serves all of them.
        value, gradient = function(flat.reshape(shape))
        return float(value.sum()), gradient.ravel()

    # Bounds and not pairs, which SciPy would turn into them number by number.
    box = Bounds(np.tile(low, len(chosen)), np.tile(high, len(chosen)))
    found = minimize(
        total,
        chosen.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=box,
        options={"maxiter": settings.iterations, "maxcor": 10},
    )
    ends = np.clip(found.x.reshape(shape), low, high)
    values, _ = function(ends)
    least: Array = ends[int(np.argmin(values))]
    return least


def _starting_points(
    settings: AcquisitionSettings, Z: Array, y: Array, box: float, rng: np.random.Generator
) -> Array:
    """(raw + local, d) uniform points of the box, and perturbed copies of the five best data."""
    d = Z.shape[1]
    uniform = rng.uniform(-box, box, size=(settings.raw_samples, d))
    if settings.local_samples == 0:
        return uniform
    best = Z[np.argsort(y, kind="stable")[:5]]
    chosen = best[rng.integers(best.shape[0], size=settings.local_samples)]
    widths = box * rng.choice([0.01, 0.05, 0.2], size=(settings.local_samples, 1))
    local = chosen + widths * rng.standard_normal((settings.local_samples, d))
    return np.vstack([uniform, np.clip(local, -box, box)])
