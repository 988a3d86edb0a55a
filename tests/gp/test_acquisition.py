"""The acquisitions against BoTorch, their gradients against differences."""

import numpy as np
import pytest
import torch
from botorch.acquisition import LogExpectedImprovement

from dsebo.gp.acquisition import (
    AcquisitionSettings,
    log_expected_improvement,
    log_improvement,
    lower_bound,
    propose,
)
from dsebo.gp.surrogate import Score, Surrogate, SurrogateSettings
from dsebo.threads import one_thread


def fitted(flat: bool = False) -> Surrogate:
    rng = np.random.default_rng(0)
    Z = rng.random((25, 4))
    gp = Surrogate(SurrogateSettings(flat=flat, fit_outputscale=flat, fit_iterations=5))
    with one_thread():
        gp.update(Z, np.sum((Z - 0.4) ** 2, axis=1))
    return gp


@pytest.mark.parametrize("score", [lower_bound(2.0), log_expected_improvement(-1.2)])
@pytest.mark.parametrize("flat", [False, True])
def test_gradients(score: Score, flat: bool) -> None:
    gp = fitted(flat)
    z = np.random.default_rng(1).random((3, 4))
    _, gradient = gp.score(z, score)
    for j in range(4):
        step = np.zeros(4)
        step[j] = 1e-6
        up, down = gp.score(z + step, score)[0], gp.score(z - step, score)[0]
        assert (up - down) / 2e-6 == pytest.approx(gradient[:, j], rel=1e-3, abs=1e-6)


def test_log_expected_improvement_is_botorch_s() -> None:
    gp, z = fitted(), np.random.default_rng(1).random((6, 4))
    best = float(gp.target.min())
    ours, _ = gp.score(z, log_expected_improvement(best))
    theirs = LogExpectedImprovement(gp.model, best_f=best, maximize=False)
    with torch.no_grad():
        expected = theirs(torch.from_numpy(z)[:, None]).numpy()
    assert -ours == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_log_improvement_does_not_underflow() -> None:
    u = np.array([3.0, 0.0, -0.999, -1.001, -5.0, -40.0, -999.0, -1001.0, -1e6])
    value = log_improvement(u)
    assert np.all(np.isfinite(value))
    assert np.all(np.diff(value) < 0)
    assert value[:2] == pytest.approx([np.log(3.000382), -0.5 * np.log(2 * np.pi)], rel=1e-5)
    assert value[7] - value[6] == pytest.approx(-0.5 * (1001**2 - 999**2) - 2 * np.log(1001 / 999))


def test_fits_stay_within_their_bounds() -> None:
    rng = np.random.default_rng(0)
    Z = rng.random((30, 5))
    settings = SurrogateSettings(
        flat=True,
        fit_outputscale=True,
        fit_iterations=50,
        lengthscale_start=0.5,
        lengthscale_bounds=(0.2, 0.8),
        noise_bounds=(5e-4, 0.2),
        outputscale_bounds=(0.05, 20.0),
    )
    gp = Surrogate(settings)
    with one_thread():
        gp.update(Z, Z[:, 0])
    now = gp.now
    assert now.lengthscale.min() >= 0.2 - 1e-9
    assert now.lengthscale.max() == pytest.approx(0.8)  # the variables that do not matter
    assert 5e-4 - 1e-12 <= now.noise <= 0.2


def test_proposals_stay_in_the_box() -> None:
    Z = np.random.default_rng(0).random((10, 3))
    with one_thread():
        found = propose(
            Surrogate(SurrogateSettings()),
            AcquisitionSettings(),
            log_expected_improvement,
            (Z, -Z.sum(axis=1)),
            (0.0, 1.0),
            np.random.default_rng(1),
        )
    assert np.all((found.point >= 0.0) & (found.point <= 1.0))
    assert found.point.sum() > Z.sum(axis=1).max()
