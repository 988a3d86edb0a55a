"""From a method's config to the optimizer that it names."""

from __future__ import annotations

from dsebo.methods.bandits import BanditBO
from dsebo.methods.base import Optimizer
from dsebo.methods.baxus import BAxUS
from dsebo.methods.config import DseboConfig, MethodConfig
from dsebo.methods.configs import (
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
from dsebo.methods.dcem import DCEM
from dsebo.methods.dsebo import DSEBO
from dsebo.methods.hesbo import HeSBO
from dsebo.methods.lm_ma_es import LMMAES
from dsebo.methods.mcts_vs import MCTSVS
from dsebo.methods.rembo import REMBO
from dsebo.methods.sbo_se import SBOSE
from dsebo.methods.simple import Centre, RandomSearch
from dsebo.methods.sirbo import SIRBO
from dsebo.methods.turbo import TuRBO
from dsebo.methods.vbo import VBO


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
