"""The methods: one file each, settings and optimizer together, and one line here.

To add one, write `dsebo/methods/NAME.py` with a `MethodConfig` and its `Optimizer`, and import its
settings below, at the place where lists of methods shall show it.
"""
# ruff: noqa: F401, I001  (every import below is an entry of METHODS, in this order)

from dsebo.methods.dsebo import DseboConfig
from dsebo.methods.random_search import RandomConfig
from dsebo.methods.centre import CentreConfig
from dsebo.methods.rembo import RemboConfig
from dsebo.methods.hesbo import HesboConfig
from dsebo.methods.vbo import VboConfig
from dsebo.methods.sbo_se import SboSeConfig
from dsebo.methods.saasbo import SaasboConfig
from dsebo.methods.turbo import TurboConfig
from dsebo.methods.baxus import BaxusConfig
from dsebo.methods.sirbo import SirboConfig
from dsebo.methods.alebo import AleboConfig
from dsebo.methods.vaebo import VaeboConfig
from dsebo.methods.mcts_vs import MctsVsConfig
from dsebo.methods.rducb import RducbConfig
from dsebo.methods.dumbo import DumboConfig
from dsebo.methods.lm_ma_es import LmMaEsConfig
from dsebo.methods.dcem import DcemConfig
from dsebo.methods.dse_cma_es import DseCmaEsConfig
from dsebo.methods.bandits import BanditExtremeConfig
from dsebo.methods.bandits import BanditCUcbConfig
from dsebo.methods.bandits import BanditEpsilonGreedyConfig
from dsebo.methods.bandits import BanditSoftmaxConfig
from dsebo.methods.bandits import BanditSuccessiveHalvingConfig
from dsebo.methods.bandits import BanditUcbEConfig
from dsebo.methods.bandits import BanditThompsonConfig
from dsebo.methods.bandits import BanditExpectationConfig
from dsebo.methods.bandits import BanditRandomConfig
from dsebo.methods.elsewhere import OptunaConfig
from dsebo.methods import base

# All that a config can name, and those of them that can be run here.
KNOWN: dict[str, type[base.MethodConfig]] = {
    settings.model_fields["method"].default: settings
    for settings in tuple(globals().values())
    if isinstance(settings, type) and issubclass(settings, base.MethodConfig)
}
METHODS = {name: settings for name, settings in KNOWN.items() if settings.family != "Elsewhere"}
