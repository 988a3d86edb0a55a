"""LM-MA-ES and DCEM."""

import numpy as np
import pytest

from dsebo.events import Generation
from dsebo.methods.dcem import soft_elites
from objectives.fields import ConfigError
from tests.methods.helpers import optimizer_of, play, settings_of, sphere


def test_lm_ma_es_converges_on_a_sphere_of_100_dimensions() -> None:
    optimizer = optimizer_of("lm-ma-es", 100)
    _, values, events = play(optimizer, sphere(0.2), 17 * 400)
    sigmas = [event.sigma_to for event in events if isinstance(event, Generation)]
    assert min(values) < 1e-5 * values[0]
    assert sigmas[-1] < 1e-2 * sigmas[0]


def test_lm_ma_es_constants_are_the_paper_s() -> None:
    optimizer = optimizer_of("lm-ma-es", 1000)
    assert optimizer.size == 4 + 20
    assert optimizer.c_sigma == pytest.approx(0.048)
    assert optimizer.c_d[:2] == pytest.approx([1 / 1000, 1 / 1500])
    assert optimizer.c_c[:2] == pytest.approx([24 / 1000, 6 / 1000])
    assert optimizer.w.sum() == pytest.approx(1.0)
    assert optimizer.w.size == 12


def test_lm_ma_es_stretches_along_what_it_has_learnt() -> None:
    """v = (1 - c) z + c M (M.z): with M along one axis only that axis is stretched."""
    optimizer = optimizer_of("lm-ma-es", 100, paths=1)
    state = optimizer.state
    M = np.zeros((1, 100))
    M[0, 3] = 10.0
    learnt = type(state)(1, state.mean, state.sigma, state.s, M)
    v = optimizer.direction(learnt, np.ones(100))
    c = 1 / 100
    assert v[0] == pytest.approx(1 - c)
    assert v[3] == pytest.approx(1 - c + c * 100.0)


def test_lm_ma_es_refuses_few_variables() -> None:
    with pytest.raises(ConfigError, match=r"offspring must be D / 2 = 8 or less at D = 16 \(got 12\)"):
        settings_of("lm-ma-es", 16)


def test_dcem_weights_sum_to_the_elites() -> None:
    y = np.random.default_rng(0).normal(size=20) ** 3
    for tau in (0.1, 1.0, 30.0):
        weights = soft_elites(y, 10, tau)
        assert weights.sum() == pytest.approx(10.0)
        assert np.all((weights > 0) & (weights < 1.0 + 1e-12))
        assert np.array_equal(np.argsort(-weights, kind="stable"), np.argsort(y, kind="stable"))


def test_dcem_weights_at_the_extremes() -> None:
    y = np.arange(20.0)
    assert soft_elites(y, 10, 1e4) == pytest.approx([1.0] * 10 + [0.0] * 10)
    assert soft_elites(np.ones(20), 10, 1.0) == pytest.approx([0.5] * 20)


def test_dcem_shrinks_towards_the_minimum() -> None:
    optimizer = optimizer_of("dcem", 10)
    start = np.abs(optimizer.state.mean - 0.1).mean()
    _, _, events = play(optimizer, sphere(0.1), 20 * 40)
    assert np.abs(optimizer.state.mean - 0.1).mean() < 0.5 * start
    assert len(events) == 40


def test_populations_survive_a_generation_that_fails() -> None:
    for method in ("lm-ma-es", "dcem"):
        optimizer = optimizer_of(method, 60)
        before = optimizer.state.mean.copy()
        _, _, events = play(optimizer, lambda x: float("nan"), optimizer.size)
        assert events[0].to_json()["best"] is None
        assert np.array_equal(optimizer.state.mean, before)
        play(optimizer, sphere(), 2 * optimizer.size)
        assert not np.array_equal(optimizer.state.mean, before)


def test_populations_start_away_from_the_centre() -> None:
    for method in ("lm-ma-es", "dcem"):
        mean = optimizer_of(method, 1000).state.mean
        assert np.mean(mean**2) == pytest.approx(1 / 3, abs=0.05)
