"""TuRBO and BAxUS: the region moves as it must, a split moves no point."""

from itertools import pairwise

import numpy as np
import pytest

from dsebo.events import RegionChanged, Restarted, Split
from dsebo.methods._region import Region, after_value, region_box
from dsebo.methods.baxus import first_dimension, nested_bins, parents
from dsebo.methods.turbo import TurboConfig
from tests.methods.helpers import optimizer_of, play, sphere

QUICK = {"candidates": 200, "features": 64}


CONFIG = TurboConfig()


def moved(region: Region, values: list[float], tolerance: int = 2) -> list[float]:
    lengths = []
    for y in values:
        region = after_value(region, y, CONFIG.success_tolerance, tolerance, CONFIG.L_max)
        lengths.append(region.length)
    return lengths


def test_region_doubles_after_three_successes_and_not_before() -> None:
    assert moved(Region(0.4, best=10.0), [9, 8, 7, 6, 5, 4]) == [0.4, 0.4, 0.8, 0.8, 0.8, 1.6]
    assert moved(Region(1.6, best=10.0), [9, 8, 7]) == [1.6, 1.6, 1.6]  # L_max


def test_region_halves_after_the_failure_tolerance() -> None:
    assert moved(Region(0.8, best=10.0), [11, 11, 11, 11]) == [0.8, 0.4, 0.4, 0.2]
    assert moved(Region(0.8, best=10.0), [11, 9, 11, 11]) == [0.8, 0.8, 0.8, 0.4]


def test_a_gain_of_less_than_a_thousandth_is_a_failure() -> None:
    assert moved(Region(0.8, best=10.0), [9.995, 9.994]) == [0.8, 0.4]
    assert moved(Region(0.8, best=-10.0), [-10.005, -10.006]) == [0.8, 0.4]


def test_sides_follow_the_lengthscales() -> None:
    low, high = region_box(np.full(3, 0.5), np.array([0.5, 1.0, 2.0]), 0.2)
    assert high - low == pytest.approx([0.1, 0.2, 0.4])


def test_turbo_restarts_with_new_points_when_nothing_improves() -> None:
    optimizer = optimizer_of("turbo", 30, n_init=3, failure_tolerance=1, L_min=0.15, **QUICK)
    rising = iter(np.arange(1.0, 100.0))
    asked, _, events = play(optimizer, lambda x: next(rising), 12)
    halvings = [event.length_to for event in events if isinstance(event, RegionChanged)]
    assert halvings[:2] == [0.4, 0.2]
    restarts = [event.t for event in events if isinstance(event, Restarted)]
    assert restarts == [6, 12]  # three points, then three halvings
    assert optimizer.first == 12
    assert not np.array_equal(asked[0].x, asked[6].x)


def test_turbo_stays_in_its_region() -> None:
    optimizer = optimizer_of("turbo", 40, n_init=10, **QUICK)
    play(optimizer, sphere(), 20)
    X = np.stack(optimizer.observed.points)
    best = X[int(np.argmin(optimizer.observed.values))]
    optimizer.region = Region(0.01, best=optimizer.region.best)
    x = optimizer.ask().x
    assert 0 < np.abs(x - best).max() < 0.2
    assert (x != best).sum() < 40  # about 20 coordinates are perturbed


def test_turbo_improves_on_its_start() -> None:
    _, values, _ = play(optimizer_of("turbo", 20, n_init=10), sphere(0.3), 60)
    assert min(values) < 0.5 * min(values[:10])


def test_baxus_dimensions() -> None:
    assert first_dimension(1000, 3) == (1, 5)  # 4^5 = 1024
    assert first_dimension(500, 3) == (2, 4)  # 2 · 4^4 = 512
    optimizer = optimizer_of("baxus", 1000, budget=500)
    assert optimizer.dims == [1, 4, 16, 64, 256, 1000]
    spent = [500 * d / sum(optimizer.dims) for d in optimizer.dims]
    assert sum(spent) == pytest.approx(500)
    tolerances = []
    for optimizer.stage in range(6):
        tolerances.append(optimizer.failure_tolerance)
    assert tolerances == [1, 1, 1, 3, 15, 62]


@pytest.mark.parametrize("D", [1, 2, 5, 7, 40, 333])
def test_baxus_bins_are_nested_and_balanced(D: int) -> None:
    stages = nested_bins(D, 3, np.random.default_rng(0))
    assert stages[-1].max() + 1 == D
    for coarse, fine in pairwise(stages):
        assert np.array_equal(parents(coarse, fine)[fine], coarse)
        sizes = np.bincount(fine)
        assert sizes.min() >= 1
        assert fine.max() > coarse.max()
    sizes = np.bincount(stages[0])
    assert sizes.max() - sizes.min() <= 1


def test_baxus_split_leaves_every_point_where_it_is() -> None:
    optimizer = optimizer_of("baxus", 60, budget=60, n_init=4, L_min=0.3, **QUICK)
    before = []
    events = []
    for _ in range(40):
        asked, _, new = play(optimizer, sphere(0.4), 1)
        before.append(asked[0].x.copy())
        events += new
        for z, x in zip(optimizer.observed.points, before, strict=True):
            assert np.array_equal(optimizer.lift(z), x)
            assert np.array_equal(optimizer.lift(optimizer.refine(z)), x)
    splits = [event for event in events if isinstance(event, Split)]
    assert [(event.d_from, event.d_to) for event in splits[:2]] == [(1, 4), (4, 16)]
    assert len(splits) >= 2
