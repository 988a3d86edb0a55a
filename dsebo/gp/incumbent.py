"""Which of the evaluated points is best where values are noisy: the lowest value is a lucky one.

One definition for all methods: a Gaussian process over x with one lengthscale (Matérn-5/2), fitted to all
values of the run, its noise that which was declared. The incumbent is the evaluated point whose posterior
mean is least. It is computed from the evaluations alone, so it changes nothing of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dsebo.gp.isotropic import IsotropicSurrogate
from dsebo.gp.surrogate import Array, SurrogateSettings

MOST_ENTRIES = 50_000_000  # of all points: 400 MB; whoever has more asks for no incumbent
LARGEST = 1e100  # of a value: squares are to be numbers
ITERATIONS = 50  # of the fit


@dataclass(frozen=True)
class Incumbent:
    """Evaluation `t`, and the posterior mean and standard deviation of the function there."""

    t: int
    mean: float
    deviation: float


def incumbent(points: Sequence[Array], values: Sequence[float], sigma: float) -> Incumbent | None:
    """The evaluated point with the least posterior mean.

    Args:
        points: (D,) x of every evaluation.
        values: y of every evaluation, not finite where it failed.
        sigma: The declared standard deviation of the noise, above 0.

    Returns:
        None where fewer than two evaluations have a value, or they are too large for a model.
    """
    y = np.array(values, dtype=np.float64)
    numbers = np.flatnonzero(np.isfinite(y))
    if numbers.size < 2 or np.abs(y[numbers]).max() > LARGEST:
        return None
    X, y = np.stack([points[i] for i in numbers.tolist()]), y[numbers]
    spread = float(y.std(ddof=1))
    if spread == 0:
        return Incumbent(int(numbers[0]) + 1, float(y[0]), 0.0)
    noise = float(np.clip((sigma / spread) ** 2, 1e-8, 1e4))  # of standardised values
    model = IsotropicSurrogate(
        SurrogateSettings(
            lengthscales="common",
            fit_outputscale=True,
            fit_iterations=ITERATIONS,
            noise_start=noise,
            noise_bounds=(noise, noise),
        )
    )
    try:
        model.update(X, y)
    except np.linalg.LinAlgError:  # the covariance of these points cannot be inverted
        return None
    mean, variance = model.posterior(X)
    best = int(np.argmin(mean))
    return Incumbent(int(numbers[best]) + 1, float(mean[best]), float(np.sqrt(variance[best])))
