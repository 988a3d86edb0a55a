"""DSE-CMA-ES: its equations, its generations, and what an expansion carries over."""

import numpy as np
import pytest

from dsebo.events import Expanded, Generation
from dsebo.methods.dse_cma_es import Normal, Rates
from tests.methods.helpers import left_over, optimizer_of, play, sphere


def test_the_rates_are_the_tutorial_s() -> None:
    rates = Rates(10)
    assert rates.size == 10
    assert rates.w[: rates.mu].sum() == pytest.approx(1.0)
    assert np.all(np.diff(rates.w) < 0)
    assert rates.mu_eff == pytest.approx(3.167, abs=1e-3)
    assert rates.c_sigma == pytest.approx(0.2844, abs=1e-4)
    assert rates.c_1 + rates.c_mu < 1
    # (52): C stays positive definite however bad the worse half is.
    assert 1 - rates.c_1 - rates.c_mu * rates.w.sum() > 0


def first_state(d: int) -> Normal:
    return Normal(0, np.full(d, 0.1), 0, 0.3, np.eye(d), np.zeros(d), np.zeros(d))


def test_an_update_is_that_of_the_package_cmaes() -> None:
    """An independent implementation, where it is installed."""
    cmaes = pytest.importorskip("cmaes")
    rng = np.random.default_rng(3)
    ours, theirs = first_state(6), cmaes.CMA(mean=np.full(6, 0.1), sigma=0.3)
    for _ in range(12):
        Z = np.stack([ours.sample(rng) for _ in range(Rates(6).size)])
        y = (Z**2) @ np.arange(1.0, 7.0)
        theirs.tell([(z, float(value)) for z, value in zip(Z, y, strict=True)])
        ours = ours.updated(Z, y)
        assert ours.mean == pytest.approx(theirs.mean, abs=1e-10)
        assert ours.sigma == pytest.approx(theirs._sigma, rel=1e-9)
        assert pytest.approx(theirs._C, abs=1e-9) == ours.C


def test_a_step_against_which_values_fall_moves_mean_and_path() -> None:
    """By hand, d = 1: the weights of the better half, and no path yet."""
    rates, state = Rates(1), first_state(1)
    Z = np.array([[0.4], [-0.2], [0.1], [0.7]])
    after = state.updated(Z, np.array([1.0, 2.0, 3.0, 4.0]))
    steps = (np.array([0.4, -0.2]) - 0.1) / 0.3
    move = float(rates.w[:2] @ steps)
    assert after.mean[0] == pytest.approx(0.1 + 0.3 * move)
    c = rates.c_sigma
    assert after.p_sigma[0] == pytest.approx(np.sqrt(c * (2 - c) * rates.mu_eff) * move)


def test_an_expansion_keeps_the_distribution_and_knows_nothing_of_the_new_dimensions() -> None:
    rng = np.random.default_rng(0)
    state = first_state(3)
    state = state.updated(np.clip(rng.normal(size=(7, 3)), -1, 1), rng.normal(size=7))
    wider = state.expanded(5)
    assert np.array_equal(wider.mean, [*state.mean, 0.0, 0.0])
    assert np.array_equal(wider.C[:3, :3], state.C)
    assert np.array_equal(wider.C[3:, 3:], np.eye(2))
    assert not wider.C[:3, 3:].any()
    assert np.array_equal(wider.p_sigma, [*state.p_sigma, 0.0, 0.0])
    assert (wider.sigma, wider.generation, wider.first) == (state.sigma, state.generation, state.first)


def test_the_subspace_grows_after_a_whole_generation_and_x_stays_where_it_is() -> None:
    optimizer = optimizer_of("dse-cma-es", 60, budget=120, d_h=30, beta=4, alpha=1e9)
    _, _, events = play(optimizer, sphere(0.2), 120)
    grown = [event for event in events if isinstance(event, Expanded)]
    ends = {event.t for event in events if isinstance(event, Generation)}
    assert grown
    assert {event.t for event in grown} <= ends
    mean = optimizer.state.mean
    assert mean.size == optimizer.d == grown[-1].d_to
    wider = optimizer.state.expanded(30)
    assert optimizer.lift(wider.mean) == pytest.approx(optimizer.lift(mean), abs=1e-12)


def test_it_converges_where_the_subspace_is_the_whole_box() -> None:
    def make(seed: int) -> object:
        return optimizer_of("dse-cma-es", 6, budget=600, seed=seed, d_l=6, d_h=6)

    # S of 6 x 6 maps the box one to one, but for what is clipped.
    assert left_over(make, sphere(0.05), 600, 8) < 1e-3


def test_a_generation_that_failed_teaches_nothing() -> None:
    optimizer = optimizer_of("dse-cma-es", 40)
    before = optimizer.state
    for _ in range(8):
        optimizer.tell(optimizer.ask(), float("nan"))
    after = optimizer.state
    assert (after.generation, after.first) == (1, 8)
    assert after.mean is before.mean
    assert after.sigma == before.sigma
