"""Text to values: settings by their flat names, lists, ranges, seeds, dimensions."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cache
from itertools import product
from typing import Any

from dsebo.config import FUNCTION, METHODS, all_specs
from dsebo.objectives import KINDS, names
from dsebo.objectives.fields import ConfigError, FieldSpec, must

Value = str | int | float | bool

MAX_VALUES = 200  # of one axis
_TRUTH = {"true": True, "false": False}
_DIMS = re.compile(r"(\d{1,7})(?::(\d{1,7})(?::(\d{1,7}))?)?")


@cache
def config_flags() -> dict[str, FieldSpec]:
    """Every setting of every method by its flag's name; a name means the same everywhere."""
    flags: dict[str, FieldSpec] = {}
    functions = [name for kind in KINDS.values() for name in kind.names()[:1]]
    for method, function in product(METHODS, functions):
        for part in all_specs(method, function).values():
            for spec in part:
                flags.setdefault(spec.name, spec)
    return flags


def read_value(name: str, text: str, spec: FieldSpec | None = None) -> Value:
    """A text as the number it looks like, so that the config can name what is wrong with it."""
    spec = spec or config_flags().get(name)
    if spec is None or spec.kind == "choice":
        return text
    if spec.kind == "bool":
        return _TRUTH.get(text.lower(), text)
    try:
        number = float(text)
    except ValueError:
        return text
    if spec.kind == "int" and number.is_integer() and "." not in text:
        return int(number)
    return number


def sweepable() -> list[str]:
    """The names that an axis may have."""
    return ["method", *(name for name in config_flags() if name != "seed")]


def read_values(name: str, text: str) -> list[Value]:
    """`4,8,12` or `4:32:4` (from:to:step) as values of a field; both may be mixed."""
    values: list[Value] = []
    for part in text.split(","):
        # A method may have settings after colons: rembo:scale=dsebo
        steps = [part.strip()] if name == "method" else [step.strip() for step in part.split(":")]
        values += [read_value(name, steps[0])] if len(steps) == 1 else _range(name, part, steps)
        if len(values) > MAX_VALUES:
            raise ConfigError(must(name, f"a list of at most {MAX_VALUES} values", text))
    return values


def _range(name: str, text: str, steps: list[str]) -> list[Value]:
    wrong = ConfigError(must(name, "a value, or a range from:to:step", text.strip()))
    try:
        low, high, step = (float(number) for number in steps)
    except ValueError:
        raise wrong from None
    if not all(math.isfinite(number) for number in (low, high, step)) or step <= 0 or high < low:
        raise wrong
    count = math.floor((high - low) / step + 1e-9) + 1
    if count > MAX_VALUES:
        raise ConfigError(must(name, f"a list of at most {MAX_VALUES} values", text.strip()))
    # Through text: 0.1 + 2 * 0.1 is meant as 0.3.
    return [read_value(name, f"{low + i * step:.12g}") for i in range(count)]


def read_seeds(text: str) -> list[int]:
    """`1-10` or `1,3,5`, or both."""
    seeds: list[int] = []
    for part in text.split(","):
        ends = part.strip().split("-")
        if len(ends) > 2 or not all(end.strip().isdecimal() and len(end) < 17 for end in ends):
            raise ConfigError(must("seeds", "numbers as 1-10 or 1,3,5", text))
        low, high = int(ends[0]), int(ends[-1])
        if high < low or high - low >= 10_000:
            raise ConfigError(must("seeds", "from the least to the largest, at most 10 000", text))
        seeds += range(low, high + 1)
    return seeds


def read_dims(text: str) -> list[int]:
    """`5,19,40:100:20` as 5, 19, 40, 60, 80, 100."""
    dims: list[int] = []
    for part in text.replace(" ", "").split(","):
        match = _DIMS.fullmatch(part)
        if match is None or match[3] == "0":
            raise ConfigError(must("dims", "numbers as 5,19,33 or from:to:step", text))
        first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
        dims += range(first, last + 1, step)
    return dims


def read_settings(text: str) -> dict[str, Value]:
    """`beta=8, d=50` as values by name."""
    pairs = [part.strip().partition("=") for part in text.split(",") if part.strip()]
    if bad := [name for name, equals, value in pairs if not (name and equals and value)]:
        raise ConfigError(must("settings", "name=value, with commas between them", bad[0]))
    named = [(name.strip(), value.strip()) for name, _, value in pairs]
    return {name: read_value(name, value) for name, value in named}


# --- the settings of a launch, as a link has them -------------------------------------------------

METHOD = FieldSpec(
    "method", "Method", "", "What searches for the minimum.", "choice", "dsebo", False, choices=tuple(METHODS)
)
REPEATS = FieldSpec(
    "repeats", "Repeats", "n", "Runs from as many seeds, counted up from the seed.", "int", 1, False, 1, 100
)
LEAST_SPEED, MOST_SPEED = 0.05, 1000.0  # evaluations per second
SPEED_HELP = "Evaluations per second, for demonstrations; empty: as fast as it goes."
SPEED = FieldSpec(
    "speed", "Speed", "", SPEED_HELP, "float", None, False, LEAST_SPEED, MOST_SPEED, optional=True
)
OF_LAUNCH = {"repeats": 1, "speed": None}  # not part of a run's config, with what they usually are
LARGEST_INPUT = 2**53 - 1  # beyond it a browser's number input loses digits


def launch_fields(method: str, function: str) -> list[FieldSpec]:
    """Every setting of a launch, in the order in which forms and links have them."""
    parts = all_specs(method, function)
    chosen, *of_function = parts["objective"]
    return [
        chosen,
        METHOD,
        *sorted(of_function, key=lambda spec: spec.advanced),
        *parts["optimizer"],
        *parts[""],
        REPEATS,
        SPEED,
    ]


def read_link(params: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """(the settings that a link gives, a sentence for each part of it that cannot be used)."""
    method, function = params.get("method", ""), params.get("function", "")
    fields = launch_fields(
        method if method in METHODS else METHOD.default, function if function in names() else FUNCTION
    )
    known = {spec.name: spec for spec in fields}
    settings: dict[str, Any] = {}
    refused = []
    for name, text in params.items():
        try:
            settings[name] = _link_value(known, name, text)
        except ConfigError as error:
            refused.append(str(error))
    return settings, refused


def _link_value(known: Mapping[str, FieldSpec], name: str, text: str) -> Value:
    """One value of a link, checked."""
    if name not in known:
        raise ConfigError(f"The link's {name[:40]!r} is not a setting; it is left out.")
    spec = known[name]
    value = read_value(name, text, spec) if len(text) <= 40 else text
    fits = value in spec.choices if spec.kind == "choice" else isinstance(value, bool)
    if spec.kind in ("int", "float"):
        fits = not isinstance(value, (bool, str)) and inside(spec, value)
        fits = fits and (spec.kind == "float" or isinstance(value, int))
    if not fits:
        raise ConfigError(f"The link's {must(name, spec.allowed, text[:40])} The default is used.")
    return value


def inside(spec: FieldSpec, value: float) -> bool:
    """Whether a number is within a field's own range."""
    low = -LARGEST_INPUT if spec.low is None else spec.low
    high = LARGEST_INPUT if spec.high is None else min(LARGEST_INPUT, spec.high)
    above = value > low if spec.low_open else value >= low
    return math.isfinite(value) and above and value <= high
