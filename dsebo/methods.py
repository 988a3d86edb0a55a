"""From a method's config to the optimizer that it names."""

from __future__ import annotations

from dsebo.algorithm import DSEBO
from dsebo.bandits.bandit_bo import BanditBO
from dsebo.baselines.baxus import BAxUS
from dsebo.baselines.dcem import DCEM
from dsebo.baselines.hesbo import HeSBO
from dsebo.baselines.lm_ma_es import LMMAES
from dsebo.baselines.mcts_vs import MCTSVS
from dsebo.baselines.rembo import REMBO
from dsebo.baselines.sbo_se import SBOSE
from dsebo.baselines.simple import Centre, RandomSearch
from dsebo.baselines.sirbo import SIRBO
from dsebo.baselines.turbo import TuRBO
from dsebo.baselines.vbo import VBO
from dsebo.method_config import DseboConfig, MethodConfig
from dsebo.optimizer import Optimizer
from dsebo.peer_configs import (
    BanditConfig,
    BaxusConfig,
    CentreConfig,
    DcemConfig,
    HesboConfig,
    LmMaEsConfig,
    MctsVsConfig,
    RandomConfig,
    RemboConfig,
    SboSeConfig,
    SirboConfig,
    TurboConfig,
    VboConfig,
)


def make_optimizer(config: MethodConfig, D: int, budget: int, seed: int) -> Optimizer:
    """The optimizer for D variables; `budget` is the one that its schedule is reckoned with."""
    match config:
        case DseboConfig():
            return DSEBO(config, D, budget, seed)
        case RandomConfig():
            return RandomSearch(config, D, seed)
        case CentreConfig():
            return Centre(D, seed)
        case RemboConfig():
            return REMBO(config, D, seed)
        case HesboConfig():
            return HeSBO(config, D, seed)
        case VboConfig():
            return VBO(config, D, seed)
        case SboSeConfig():
            return SBOSE(config, D, seed)
        case TurboConfig():
            return TuRBO(config, D, seed)
        case BaxusConfig():
            return BAxUS(config, D, budget, seed)
        case SirboConfig():
            return SIRBO(config, D, seed)
        case MctsVsConfig():
            return MCTSVS(config, D, seed)
        case LmMaEsConfig():
            return LMMAES(config, D, seed)
        case DcemConfig():
            return DCEM(config, D, seed)
        case BanditConfig():
            return BanditBO(config, D, budget, seed)
    raise TypeError(f"No optimizer for {type(config).__name__}.")
