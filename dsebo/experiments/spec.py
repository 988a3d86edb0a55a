"""`ExperimentSpec`: which settings vary, over which seeds, and what is the same for every run.

A race is an experiment whose only axis is the method, with entrants as values.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import yaml

from dsebo.config import (
    FUNCTION,
    METHOD,
    METHODS,
    RunConfig,
    config_parts,
    nested_config,
    parse_flat,
    part_of,
    seed_hashes,
)
from dsebo.experiments.entrants import Entrant, label_of
from dsebo.objectives import KINDS, names
from dsebo.objectives.fields import MAX_SEED, ConfigError, Frozen, short
from dsebo.parsing import MAX_VALUES, Value, read_seeds, read_values, sweepable
from dsebo.text import NAMED, function_name, joined, one_line, part, symbol

MAX_PLANNED = 10_000
MAX_RACE_RUNS, MAX_RACE_SEEDS = 300, 100  # every run of a race is followed, evaluation by evaluation
MAX_ENTRIES = 100_000  # of a file
MAX_NAME = 120
MAX_AXES = 3  # more than can be seen together
DEFAULT_SEEDS = "1-6"  # with fewer a paired test cannot tell even two values apart
_FIELDS = ("name", "base", "axes", "seeds")
_PARTS = ("objective", "optimizer")


class Axis(Frozen):
    """One setting and the values that it takes, in order."""

    field: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Cell:
    """One combination of the axes' values."""

    index: int
    values: dict[str, Value]

    @property
    def label(self) -> str:
        """`β = 8, Levy`."""
        return ", ".join(part(field, value) for field, value in self.values.items())


@dataclass(frozen=True)
class Planned:
    """One run of an experiment, whether it has been made or not."""

    cell: Cell
    seed: int
    of_cell: RunConfig  # from whatever seed
    hash: str

    @property
    def config(self) -> RunConfig:
        """Its settings."""
        return self.of_cell.with_seed(self.seed)


