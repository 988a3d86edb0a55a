"""`RunConfig`: everything that determines a run. Frozen, validated, JSON both ways.

A config has two forms: nested, by parts, as files and the store have it, and flat, each setting by
its name alone, as flags and links have it. Names are unique over all parts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from dsebo.methods import KNOWN as KNOWN
from dsebo.methods import METHODS as METHODS
from dsebo.methods.base import MethodConfig
from dsebo.methods.cost import Prediction as Prediction
from dsebo.methods.cost import on_this_machine
from dsebo.objectives import KINDS, kind_of, names
from dsebo.objectives.base import ObjectiveConfig
from dsebo.objectives.fields import (
    MAX_D,
    MAX_SEED,
    ConfigError,
    FieldSpec,
    Frozen,
    explain,
    must,
    not_one_of,
    setting,
    specs,
    tagged_union,
)

MAX_BUDGET = 100_000
MAX_FORKS = 20  # of one run: a fork of a fork of a fork …
FUNCTION, METHOD = "sphere", "dsebo"  # where none is given
DEFAULT_SEED = 1
FIRST_ARITHMETIC = "1.1"  # of all runs that do not say with which they were made

BARE = "centre"  # a method without settings of its own: the fields of its runs are every run's

if TYPE_CHECKING:
    AnyMethod = MethodConfig
    AnyObjective = ObjectiveConfig
else:
    AnyMethod = tagged_union("method", KNOWN)
    AnyObjective = tagged_union("kind", KINDS)


class Fork(Frozen):
    """Where a run leaves another one, its parent: up to evaluation `at`, a convergence, both are the same."""

    run: str = Field(pattern=r"^[0-9a-f]{32}$")
    """The parent's id, also where it is no longer in the store."""
    hash: str | None = Field(None, pattern=r"^[0-9a-f]{64}$")
    """The parent's hash; none where it is not known with what it was made."""
    at: int = Field(ge=1, le=MAX_BUDGET)
    decide: int | None = Field(None, ge=0, le=MAX_D)
    """The step Δd there; none: as the strategy decides."""
    before: dict[str, bool | int | float | str | None] = Field(default_factory=dict, max_length=100)
    """What the parent has of the settings that change, by their flat names."""

    def __hash__(self) -> int:
        return hash((self.run, self.at, self.decide, json.dumps(self.before, sort_keys=True)))


