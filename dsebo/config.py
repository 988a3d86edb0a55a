"""`RunConfig`: everything that determines a run. Frozen, validated, JSON both ways."""

from __future__ import annotations

import json
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator

from dsebo.fields import ConfigError, FieldSpec, Frozen, explain, setting, specs
from objectives.registry import get_function, names

MAX_D = 10_000_000
MAX_BUDGET = 100_000
MAX_SEED = 2**53  # the largest whole number that JSON readers agree on


class ObjectiveConfig(Frozen):
    """F_c: which function, hidden in how many dimensions."""

    name: str = Field(
        "sphere",
        title="Function",
        description="The function whose minimum is sought.",
        json_schema_extra={"symbol": "f", "choices": names},
    )
    D: int = setting(1000, "Dimension", "Number of variables.", "D", ge=1, le=MAX_D)
    d_e: int = setting(
        30, "Effective dimension", "How many of the variables matter.", "d_e", ge=1, le=MAX_D
    )
    c: float = setting(
        1.0, "Shift", "Moves the optimum away from the centre; in the function's units.", "c"
    )
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


class MethodConfig(Frozen):
    """Base of every method's settings. `method` is its name."""

    label: ClassVar[str]

    @classmethod
    def complete(cls, given: dict[str, Any], D: int) -> dict[str, Any]:
        """`given` with the defaults filled in that depend on other settings."""
        return given

    def check(self, D: int) -> None:
        """Raise ValueError, in one sentence, where a setting does not fit D."""

    def warnings(self, budget: int) -> list[str]:
        """What is allowed but will surprise, in words."""
        return []