class ExperimentSpec(Frozen):
    """Everything that determines an experiment. Make it by `parse`, which checks every combination."""

    name: str
    # A nested config without its seed. A whole config may be given, as a form has it: then its fields at
    # their defaults follow the defaults of each cell. A setting goes to the methods that have it.
    base: dict[str, Any]
    axes: tuple[Axis, ...]  # one to three
    seeds: tuple[int, ...]  # the same for every cell, so that cells can be compared seed by seed

    @classmethod
    def parse(cls, given: Any) -> ExperimentSpec:
        """From plain dicts; ConfigError, one sentence, where anything does not fit."""
        known = _as_dict(given, "experiment")
        for name in known:
            if name not in _FIELDS:
                raise ConfigError(f"{name} is not a field of an experiment: {', '.join(_FIELDS)}.")
        spec = cls(
            name=_checked_name(known.get("name") or ""),
            base=_own_settings(_as_dict(known.get("base") or {}, "base")),
            axes=_checked_axes(known.get("axes", [])),
            seeds=checked_seeds(known.get("seeds", DEFAULT_SEEDS)),
        )
        spec._check()
        spec = spec.model_copy(update={"axes": spec._normalised()})
        return spec if spec.name else spec.renamed(spec._default_name())

    @classmethod
    def from_flags(cls, base: dict[str, Any], vary: list[str], seeds: str, name: str = "") -> ExperimentSpec:
        """From `beta=4,8,12` or `beta=4:32:4` for each axis, and `1-10` or `1,3,5`."""
        axes = []
        for text in vary:
            field, equals, values = text.partition("=")
            if not equals:
                raise ConfigError(f"vary must be such as beta=4,8,12 (got {text!r}).")
            field = field.strip().replace("-", "_")
            axes.append({"field": field, "values": read_values(field, values)})
        return cls.parse({"name": name, "base": base, "axes": axes, "seeds": seeds})

    @classmethod
    def race(
        cls, methods: str | Sequence[str], settings: Mapping[str, Any], seeds: str, name: str = ""
    ) -> ExperimentSpec:
        """Several methods on one function."""
        for forbidden in ("seed", "method"):
            if forbidden in settings:
                raise ConfigError(f"A race has several {forbidden}s: give {forbidden}s, not {forbidden}.")
        texts = methods.split(",") if isinstance(methods, str) else methods
        entrants = list(dict.fromkeys(Entrant.parse(text).text for text in texts if text.strip()))
        if not entrants:
            raise ConfigError("methods is missing: at least one method.")
        numbers = race_seeds(seeds)
        if len(entrants) * len(numbers) > MAX_RACE_RUNS:
            raise ConfigError(
                f"{len(entrants)} methods from {len(numbers)} seeds are too many: at most "
                f"{MAX_RACE_RUNS} runs in a race."
            )
        axes = [{"field": "method", "values": entrants}]
        return cls.parse({"name": name, "base": nested_config(settings), "axes": axes, "seeds": numbers})

    @classmethod
    def from_yaml(cls, text: str) -> ExperimentSpec:
        """From a file such as `to_yaml` writes; JSON is YAML too."""
        try:
            # Dates and sets become texts, of which the checks can say what is wrong with them.
            read = yaml.safe_load(text)
            too_many = _entries(read, {}) > MAX_ENTRIES  # aliases of aliases make a few lines into millions
            given = None if too_many else json.loads(json.dumps(read, default=str))
        except (yaml.YAMLError, TypeError, ValueError, RecursionError) as error:
            raise ConfigError(f"The experiment is not YAML: {' '.join(str(error).split())}.") from None
        if too_many:
            raise ConfigError(f"The experiment must have at most {MAX_ENTRIES} entries.")
        return cls.parse(given)

    def plain(self) -> dict[str, Any]:
        """As plain dicts and lists, for files."""
        return self.model_dump(mode="json")

    def to_json(self) -> str:
        """As JSON text."""
        return json.dumps(self.plain(), ensure_ascii=False)

    def to_yaml(self) -> str:
        """As a file for `dsebo sweep`."""
        return str(yaml.safe_dump(self.plain(), sort_keys=False, allow_unicode=True))

    @property
    def fields(self) -> list[str]:
        """The settings that vary."""
        return [axis.field for axis in self.axes]

    @property
    def is_race(self) -> bool:
        """Whether only the method varies."""
        return self.fields == ["method"]

    @property
    def total(self) -> int:
        """How many runs it has."""
        return len(self.seeds) * math.prod(len(axis.values) for axis in self.axes)

    def cells(self) -> list[Cell]:
        """Every combination, the last axis changing fastest."""
        combined = product(*(axis.values for axis in self.axes))
        return [
            Cell(index, dict(zip(self.fields, values, strict=True))) for index, values in enumerate(combined)
        ]

    def config(self, cell: Cell, seed: int) -> RunConfig:
        """The run of that cell and seed."""
        try:
            return _cell_config(self.base, cell.values, seed)
        except ConfigError as error:
            raise ConfigError(f"Cell {cell.label}: {error}") from None

    def first_configs(self) -> list[RunConfig]:
        """A run of each cell: seeds cost the same."""
        return [planned.config for planned in self.planned()[:: len(self.seeds)]]

    def run_name(self, planned: Planned) -> str:
        """What a run of it is called."""
        if not self.is_race:
            return f"{self.name}: {planned.cell.label}"
        config = planned.config
        label = label_of(config.model_dump(mode="json"))
        return f"{label} on {function_name(config.function)}, D = {config.D}"

    def planned(self) -> tuple[Planned, ...]:
        """Every run, cell by cell."""
        return _planned(self.to_json())

    def with_more_seeds(self, count: int) -> ExperimentSpec:
        """The same with as many more seeds, counted up from the largest."""
        last = max(self.seeds)
        return self.parse({**self.plain(), "seeds": [*self.seeds, *range(last + 1, last + 1 + count)]})

    def renamed(self, name: str) -> ExperimentSpec:
        """The same under another name."""
        return self.model_copy(update={"name": name})

    def _check(self) -> None:
        """Every cell, before anything starts; seeds have been checked."""
        if self.total > MAX_PLANNED:
            raise ConfigError(f"{self.total} runs are too many: at most {MAX_PLANNED}.")
        cells = self.cells()
        if "method" in self.fields:
            methods = {Entrant.parse(str(cell.values["method"])).method for cell in cells}
            self._check_base(methods)
        for cell in cells:
            self.config(cell, self.seeds[0])

    def _check_base(self, methods: set[str]) -> None:
        """Some method must have each setting of the base; the others drop it."""
        optimizer = self.base.get("optimizer", {})
        own = optimizer.get("method")
        known = {name for method in methods | {own} & set(METHODS) for name in METHODS[method].model_fields}
        for name in optimizer:
            if name not in known | {"method"}:
                raise ConfigError(f"{name[:40]} is not a setting of any of the methods.")

    def _normalised(self) -> tuple[Axis, ...]:
        """The values as the config has them: 4 is 4.0 where the field takes fractions."""
        first = self.cells()[0].values
        axes = []
        for axis in self.axes:
            if axis.field == "method":
                taken: list[Value] = [Entrant.parse(str(value)).text for value in axis.values]
            else:
                cells = (Cell(0, {**first, axis.field: value}) for value in axis.values)
                taken = [self.config(cell, self.seeds[0]).setting(axis.field) for cell in cells]
            axes.append(Axis(field=axis.field, values=_checked_values(axis.field, taken)))
        return tuple(axes)

    def _default_name(self) -> str:
        """`β and dₕ on Sphere, D = 1000`."""
        config = self.config(self.cells()[0], self.seeds[0])
        varied = joined([field if field in NAMED else symbol(field) for field in self.fields])
        name = "Race" if self.is_race else varied
        if "function" not in self.fields:
            name += f" on {function_name(config.function)}"
        return name if "D" in self.fields else f"{name}, D = {config.D}"


