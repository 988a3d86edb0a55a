"""`SweepSpec`: which settings vary, over which seeds, and what is the same for every run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import yaml

from dsebo.config import RunConfig, config_hash
from dsebo.experiments.cells import cell_config, own_settings, setting_of
from dsebo.experiments.given import as_dict, checked_axes, checked_name, checked_seeds, checked_values
from dsebo.parsing import Value, read_values
from dsebo.text import NAMED, part, symbol
from objectives.fields import ConfigError, Frozen

MAX_PLANNED = 10_000
DEFAULT_SEEDS = "1-6"  # with fewer a paired test cannot tell even two values apart
_FIELDS = ("name", "base", "axes", "seeds")


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
    """One run of a sweep, whether it has been made or not."""

    cell: Cell
    seed: int
    config: RunConfig
    hash: str


class SweepSpec(Frozen):
    """Everything that determines a sweep. Make it by `parse`, which checks every combination.

    Attributes:
        name: What it is called.
        base: A nested config without its seed. A whole config may be given, as a form has it:
            then its fields at their defaults follow the defaults of each cell.
        axes: One or two.
        seeds: The same for every cell, so that cells can be compared seed by seed.
    """

    name: str
    base: dict[str, Any]
    axes: tuple[Axis, ...]
    seeds: tuple[int, ...]

    @classmethod
    def parse(cls, given: Any) -> SweepSpec:
        """From plain dicts; ConfigError, one sentence, where anything does not fit."""
        known = as_dict(given, "sweep")
        for name in known:
            if name not in _FIELDS:
                raise ConfigError(f"{name} is not a field of a sweep: {', '.join(_FIELDS)}.")
        spec = cls(
            name=checked_name(known.get("name") or ""),
            base=own_settings(as_dict(known.get("base") or {}, "base")),
            axes=tuple(Axis(**axis) for axis in checked_axes(known.get("axes", []))),
            seeds=tuple(checked_seeds(known.get("seeds", DEFAULT_SEEDS))),
        )
        spec._check()
        whole = {"axes": spec._normalised(), "name": spec.name or spec._default_name()}
        return spec.model_copy(update=whole)

    @classmethod
    def from_flags(cls, base: dict[str, Any], vary: list[str], seeds: str, name: str = "") -> SweepSpec:
        """From `beta=4,8,12` or `beta=4:32:4` for each axis, and `1-10` or `1,3,5`."""
        axes = []
        for text in vary:
            field, equals, values = text.partition("=")
            if not equals:
                raise ConfigError(f"vary = {text!r} is not allowed: such as beta=4,8,12.")
            field = field.strip().replace("-", "_")
            axes.append({"field": field, "values": read_values(field, values)})
        return cls.parse({"name": name, "base": base, "axes": axes, "seeds": seeds})

    @classmethod
    def from_yaml(cls, text: str) -> SweepSpec:
        """From a file such as `to_yaml` writes; JSON is YAML too."""
        try:
            # Dates and sets become texts, of which the checks can say what is wrong with them.
            given = json.loads(json.dumps(yaml.safe_load(text), default=str))
        except (yaml.YAMLError, TypeError, ValueError, RecursionError) as error:
            raise ConfigError(f"The sweep is not YAML: {' '.join(str(error).split())}.") from None
        return cls.parse(given)

    @classmethod
    def from_json(cls, text: str) -> SweepSpec:
        """From what `to_json` gave."""
        return cls.parse(json.loads(text))

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
    def total(self) -> int:
        """How many runs it has."""
        count = len(self.seeds)
        for axis in self.axes:
            count *= len(axis.values)
        return count

    def cells(self) -> list[Cell]:
        """Every combination, the last axis changing fastest."""
        combined = product(*(axis.values for axis in self.axes))
        return [
            Cell(index, dict(zip(self.fields, values, strict=True))) for index, values in enumerate(combined)
        ]

    def config(self, cell: Cell, seed: int) -> RunConfig:
        """The run of that cell and seed."""
        try:
            return cell_config(self.base, cell.values, seed)
        except ConfigError as error:
            raise ConfigError(f"Cell {cell.label}: {error}") from None

    def planned(self) -> tuple[Planned, ...]:
        """Every run, cell by cell."""
        return _planned(self.to_json())

    def _check(self) -> None:
        """Every cell, before anything starts; seeds have been checked."""
        if self.total > MAX_PLANNED:
            raise ConfigError(f"{self.total} runs are not allowed: at most {MAX_PLANNED}.")
        for cell in self.cells():
            self.config(cell, self.seeds[0])

    def _normalised(self) -> tuple[Axis, ...]:
        """The values as the config has them: 4 is 4.0 where the field takes fractions."""
        first = self.cells()[0].values
        axes = []
        for axis in self.axes:
            cells = (Cell(0, {**first, axis.field: value}) for value in axis.values)
            taken = [setting_of(self.config(cell, self.seeds[0]), axis.field) for cell in cells]
            values = tuple(checked_values(axis.field, taken))
            axes.append(Axis(field=axis.field, values=values))
        return tuple(axes)

    def _default_name(self) -> str:
        """`β and dₕ on sphere, D = 1000`."""
        objective = self.config(self.cells()[0], self.seeds[0]).objective
        name = " and ".join(f if f in NAMED else symbol(f) for f in self.fields)
        if "function" not in self.fields:
            name += f" on {objective.name}"
        return name if "D" in self.fields else f"{name}, D = {objective.D}"


@lru_cache(maxsize=16)
def _planned(text: str) -> tuple[Planned, ...]:
    """By its JSON text, as pages ask for the same sweep every second."""
    return tuple(_plan_runs(SweepSpec.model_validate_json(text)))


def _plan_runs(spec: SweepSpec) -> Iterator[Planned]:
    for cell in spec.cells():
        config = spec.config(cell, spec.seeds[0])
        for seed in spec.seeds:
            seeded = config.with_seed(seed)
            yield Planned(cell, seed, seeded, config_hash(seeded))
