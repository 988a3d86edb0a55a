"""Every peer predicts its cost; the predictions are of the size that was measured."""

import pytest

from dsebo.config import METHODS, RunConfig
from dsebo.peer_configs.cost import CostedConfig

# CPU seconds of 500 evaluations at D = 1000 (benchmarks/results/peer_cost.csv).
MEASURED = {
    "random": 0.12, "lm-ma-es": 0.23, "dcem": 0.17, "rembo": 16.7, "hesbo": 16.8, "sirbo": 51.9,
    "bandit-extreme": 13.2, "mcts-vs": 28.4, "baxus": 30.4, "turbo": 46.6, "vbo": 82.0,
    "sbo-se": 107.1,
}  # fmt: skip


def config_of(method: str, D: int = 1000) -> CostedConfig:
    found = RunConfig.parse({"objective": {"D": D}, "optimizer": {"method": method}}).optimizer
    assert isinstance(found, CostedConfig)
    return found


@pytest.mark.parametrize("method", [method for method in METHODS if method != "dsebo"])
def test_cost_grows_with_the_space_and_the_budget(method: str) -> None:
    config = config_of(method, 100)
    small, long, wide = config.cost(100, 100), config.cost(100, 1000), config.cost(10_000, 100)
    assert 0 < small.seconds <= long.seconds
    assert small.seconds <= wide.seconds
    assert small.memory_bytes < wide.memory_bytes
    assert small.memory_bytes <= long.memory_bytes


@pytest.mark.parametrize(("method", "seconds"), MEASURED.items())
def test_predictions_are_near_what_was_measured(method: str, seconds: float) -> None:
    assert 0.6 < config_of(method).cost(1000, 500).seconds / seconds < 1.6


def test_a_long_run_of_random_search_stays_cheap() -> None:
    """Nothing but a model costs more than in proportion to n."""
    assert config_of("random").cost(1000, 100_000).seconds < 60