def race_seeds(text: str) -> list[int]:
    """The seeds of a race, each once."""
    seeds = list(dict.fromkeys(read_seeds(text)))
    if len(seeds) > MAX_RACE_SEEDS:
        raise ConfigError(f"{len(seeds)} seeds are too many: at most {MAX_RACE_SEEDS}.")
    return seeds


# --- from the settings that all runs share to those of one cell -----------------------------


def _cell_config(base: Mapping[str, Any], values: Mapping[str, Value], seed: int) -> RunConfig:
    """Its values over the base.

    Another method or function drops the settings that it does not have, and takes its own
    defaults where neither the base nor an axis gives a value.
    """
    objective, optimizer = dict(base.get("objective", {})), dict(base.get("optimizer", {}))
    entrant = Entrant.parse(str(values.get("method", optimizer.get("method", METHOD))))
    function = str(values.get("function", objective.get("name", FUNCTION)))
    parts = config_parts(entrant.method, function)
    if entrant.method != optimizer.get("method", METHOD):
        optimizer = {name: v for name, v in optimizer.items() if name in parts["optimizer"].model_fields}
    others = {name for kind in KINDS.values() for name in kind.model_fields}
    others -= set(parts["objective"].model_fields)
    objective = {name: value for name, value in objective.items() if name not in others}
    for name in values:
        part = part_of(name)
        if part and name != "function" and name not in parts[part].model_fields:
            owner = f"function {function}" if part == "objective" else f"method {entrant.method}"
            raise ConfigError(f"{name} is not a setting of the {owner}.")
    optimizer |= {"method": entrant.method, **dict(entrant.changes)}
    varied = {name: value for name, value in values.items() if name != "method"}
    return parse_flat({**varied, "seed": seed}, {**base, "objective": objective, "optimizer": optimizer})


def _own_settings(base: dict[str, Any]) -> dict[str, Any]:
    """`base` without its seed; of a whole config only what `parse` would not fill in.

    A form gives a whole config, in which nobody can tell a default from a choice. Its defaults
    must follow the cell: c that of the function, d_h that of D, the kernel that of the variant.
    """
    if base.get("forks"):
        raise ConfigError("The runs of an experiment start from nothing: leave forks out.")
    parts = {name: _as_dict(base.get(name) or {}, name) for name in _PARTS}
    method, function = parts["optimizer"].get("method"), parts["objective"].get("name")
    if method in list(METHODS) and function in names():
        models = config_parts(method, function)
        if all(set(models[name].model_fields) - {"kind"} <= set(parts[name]) for name in _PARTS):
            with suppress(ConfigError):  # it need not fit by itself: only each cell must
                given = RunConfig.parse(parts).given()
                parts = {name: given[name] for name in _PARTS}
    rest = {name: value for name, value in base.items() if name not in (*_PARTS, "seed")}
    return {**{name: part for name, part in parts.items() if part}, **rest}


