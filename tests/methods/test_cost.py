"""Every method predicts its cost; the predictions are of the size that was measured."""

import pandas as pd
import pytest

from benchmarks import peer_cost
from dsebo.config import METHODS, RunConfig, predict
from dsebo.methods.base import MethodConfig

# CPU seconds of the first n evaluations at D, by method.
MEASURED = pd.read_csv(peer_cost.MEASURED)


def config_of(method: str, D: int = 1000) -> MethodConfig:
    return RunConfig.parse({"objective": {"D": D}, "optimizer": {"method": method}}).optimizer


@pytest.mark.parametrize(
    ("method", "change"),
    [
        ("dsebo", {"raw_samples": 100_000}),
        ("dsebo", {"fit_iterations": 1000}),
        ("dsebo", {"refit_every": 0.0}),
        ("hesbo", {"restarts": 500}),
        ("hesbo", {"raw_samples": 100_000}),
        ("turbo", {"candidates": 50_000}),
        ("turbo", {"features": 5000}),
        ("bandit-softmax", {"acq_iterations": 4000}),
    ],
)
def test_settings_that_take_longer_cost_more(method: str, change: dict[str, float]) -> None:
    usual = predict(RunConfig.parse({"optimizer": {"method": method}}))
    more = predict(RunConfig.parse({"optimizer": {"method": method, **change}}))
    assert more.seconds > 1.5 * usual.seconds
    if "raw_samples" in change:
        assert more.memory_bytes > usual.memory_bytes + 8 * 500 * 100_000


@pytest.mark.parametrize("method", METHODS)
def test_at_the_defaults_nothing_is_scaled(method: str) -> None:
    assert config_of(method).effort(500) == 1.0


@pytest.mark.parametrize("method", METHODS)
def test_cost_grows_with_the_space_and_the_budget(method: str) -> None:
    config = config_of(method, 100)
    small, long, wide = config.predict(100, 100), config.predict(100, 1000), config.predict(10_000, 100)
    assert 0 < small.seconds <= long.seconds
    assert small.seconds <= wide.seconds
    assert small.memory_bytes < wide.memory_bytes
    assert small.memory_bytes <= long.memory_bytes


@pytest.mark.parametrize("method", peer_cost.TIMED)
def test_predictions_are_near_what_was_measured(method: str) -> None:
    for D, n in peer_cost.sizes(method).items():
        factor = 1.6 if D < 5000 else 2.0
        rows = MEASURED[(MEASURED.method == method) & (MEASURED.D == D) & (MEASURED.n == n)]
        predicted = predict(peer_cost.config_of(method, D)).seconds
        assert 1 / factor < predicted / rows.seconds.item() < factor


def test_each_method_is_fitted_to_its_own_runs() -> None:
    fitted = [config_of(method).coefficients for method in peer_cost.TIMED]
    assert len(set(fitted)) == len(fitted)


def test_a_long_run_of_random_search_stays_cheap() -> None:
    """Nothing but a model costs more than in proportion to n."""
    assert config_of("random").predict(1000, 100_000).seconds < 60
