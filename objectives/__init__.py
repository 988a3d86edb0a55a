"""Objectives to minimise on the box [-1, 1]^D. Importing this package does not import torch.

An objective is of a kind. To add a kind, write `objectives/NAME.py` with an `ObjectiveConfig` and the
`Objective` that it builds, and import its settings below.
"""

import sys

if __name__ == "objectives":  # the folder of a checkout under its own name: the same modules, by another way
    from importlib import import_module
    from pkgutil import iter_modules

    for module in iter_modules(__path__):
        import_module(f"dsebo.objectives.{module.name}")
    ours = {name: module for name, module in sys.modules.items() if name.startswith("dsebo.objectives")}
    sys.modules.update({name.removeprefix("dsebo."): module for name, module in ours.items()})

from . import base
from .base import Objective
from .embedded import EmbeddedConfig, EmbeddedFunction
from .fields import ConfigError, not_one_of
from .lasso import LassoConfig
from .limo import LimoConfig
from .mslr import MslrConfig
from .own import OwnConfig, Problem
from .registry import BaseFunction, get_function, register

KINDS: dict[str, type[base.ObjectiveConfig]] = {
    settings.model_fields["kind"].default: settings
    for settings in tuple(globals().values())
    if isinstance(settings, type) and issubclass(settings, base.ObjectiveConfig)
}


def names() -> list[str]:
    """The names of all objectives, of whatever kind; the paper's six first."""
    return [name for kind in KINDS.values() for name in kind.names()]


def kind_of(name: object) -> str:
    """The kind that has an objective of that name; ConfigError where none has."""
    for tag, kind in KINDS.items():
        if name in kind.names():
            return tag
    raise ConfigError(not_one_of("function", names(), name))


__all__ = [
    "KINDS",
    "BaseFunction",
    "EmbeddedConfig",
    "EmbeddedFunction",
    "LassoConfig",
    "LimoConfig",
    "MslrConfig",
    "Objective",
    "OwnConfig",
    "Problem",
    "get_function",
    "kind_of",
    "names",
    "register",
]