@lru_cache(maxsize=16)
def _planned(text: str) -> tuple[Planned, ...]:
    """By its JSON text, as pages ask for the same experiment every second."""
    spec = ExperimentSpec.model_validate_json(text)
    runs = []
    for cell in spec.cells():
        config = spec.config(cell, spec.seeds[0])
        hashes = seed_hashes(config, spec.seeds)
        runs += [Planned(cell, seed, config, hash) for seed, hash in zip(spec.seeds, hashes, strict=True)]
    return tuple(runs)


# --- the parts of an experiment as a file or a form gives them, checked in plain words --------


def _entries(value: Any, known: dict[int, int]) -> int:
    """How many entries a value has when it is written out; each shared part is counted once."""
    if not isinstance(value, (dict, list, set, tuple)):
        return 1
    if id(value) not in known:
        known[id(value)] = MAX_ENTRIES + 1  # while it is being counted: one that holds itself has no end
        parts = [*value.keys(), *value.values()] if isinstance(value, dict) else list(value)
        known[id(value)] = 1 + sum(_entries(part, known) for part in parts)
    return known[id(value)]


def _as_dict(given: Any, what: str) -> dict[str, Any]:
    """A copy of an object with named fields."""
    if not isinstance(given, dict):
        raise ConfigError(f"{what} must be an object with named fields (got {short(given)}).")
    return {str(name): value for name, value in given.items()}


def _checked_name(given: Any) -> str:
    """One line, not too long."""
    if not isinstance(given, str):
        raise ConfigError(f"name must be a text (got {short(given)}).")
    plain = one_line(given)
    if len(plain) > MAX_NAME:
        raise ConfigError(f"name must have at most {MAX_NAME} characters (got {len(plain)}).")
    return plain


def checked_seeds(given: Any) -> tuple[int, ...]:
    """A list of different seeds, or a text such as 1-10."""
    seeds = read_seeds(given) if isinstance(given, str) else given
    if not isinstance(seeds, (list, tuple)) or not seeds:
        raise ConfigError(f"seeds must be numbers such as 1-10 or 1,3,5 (got {short(given)}).")
    for seed in seeds:
        if type(seed) is not int or not 0 <= seed <= MAX_SEED:
            raise ConfigError(f"A seed must be a whole number from 0 to {MAX_SEED} (got {short(seed)}).")
    if len(set(seeds)) != len(seeds):
        raise ConfigError(f"seeds must all be different (got {short(given)}).")
    return tuple(seeds)


def _checked_axes(given: Any) -> tuple[Axis, ...]:
    """One to three axes: objects of field and values, or short as `{beta: [4, 8], D: "50:90:10"}`."""
    if isinstance(given, dict):
        given = [{"field": field, "values": values} for field, values in given.items()]
    if not isinstance(given, (list, tuple)):
        raise ConfigError(f"axes must be a list of field and values (got {short(given)}).")
    axes = tuple(_checked_axis(axis) for axis in given)
    names = [axis.field for axis in axes]
    if len(set(names)) != len(names) or not 1 <= len(names) <= MAX_AXES:
        raise ConfigError(
            f"One to {MAX_AXES} different settings must vary (got {', '.join(names) or 'none'})."
        )
    return axes


def _checked_axis(given: Any) -> Axis:
    axis = _as_dict(given, "axis")
    for name in axis:
        if name not in ("field", "values"):
            raise ConfigError(f"{name} is not a part of an axis: field, values.")
    field = axis.get("field")
    if field == "seed":
        raise ConfigError("seed cannot vary as a setting: an experiment has its seeds.")
    if not isinstance(field, str) or field not in sweepable():
        raise ConfigError(f"What varies must be a setting of a run (got {short(field)}).")
    return Axis(field=field, values=_checked_values(field, axis.get("values")))


def _checked_values(field: str, given: Any) -> tuple[Value, ...]:
    """Different values of a field; whether the field takes them is seen later."""
    values = read_values(field, given) if isinstance(given, str) else given
    if not isinstance(values, (list, tuple)):
        raise ConfigError(f"{field} must be a list of values, or a range (got {short(given)}).")
    for value in values:
        if not isinstance(value, (str, int, float)) or (
            isinstance(value, float) and not math.isfinite(value)
        ):
            raise ConfigError(f"{field} must be a number or a name (got {short(value)}).")
    least = 1 if field == "method" else 2
    if not least <= len(values) <= MAX_VALUES or len(set(values)) != len(values):
        raise ConfigError(
            f"{field} must have from {least} to {MAX_VALUES} values, all different (got {short(given)})."
        )
    return tuple(values)
