"""VBO and SBO-SE: what makes a Gaussian process work in all variables."""

import numpy as np
import pytest

from tests.methods.helpers import left_over, optimizer_of, sphere


def test_vbo_prior_grows_with_the_dimension() -> None:
    prior = optimizer_of("vbo", 100).gp.lengthscale_prior(100)
    assert prior.mu == pytest.approx(np.sqrt(2) + 0.5 * np.log(100))
    assert prior.sigma == pytest.approx(np.sqrt(3))


def test_vbo_finds_the_minimum_in_all_variables() -> None:
    assert (
        left_over(lambda s: optimizer_of("vbo", 20, seed=s), sphere(0.3), 50, 10) < 0.4
    )  # random search: 0.67


def test_sbo_se_starts_at_the_root_of_d_and_has_no_prior() -> None:
    gp = optimizer_of("sbo-se", 64).gp
    prior = gp.lengthscale_prior(64)
    assert prior.start == pytest.approx(8.0)
    assert np.all(prior.log_density(np.array([0.0, 5.0]))[0] == 0.0)


def test_sbo_se_finds_the_minimum_in_all_variables() -> None:
    assert left_over(lambda s: optimizer_of("sbo-se", 12, seed=s), sphere(0.3), 50, 20) < 0.2
