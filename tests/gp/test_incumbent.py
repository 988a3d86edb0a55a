"""The best point where values are noisy: by the posterior mean, not by the luckiest value."""

from __future__ import annotations

import numpy as np
import pytest

from dsebo.gp.incumbent import incumbent


def noisy_bowl(sigma: float, seed: int = 1, n: int = 60) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    points = [rng.uniform(-1, 1, 2) for _ in range(n)]
    true = np.array([4 * float(((x - 0.3) ** 2).sum()) for x in points])
    return points, true, true + sigma * rng.standard_normal(n)


@pytest.mark.parametrize("seed", range(1, 6))
def test_it_is_nearer_to_the_truth_than_the_lowest_value(seed: int) -> None:
    points, true, y = noisy_bowl(1.0, seed)
    likely = incumbent(points, list(y), 1.0)
    assert likely is not None
    lucky = int(np.argmin(y))
    assert abs(likely.mean - true[likely.t - 1]) < abs(y[lucky] - true[lucky])
    assert true[likely.t - 1] < 1.0
    assert 0 < likely.deviation < 1.0


def test_without_noise_to_speak_of_it_is_the_lowest_value() -> None:
    points, true, y = noisy_bowl(1e-6)
    likely = incumbent(points, list(y), 1e-6)
    assert likely is not None
    assert likely.t == int(np.argmin(true)) + 1
    assert likely.mean == pytest.approx(y.min(), abs=1e-2)


def test_failed_evaluations_are_left_out_but_counted() -> None:
    points, _, y = noisy_bowl(0.3)
    whole = incumbent(points, list(y), 0.3)
    spoilt = [np.nan, np.inf, *y]
    shifted = incumbent([np.ones(2), np.ones(2), *points], spoilt, 0.3)
    assert whole is not None
    assert shifted is not None
    assert (shifted.t, shifted.mean) == (whole.t + 2, whole.mean)


def test_where_there_is_nothing_to_say() -> None:
    assert incumbent([np.zeros(2)] * 2, [1.0, np.nan], 0.5) is None
    assert incumbent([np.zeros(2), np.ones(2)], [1.0, 1e300], 0.5) is None
    alike = incumbent([np.zeros(2), np.ones(2)], [3.0, 3.0], 0.5)
    assert alike is not None
    assert (alike.t, alike.mean) == (1, 3.0)


def test_the_same_point_again_and_again_and_huge_noise() -> None:
    alike = incumbent([np.zeros(3)] * 8, [1.0, 2.0, 3.0, 4.0] * 2, 1e90)
    assert alike is None or np.isfinite([alike.mean, alike.deviation]).all()
    exact = incumbent([np.zeros(3)] * 8, [1.0, 2.0, 3.0, 4.0] * 2, 1e-90)
    assert exact is None or exact.mean == pytest.approx(2.5, abs=0.5)
