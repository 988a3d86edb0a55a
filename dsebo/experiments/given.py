"""The parts of a sweep as a file or a form gives them, checked in plain words."""

from __future__ import annotations

import math
from typing import Any

from dsebo.parsing import MAX_VALUES, Value, read_seeds, read_values, sweepable
from objectives.fields import MAX_SEED, ConfigError

MAX_NAME = 120


def as_dict(given: Any, what: str) -> dict[str, Any]:
    """A copy of an object with named fields."""
    if not isinstance(given, dict):
        raise ConfigError(f"{what} = {short(given)} is not allowed: an object with named fields.")
    return {str(name): value for name, value in given.items()}


def checked_name(given: Any) -> str:
    """One line, not too long."""
    if not isinstance(given, str):
        raise ConfigError(f"name = {short(given)} is not allowed: a text.")
    plain = " ".join("".join(c if c.isprintable() else " " for c in given).split())
    if len(plain) > MAX_NAME:
        raise ConfigError(f"name of {len(plain)} characters is not allowed: at most {MAX_NAME}.")
    return plain


def checked_seeds(given: Any) -> list[int]:
    """A list of different seeds, or a text such as 1-10."""
    seeds = read_seeds(given) if isinstance(given, str) else given
    if not isinstance(seeds, (list, tuple)) or not seeds:
        raise ConfigError(f"seeds = {short(given)} is not allowed: numbers as 1-10 or 1,3,5.")
    for seed in seeds:
        if type(seed) is not int or not 0 <= seed <= MAX_SEED:
            raise ConfigError(f"seed = {short(seed)} is not allowed: a whole number from 0 to {MAX_SEED}.")
    if len(set(seeds)) != len(seeds):
        raise ConfigError(f"seeds = {short(given)} is not allowed: each seed once.")
    return list(seeds)


def checked_axes(given: Any) -> list[dict[str, Any]]:
    """One or two axes: objects of field and values, or short as `{beta: [4, 8], D: "50:90:10"}`."""
    if isinstance(given, dict):
        given = [{"field": field, "values": values} for field, values in given.items()]
    if not isinstance(given, (list, tuple)):
        raise ConfigError(f"axes = {short(given)} is not allowed: a list of field and values.")
    axes = [_axis(one) for one in given]
    names = [axis["field"] for axis in axes]
    if len(set(names)) != len(names) or not 1 <= len(names) <= 2:
        said = ", ".join(names) or "nothing"
        raise ConfigError(f"vary = {said} is not allowed: one or two different settings.")
    return axes


def _axis(given: Any) -> dict[str, Any]:
    axis = as_dict(given, "axis")
    for name in axis:
        if name not in ("field", "values"):
            raise ConfigError(f"{name} is not a part of an axis: field, values.")
    field = axis.get("field")
    if field == "seed":
        raise ConfigError("vary = 'seed' is not allowed: the seeds of a sweep are its seeds.")
    if not isinstance(field, str) or field not in sweepable():
        raise ConfigError(f"vary = {short(field)} is not allowed: it is not a setting of a run.")
    return {"field": field, "values": checked_values(field, axis.get("values"))}


def checked_values(field: str, given: Any) -> list[Value]:
    """Two or more different values of a field; whether the field takes them is seen later."""
    values = read_values(field, given) if isinstance(given, str) else given
    if not isinstance(values, (list, tuple)):
        raise ConfigError(f"{field} = {short(given)} is not allowed: a list of values, or a range.")
    for value in values:
        if not isinstance(value, (str, int, float)) or (
            isinstance(value, float) and not math.isfinite(value)
        ):
            raise ConfigError(f"{field} = {short(value)} is not allowed: a number or a name.")
    if not 2 <= len(values) <= MAX_VALUES or len(set(values)) != len(values):
        raise ConfigError(
            f"{field} = {short(given)} is not allowed: from two to {MAX_VALUES} values, all different."
        )
    return list(values)


def short(value: Any) -> str:
    """As Python writes it, not too long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
