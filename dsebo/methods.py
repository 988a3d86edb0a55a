"""From a method's config to the optimizer that it names."""

from __future__ import annotations

from dsebo.algorithm import DSEBO
from dsebo.baselines.simple import Centre, RandomSearch
from dsebo.method_config import DseboConfig, MethodConfig
from dsebo.optimizer import Optimizer
from dsebo.peer_configs import CentreConfig, RandomConfig


def make_optimizer(config: MethodConfig, D: int, budget: int, seed: int) -> Optimizer:
    """The optimizer for D variables; `budget` is the one that its schedule is reckoned with."""
    match config:
        case DseboConfig():
            return DSEBO(config, D, budget, seed)
        case RandomConfig():
            return RandomSearch(D, seed)
        case CentreConfig():
            return Centre(D, seed)
    raise TypeError(f"No optimizer for {type(config).__name__}.")
