"""The next point to evaluate: acquisitions, and the search for their minimum over a box."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import NamedTuple, Protocol

import numpy as np

from dsebo.gp.surrogate import Array, Score, Surrogate

_ONE = np.ones(1)
# The points among which a search chooses where to begin: of its settings, the best data and the box.
Starts = Callable[["AcquisitionSettings", Array, Array, Array, np.random.Generator], Array]
LOG_ROOT_2PI = 0.5 * float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class AcquisitionSettings:
    """How the acquisition function is searched; the paper leaves it open."""

    kappa_scale: float = 0.1
    restarts: int = 5  # starting points that are followed to a local minimum
    raw_samples: int = 100  # random points of the box among which they are chosen
    local_samples: int = 50  # and points around the best ones so far
    iterations: int = 40  # cap of L-BFGS iterations, for all restarts together; 0: no search
    calls: int = 15_000  # and of the points at which it may look, line searches included


# -- acquisitions of (mu, sigma), the least value being the best ------------------------------------


def kappa(scale: float, d: int, n: int) -> float:
    """kappa = kappa_scale 0.2 d log 2n."""
    return scale * 0.2 * d * float(np.log(2 * n))


def lower_bound(kappa: float) -> Score:
    """mu - sqrt(kappa) sigma."""
    root = float(np.sqrt(kappa))

    def score(mu: Array, sigma: Array) -> tuple[Array, Array, float]:
        return mu - root * sigma, _ONE, -root

    return score


def log_expected_improvement(best: float) -> Score:
    """-log EI over `best`: EI = sigma h(u), u = (best - mu) / sigma, h(u) = phi(u) + u Phi(u)."""
    from scipy.special import log_ndtr

    def score(mu: Array, sigma: Array) -> tuple[Array, Array, Array]:
        u = (best - mu) / sigma
        log_h = log_improvement(u)
        # d EI / d mu = -Phi(u), d EI / d sigma = phi(u): as logarithms, since all may underflow.
        by_mu = np.exp(log_ndtr(u) - log_h) / sigma
        by_sigma = -np.exp(-0.5 * u**2 - LOG_ROOT_2PI - log_h) / sigma
        return -(np.log(sigma) + log_h), by_mu, by_sigma

    return score


def log_improvement(u: Array) -> Array:
    """log h(u), h(u) = phi(u) + u Phi(u), without underflow (Ament et al. 2023)."""
    is_far = u < -1.0
    if is_far.all():
        return _far_improvement(u)
    if not is_far.any():
        return _near_improvement(u)
    return np.where(is_far, _far_improvement(np.minimum(u, -1.0)), _near_improvement(np.maximum(u, -1.0)))


def _far_improvement(u: Array) -> Array:
    """For u up to -1."""
    from scipy.special import erfcx

    tail = np.sqrt(np.pi / 2.0) * -u * erfcx(-u / np.sqrt(2.0))  # |u| Phi(u) / phi(u), below 1
    # 1 - tail tends to 1 / u^2 and cancels where u is far out.
    far = np.where(u < -1e3, -2.0 * np.log(-u), np.log1p(-np.minimum(tail, 1.0 - 1e-15)))
    value: Array = -0.5 * u**2 - LOG_ROOT_2PI + far
    return value


def _near_improvement(u: Array) -> Array:
    """For u from -1."""
    from scipy.special import log_ndtr

    phi = np.exp(-0.5 * u**2 - LOG_ROOT_2PI)
    value: Array = np.log(phi + u * np.exp(log_ndtr(u)))
    return value


# -- one step of Bayesian optimization --------------------------------------------------------------


class Proposal(NamedTuple):
    """A point of the model's box, and the time it took."""

    point: Array
    seconds_fit: float
    seconds_acq: float


def propose_by_bound(
    surrogate: Surrogate,
    settings: AcquisitionSettings,
    data: tuple[Array, Array],
    box: float,
    rng: np.random.Generator,
) -> Proposal:
    """DSEBO's step: fit, then the least mu - sqrt(kappa) sigma that is found over [-box, box]^d."""
    n, d = data[0].shape
    bound = lower_bound(kappa(settings.kappa_scale, d, n))
    return propose(surrogate, settings, lambda _: bound, data, (-box, box), rng, _starts_in_cube)


