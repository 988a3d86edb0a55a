"""VAEBO: what an auto-encoder learns from points alone, and that it says so where that is nothing."""

import numpy as np
import pytest

from dsebo.events import Retrained
from dsebo.methods.base import Array
from dsebo.methods.vaebo import Trained, train
from dsebo.threads import one_thread
from tests.methods.helpers import optimizer_of, play, sphere


def trained(X: Array, kl_weight: float, d: int = 5, steps: int = 200, seed: int = 1) -> Trained:
    with one_thread():
        return train(X, np.ones(len(X)), d, kl_weight, steps, np.random.default_rng(seed))


def test_points_of_a_plane_are_learnt_at_the_weight_of_a_true_bound() -> None:
    rng = np.random.default_rng(1)
    X = np.clip(rng.normal(size=(100, 3)) @ rng.normal(size=(3, 50)) / 3.0, -1.0, 1.0)
    learnt = trained(X, 0.5 / 50, steps=500)
    assert learnt.error < 0.1 * learnt.variance
    assert learnt.nats > 1.0
    assert learnt.losses[-1] < 0.5 * learnt.losses[0]


def test_uniform_points_at_the_authors_weight_collapse() -> None:
    X = np.random.default_rng(1).uniform(-1.0, 1.0, size=(60, 100))
    learnt = trained(X, 0.5)
    assert learnt.nats < 0.1
    assert learnt.active == 0
    assert learnt.error > 0.8 * learnt.variance
    points = np.stack([learnt.decode(z) for z in np.random.default_rng(2).uniform(-1, 1, size=(100, 5))])
    assert points.std(axis=0).mean() < 0.1


def test_the_same_seed_gives_the_same_weights() -> None:
    X = np.random.default_rng(1).uniform(-1.0, 1.0, size=(20, 30))
    first, again, other = (trained(X, 0.01, steps=20, seed=seed).decode(np.ones(5)) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("X", [np.full((10, 30), 0.5), np.tile(np.linspace(-1, 1, 30), (10, 1))])
def test_points_that_are_all_the_same_are_survived(X: Array) -> None:
    learnt = trained(X, 0.01, steps=50)
    assert np.all(np.isfinite(learnt.decode(np.ones(5))))
    assert np.isfinite([learnt.error, learnt.nats, *learnt.losses]).all()


def test_the_event_tells_of_the_collapse() -> None:
    optimizer = optimizer_of("vaebo", 60, d=4, n_init=6, retrain_every=5)
    asked, _, events = play(optimizer, sphere(0.3), 13)
    told = [event for event in events if isinstance(event, Retrained)]
    assert [event.t for event in told] == [7, 12]
    assert "every proposal is near the mean of the data" in told[0].text
    assert [candidate.d for candidate in asked[:6]] == [None] * 6
    assert asked[-1].d == 4
    assert all(np.abs(candidate.x).max() <= 1.0 for candidate in asked)


def test_good_points_count_for_more_where_ranks_do() -> None:
    optimizer = optimizer_of("vaebo", 20, d=2, n_init=20, rank_weights=True, kl_weight=0.5)
    play(optimizer, sphere(0.8), 21)
    plain = optimizer_of("vaebo", 20, d=2, n_init=20, kl_weight=0.5)
    play(plain, sphere(0.8), 21)
    near = [float(np.abs(one.trained.decode(np.zeros(2)) - 0.8).mean()) for one in (optimizer, plain)]
    assert near[0] < near[1]