class RunConfig(Frozen):
    """A run: the same config gives the same history.

    The settings of a fork hold from its point on; `at` gives those before it.
    """

    objective: AnyObjective = Field(default_factory=dict, validate_default=True)
    optimizer: AnyMethod = Field(default_factory=dict, validate_default=True)
    budget: int = setting(500, "Budget", "Number of evaluations.", "budget", ge=2, le=MAX_BUDGET)
    seed: int = setting(DEFAULT_SEED, "Seed", "Same seed, same run.", "seed", ge=0, le=MAX_SEED)
    forks: tuple[Fork, ...] = Field((), max_length=MAX_FORKS)
    """Of a fork: where it left its parent, the oldest first where that one is a fork too."""

    @field_validator("objective", mode="before")
    @classmethod
    def _of_a_kind(cls, given: Any) -> Any:
        """Without a kind, that of the name."""
        given = _as_dict(given)
        if not isinstance(given, dict):
            return given
        kind = given.get("kind") or kind_of(given.get("name", FUNCTION))
        if kind not in list(KINDS):
            raise ValueError(not_one_of("kind", KINDS, kind))
        return {**given, "kind": kind}

    @field_validator("optimizer", mode="before")
    @classmethod
    def _complete(cls, given: Any, info: ValidationInfo) -> Any:
        """Fill in the defaults that depend on the method and on D."""
        given = _as_dict(given)
        if not isinstance(given, dict):
            return given
        method = given.get("method", METHOD)
        if method not in list(KNOWN):
            raise ValueError(not_one_of("method", METHODS, method))
        if given.get("batch", 1) != 1 and "batch" not in METHODS[method].model_fields:
            label, got = METHODS[method].label, given["batch"]
            raise ValueError(f"{label} proposes one point at a time: batch must be 1 (got {got!r}).")
        D = info.data["objective"].D if "objective" in info.data else 1000
        return {"method": method, **KNOWN[method].complete(given, D)}

    @model_validator(mode="after")
    def _check(self) -> RunConfig:
        self.optimizer.check(self.D)
        if self.forks:
            for name in self.forks[-1].before:
                _check_may_change(self, name)
            if len(self.forks) > 1 and self.forks[-2].at >= self.forks[-1].at:
                raise ValueError("A fork of a fork must be later than that one.")
            self.parent()
        return self

    @model_serializer(mode="wrap")
    def _without_no_forks(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A plain run is written as it was before there were forks."""
        plain: dict[str, Any] = write(self)
        if not self.forks:
            plain.pop("forks", None)
        return plain

    @property
    def function(self) -> str:
        """The name of the objective."""
        return self.objective.name

    @property
    def D(self) -> int:
        """The number of variables."""
        return self.objective.D

    @property
    def arithmetic(self) -> str:
        """The version of the arithmetic that a run of this config is made with."""
        return f"{self.objective.arithmetic}.{self.optimizer.arithmetic}"

    def unavailable(self) -> str:
        """Why such a run cannot be made here, in a sentence; one that is stored can be looked at."""
        return self.optimizer.unavailable() or self.objective.unavailable()

    def warnings(self) -> list[str]:
        """What is allowed but will surprise, in words."""
        return self.optimizer.warnings(self.budget)

    def to_json(self) -> str:
        """As JSON text; `RunConfig.from_json` takes it back."""
        return self.model_dump_json()

    @classmethod
    def from_json(cls, text: str | bytes) -> RunConfig:
        """From JSON text; ConfigError, in plain words, where it is not one. Parsed once."""
        return _from_json(text)

    @classmethod
    def parse(cls, given: Any) -> RunConfig:
        """From nested dicts; ConfigError, a sentence for each bad field, where they do not fit."""
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            raise ConfigError(explain(error, *_parts_of(given))) from None

    def with_seed(self, seed: int) -> RunConfig:
        """The same run from another seed."""
        return self.model_copy(update={"seed": seed})

    def seeds(self, count: int) -> list[RunConfig]:
        """The same run from `count` seeds, counted up from its own."""
        if type(count) is not int or count < 1:
            raise ConfigError(f"The number of seeds must be a whole number, 1 or more (got {count!r}).")
        if self.seed + count - 1 > MAX_SEED:
            raise ConfigError(f"seed must be at most {MAX_SEED} (got {self.seed + count - 1}).")
        return [self.with_seed(self.seed + i) for i in range(count)]

    def parent(self) -> RunConfig:
        """The config of the run that this one is a fork of."""
        *older, fork = self.forks
        nested = nested_config(fork.before, self.model_dump(mode="json", exclude={"forks"}))
        return RunConfig.parse({**nested, "forks": older})

    def at(self, t: int) -> RunConfig:
        """The config by which the run goes on after evaluation t, its decision at t included."""
        config = self
        while config.forks and config.forks[-1].at > t:
            config = config.parent()
        return config

    def forked(
        self,
        run: str,
        hash: str | None,
        at: int,
        decide: int | None = None,
        changes: Mapping[str, Any] | None = None,
    ) -> RunConfig:
        """The config of a fork of this run at evaluation `at`.

        At or before a fork of its own, this run's history is that of its parent, which then is the new
        fork's parent too. `run` and `hash` are this run's; `decide` is the step there, None: as before;
        `changes`, by their flat names, hold from there on.
        """
        if decide is not None and (type(decide) is not int or decide < 0):
            raise ConfigError(must("decide", "a whole number, 0 or more", decide))
        kept_settings(self)
        parent, going = self.at(at - 1), self.at(at)
        older = len(parent.forks)
        if older < len(self.forks):
            run, hash = self.forks[older].run, self.forks[older].hash
        if older < len(going.forks) and decide is None:
            decide = going.forks[older].decide
        for name in changes or {}:
            _check_may_change(self, name)
        if older >= MAX_FORKS:
            raise ConfigError(f"A run must be of at most {MAX_FORKS} forks.")
        before, after = (
            flat_config(parent),
            flat_config(parse_flat({**flat_config(going), **(changes or {})})),
        )
        if after["budget"] < before["budget"]:
            raise ConfigError(must("budget", f"{before['budget']}, its parent's, or more", after["budget"]))
        fork = {
            "run": run,
            "hash": hash,
            "at": at,
            "decide": decide,
            "before": {name: value for name, value in before.items() if after[name] != value},
        }
        return RunConfig.parse({**nested_config(after), "forks": [*parent.forks, fork]})

    def setting(self, name: str) -> Any:
        """A setting by its flat name; KeyError where the config has none of that name."""
        return flat_config(self)[name]

    def given(self) -> dict[str, Any]:
        """Function, method and what else `parse` would not fill in: it makes this config of them."""
        whole = self.model_dump(mode="json", exclude={"objective": {"kind"}})
        kind, method = type(self.objective), type(self.optimizer)
        objective = _own(kind, whole["objective"], kind.identity, kind.complete)
        optimizer = _own(
            method, whole["optimizer"], ("method",), lambda given: method.complete(given, self.D)
        )
        rest = {n: whole[n] for n in ("budget", "seed") if whole[n] != RunConfig.model_fields[n].default}
        forks = {"forks": whole["forks"]} if self.forks else {}
        return {"objective": objective, "optimizer": optimizer, **rest, **forks}


def predict(config: RunConfig, budget: int | None = None) -> Prediction:
    """What a run will cost here, from measured runs of its method; `budget` in place of the config's."""
    n = budget or config.budget
    own = config.optimizer.predict(config.D, n)
    return on_this_machine(replace(own, seconds=own.seconds + n * config.objective.seconds))


def config_hash(config: RunConfig, arithmetic: str | None = None) -> str:
    """What runs have in common that are the same: all settings, seed included, and the arithmetic.

    Settings that `parse` would fill in are left out, so that a run keeps its hash when a method
    or an objective gets one more.
    """
    return next(seed_hashes(config, [config.seed], arithmetic))


def seed_hashes(config: RunConfig, seeds: Iterable[int], arithmetic: str | None = None) -> Iterator[str]:
    """The hashes of the same run from these seeds: what its settings come to is found once for all."""
    given = config.given()
    usual = DEFAULT_SEED
    for seed in seeds:
        own = {**given, "seed": seed} if seed != usual else {n: v for n, v in given.items() if n != "seed"}
        depends = {"config": own, "arithmetic": arithmetic or config.arithmetic}
        canonical = json.dumps(depends, sort_keys=True, separators=(",", ":"))
        yield hashlib.sha256(canonical.encode()).hexdigest()


def stored_hash(config: RunConfig, versions: Mapping[str, str]) -> str | None:
    """The hash of a run that was made with these versions; None where that of dsebo is not known."""
    unknown = versions.get("dsebo", "unknown") == "unknown"
    return None if unknown else config_hash(config, versions.get("arithmetic", FIRST_ARITHMETIC))


def config_parts(method: str, function: str = FUNCTION) -> dict[str, type[Frozen]]:
    """The config classes whose fields make up a run of that method on that function."""
    return {"": RunConfig, "objective": KINDS[kind_of(function)], "optimizer": KNOWN[method]}


def all_specs(method: str, function: str = FUNCTION) -> dict[str, list[FieldSpec]]:
    """Every setting of such a run by part: what a form or a terminal shows."""
    by_part = {part: specs(model) for part, model in config_parts(method, function).items()}
    help = "The function whose minimum is sought."
    choice = FieldSpec("function", "Function", "f", help, "choice", FUNCTION, False, choices=tuple(names()))
    return {**by_part, "objective": [choice, *by_part["objective"]]}


@lru_cache(maxsize=1024)
def part_of(name: str) -> str:
    """The part that a setting is in, by its flat name; the method refuses what nobody knows."""
    if name == "function" or any(name in kind.model_fields for kind in KINDS.values()):
        return "objective"
    return "" if name in RunConfig.model_fields else "optimizer"


def flat_config(config: RunConfig | Mapping[str, Any]) -> dict[str, Any]:
    """All settings by their names alone; `function` and `method` for the two names."""
    nested = config.model_dump(mode="json") if isinstance(config, RunConfig) else config
    objective, optimizer = dict(nested["objective"]), dict(nested["optimizer"])
    objective.pop("kind", None)
    names = {"function": objective.pop("name"), "method": optimizer.pop("method")}
    return {**names, **objective, **optimizer, "budget": nested["budget"], "seed": nested["seed"]}


def nested_config(flat: Mapping[str, Any], base: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Settings by their flat names, over those of `base`, in parts: nothing that was not given."""
    nested: dict[str, Any] = {**(base or {})}
    for part in ("objective", "optimizer"):
        if not isinstance(nested.get(part, {}), dict):
            raise ConfigError(must(part, "an object of settings", nested[part]))
        nested[part] = {**nested.get(part, {})}
    if "function" in flat:
        nested["objective"].pop("kind", None)
    for name, value in flat.items():
        part = part_of(name)
        home = nested[part] if part else nested
        home["name" if name == "function" else name] = value
    return nested


def parse_flat(flat: Mapping[str, Any], base: Mapping[str, Any] | None = None) -> RunConfig:
    """A config from flat names (flags, a link), over `base` if given.

    A name that the chosen method or function does not have is an error.
    """
    return RunConfig.parse(nested_config(flat, base))


def differing(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """The settings in which these flat configs are not all alike."""
    names = list(dict.fromkeys(name for config in settings for name in config))
    return [name for name in names if len({json.dumps(config.get(name)) for config in settings}) > 1]


@lru_cache(maxsize=1024)
def _from_json(text: str | bytes) -> RunConfig:
    """A config never changes, so who asks again gets the same."""
    try:
        given = json.loads(text)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"The config is not JSON: {error}.") from None
    return RunConfig.parse(given)


def _own(
    model: type[Frozen],
    whole: dict[str, Any],
    tags: tuple[str, ...],
    complete: Callable[[dict[str, Any]], dict[str, Any]],
) -> dict[str, Any]:
    """The tags of a part and those of its settings that do not follow from the others."""
    usual = {name: model.model_fields[name].default for name in whole}
    kept = {name: value for name, value in whole.items() if name in tags or value != usual[name]}
    while (filled := {**usual, **complete(kept)}) != whole:  # a default that another setting changes
        kept |= {name: value for name, value in whole.items() if filled[name] != value}
    for name in list(kept):
        rest = {other: value for other, value in kept.items() if other != name}
        if name not in tags and {**usual, **complete(rest)} == whole:
            kept = rest
    return kept


def kept_settings(config: RunConfig) -> Mapping[str, str]:
    """What a fork cannot change of the method, with the reasons; ConfigError where it cannot be forked."""
    keeps = config.optimizer.fork_keeps
    if keeps is None:
        raise ConfigError(f"A run of {config.optimizer.label} cannot be forked: it has no convergences.")
    return keeps


def _check_may_change(config: RunConfig, name: str) -> None:
    """Refuse, with the reason, a setting that a fork must leave as it is."""
    keeps = kept_settings(config)
    if name in keeps:
        raise ConfigError(f"A fork cannot change {name}: {keeps[name]}.")
    if name in ("function", "method", "seed", "forks") or part_of(name) == "objective":
        raise ConfigError(f"A fork cannot change {name}: the history it shares is of the same {name}.")
    if name != "budget" and name not in type(config.optimizer).model_fields:
        raise ConfigError(f"{name} is not a setting of the method {config.optimizer.method}.")


def _as_dict(part: Any) -> Any:
    return part.model_dump(exclude_unset=True) if isinstance(part, Frozen) else part


def _parts_of(given: Any) -> tuple[dict[str, type[Frozen]], dict[str, str]]:
    """(the classes that a config would be of, the name of its objective), as far as it can be told."""
    parts = given if isinstance(given, dict) else {}
    tags = []
    for part, tag in (("objective", "name"), ("optimizer", "method")):
        fields = _as_dict(parts.get(part))
        tags.append(fields.get(tag) if isinstance(fields, dict) else None)
    function, method = (tag if isinstance(tag, str) else None for tag in tags)
    known = function if function in names() else FUNCTION
    return config_parts(method if method in KNOWN else METHOD, known), {"objective": known}
