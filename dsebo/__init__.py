"""DSEBO: Bayesian optimization in a shared random subspace that grows when progress stalls.

from dsebo import Problem, RunConfig, conclude, minimize, run
"""

import sys
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


class _Facade(ModuleType):
    """`dsebo.run` and `dsebo.minimize` are functions: importing their modules must not put those here."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in __all__ or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Facade


def __getattr__(name: str) -> Any:
    """Imported when it is asked for: a command's help, or a class's 40 tabs, need none of them."""
    value: Any
    match name:
        case "DSEBO":
            from dsebo.methods.dsebo import DSEBO as value
        case "Problem":
            from dsebo.objectives.own import Problem as value
        case "Result":
            from dsebo.minimize import Result as value
        case "RunConfig":
            from dsebo.config import RunConfig as value
        case "conclude":
            from dsebo.analysis.conclusions import conclude as value
        case "minimize":
            from dsebo.minimize import minimize as value
        case "run":
            from dsebo.run import run as value
        case "show":
            from dsebo.notebook import show as value
        case "watch":
            from dsebo.notebook import watch as value
        case _:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
