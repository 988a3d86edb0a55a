"""Who takes part in a race: a method, or one with settings of its own as `rembo:scale=dsebo`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dsebo.config import KNOWN, METHODS, RunConfig
from dsebo.objectives.fields import ConfigError, must, not_one_of
from dsebo.parsing import Value, read_value
from dsebo.text import fork_words, method_name, value_text

CLIPPED = (
    "With A of N(0, 1), as REMBO and the bandits have it, most coordinates are clipped to a wall "
    "of the box, and the optimum is not there: large subspaces lose by construction, even to "
    "random search. At DSEBO's scale they take part."
)
_BRING_DEFAULTS = ("scale", "variant")  # settings on which defaults of others depend


@dataclass(frozen=True)
class Entrant:
    """A method, and what differs from its usual settings."""

    method: str
    changes: tuple[tuple[str, Value], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Entrant:
        """From `turbo` or `rembo:scale=dsebo:d=10`; a ConfigError where it is neither."""
        method, *parts = (part.strip() for part in text.split(":"))
        if method not in METHODS:
            raise ConfigError(not_one_of("method", METHODS, method[:40]))
        changes = []
        for part in parts:
            name, _, value = (piece.strip() for piece in part.partition("="))
            if not (name and value):
                raise ConfigError(must("method", "a name, then :setting=value for what differs", text[:60]))
            if name == "method" or name not in METHODS[method].model_fields:
                raise ConfigError(f"{name[:40]} is not a setting of {method}.")
            changes.append((name, read_value(name, value)))
        return cls(method, tuple(changes))

    @property
    def text(self) -> str:
        """What `parse` takes back."""
        return ":".join([self.method, *(f"{name}={value_text(value)}" for name, value in self.changes)])


# What a page offers, by family. Fixed, as colours go by the place in it.
FAMILIES: dict[str, tuple[Entrant, ...]] = {
    family: tuple(
        Entrant(method, tuple(changes.items()))
        for method, config in METHODS.items()
        if config.family == family
        for changes in ({}, *config.offered)
    )
    for family in ("DSEBO", "Methods", "Bandits")
}


def label_of(config: Mapping[str, Any]) -> str:
    """The method of a run's config in words, with what differs from its usual settings."""
    name, words = method_name(entrant_of(config).text), fork_words(config)
    return f"{name}, {words}" if words else name


def entrant_of(config: Mapping[str, Any]) -> Entrant:
    """The entrant that a run's config is of; without changes where they cannot be known here."""
    optimizer = config["optimizer"]
    method = str(optimizer["method"])
    if method not in KNOWN:  # of another version of this software
        return Entrant(method)
    fields = KNOWN[method].model_fields
    brings = {name: optimizer[name] for name in _BRING_DEFAULTS if name in fields and name in optimizer}
    try:
        usual = _usual(method, json.dumps(config["objective"], sort_keys=True), tuple(brings.items()))
    except ConfigError:
        return Entrant(method)
    changes = [(name, value) for name, value in brings.items() if value != fields[name].default]
    changes += [
        (name, optimizer[name])
        for name in sorted(fields)
        if name in optimizer and optimizer[name] != usual[name]
    ]
    return Entrant(method, tuple(changes))


@lru_cache(maxsize=256)
def _usual(method: str, objective: str, brings: tuple[tuple[str, Value], ...]) -> dict[str, Any]:
    """The settings that a method has by itself on that objective."""
    optimizer = {"method": method, **dict(brings)}
    config = RunConfig.parse({"objective": json.loads(objective), "optimizer": optimizer})
    return config.optimizer.model_dump(mode="json")


def are_clipped(configs: Iterable[RunConfig]) -> bool:
    """Whether `CLIPPED` is to be said of any of them."""
    scales = (config.optimizer.model_dump().get("scale", "dsebo") for config in configs)
    return any(scale != "dsebo" for scale in scales)