class Model(Protocol):
    """What a step needs of a surrogate, or of several that are averaged."""

    @property
    def target(self) -> Array:
        """(n,) the standardised values of the last update."""
        ...

    def update(self, Z: Array, y: Array) -> None:
        """Take the data (n, d), (n,); refit if it is time to."""
        ...

    def values(self, z: Array, score: Score) -> Array:
        """An acquisition at z (m, d) in standardised units."""
        ...

    def score(self, z: Array, score: Score) -> tuple[Array, Array]:
        """The same, and its gradient (m, d)."""
        ...


def propose(
    surrogate: Model,
    settings: AcquisitionSettings,
    score: Callable[[float], Score],
    data: tuple[Array, Array],
    box: tuple[float | Array, float | Array],
    rng: np.random.Generator,
    starts: Starts | None = None,
) -> Proposal:
    """A step: fit, then the least value of an acquisition that is found over the box.

    `box` is (low, high), the same for all coordinates or each its own. `score` is called once the model is
    fitted, with the least standardised value. The search begins at `starting_points` unless told otherwise.
    """
    Z, y = data
    began = perf_counter()
    surrogate.update(Z, y)
    fitted = perf_counter()
    d = Z.shape[1]
    low, high = np.full(d, box[0]), np.full(d, box[1])
    points = (starts or starting_points)(settings, best_points(Z, y), low, high, rng)
    chosen = score(float(surrogate.target.min()))
    values, function = partial(surrogate.values, score=chosen), partial(surrogate.score, score=chosen)
    point = descend(function, points, low, high, settings, values)
    return Proposal(point, fitted - began, perf_counter() - fitted)


def best_points(Z: Array, y: Array) -> Array:
    """(at most 5, d) the points with the least values."""
    return Z[np.argsort(y, kind="stable")[:5]]


def starting_points(
    settings: AcquisitionSettings, best: Array, low: Array, high: Array, rng: np.random.Generator
) -> Array:
    """(raw + local, d) uniform points of the box, and copies of the `best` (m, d) perturbed.

    Every second copy differs in about 20 coordinates only: in high dimension a point that differs
    in all of them is rarely better.
    """
    d, side = low.size, high - low
    uniform = low + side * rng.random((settings.raw_samples, d))
    n = settings.local_samples
    if n == 0:
        return uniform
    widths = 0.5 * side * rng.choice([0.01, 0.05, 0.2], size=(n, 1))
    kept = rng.random((n, d)) < np.where(np.arange(n) % 2 == 0, 1.0, 20.0 / d)[:, None]
    local = best[rng.integers(len(best), size=n)] + kept * widths * rng.standard_normal((n, d))
    return np.vstack([uniform, np.clip(local, low, high)])


def _starts_in_cube(
    settings: AcquisitionSettings, best: Array, low: Array, high: Array, rng: np.random.Generator
) -> Array:
    """As `starting_points`, but for the order of its draws, which DSEBO's histories hang on."""
    d, n = low.size, settings.local_samples
    uniform = rng.uniform(low, high, size=(settings.raw_samples, d))
    if n == 0:
        return uniform
    chosen = best[rng.integers(len(best), size=n)]
    widths = 0.5 * (high - low) * rng.choice([0.01, 0.05, 0.2], size=(n, 1))
    return np.vstack([uniform, np.clip(chosen + widths * rng.standard_normal((n, d)), low, high)])


def descend(
    function: Callable[[Array], tuple[Array, Array]],
    starts: Array,
    low: Array,
    high: Array,
    settings: AcquisitionSettings,
    values: Callable[[Array], Array] | None = None,
) -> Array:
    """(d,) the least end of the searches from the best of the `starts` (m, d).

    `values` gives the function without its gradient, where that takes less.
    """
    from scipy.optimize import Bounds, minimize

    values = values or (lambda z: function(z)[0])
    chosen = starts[np.argsort(values(starts), kind="stable")[: settings.restarts]]
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
    options = {"maxiter": settings.iterations, "maxfun": settings.calls, "maxcor": 10}
    search = minimize(total, chosen.ravel(), jac=True, method="L-BFGS-B", bounds=box, options=options)
    ends = np.clip(search.x.reshape(shape), low, high)
    least: Array = ends[int(np.argmin(values(ends)))]
    return least
