"""Config fields as data: label, symbol, range and help, for forms, flags and error sentences."""

from __future__ import annotations

import ast
import difflib
import functools
import inspect
import operator
import sys
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

MAX_D = 10_000_000
MAX_SEED = 2**53  # the largest whole number that JSON readers agree on

Kind = Literal["int", "float", "choice", "bool"]


class ConfigError(ValueError):
    """A setting that is not allowed; the message is for people, a sentence for each field."""


def must(name: str, allowed: str, got: Any) -> str:
    """`D must be a whole number, 1 or more (got 0).`"""
    return f"{name} must be {allowed} (got {short(got)})."


def not_one_of(name: str, choices: Iterable[str], got: Any) -> str:
    """The same of a choice, with what may have been meant."""
    known = list(choices)
    near = difflib.get_close_matches(got, known, n=1) if isinstance(got, str) else []
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return must(name, f"one of {', '.join(known)}", got) + hint


def short(value: Any) -> str:
    """As Python writes it, not too long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def whole_number(value: Any) -> int | None:
    """A whole number as the fields take it: 50, 50.0 or "50"; None of anything else."""
    try:
        return int(value) if float(value).is_integer() else None
    except (TypeError, ValueError, OverflowError):
        return None


class Frozen(BaseModel):
    """A part of a config: immutable, no unknown keys, no NaN or infinity.

    Defaults are checked like given values: one that another setting contradicts is refused too.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True, defer_build=True
    )


def setting(
    default: Any,
    label: str,
    help: str = "",
    symbol: str = "",
    advanced: bool = False,
    fixed: bool = False,
    **limits: Any,
) -> Any:
    """A pydantic field with what a form and a flag need to show it; `fixed`: it follows, neither has it."""
    extra: Any = {"symbol": symbol, "advanced": advanced, "fixed": fixed}
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
        if self.high is None:
            return f"{what} above {self.low:g}" if self.low_open else f"{what}, {self.low:g} or more"
        if self.low_open:
            return f"{what} above {self.low:g}, at most {self.high:.16g}"
        return f"{what} from {self.low:g} to {self.high:.16g}"


@functools.cache  # a page asks for all of them at every click
def specs(model: type[BaseModel]) -> list[FieldSpec]:
    """The plain settings of one config class, the advanced ones last; no nested parts or fixed tags."""
    fields = [_spec(name, info, _help(model, name, info)) for name, info in model.model_fields.items()]
    return sorted((spec for spec in fields if spec is not None), key=lambda spec: spec.advanced)


def _spec(name: str, info: FieldInfo, help: str) -> FieldSpec | None:
    annotation, optional = _without_none(info.annotation)
    choices = tuple(typing.get_args(annotation)) if _is_literal(annotation) else ()
    if len(choices) == 1 or (not choices and annotation not in (int, float, bool)):
        return None
    if isinstance(info.json_schema_extra, dict) and info.json_schema_extra.get("fixed"):
        return None
    kinds: dict[Any, Kind] = {int: "int", float: "float", bool: "bool"}
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    return FieldSpec(
        name=name,
        label=info.title or name,
        symbol=str(extra.get("symbol", "")),
        help=help,
        kind=kinds.get(annotation, "choice"),
        default=None if info.is_required() else info.default,
        advanced=bool(extra.get("advanced", False)),
        optional=optional,
        choices=choices,
        **_limits(info),
    )


def _help(model: type[BaseModel], name: str, info: FieldInfo) -> str:
    """What is said of a field, or stands below it in its class or in one that this is made from."""
    below = (_docstrings(part.__module__).get(part.__name__, {}).get(name) for part in model.__mro__)
    return " ".join((info.description or next(filter(None, below), "")).split())


@functools.cache
def _docstrings(module: str) -> dict[str, dict[str, str]]:
    """By class and field: the strings that stand below the fields of a module's classes.

    They are read when somebody asks for help: pydantic would read them all whenever a process starts.
    """
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError):  # of no file
        return {}
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return {node.name: dict(_below_fields(node.body)) for node in classes}


def _below_fields(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for above, below in pairwise(body):
        match above, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, text


def _limits(info: FieldInfo) -> dict[str, Any]:
    limits: dict[str, Any] = {}
    for limit in info.metadata:
        if isinstance(limit, Ge):
            limits["low"] = limit.ge
        elif isinstance(limit, Gt):
            limits["low"], limits["low_open"] = limit.gt, True
        elif isinstance(limit, Le):
            limits["high"] = limit.le
        elif isinstance(limit, Lt):
            limits["high"] = limit.lt
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


def tagged_union(tag: str, members: Mapping[str, type[BaseModel]]) -> Any:
    """A type that is one of these classes, told apart by their field `tag`."""
    union = functools.reduce(operator.or_, members.values())
    return Annotated[union, Field(discriminator=tag)] if len(members) > 1 else union


def explain(
    error: ValidationError, models: Mapping[str, type[BaseModel]], names: Mapping[str, str] | None = None
) -> str:
    """A pydantic error in a sentence for each field: its name, what it must be and what it got.

    Args:
        error: What pydantic raised.
        models: The config class of each part, by the part's name; "" is the whole.
        names: What people call a part, where its fields depend on that.
    """
    return " ".join(_sentence(dict(problem), models, names or {}) for problem in error.errors())


def _sentence(
    problem: dict[str, Any], models: Mapping[str, type[BaseModel]], names: Mapping[str, str]
) -> str:
    place = [str(step) for step in problem["loc"]]
    part = place[0] if place and place[0] in models else ""
    name = place[-1] if place else ""
    known = {spec.name: spec for spec in specs(models[part])} if part in models else {}
    if problem["type"] == "value_error":  # raised by a validator of ours: a sentence already
        return str(problem["ctx"]["error"])
    if problem["type"] == "extra_forbidden":
        near = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        if part in names:
            fixed = ": it is fixed" if hasattr(models[part], name) else ""
            return f"{names[part]} has no setting {name}{fixed}.{hint}"
        return f"{name} is not a field of {part or 'the config'}.{hint}"
    if problem["type"] == "missing":
        return f"{name} is missing: {known[name].allowed if name in known else 'it is needed'}."
    if name in known:
        return must(name, known[name].allowed, problem["input"])
    return f"{'.'.join(place) or 'The config'}: {problem['msg']} (got {short(problem['input'])})."
