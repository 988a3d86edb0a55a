"""Every method passes the same suite."""

from collections.abc import Callable
from typing import Any

import pytest

from dsebo.config import METHODS, RunConfig
from tests.conformance import CHECKS, config_of

# A model that is searched only a little: the suite asks how a method keeps its promises, not how
# well it does.
QUICK_FIT: dict[str, Any] = {"fit_iterations": 1, "refit_every": 0.5}
QUICK_SEARCH: dict[str, Any] = {"restarts": 1, "raw_samples": 5, "local_samples": 5}
QUICK: dict[str, Any] = {**QUICK_FIT, **QUICK_SEARCH, "acq_iterations": 2}
QUICK_REGION: dict[str, Any] = {**QUICK_FIT, "candidates": 100, "features": 32}

# Settings under which a short run meets what the method is about (an expansion, for DSEBO).
# A method that is not here is run as it comes.
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "dsebo": [
        {"beta": 4, "d_l": 2, "d_h": 20},
        {"beta": 4, "d_l": 2, "d_h": 20, "variant": "authors", **QUICK},
        {"beta": 6, "d_l": 2, "d_h": 12, "kernel": "rbf", "alpha_mode": "relative", **QUICK},
        {"variant": "adaptive", "beta": 4, "d_l": 2, "d_h": 20, "stop": 0.5, **QUICK},
        {
            "variant": "adaptive",
            "beta": 4,
            "d_l": 2,
            "d_h": 20,
            "most_data": 8,
            "acquisition": "bound",
            **QUICK,
        },
        {"variant": "adaptive", "d_l": 17, "d_h": 20, "probes": 4, "first_point": "centre", **QUICK},
        {"beta": 4, "d_l": 2, "d_h": 12, "blocks": 7, **QUICK},
        {
            "variant": "adaptive",
            "d_l": 2,
            "d_h": 20,
            "growth": "patience",
            "alpha_mode": "gained",
            "lengthscales": "per-dimension",
            **QUICK,
        },
        {"embeddings": 3, "beta": 4, "d_l": 2, "d_h": 12, **QUICK},
        {"embeddings": 2, "variant": "adaptive", "beta": 4, "d_l": 2, "d_h": 12, **QUICK},
    ],
    "random": [{}, {"points": "sobol"}, {"points": "upper-half"}],
    "rembo": [{"d": 4, **QUICK}, {"d": 4, "scale": "dsebo", **QUICK}],
    "hesbo": [{"d": 4, **QUICK}],
    "turbo": [{"n_init": 4, "failure_tolerance": 2, "L_min": 0.5, **QUICK_REGION}],
    "baxus": [{"n_init": 3, "L_min": 0.5, **QUICK_REGION}],
    "vbo": [QUICK],
    "sbo-se": [{"n_init": 5, **QUICK}],
    "saasbo": [{"n_init": 5, **QUICK}, {"n_init": 7, "inference": "hmc", "warm_up": 4, "draws": 1, **QUICK}],
    "sirbo": [{"d": 4, "n_init": 5, **QUICK}],
    "vaebo": [{"d": 4, "n_init": 5, "retrain_every": 7, "train_steps": 3, **QUICK}],
    "rducb": [{"n_init": 5, "fit_iterations": 1, "grid": 16}],
    "alebo": [{"d": 4, "n_init": 5, **QUICK}],
    "dumbo": [{"decompositions": 3, "d_max": 9, "rounds": 2, "acq_iterations": 1, **QUICK_FIT}],
    "mcts-vs": [{"n_init": 4, "subset_samples": 1, "right_turns": 1, **QUICK}],
    "lm-ma-es": [{"offspring": 6}],
    "dse-cma-es": [{"beta": 6, "d_l": 2, "d_h": 12}, {"beta": 6, "d_l": 1, "d_h": 12, "growth": "steady"}],
    "dcem": [{"population": 6, "elites": 3}],
    "bandit-extreme": [QUICK],
    "bandit-c-ucb": [{"reward": "rank", **QUICK}],
    "bandit-epsilon-greedy": [QUICK],
    "bandit-softmax": [{"scale": "dsebo", **QUICK}],
    "bandit-successive-halving": [QUICK],
    "bandit-ucb-e": [QUICK],
    "bandit-thompson": [QUICK],
    "bandit-expectation": [QUICK],
    "bandit-random": [QUICK],
}
CASES = [(method, settings) for method in METHODS for settings in SETTINGS.get(method, [{}])]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(("method", "settings"), CASES)
def test_conforms(method: str, settings: dict[str, Any], check: Callable[[RunConfig], None]) -> None:
    check(config_of(method, **settings))
