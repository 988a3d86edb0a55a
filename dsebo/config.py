"""`RunConfig`: everything that determines a run. Frozen, validated, JSON both ways."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator

from dsebo.methods import METHODS as METHODS
from dsebo.methods.base import MethodConfig
from dsebo.methods.cost import Prediction as Prediction
from dsebo.methods.dsebo import DseboConfig
from objectives.fields import MAX_D, MAX_SEED, ConfigError, FieldSpec, Frozen, explain, setting, specs
from objectives.registry import get_function, names

MAX_BUDGET = 100_000


class ObjectiveConfig(Frozen):
    """F_c: which function, hidden in how many dimensions."""

    name: str = setting("sphere", "Function", "The function whose minimum is sought.", "f", choices=names)
    D: int = setting(1000, "Dimension", "Number of variables.", "D", ge=1, le=MAX_D)
    d_e: int = setting(30, "Effective dimension", "How many of the variables matter.", "d_e", ge=1, le=MAX_D)
    c: float = setting(1.0, "Shift", "Moves the optimum away from the centre; in the function's units.", "c")
    K: float = setting(10_000.0, "Tail divisor", "The other variables weigh 1/K.", "K", gt=0)
    coordinates: Literal["first", "random"] = setting(
        "first", "Effective coordinates", "The first d_e, or a random subset.", advanced=True
    )
    coordinates_seed: int = setting(
        0, "Seed of the coordinates", "Seed of that subset.", advanced=True, ge=0, le=MAX_SEED
    )

    @model_validator(mode="before")
    @classmethod
    def _default_shift(cls, given: Any) -> Any:
        """c has a default of its own for each function."""
        if isinstance(given, dict) and given.get("c") is None:
            name = given.get("name", "sphere")
            if name in names():
                return {**given, "c": get_function(name).default_c}
        return given

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        try:
            get_function(name)
        except KeyError as error:
            raise ValueError(error.args[0]) from None
        return name

    @field_validator("d_e")
    @classmethod
    def _fits(cls, d_e: int, info: ValidationInfo) -> int:
        if "D" not in info.data or "name" not in info.data:
            return d_e
        least, D = get_function(info.data["name"]).min_dimension, info.data["D"]
        if not least <= d_e <= D:
            raise ValueError(f"d_e = {d_e} is not allowed: a whole number from {least} to D = {D}.")
        return d_e


BARE = "centre"  # a method without settings of its own: the fields of its runs are every run's

if TYPE_CHECKING:
    AnyMethod = MethodConfig
else:
    AnyMethod = Annotated[Union[tuple(METHODS.values())], Field(discriminator="method")]  # noqa: UP007


class RunConfig(Frozen):
    """A run: the same config gives the same history."""

    objective: ObjectiveConfig = ObjectiveConfig()
    optimizer: AnyMethod = DseboConfig()
    budget: int = setting(500, "Budget", "Number of evaluations.", "budget", ge=2, le=MAX_BUDGET)
    seed: int = setting(1, "Seed", "Same seed, same run.", "seed", ge=0, le=MAX_SEED)

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, given: Any) -> Any:
        """Fill in the defaults that depend on the method and on D."""
        if not isinstance(given, dict):
            return given
        optimizer = _as_dict(given.get("optimizer", {}))
        objective = _as_dict(given.get("objective", {}))
        if not isinstance(optimizer, dict) or not isinstance(objective, dict):
            return given
        method = optimizer.get("method", "dsebo")
        if not isinstance(method, str) or method not in METHODS:
            raise ValueError(f"method = {method!r} is not allowed: one of {', '.join(METHODS)}.")
        completed = METHODS[method].complete(optimizer, _whole(objective.get("D"), 1000))
        return {**given, "optimizer": {"method": method, **completed}}

    @model_validator(mode="after")
    def _check(self) -> RunConfig:
        self.optimizer.check(self.objective.D)
        return self

    def warnings(self) -> list[str]:
        """What is allowed but will surprise, in words."""
        return self.optimizer.warnings(self.budget)

    def to_json(self) -> str:
        """As JSON text; `RunConfig.from_json` takes it back."""
        return self.model_dump_json()

    @classmethod
    def from_json(cls, text: str | bytes) -> RunConfig:
        """From JSON text; ConfigError, in plain words, where it is not one."""
        try:
            given = json.loads(text)
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"The config is not JSON: {error}.") from None
        return cls.parse(given)

    @classmethod
    def parse(cls, given: Any) -> RunConfig:
        """From nested dicts; ConfigError, a sentence for each bad field, where they do not fit."""
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            raise ConfigError(explain(error, config_parts(_method_of(given)))) from None

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


def predict(config: RunConfig, budget: int | None = None) -> Prediction:
    """What a run will cost, from measured runs of its method; `budget` in place of the config's."""
    return config.optimizer.predict(config.objective.D, budget or config.budget)


def config_parts(method: str) -> dict[str, type[Frozen]]:
    """The config classes whose fields make up a run of that method."""
    optimizer = METHODS.get(method, MethodConfig)
    return {"": RunConfig, "objective": ObjectiveConfig, "optimizer": optimizer}


def all_specs(method: str) -> dict[str, list[FieldSpec]]:
    """Every setting of a run of that method, by part: what a form or a terminal shows."""
    return {part: specs(model) for part, model in config_parts(method).items()}


def parse_flat(flat: dict[str, Any], base: dict[str, Any] | None = None) -> RunConfig:
    """A config from field names without their parts (flags, a link), over `base` if given.

    Names are unique over all parts. A name that the chosen method does not have is an error.
    """
    nested: dict[str, Any] = json.loads(json.dumps(base or {}))
    for part in ("objective", "optimizer"):
        if not isinstance(nested.setdefault(part, {}), dict):
            raise ConfigError(f"{part} = {nested[part]!r} is not allowed: an object of settings.")
    method = flat.get("method", nested["optimizer"].get("method", "dsebo"))
    if not isinstance(method, str):
        raise ConfigError(f"method = {method!r} is not allowed: one of {', '.join(METHODS)}.")
    part_of = {spec.name: part for part, found in all_specs(method).items() for spec in found} | {
        "method": "optimizer",
        "function": "objective",
    }
    for name, value in flat.items():
        part = part_of.get(name, "optimizer")
        home = nested if part == "" else nested[part]
        home["name" if name == "function" else name] = value
    return RunConfig.parse(nested)


def _whole(value: Any, otherwise: int) -> int:
    """A whole number as the fields take it: 50, 50.0 or "50"; what else it is they will say."""
    try:
        return int(value) if float(value).is_integer() else otherwise
    except (TypeError, ValueError, OverflowError):
        return otherwise


def _as_dict(part: Any) -> Any:
    return part.model_dump(exclude_unset=True) if isinstance(part, Frozen) else part


def _method_of(given: Any) -> str:
    optimizer = given.get("optimizer") if isinstance(given, dict) else None
    method = optimizer.get("method", "dsebo") if isinstance(optimizer, dict) else "dsebo"
    return str(method)
