"""A race: several methods on one function from the same seeds, as data.

A method's own settings are those of its config. One entrant may differ: `rembo:scale=dsebo`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dsebo.config import BARE, METHODS, RunConfig, all_specs, flat_config, parse_flat
from dsebo.parsing import read_seeds, read_value
from dsebo.text import SYMBOLS, value_text
from objectives.fields import ConfigError

MOST_SEEDS = 100
MOST_RUNS = 300
CLIPPED = (
    "With A of N(0, 1), as REMBO and the bandits have it, most coordinates are clipped to a wall "
    "of the box, and the optimum is not there: large subspaces lose by construction, even to "
    "random search. At DSEBO's scale they take part."
)

_OF_ITSELF = ("scale", "variant")  # settings that bring other defaults along


@dataclass(frozen=True)
class Entrant:
    """A method, and what differs from its usual settings."""

    method: str
    changes: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Entrant:
        """From `turbo` or `rembo:scale=dsebo:d=10`; a ConfigError where it is neither."""
        method, *parts = (part.strip() for part in text.split(":"))
        if method not in METHODS:
            raise ConfigError(f"methods = {method[:40]!r} is not allowed: one of {', '.join(METHODS)}.")
        pairs = [part.partition("=") for part in parts]
        if bad := [name for name, equals, value in pairs if not (name and equals and value)]:
            raise ConfigError(
                f"methods = {text[:60]!r} is not allowed: after the colon of {bad[0][:20]!r} a "
                "setting as name=value."
            )
        return cls(method, tuple((name, read_value(name, value)) for name, _, value in pairs))

    @property
    def text(self) -> str:
        """What `parse` takes back."""
        return ":".join([self.method, *(f"{name}={value_text(v)}" for name, v in self.changes)])


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


@dataclass(frozen=True)
class Race:
    """Who, on what, from which seeds. Every combination has been checked by `parse`.

    Attributes:
        settings: Flat, by the names of the flags: those of the function and the budget are all
            entrants', any other goes to the entrants that have it.
    """

    entrants: tuple[Entrant, ...]
    settings: Mapping[str, Any]
    seeds: tuple[int, ...]

    @classmethod
    def parse(cls, methods: str | Sequence[str], settings: Mapping[str, Any], seeds: str) -> Race:
        """From text, as a link or a terminal gives it; a ConfigError in a sentence if it is bad."""
        parts = methods.split(",") if isinstance(methods, str) else methods
        entrants = [Entrant.parse(part) for part in parts if part.strip()]
        if not entrants:
            raise ConfigError("methods is missing: at least one method.")
        race = cls(tuple(dict.fromkeys(entrants)), dict(settings), parse_seeds(seeds))
        if len(race.entrants) * len(race.seeds) > MOST_RUNS:
            raise ConfigError(
                f"{len(race.entrants)} methods from {len(race.seeds)} seeds are too many: at most "
                f"{MOST_RUNS} runs in a race."
            )
        race._check_names()
        for entrant in race.entrants:
            race.config(entrant, max(race.seeds))
        return race

    def config(self, entrant: Entrant, seed: int | None = None) -> RunConfig:
        """What an entrant runs from a seed (None: the first)."""
        own = _names(entrant.method)
        shared = {name: value for name, value in self.settings.items() if name in own}
        flat = {"method": entrant.method, **shared, **dict(entrant.changes)}
        return parse_flat({**flat, "seed": self.seeds[0] if seed is None else seed})

    @property
    def clips(self) -> bool:
        """Whether `CLIPPED` is to be said of it."""
        scales = (getattr(self.config(one).optimizer, "scale", "dsebo") for one in self.entrants)
        return any(scale != "dsebo" for scale in scales)

    def configs(self) -> Iterator[tuple[Entrant, RunConfig]]:
        """Every run."""
        for entrant in self.entrants:
            for seed in self.seeds:
                yield entrant, self.config(entrant, seed)

    def _check_names(self) -> None:
        for entrant in self.entrants:
            for name, _ in entrant.changes:
                if name not in _names(entrant.method) - _of_all():
                    raise ConfigError(f"{name[:40]} is not a setting of {entrant.method}.")
        known = {name for entrant in self.entrants for name in _names(entrant.method)}
        for name in self.settings:
            if name in ("seed", "method"):
                raise ConfigError(f"{name} is not allowed in a race: give {name}s.")
            if name not in known:
                raise ConfigError(f"{name[:40]} is not a setting of any of the methods.")


def parse_seeds(text: str) -> tuple[int, ...]:
    """`1-3,7` as 1, 2, 3, 7."""
    found = tuple(dict.fromkeys(read_seeds(text)))
    if len(found) > MOST_SEEDS:
        raise ConfigError(f"{len(found)} seeds are too many: at most {MOST_SEEDS}.")
    return found


def seeds_text(seeds: Sequence[int]) -> str:
    """`1-3,7` of 1, 2, 3, 7."""
    parts = (f"{a}" if n == 1 else f"{a}-{a + n - 1}" for a, n in blocks(seeds))
    return ",".join(parts)


def blocks(seeds: Sequence[int]) -> list[tuple[int, int]]:
    """(first, how many) of each stretch of seeds that follow each other."""
    found: list[tuple[int, int]] = []
    for seed in seeds:
        if found and sum(found[-1]) == seed:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((seed, 1))
    return found


def parse_settings(text: str) -> dict[str, Any]:
    """`beta=8, d=50` as a dict."""
    pairs = [part.strip().partition("=") for part in text.split(",") if part.strip()]
    if bad := [name for name, equals, value in pairs if not (name and equals and value)]:
        raise ConfigError(f"{bad[0][:40]!r} is not allowed: settings as name=value, with commas.")
    named = [(name.strip(), value.strip()) for name, _, value in pairs]
    return {name: read_value(name, value) for name, value in named}


def label_of(config: Mapping[str, Any]) -> str:
    """A run's method in words, with what differs from its usual settings."""
    entrant = entrant_of(config)
    if entrant.method not in METHODS:  # of another version of this software
        return entrant.method
    said = [
        _WORDS.get(pair) or f"{SYMBOLS.get(pair[0], pair[0])} = {value_text(pair[1])}"
        for pair in entrant.changes
    ]
    return ", ".join([METHODS[entrant.method].label, *said])


