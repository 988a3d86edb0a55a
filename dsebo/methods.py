"""From a method's config to the optimizer that it names."""

from __future__ import annotations

from dsebo.algorithm import DSEBO
from dsebo.baselines.baxus import BAxUS
from dsebo.baselines.hesbo import HeSBO
from dsebo.baselines.rembo import REMBO
from dsebo.baselines.simple import Centre, RandomSearch
from dsebo.baselines.turbo import TuRBO
from dsebo.method_config import DseboConfig, MethodConfig
from dsebo.optimizer import Optimizer
from dsebo.peer_configs import (
    BaxusConfig,
    CentreConfig,
    HesboConfig,
    RandomConfig,
    RemboConfig,
    TurboConfig,
)


def make_optimizer(config: MethodConfig, D: int, budget: int, seed: int) -> Optimizer:
    """The optimizer for D variables; `budget` is the one that its schedule is reckoned with."""
    match config:
        case DseboConfig():
            return DSEBO(config, D, budget, seed)
        case RandomConfig():
            return RandomSearch(D, seed)
        case CentreConfig():
            return Centre(D, seed)
        case RemboConfig():
            return REMBO(config, D, seed)
        case HesboConfig():
            return HeSBO(config, D, seed)
        case TurboConfig():
            return TuRBO(config, D, seed)
        case BaxusConfig():
            return BAxUS(config, D, budget, seed)
    raise TypeError(f"No optimizer for {type(config).__name__}.")
