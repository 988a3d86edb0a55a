"""DSEBO: Bayesian optimization in a shared random subspace that grows when progress stalls.

from dsebo import Problem, RunConfig, conclude, minimize, run
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.3.0"
__all__ = [
    "DSEBO",
    "Problem",
    "Result",
    "RunConfig",
    "__version__",
    "conclude",
    "minimize",
    "run",
    "show",
    "watch",
]

if TYPE_CHECKING:
    from dsebo.analysis.conclusions import conclude
    from dsebo.config import RunConfig
    from dsebo.methods.dsebo import DSEBO
    from dsebo.minimize import Result, minimize
    from dsebo.notebook import show, watch
    from dsebo.objectives.own import Problem
    from dsebo.run import run

_HOMES = {  # imported when they are asked for: a command's help, or a class's 40 tabs, need none of them
    "DSEBO": "dsebo.methods.dsebo",
    "Problem": "dsebo.objectives.own",
    "Result": "dsebo.minimize",
    "RunConfig": "dsebo.config",
    "conclude": "dsebo.analysis.conclusions",
    "minimize": "dsebo.minimize",
    "run": "dsebo.run",
    "show": "dsebo.notebook",
    "watch": "dsebo.notebook",
}


class _Facade(ModuleType):
    """`dsebo.run` and `dsebo.minimize` are functions: importing their modules must not put those here."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _HOMES or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Facade


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
