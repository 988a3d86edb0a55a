"""The settings of the methods that DSEBO is compared with."""

from __future__ import annotations

from typing import TypeAlias, get_args

from dsebo.methods.config import MethodConfig
from dsebo.methods.configs.bandits import (
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
from dsebo.methods.configs.evolution import DcemConfig, LmMaEsConfig
from dsebo.methods.configs.full import MctsVsConfig, SboSeConfig, VboConfig
from dsebo.methods.configs.region import BaxusConfig, TurboConfig
from dsebo.methods.configs.simple import CentreConfig, RandomConfig
from dsebo.methods.configs.subspace import HesboConfig, RemboConfig, SirboConfig

AnyPeer: TypeAlias = (
    RandomConfig
    | CentreConfig
    | RemboConfig
    | HesboConfig
    | VboConfig
    | SboSeConfig
    | TurboConfig
    | BaxusConfig
    | SirboConfig
    | MctsVsConfig
    | LmMaEsConfig
    | DcemConfig
    | BanditExtremeConfig
    | BanditCUcbConfig
    | BanditEpsilonGreedyConfig
    | BanditSoftmaxConfig
    | BanditSuccessiveHalvingConfig
    | BanditUcbEConfig
    | BanditThompsonConfig
    | BanditExpectationConfig
    | BanditRandomConfig
)

# In the order in which a list of methods shows them.
PEERS: dict[str, type[MethodConfig]] = {
    peer.model_fields["method"].default: peer for peer in get_args(AnyPeer)
}

__all__ = [
    "PEERS",
    "AnyPeer",
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
