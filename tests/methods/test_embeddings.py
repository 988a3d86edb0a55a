"""REMBO and HeSBO, against what is known of their embeddings."""

import numpy as np
import pytest

from dsebo.config import RunConfig
from dsebo.events import Evaluated, Expanded
from dsebo.run import Runner, run
from objectives.fields import ConfigError
from tests.methods.helpers import optimizer_of, play, settings_of, sphere


@pytest.mark.parametrize(("d", "clipped"), [(10, 0.86), (30, 0.95), (100, 0.99)])
def test_rembo_at_its_own_scale_is_clipped_as_measured(d: int, clipped: float) -> None:
    optimizer = optimizer_of("rembo", 1000, d=d)
    Z = np.random.default_rng(0).uniform(-np.sqrt(d), np.sqrt(d), size=(200, d))
    share = np.mean([np.abs(optimizer.lift(z)) == 1.0 for z in Z])
    assert share == pytest.approx(clipped, abs=0.01)


@pytest.mark.parametrize(
    ("scale", "d", "clipped"),
    [
        ("dsebo", 10, 0.0),
        ("dsebo", 30, 0.002),
        ("dsebo", 100, 0.08),
        ("unit", 10, 0.58),
        ("unit", 30, 0.75),
        ("unit", 100, 0.86),
    ],
)
def test_rembo_with_z_in_one_is_clipped_less(scale: str, d: int, clipped: float) -> None:
    optimizer = optimizer_of("rembo", 1000, d=d, scale=scale)
    Z = np.random.default_rng(0).uniform(-1.0, 1.0, size=(200, d))
    share = np.mean([np.abs(optimizer.lift(z)) == 1.0 for z in Z])
    assert share == pytest.approx(clipped, abs=0.01)


def test_rembo_at_the_scale_of_dsebo_is_dsebo_until_it_expands() -> None:
    common = {"objective": {"D": 120, "d_e": 3}, "budget": 60, "seed": 2}
    dsebo = RunConfig.parse({**common, "optimizer": {"method": "dsebo", "d_l": 4, "beta": 3}})
    rembo = RunConfig.parse({**common, "optimizer": {"method": "rembo", "d": 4, "scale": "dsebo"}})
    seen: list[float] = []
    for event in run(dsebo):
        if isinstance(event, Expanded):
            break
        if isinstance(event, Evaluated):
            seen.append(event.y)
    runner = Runner.from_config(rembo)
    assert len(seen) >= 10
    assert [runner.step()[0].y for _ in seen] == seen  # type: ignore[attr-defined]


def test_rembo_samples_its_own_box() -> None:
    asked, _, _ = play(optimizer_of("rembo", 50, d=9, n_init=30), sphere(), 30)
    z = np.stack([candidate.z for candidate in asked])
    assert 2.5 < np.abs(z).max() <= 3.0


def test_hesbo_never_clips() -> None:
    """Whatever z in [-1, 1]^d: |x_i| = |z_h(i)|, so no coordinate is moved by the box."""
    optimizer = optimizer_of("hesbo", 200, d=7)
    for z in np.random.default_rng(0).uniform(-1.0, 1.0, size=(50, 7)):
        x = optimizer.lift(z)
        assert set(np.abs(x)) <= set(np.abs(z))
    signs, bins = optimizer.sketch.signs, optimizer.sketch.bins
    assert np.array_equal(x, signs * z[bins])
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert set(bins) == set(range(7))


def test_hesbo_finds_the_minimum_at_the_centre() -> None:
    _, values, _ = play(optimizer_of("hesbo", 60, d=3), sphere(), 35)
    assert min(values) < 0.05 * values[0]


@pytest.mark.parametrize("method", ["rembo", "hesbo", "sirbo"])
def test_a_subspace_larger_than_the_space_is_refused(method: str) -> None:
    assert settings_of(method, 12).d == 12  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match=r"d must be a whole number from 1 to D = 12 \(got 13\)"):
        settings_of(method, 12, d=13)