class DseboConfig(MethodConfig):
    """DSEBO; the symbols are the paper's."""

    label: ClassVar[str] = "DSEBO"
    method: Literal["dsebo"] = "dsebo"
    variant: Literal["paper", "authors"] = setting(
        "paper", "Variant", "As the paper describes it, or as its authors' code does it."
    )
    beta: float = setting(
        12.0, "Expansion scale", "Larger: smaller steps, less patience.", "β", gt=0, le=1e6
    )
    d_l: int = setting(5, "First dimension", "Where the subspace starts.", "d_l", ge=1, le=MAX_D)
    d_h: int = setting(
        100, "Largest dimension", "How far the subspace may grow; min(D, 100).", "d_h",
        ge=1, le=MAX_D,
    )  # fmt: skip
    alpha: float = setting(
        0.5, "Least gain", "A gain must exceed this to count.", "α", advanced=True, ge=0
    )
    alpha_mode: Literal["absolute", "relative"] = setting(
        "absolute", "Gain is measured", "α itself, or a share of the spread of the values so far.",
        advanced=True,
    )  # fmt: skip
    min_step: int = setting(
        0, "Least step", "With 0, as in the paper, a step of 0 is for good.", "Δd_min",
        advanced=True, ge=0, le=MAX_D,
    )  # fmt: skip
    kappa_scale: float = setting(
        0.1, "Exploration", "Factor on κ = 0.2 d log 2n of the acquisition.", "κ", advanced=True,
        ge=0, le=1e6,
    )  # fmt: skip
    kernel: Literal["matern", "rbf"] = setting(
        "matern", "Kernel", "Matérn-5/2 or squared exponential, one lengthscale a dimension.",
        advanced=True,
    )  # fmt: skip
    lengthscale_prior: Literal["dimension-scaled", "gamma"] = setting(
        "dimension-scaled", "Prior of the lengthscales",
        "Growing with √d (BoTorch's now), or Gamma(3, 6) (BoTorch's then).", advanced=True,
    )  # fmt: skip
    fit_outputscale: bool = setting(
        False, "Fit the output scale", "Else it is fixed at the targets' variance.", advanced=True
    )
    targets: Literal["standardised", "centred"] = setting(
        "standardised", "Targets", "What the Gaussian process is fitted to.", advanced=True
    )
    fit_iterations: int = setting(
        15, "Iterations of a fit", "Cap of L-BFGS iterations; each fit starts from the last.",
        advanced=True, ge=1, le=1000,
    )  # fmt: skip
    refit_every: float = setting(
        0.02, "Refit after", "Share of new data after which hyper-parameters are refitted.",
        advanced=True, ge=0, le=1,
    )  # fmt: skip
    restarts: int = setting(
        5, "Restarts", "Starting points of the acquisition's search.", advanced=True, ge=1, le=1000
    )
    raw_samples: int = setting(
        100, "Raw samples", "Random points among which the restarts are chosen.", advanced=True,
        ge=1, le=100_000,
    )  # fmt: skip
    local_samples: int = setting(
        50, "Local samples", "Points around the best ones, chosen from likewise.", advanced=True,
        ge=0, le=100_000,
    )  # fmt: skip
    acq_iterations: int = setting(
        40, "Iterations of the acquisition", "Cap of L-BFGS iterations.", advanced=True,
        ge=1, le=10_000,
    )  # fmt: skip
    embedding_seed: int | None = setting(
        None, "Seed of the embedding", "Changes S alone; else it follows the run's seed.",
        advanced=True, ge=0, le=MAX_SEED,
    )  # fmt: skip

    AUTHORS: ClassVar[dict[str, Any]] = {
        "kappa_scale": 1.0,
        "kernel": "matern",
        "lengthscale_prior": "gamma",
        "fit_outputscale": True,
        "targets": "centred",
    }

    @classmethod
    def complete(cls, given: dict[str, Any], D: int) -> dict[str, Any]:
        """d_h = min(D, 100), d_l = 5 or d_h if that is less; the authors' GP for their variant."""
        d_h = given.get("d_h", min(D, 100))
        d_l = min(5, d_h) if isinstance(d_h, int) and d_h > 0 else 5
        of_variant = cls.AUTHORS if given.get("variant") == "authors" else {}
        return {**of_variant, "d_l": d_l, "d_h": d_h, **given}

    @field_validator("d_h")
    @classmethod
    def _not_below_d_l(cls, d_h: int, info: ValidationInfo) -> int:
        d_l = info.data.get("d_l")
        if d_l is not None and d_l > d_h:
            raise ValueError(f"d_l = {d_l} is not allowed: a whole number from 1 to d_h = {d_h}.")
        return d_h

    def check(self, D: int) -> None:
        """d_h may not exceed D."""
        if self.d_h > D:
            raise ValueError(
                f"d_h = {self.d_h} is not allowed: a whole number from d_l = {self.d_l} to D = {D}."
            )

    def warnings(self, budget: int) -> list[str]:
        """A first step of 0; a patience of the whole budget."""
        said = []
        if self.beta > self.d_h - self.d_l and self.min_step == 0 and self.d_h > self.d_l:
            said.append(
                f"β = {self.beta:g} is above d_h - d_l = {self.d_h - self.d_l}: the first step may "
                f"be 0, and then the subspace never grows."
            )
        if budget / (2 * self.beta) >= budget:
            said.append(f"β = {self.beta:g} gives a patience of the whole budget or more.")
        return said


class RandomConfig(MethodConfig):
    """Random search."""

    label: ClassVar[str] = "Random search"
    method: Literal["random"] = "random"


class CentreConfig(MethodConfig):
    """One evaluation of the centre of the box: the line that every curve is read against."""

    label: ClassVar[str] = "Centre"
    method: Literal["centre"] = "centre"


METHODS: dict[str, type[MethodConfig]] = {
    "dsebo": DseboConfig,
    "random": RandomConfig,
    "centre": CentreConfig,
}

AnyMethod = Annotated[DseboConfig | RandomConfig | CentreConfig, Field(discriminator="method")]


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
        D = objective.get("D", 1000)
        completed = METHODS[method].complete(optimizer, D if isinstance(D, int) else 1000)
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
    method = flat.get("method", nested.get("optimizer", {}).get("method", "dsebo"))
    part_of = {spec.name: part for part, found in all_specs(method).items() for spec in found} | {
        "method": "optimizer",
        "function": "objective",
    }
    for name, value in flat.items():
        part = part_of.get(name, "optimizer")
        home = nested if part == "" else nested.setdefault(part, {})
        home["name" if name == "function" else name] = value
    return RunConfig.parse(nested)


def _as_dict(part: Any) -> Any:
    return part.model_dump(exclude_unset=True) if isinstance(part, Frozen) else part


def _method_of(given: Any) -> str:
    optimizer = given.get("optimizer") if isinstance(given, dict) else None
    method = optimizer.get("method", "dsebo") if isinstance(optimizer, dict) else "dsebo"
    return str(method)
