"""A form's settings as flat names and values: from a link, to a link, to a config and back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from dsebo.config import FUNCTION, METHODS, RunConfig, all_specs, flat_config, parse_flat
from dsebo.text import value_text
from objectives import KINDS, kind_of, names
from objectives.fields import ConfigError, FieldSpec

Settings = dict[str, Any]

LARGEST_INPUT = 2**53 - 1  # beyond it a browser's number input loses digits
REPEATS = FieldSpec(
    "repeats", "Repeats", "n", "Runs from as many seeds, counted up from the seed.", "int", 1, False, 1, 100
)
SPEED = FieldSpec(
    "speed",
    "Speed",
    "",
    "Evaluations a second, for demonstrations; empty: as fast as it goes.",
    "float",
    None,
    False,
    0,
    1000,
    True,
    True,
)
METHOD = FieldSpec(
    "method", "Method", "", "What searches for the minimum.", "choice", "dsebo", False, choices=tuple(METHODS)
)
OF_LAUNCH = ("repeats", "speed")  # not part of a run's config
NOT_SETTINGS = ("run", "at")  # what else a link of the Run page may say


def fields(method: str, function: str = FUNCTION) -> list[FieldSpec]:
    """Every setting of a form for that method and function, in the order in which it is shown."""
    parts = all_specs(method, function)
    chosen, *of_function = sorted(parts["objective"], key=lambda spec: spec.advanced)
    return [chosen, METHOD, *of_function, *parts["optimizer"], *parts[""], REPEATS, SPEED]


def defaults(method: str = "dsebo", function: str = FUNCTION) -> Settings:
    """The settings of an untouched form."""
    return from_config(parse_flat({"method": method, "function": function}))


def from_config(config: RunConfig, repeats: int = 1, speed: float | None = None) -> Settings:
    """A form that says what this config says."""
    return {**flat_config(config), "repeats": repeats, "speed": speed}


def to_config(settings: Settings) -> RunConfig:
    """The config that a form says; ConfigError, in a sentence, where it does not fit together."""
    return parse_flat({k: v for k, v in settings.items() if k not in OF_LAUNCH})


def complete(given: Settings) -> Settings:
    """`given` with what it leaves open: the paper's setting, with defaults that depend on it."""
    launch = {k: given[k] for k in OF_LAUNCH if k in given}
    try:
        return {**from_config(to_config(given)), **launch}
    except ConfigError:  # each value is allowed, but not together: the form will say so
        return {**defaults(given.get("method", "dsebo"), given.get("function", FUNCTION)), **given}


def to_url(settings: Settings) -> dict[str, str]:
    """What a link says: all plain settings, and the advanced ones that are not as usual."""
    usual = defaults(settings["method"], settings["function"])
    shown = {}
    for spec in fields(settings["method"], settings["function"]):
        value = settings.get(spec.name)
        if value is None or (_quiet(spec) and value == usual.get(spec.name, spec.default)):
            continue
        shown[spec.name] = value_text(value)
    return shown


def _quiet(spec: FieldSpec) -> bool:
    return spec.advanced or spec.name in OF_LAUNCH


def from_url(params: Mapping[str, str]) -> tuple[Settings, list[str]]:
    """(the settings of a link, a sentence for each part of it that cannot be used)."""
    given = {k: v for k, v in params.items() if k not in NOT_SETTINGS}
    if not given:
        return defaults(), []
    method = given.get("method", "dsebo")
    function = given.get("function", FUNCTION)
    chosen = method if method in METHODS else "dsebo", function if function in names() else FUNCTION
    known = {spec.name: spec for spec in fields(*chosen)}
    settings: Settings = {}
    said = []
    for name, text in given.items():
        try:
            settings[name] = _value(known, name, text)
        except ConfigError as error:
            said.append(str(error))
    return complete(settings), said


def _value(known: Mapping[str, FieldSpec], name: str, text: str) -> Any:
    """One value of a link, checked."""
    if name not in known:
        raise ConfigError(f"The link's {name[:40]!r} is not a setting; it is left out.")
    spec = known[name]
    refused = ConfigError(
        f"The link's {name} = {text[:40]!r} is not allowed: {spec.allowed}. The default is used."
    )
    if spec.kind == "choice" and text in spec.choices:
        return text
    if spec.kind == "bool" and text in ("true", "false"):
        return text == "true"
    if spec.kind not in ("int", "float") or len(text) > 40:
        raise refused
    try:
        value = int(text) if spec.kind == "int" else float(text)
    except ValueError:
        raise refused from None
    if not inside(spec, value):
        raise refused
    return value


def inside(spec: FieldSpec, value: float) -> bool:
    """Whether a number is within a field's own range."""
    low = -LARGEST_INPUT if spec.low is None else spec.low
    high = min(LARGEST_INPUT, LARGEST_INPUT if spec.high is None else spec.high)
    above = value > low if spec.low_open else value >= low
    return math.isfinite(value) and above and value <= high


def of_function(function: str) -> Settings:
    """The settings that a function brings of its own, such as c, which is in its units."""
    own = KINDS[kind_of(function)].complete({"name": function})
    return {name: value for name, value in own.items() if name != "name"}


def same(one: Settings, other: Settings) -> bool:
    """Whether two forms say the same."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
