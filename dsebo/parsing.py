"""Text to values: settings by their flat names, lists, ranges, seeds, dimensions."""

from __future__ import annotations

import math
from functools import cache
from itertools import product

from dsebo.config import METHODS, all_specs
from objectives import KINDS
from objectives.fields import ConfigError, FieldSpec

Value = str | int | float | bool

MAX_VALUES = 200  # of one axis
_TRUTH = {"true": True, "false": False}


@cache
def config_flags() -> dict[str, FieldSpec]:
    """Every setting of every method by its flag's name; a name means the same everywhere."""
    flags: dict[str, FieldSpec] = {}
    functions = [kind.names()[0] for kind in KINDS.values()]
    for method, function in product(METHODS, functions):
        for part in all_specs(method, function).values():
            for spec in part:
                flags.setdefault(spec.name, spec)
    return flags


def read_value(name: str, text: str) -> Value:
    """A text as the number it looks like, so that the config can name what is wrong with it."""
    spec = config_flags().get(name)
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
    found: list[Value] = []
    for part in text.split(","):
        # A method may have settings after colons: rembo:scale=dsebo
        steps = [part.strip()] if name == "method" else [step.strip() for step in part.split(":")]
        found += [read_value(name, steps[0])] if len(steps) == 1 else _range(name, part, steps)
        if len(found) > MAX_VALUES:
            raise ConfigError(f"{name} = {text!r} is not allowed: at most {MAX_VALUES} values.")
    return found


def _range(name: str, text: str, steps: list[str]) -> list[Value]:
    wrong = ConfigError(f"{name} = {text.strip()!r} is not allowed: a range is from:to:step.")
    try:
        low, high, step = (float(one) for one in steps)
    except ValueError:
        raise wrong from None
    if not all(math.isfinite(one) for one in (low, high, step)) or step <= 0 or high < low:
        raise wrong
    count = math.floor((high - low) / step + 1e-9) + 1
    if count > MAX_VALUES:
        raise ConfigError(f"{name} = {text.strip()!r} is not allowed: at most {MAX_VALUES} values.")
    # Through text: 0.1 + 2 * 0.1 is meant as 0.3.
    return [read_value(name, f"{low + i * step:.12g}") for i in range(count)]


def read_seeds(text: str) -> list[int]:
    """`1-10` or `1,3,5`, or both."""
    found: list[int] = []
    for part in text.split(","):
        ends = part.strip().split("-")
        if len(ends) > 2 or not all(end.strip().isdecimal() and len(end) < 17 for end in ends):
            raise ConfigError(f"seeds = {text!r} is not allowed: numbers as 1-10 or 1,3,5.")
        low, high = int(ends[0]), int(ends[-1])
        if high < low or high - low >= 10_000:
            raise ConfigError(f"seeds = {text!r} is not allowed: from the least to the largest.")
        found += range(low, high + 1)
    return found


def read_settings(text: str) -> dict[str, Value]:
    """`beta=8, d=50` as values by name."""
    pairs = [part.strip().partition("=") for part in text.split(",") if part.strip()]
    if bad := [name for name, equals, value in pairs if not (name and equals and value)]:
        raise ConfigError(f"{bad[0][:40]!r} is not allowed: settings as name=value, with commas.")
    named = [(name.strip(), value.strip()) for name, _, value in pairs]
    return {name: read_value(name, value) for name, value in named}
