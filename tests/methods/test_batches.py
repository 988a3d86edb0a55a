"""Several points at once: who is asked, what is pretended, and in which order values are told."""

from collections.abc import Iterator

import numpy as np
import pytest

from dsebo.config import METHODS
from dsebo.events import Restarted
from dsebo.methods._batches import Liar
from dsebo.methods.base import Optimizer
from dsebo.threads import one_thread
from objectives.fields import ConfigError
from tests.methods.helpers import optimizer_of, sphere

F = sphere(0.2)


@pytest.fixture(autouse=True)
def _as_a_run_does() -> Iterator[None]:
    with one_thread():  # sums of several threads differ in their last bits
        yield


def told(optimizer: Optimizer, n: int, q: int | None = None) -> Optimizer:
    """After n evaluations, asked one by one or q at a time."""
    while len(optimizer.observed) < n:
        for candidate in [optimizer.ask()] if q is None else optimizer.ask(q):
            optimizer.tell(candidate, F(candidate.x))
    return optimizer


@pytest.mark.parametrize("variant", ["paper", "authors", "adaptive"])
def test_a_batch_of_one_is_the_history_of_single_points(variant: str) -> None:
    settings = {"variant": variant, "d_h": 12, "beta": 4}
    alone = told(optimizer_of("dsebo", 30, **settings), 15)
    one = told(optimizer_of("dsebo", 30, **settings), 15, q=1)
    assert [z.tobytes() for z in alone.observed.points] == [z.tobytes() for z in one.observed.points]
    assert alone.own_state() == one.own_state()


@pytest.mark.parametrize("variant", ["paper", "authors", "adaptive"])
def test_the_first_point_is_the_one_that_would_come_alone_and_the_others_differ(variant: str) -> None:
    settings = {"variant": variant, "d_h": 12, "beta": 4}
    optimizer = told(optimizer_of("dsebo", 30, **settings), 9)
    alone = told(optimizer_of("dsebo", 30, **settings), 9).ask()
    before = optimizer.observed.as_data()
    points = optimizer.ask(4)
    assert np.array_equal(points[0].z, alone.z)
    assert [point.t for point in points] == [10, 11, 12, 13]
    apart = [np.abs(a.x - b.x).max() for i, a in enumerate(points) for b in points[:i]]
    assert min(apart) > 1e-6
    assert len(before) == len(optimizer.observed) == 9  # what was imagined is gone


def test_a_lie_is_the_best_value() -> None:
    optimizer = told(optimizer_of("dsebo", 30, d_h=12), 9)
    assert isinstance(optimizer, Liar)
    assert optimizer.lie() == min(optimizer.observed.values)


def test_what_has_been_asked_comes_again_until_it_is_told() -> None:
    optimizer = told(optimizer_of("dsebo", 30, d_h=12), 5)
    points = optimizer.ask(3)
    optimizer.tell(points[0], 1.0)
    assert [point.t for point in optimizer.ask(3)] == [7, 8]
    assert optimizer.ask() is points[1]


def test_points_of_a_batch_are_told_in_their_order() -> None:
    optimizer = told(optimizer_of("dsebo", 30, d_h=12), 5)
    points = optimizer.ask(3)
    with pytest.raises(ConfigError, match=r"must be told in their order: evaluation 6 is next \(got 8\)"):
        optimizer.tell(points[2], 1.0)


@pytest.mark.parametrize("q", [0, -1, 65, 2.0, True])
def test_a_number_of_points_that_cannot_be_is_refused(q: object) -> None:
    with pytest.raises(ConfigError, match="q must be a whole number from 1 to 64"):
        optimizer_of("dsebo", 30).ask(q)  # type: ignore[call-overload]


def test_an_expansion_in_the_middle_of_a_batch_leaves_the_others_in_their_subspace() -> None:
    optimizer = optimizer_of("dsebo", 30, variant="adaptive", d_h=20, beta=10, budget=60)
    seen = []
    while len(optimizer.observed) < 40:
        for candidate in optimizer.ask(4):
            seen.append((candidate.d, optimizer.d))
            assert candidate.z.size in (candidate.d, optimizer.longest_point)
            optimizer.tell(candidate, F(candidate.x))
    assert any(asked_in < now for asked_in, now in seen)


def test_probes_begin_after_what_has_been_asked() -> None:
    settings = {"variant": "adaptive", "d_l": 17, "d_h": 20, "probes": 4}
    optimizer = optimizer_of("dsebo", 30, **settings)
    points = optimizer.ask(3)
    optimizer.tell(points[0], F(points[0].x))
    assert optimizer.probes.first == 4


def test_a_new_region_does_not_begin_with_points_of_the_old_one() -> None:
    optimizer = optimizer_of("turbo", 20, n_init=4, failure_tolerance=1, L_min=0.3)
    told(optimizer, 4)
    points = optimizer.ask(4)
    events = [event for point in points for event in optimizer.tell(point, 1e3).events]
    assert [event.t for event in events if isinstance(event, Restarted)] == [6]
    assert optimizer.first == 8
    assert not np.isfinite(optimizer.region.best)


def test_a_population_gives_what_its_generation_still_has() -> None:
    for method, settings, size in (("dcem", {}, 20), ("dse-cma-es", {}, 8)):
        optimizer = told(optimizer_of(method, 60, **settings), size - 2)
        assert [point.t for point in optimizer.ask(5)] == [size - 1, size]


def test_those_that_can_say_so_by_a_setting() -> None:
    can = {name for name, settings in METHODS.items() if "batch" in settings.model_fields}
    assert {"dsebo", "dse-cma-es", "random", "turbo", "baxus", "rembo", "hesbo"} <= can
    assert can.isdisjoint({"centre", "mcts-vs", "bandit-thompson", "dumbo", "rducb"})
