"""Config fields as data: label, symbol, range and help, for forms, flags and error sentences."""

from __future__ import annotations

import difflib
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

MAX_D = 10_000_000
MAX_SEED = 2**53  # the largest whole number that JSON readers agree on

Kind = Literal["int", "float", "choice", "bool"]


class ConfigError(ValueError):
    """A setting that is not allowed; the message is for people, a sentence for each field."""


class Frozen(BaseModel):
    """A part of a config: immutable, no unknown keys, no NaN or infinity."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)


def setting(
    default: Any,
    label: str,
    help: str = "",
    symbol: str = "",
    advanced: bool = False,
    choices: Callable[[], list[str]] | None = None,
    **limits: Any,
) -> Any:
    """A pydantic field with what a form and a flag need to show it.

    `choices` lists the values of a text field that may grow while the program runs.
    """
    extra: Any = {"symbol": symbol, "advanced": advanced, "choices": choices}
    return Field(default, title=label, description=help or None, json_schema_extra=extra, **limits)


@dataclass(frozen=True)
class FieldSpec:
    """One setting, described for a form or a terminal."""

    name: str
    label: str
    symbol: str
    help: str
    kind: Kind
    default: Any
    advanced: bool
    low: float | None = None
    high: float | None = None
    low_open: bool = False
    optional: bool = False
    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """The range in words."""
        if self.kind == "choice":
            return f"one of {', '.join(self.choices)}"
        if self.kind == "bool":
            return "true or false"
        what = "a whole number" if self.kind == "int" else "a finite number"
        if self.low is None:
            return what
        low = f"{'above' if self.low_open else 'from'} {self.low:g}"
        if self.high is None:
            return f"{what} {low}" if self.low_open else f"{what} {low} on"
        return f"{what} {low} {'and up ' if self.low_open else ''}to {self.high:.16g}"


def specs(model: type[BaseModel]) -> list[FieldSpec]:
    """The plain settings of one config class, the advanced ones last; no nested parts or fixed tags."""
    found = [_spec(name, info) for name, info in model.model_fields.items()]
    return sorted((spec for spec in found if spec is not None), key=lambda spec: spec.advanced)


def _spec(name: str, info: FieldInfo) -> FieldSpec | None:
    annotation, optional = _without_none(info.annotation)
    choices = tuple(typing.get_args(annotation)) if _is_literal(annotation) else ()
    if len(choices) == 1 or (not choices and annotation not in (int, float, bool, str)):
        return None
    kinds: dict[Any, Kind] = {int: "int", float: "float", bool: "bool"}
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    listed = extra.get("choices")
    if annotation is str and callable(listed):
        choices = tuple(listed())
    limits = _limits(info)
    return FieldSpec(
        name=name,
        label=info.title or name,
        symbol=str(extra.get("symbol", "")),
        help=" ".join((info.description or "").split()),
        kind=kinds.get(annotation, "choice"),
        default=None if info.is_required() else info.default,
        advanced=bool(extra.get("advanced", False)),
        optional=optional,
        choices=choices,
        **limits,
    )


def _limits(info: FieldInfo) -> dict[str, Any]:
    limits: dict[str, Any] = {}
    for mark in info.metadata:
        if isinstance(mark, Ge):
            limits["low"] = mark.ge
        elif isinstance(mark, Gt):
            limits["low"], limits["low_open"] = mark.gt, True
        elif isinstance(mark, Le):
            limits["high"] = mark.le
        elif isinstance(mark, Lt):
            limits["high"] = mark.lt
    return limits


def _is_literal(annotation: Any) -> bool:
    return typing.get_origin(annotation) is Literal


def _without_none(annotation: Any) -> tuple[Any, bool]:
    """(the type, whether None is allowed too)."""
    if typing.get_origin(annotation) in (types.UnionType, typing.Union):
        rest = [a for a in typing.get_args(annotation) if a is not type(None)]
        if len(rest) == 1:
            return rest[0], True
    return annotation, False


def explain(error: ValidationError, models: Mapping[str, type[BaseModel]]) -> str:
    """A pydantic error in a sentence for each field: its name, the value and what is allowed.

    Args:
        error: What pydantic raised.
        models: The config class of each part, by the part's name; "" is the whole.
    """
    return " ".join(_sentence(dict(one), models) for one in error.errors())


def _sentence(one: dict[str, Any], models: Mapping[str, type[BaseModel]]) -> str:
    place = [str(step) for step in one["loc"]]
    part = place[0] if place and place[0] in models else ""
    name = place[-1] if place else ""
    known = {spec.name: spec for spec in specs(models[part])} if part in models else {}
    if one["type"] == "value_error":  # raised by a validator of ours: a sentence already
        return str(one["ctx"]["error"])
    if one["type"] == "extra_forbidden":
        near = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        return f"{name} is not a field of {part or 'the config'}.{hint}"
    if one["type"] == "missing":
        return f"{name} is missing: {known[name].allowed if name in known else 'it is needed'}."
    if name in known:
        return f"{name} = {one['input']!r} is not allowed: {known[name].allowed}."
    return f"{'.'.join(place) or 'config'} = {one['input']!r} is not allowed: {one['msg']}."
