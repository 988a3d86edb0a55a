"""One lengthscale for all: likelihood, growth by rows, and the same bits after a resume."""

import json

import numpy as np
import pytest

from dsebo.gp import isotropic
from dsebo.gp.isotropic import IsotropicSurrogate, drift, nearest
from dsebo.gp.surrogate import Surrogate, SurrogateSettings

SETTINGS = SurrogateSettings(lengthscales="common", refit_every=0.3)


def data(n: int = 60, d: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """As DSEBO has it: the later points have more coordinates, the earlier ones are padded with zeros."""
    Z = np.random.default_rng(0).uniform(-1, 1, (n, d))
    Z[: n // 2, d // 2 :] = 0.0
    return Z, np.sin(2 * Z[:, 0]) + (Z**2).sum(axis=1)


def test_it_is_the_other_model_with_all_lengthscales_equal() -> None:
    Z, y = data()
    ours, theirs = IsotropicSurrogate(SETTINGS), Surrogate(SurrogateSettings())
    ours.update(Z, y)
    assert ours.log_params is not None
    ell, s2, eta = ours.log_params
    theirs.log_params, theirs.n_fitted = np.r_[np.full(6, ell), s2, eta], y.size
    theirs.update(Z, y)
    z = np.random.default_rng(1).uniform(-1, 1, (5, 6))
    for one, other in zip(ours.posterior(z), theirs.posterior(z), strict=True):
        assert one == pytest.approx(other, rel=1e-7, abs=1e-9)


def test_the_gradient_of_the_likelihood() -> None:
    Z, y = data()
    surrogate = IsotropicSurrogate(SurrogateSettings(lengthscales="common", fit_outputscale=True))
    at = np.log([1.3, 0.8, 0.01])
    _, gradient = surrogate.log_posterior(Z, y, at)
    for i in range(3):
        step = np.zeros(3)
        step[i] = 1e-5
        up, down = (surrogate.log_posterior(Z, y, at + sign * step)[0] for sign in (1, -1))
        assert gradient[i] == pytest.approx((up - down) / 2e-5, rel=1e-5)


def test_the_inverse_grows_by_rows_and_does_not_drift() -> None:
    Z, y = data(200, 20)
    surrogate = IsotropicSurrogate(SurrogateSettings(lengthscales="common", refit_every=1.0))
    for n in range(100, 190):
        surrogate.update(Z[:n], y[:n])
    grown = surrogate._grown
    assert grown is not None
    assert surrogate.n_factorised == 100  # it has grown ever since
    assert drift(grown.K, grown.inverse) <= isotropic.DRIFT
    assert np.abs(grown.K @ grown.inverse - np.eye(189)).max() < 1e-6


def test_an_inverse_that_has_drifted_is_computed_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isotropic, "DRIFT", 0.0)
    Z, y = data()
    surrogate = IsotropicSurrogate(SETTINGS)
    surrogate.update(Z[:40], y[:40])
    surrogate.update(Z[:41], y[:41])
    assert (surrogate.n_fitted, surrogate.n_factorised) == (40, 41)


@pytest.mark.parametrize("most", [0, 25])
def test_a_resumed_model_is_the_same_to_the_last_bit(most: int) -> None:
    Z, y = data()
    settings = SurrogateSettings(lengthscales="common", refit_every=0.3, most_data=most)
    whole = IsotropicSurrogate(settings)
    for n in range(20, 61):
        d = 3 if n <= 30 else 6  # the data widen when the subspace grows
        whole.update(Z[:n, :d], y[:n])
        resumed = IsotropicSurrogate(settings)
        resumed.load_state_dict(json.loads(json.dumps(whole.state_dict())))
        resumed.update(Z[:n, :d], y[:n])
        assert np.array_equal(resumed.now.inverse, whole.now.inverse)
        assert np.array_equal(resumed.now.weights, whole.now.weights)


def test_beyond_its_most_the_model_has_the_data_nearest_to_the_best() -> None:
    Z, y = data()
    members = nearest(Z, y, 10)
    distances = ((Z - Z[np.argmin(y)]) ** 2).sum(axis=1)
    assert np.array_equal(members, np.sort(np.argsort(distances)[:10]))
    surrogate = IsotropicSurrogate(SurrogateSettings(lengthscales="common", most_data=10))
    surrogate.update(Z, y)
    assert surrogate.target.size == 10
