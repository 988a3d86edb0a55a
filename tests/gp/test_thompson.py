"""Thompson samples have the posterior's moments."""

import numpy as np
import pytest

from dsebo.gp.thompson import perturbations, sample_at
from tests.methods.helpers import optimizer_of, play, sphere


def test_thompson_sample_has_the_posterior_s_moments() -> None:
    optimizer = optimizer_of("turbo", 30, n_init=12)
    play(optimizer, sphere(), 13)
    gp, rng = optimizer.gp, np.random.default_rng(0)
    centre = (optimizer.observed.points[0] + 1.0) / 2.0
    moves = perturbations(4, centre, np.zeros(30), np.ones(30), 0.5, rng)
    draws = np.stack([sample_at(gp, centre, moves, 512, rng) for _ in range(400)])
    mean, variance = gp.posterior(centre + moves.toarray())
    shift, scale = gp._scale
    deviation = np.sqrt(variance) / scale
    assert draws.mean(axis=0) == pytest.approx((mean - shift) / scale, abs=0.25 * deviation.max())
    assert draws.std(axis=0) == pytest.approx(deviation, rel=0.25)


def test_perturbations_are_as_many_as_asked_and_never_none() -> None:
    centre, rng = np.full(500, 0.5), np.random.default_rng(0)
    moves = perturbations(2000, centre, np.full(500, 0.4), np.full(500, 0.6), 0.004, rng)
    counts = np.diff(moves.indptr)
    assert counts.min() >= 1
    assert counts.mean() == pytest.approx(2.0 + np.exp(-2.0), abs=0.15)
    assert np.abs(moves.data).max() <= 0.1
