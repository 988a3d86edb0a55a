"""Random search and its three kinds of points."""

import numpy as np
import pytest

from objectives.fields import ConfigError
from tests.methods.helpers import optimizer_of, play, settings_of, sphere


@pytest.mark.parametrize(("points", "low"), [("uniform", -1), ("sobol", -1), ("upper-half", 0)])
def test_points_fill_their_box(points: str, low: float) -> None:
    asked, _, _ = play(optimizer_of("random", 40, points=points), sphere(), 64)
    X = np.stack([candidate.x for candidate in asked])
    assert X.min() >= low
    assert X.mean() == pytest.approx((low + 1) / 2, abs=0.05)
    assert X.max() > 0.95


def test_sobol_has_one_point_in_each_stratum() -> None:
    asked, _, _ = play(optimizer_of("random", 7, points="sobol"), sphere(), 32)
    strata = np.floor(16 * (np.stack([candidate.x for candidate in asked]) + 1)).astype(int)
    assert np.array_equal(np.sort(strata, axis=0), np.tile(np.arange(32), (7, 1)).T)


def test_a_sobol_point_is_found_again_by_its_number() -> None:
    asked, _, _ = play(optimizer_of("random", 7, points="sobol"), sphere(), 9)
    again = optimizer_of("random", 7, points="sobol")
    for candidate in (asked[8], asked[2], asked[3], asked[0]):
        assert np.array_equal(again.lift(candidate.z), candidate.x)


def test_sobol_beyond_its_dimensions_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"points = 'sobol' needs D = \d+ or less \(got D = 30000\)"):
        settings_of("random", 30_000, points="sobol")
