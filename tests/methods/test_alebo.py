"""ALEBO: the polytope by its gauge, the kernel that may turn, and the search between the walls."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, linprog

from dsebo.events import WallsMet
from dsebo.gp.acquisition import AcquisitionSettings, log_expected_improvement
from dsebo.methods.alebo import Polytope, search
from dsebo.methods.base import Array
from objectives.embedded import EmbeddedConfig
from objectives.fields import ConfigError
from tests.methods.helpers import left_over, optimizer_of, play, settings_of, sphere

POLYTOPE = Polytope(60, 5, np.random.default_rng(1))


def test_lifting_is_undone_by_b() -> None:
    z = POLYTOPE.pulled(np.random.default_rng(2).normal(size=(20, 5)))
    np.testing.assert_allclose(POLYTOPE.B @ POLYTOPE.rows.T, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(z @ POLYTOPE.rows @ POLYTOPE.B.T, z, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(POLYTOPE.B, axis=0), 1.0)


@given(st.lists(st.floats(-1e9, 1e9), min_size=5, max_size=5))
def test_whatever_is_pulled_back_is_inside_and_what_is_inside_stays(v: list[float]) -> None:
    z = np.array([v])
    pulled = POLYTOPE.pulled(z)
    assert POLYTOPE.gauge(pulled)[0] <= 1.0 + 1e-12
    if POLYTOPE.gauge(z)[0] <= 1.0:
        assert np.array_equal(pulled, z)


def test_every_point_asked_is_in_the_polytope_and_nothing_but_rounding_is_cut() -> None:
    optimizer = optimizer_of("alebo", 50, seed=3, d=6, n_init=5)
    asked, _, events = play(optimizer, sphere(0.5), 20)
    for candidate in asked:
        assert np.abs(candidate.z @ optimizer.polytope.rows).max() <= 1.0 + 1e-12
    walls = [event for event in events if isinstance(event, WallsMet)]
    assert walls[0].t == 6
    assert "of the first draws were inside" in walls[0].text
    for event in walls:
        assert 0.0 <= event.gauge <= 1.0 + 1e-12
        assert event.tight == np.count_nonzero(np.abs(asked[event.t - 1].x) > 0.999)
        assert len(event.variables) == len(event.shares) == 10


def test_the_starting_points_are_inside_and_b_is_as_large_as_it_can_be() -> None:
    points, b, share = POLYTOPE.design(10, np.random.default_rng(4))
    assert points.shape == (10, 5)
    assert np.all(POLYTOPE.gauge(points) <= 1.0)
    assert 0.0 < share <= 1.0
    more = POLYTOPE.uniform(10_000, 2.0 * b, np.random.default_rng(5))
    assert b == 16.0 or np.count_nonzero(POLYTOPE.gauge(more) <= 1.0) < 30


def fitted() -> tuple[Any, Array, Array]:
    optimizer = optimizer_of("alebo", 40, seed=2, d=4, n_init=12)
    _, values, _ = play(optimizer, sphere(0.3), 14)
    Z, y = np.stack(optimizer.observed.points), np.array(values)
    optimizer.gp.update(Z, y)
    return optimizer, Z, y


def test_gradients_are_those_of_finite_differences() -> None:
    optimizer, Z, _ = fitted()
    gp = optimizer.gp
    params = gp.log_params + 0.1

    def likelihood(p: Array) -> float:
        return float(gp.log_posterior(Z, gp.target, p)[0])

    _, gradient = gp.log_posterior(Z, gp.target, params)
    np.testing.assert_allclose(gradient, approx_fprime(params, likelihood, 1e-6), rtol=1e-4, atol=1e-3)
    score = log_expected_improvement(float(gp.target.min()))
    z = optimizer.polytope.pulled(np.random.default_rng(1).normal(size=(1, 4)))
    _, slope = gp.score(z, score)
    found = approx_fprime(z[0], lambda v: float(gp.score(v[None], score)[0][0]), 1e-7)
    np.testing.assert_allclose(slope[0], found, rtol=1e-4, atol=1e-6)


def test_the_posterior_goes_through_the_data() -> None:
    optimizer, Z, y = fitted()
    mean, variance = optimizer.gp.posterior(Z)
    np.testing.assert_allclose(mean, y, atol=0.02 * y.std())
    assert np.all(variance < 0.01 * y.var())


@pytest.mark.parametrize("seed", range(4))
def test_a_linear_score_is_minimised_as_by_linear_programming(seed: int) -> None:
    rng = np.random.default_rng(seed)
    slope = rng.normal(size=5)
    walls = np.concatenate([POLYTOPE.rows.T, -POLYTOPE.rows.T])
    best = linprog(slope, A_ub=walls, b_ub=np.ones(120), bounds=(None, None), method="highs").fun
    starts = POLYTOPE.pulled(rng.normal(size=(50, 5)))
    settings = AcquisitionSettings(restarts=5, iterations=400)
    z = search(POLYTOPE, lambda z: (z @ slope, np.tile(slope, (len(z), 1))), starts, settings)
    assert POLYTOPE.gauge(z[None])[0] <= 1.0 + 1e-12
    assert z @ slope <= 0.99 * best


def test_d_must_be_below_the_number_of_variables() -> None:
    assert settings_of("alebo", 20).d == 19  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match=r"d must be a whole number from 1 to D − 1 = 19 \(got 20\)"):
        settings_of("alebo", 20, d=20)


def test_dixon_price_beats_the_starting_design() -> None:
    function = EmbeddedConfig(name="dixon-price", D=100, d_e=5).build()

    def value(x: Array) -> float:
        return float(function(x[None])[0])

    assert left_over(lambda seed: optimizer_of("alebo", 100, seed=seed, d=6), value, 35, 10) < 0.5
