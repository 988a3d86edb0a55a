"""The settings of the methods that DSEBO is compared with."""

from dsebo.peer_configs.bandits import (
    BanditConfig,
    BanditCUcbConfig,
    BanditEpsilonGreedyConfig,
    BanditExpectationConfig,
    BanditExtremeConfig,
    BanditRandomConfig,
    BanditSoftmaxConfig,
    BanditSuccessiveHalvingConfig,
    BanditThompsonConfig,
    BanditUcbEConfig,
)
from dsebo.peer_configs.evolution import DcemConfig, LmMaEsConfig
from dsebo.peer_configs.full import MctsVsConfig, SboSeConfig, VboConfig
from dsebo.peer_configs.region import BaxusConfig, TurboConfig
from dsebo.peer_configs.simple import CentreConfig, RandomConfig
from dsebo.peer_configs.subspace import HesboConfig, RemboConfig, SirboConfig

__all__ = [
    "BanditCUcbConfig",
    "BanditConfig",
    "BanditEpsilonGreedyConfig",
    "BanditExpectationConfig",
    "BanditExtremeConfig",
    "BanditRandomConfig",
    "BanditSoftmaxConfig",
    "BanditSuccessiveHalvingConfig",
    "BanditThompsonConfig",
    "BanditUcbEConfig",
    "BaxusConfig",
    "CentreConfig",
    "DcemConfig",
    "HesboConfig",
    "LmMaEsConfig",
    "MctsVsConfig",
    "RandomConfig",
    "RemboConfig",
    "SboSeConfig",
    "SirboConfig",
    "TurboConfig",
    "VboConfig",
]