def entrant_of(config: Mapping[str, Any]) -> Entrant:
    """The entrant that a run's config is of."""
    flat = flat_config(config)
    method = str(flat["method"])
    if method not in METHODS:
        return Entrant(method)
    own = (_names(method) - _of_all()) & set(flat)
    kept = {name: flat[name] for name in _OF_ITSELF if name in own}
    D = flat["D"] if "D" in flat else RunConfig.parse(config).D  # where the function's name fixes it
    usual = flat_config(_usual(method, D, tuple(kept.items())))
    default = METHODS[method].model_fields
    changes = [(name, value) for name, value in kept.items() if value != default[name].default]
    changes += [(name, flat[name]) for name in sorted(own) if flat[name] != usual[name]]
    return Entrant(method, tuple(changes))


_WORDS = {
    ("scale", "dsebo"): "DSEBO's scale",
    ("scale", "unit"): "z in ±1",
    ("scale", "own"): "z in ±√d",
    ("variant", "authors"): "authors' variant",
}


@lru_cache(maxsize=256)
def _usual(method: str, D: int, kept: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    flat = {"method": method, "D": D, **dict(kept)}
    return parse_flat(flat).model_dump(mode="json")


@lru_cache(maxsize=64)
def _names(method: str) -> frozenset[str]:
    """Every setting of a method's runs but the seed, by the flags' names."""
    found = {spec.name for part in all_specs(method).values() for spec in part}
    return frozenset(found - {"seed"})


def _of_all() -> frozenset[str]:
    """The settings that every run has: the function's and the budget."""
    return _names(BARE)
