"""Swept fields and their values in words: the paper's symbols, names for people."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

from dsebo.analysis.facts import SYMBOLS
from dsebo.config import METHODS

NAMED = ("function", "method")  # whose values are names that need no field before them


def symbol(field: str) -> str:
    """`β` for beta, `dₕ` for d_h, else the field's own name."""
    return SYMBOLS.get(field, field)


def is_number(value: Any) -> bool:
    """Whether it belongs on a number axis; true and false do not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def value_label(field: str, value: Any) -> str:
    """`12`, `Sphere`, `DSEBO`."""
    if field == "function":
        return function_label(str(value))
    if field == "method" and value in METHODS:
        return METHODS[value].label
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def function_label(name: str) -> str:
    """`dixon-price` as `Dixon-Price`."""
    return "-".join(word.capitalize() for word in name.split("-"))


def part(field: str, value: Any) -> str:
    """`β = 12`, `Sphere`."""
    text = value_label(field, value)
    return text if field in NAMED else f"{symbol(field)} = {text}"


def is_range(chosen: Sequence[Any], values: Sequence[Any]) -> bool:
    """Whether these are all that lie between the least and the largest of them, and numbers."""
    if len(chosen) < 2 or not all(is_number(value) for value in values):
        return False
    low, high = min(chosen), max(chosen)
    return len([value for value in values if low <= value <= high]) == len(chosen)


def several(field: str, chosen: Sequence[Any], values: Sequence[Any]) -> str:
    """`β between 8 and 24` of all values between; else `β = 4, 8 and 24`."""
    if len(chosen) == 1:
        return part(field, chosen[0])
    if is_range(chosen, values):
        low, high = (value_label(field, end) for end in (min(chosen), max(chosen)))
        return f"{symbol(field)} between {low} and {high}"
    names = joined([value_label(field, value) for value in chosen])
    return names if field in NAMED else f"{symbol(field)} = {names}"


def joined(said: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"
