"""What a file may say of a run: types, sizes and ranges, as strictly as pages and charts rely on them."""

from __future__ import annotations

import base64
import binascii
import types
import typing
from dataclasses import MISSING, fields
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from dsebo import events
from dsebo.config import MAX_BUDGET
from dsebo.objectives.fields import MAX_D, short
from dsebo.runs.commands import MAX_NOTE
from dsebo.store.schema import STATES
from dsebo.text import without_controls

MAX_TEXT = 10_000
MAX_NUMBER = 1e300  # beyond, differences of two numbers need not be numbers
MAX_DEPTH = 20  # of what an event or a checkpoint nests
MAX_WHOLE = 2**63 - 1

Model = TypeVar("Model", bound=BaseModel)


class Problem(ValueError):
    """What does not fit, and where in the run."""

    def __init__(self, place: tuple[int | str, ...], text: str) -> None:
        super().__init__(text)
        self.place = place


def _cleaned(text: Any) -> Any:
    return without_controls(text) if isinstance(text, str) else text


Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
Seconds = Annotated[float, Field(ge=0, le=1e12)]
Number = Annotated[float, Field(ge=-MAX_NUMBER, le=MAX_NUMBER)]
Text = Annotated[str, BeforeValidator(_cleaned), Field(max_length=MAX_TEXT)]
Id = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Time = Annotated[float, Field(ge=0, le=1e11)]


class _Strict(BaseModel):
    """No conversions, no NaN, nothing unknown."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class EvaluationIn(_Strict):
    """One evaluation; z is base64 of its raw bytes."""

    t: int = Field(ge=1, le=MAX_BUDGET)
    y: Number | None
    best: Number | None
    d: Annotated[int, Field(ge=1, le=MAX_D)] | None
    T: Count | None
    since_gain: Count | None
    failed: bool
    seconds: Seconds
    seconds_fit: Seconds
    seconds_acq: Seconds
    seconds_eval: Seconds
    error: Text | None
    z: str | None
    z_type: Literal["f8", "f4"]

    def point(self) -> bytes | None:
        """The bytes of z; ValueError where they are not those of finite numbers."""
        if self.z is None:
            return None
        try:
            raw = base64.b64decode(self.z, validate=True)
        except binascii.Error:
            raise ValueError("not base64") from None
        size = int(self.z_type[1])
        if not raw or len(raw) % size:
            raise ValueError(f"{len(raw)} bytes, which is not a multiple of {size}")
        if not np.isfinite(np.frombuffer(raw, dtype=f"<{self.z_type}")).all():
            raise ValueError("a number in it is not finite")
        return raw


class EventIn(BaseModel):
    """Any event: its kind, its t, its sentence if it has one, and whatever else it carries."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)

    event: str = Field(pattern=r"^[a-z][a-z_-]{0,39}$")
    t: int = Field(ge=0, le=MAX_BUDGET)
    text: Text = ""


def _type_in(annotation: Any) -> Any:
    """What JSON holds of a field of an event: a list of a tuple, null of a number that is none."""
    if typing.get_origin(annotation) is tuple:
        return list[_type_in(typing.get_args(annotation)[0])]  # type: ignore[misc]
    if typing.get_origin(annotation) is types.UnionType:
        inner = next(a for a in typing.get_args(annotation) if a is not type(None))
        return _type_in(inner) | None
    return {int: Count, float: Number | None, str: Text}.get(annotation, annotation)


def _model_of(kind: type[events.Event]) -> type[EventIn]:
    """The fields that an event of this kind must have, as the pages read them."""
    hints = typing.get_type_hints(kind)
    own: dict[str, Any] = {}
    for f in fields(kind):
        if f.default is MISSING:
            own[f.name] = (_type_in(hints[f.name]), ...)
        else:  # of a later version than the file may be
            own[f.name] = (_type_in(hints[f.name]) | None, None)
    del own["t"]
    if kind is events.Forked:
        own["parent"] = (Id, ...)
    if kind is events.Finished:
        own["state"] = (Literal["finished", "failed"], ...)
    model: type[EventIn] = create_model(f"{kind.__name__}In", __base__=EventIn, **own)
    return model


EVENTS: dict[str, type[EventIn]] = {
    name: _model_of(kind) for name, kind in events.KINDS.items() if kind is not events.Evaluated
}


class ForkPointIn(_Strict):
    """The state at a convergence, as JSON text."""

    t: int = Field(ge=1, le=MAX_BUDGET)
    state: str = Field(max_length=50_000_000)


class RunIn(_Strict):
    """One run of a bundle. Its events are checked one by one, by their kind."""

    id: Id
    name: str = Field(max_length=200)
    group: str = Field(pattern=r"^[0-9A-Za-z_-]{0,64}$")
    tags: list[Annotated[str, Field(max_length=50)]] = Field(max_length=20)
    config: dict[str, Any]
    state: Literal[STATES]  # type: ignore[valid-type]
    budget: int = Field(ge=2, le=MAX_BUDGET)
    versions: dict[Annotated[Text, Field(max_length=100)], Annotated[Text, Field(max_length=100)]] = Field(
        max_length=50
    )
    created: Time
    started: Time | None
    finished: Time | None
    d: Annotated[int, Field(ge=1, le=MAX_D)] | None
    seconds: Seconds
    speed: Annotated[float, Field(ge=0.001, le=1000)] | None
    minimum: Number | None
    at_centre: Number | None
    error: Text | None
    evaluations: list[EvaluationIn] = Field(max_length=MAX_BUDGET)
    events: list[dict[str, Any]] = Field(max_length=10 * MAX_BUDGET)
    checkpoint: str | None = Field(max_length=50_000_000)
    # not in files of 0.1.0
    fork_points: list[ForkPointIn] = Field(default=[], max_length=MAX_BUDGET)
    ghost: Id | None = None
    note: Annotated[Text, Field(max_length=MAX_NOTE)] | None = None


def valid(model: type[Model], given: Any, place: tuple[int | str, ...] = ()) -> Model:
    """The model of what is given; a Problem with its place where it does not fit."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        text = f"{first['msg'].removeprefix('Value error, ')} (got {short(first['input'])})"
        raise Problem((*place, *first["loc"]), without_controls(text)) from None


def plain_value(value: Any, place: tuple[int | str, ...], depth: int = 0) -> Any:
    """A JSON value without control characters; a Problem where it is too deep, long or large."""
    if depth > MAX_DEPTH:
        raise Problem(place, f"nested more than {MAX_DEPTH} deep")
    if isinstance(value, str):
        if len(value) > MAX_TEXT:
            raise Problem(place, f"a text of {len(value)} characters is over the limit of {MAX_TEXT}")
        return without_controls(value)
    if isinstance(value, dict):
        return {
            plain_value(str(name), place, depth + 1): plain_value(inner, place, depth + 1)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [plain_value(inner, place, depth + 1) for inner in value]
    if isinstance(value, int) and abs(value) > MAX_WHOLE:
        raise Problem(place, "a whole number of more than 64 bits")
    if isinstance(value, float) and not abs(value) <= MAX_NUMBER:
        raise Problem(place, f"{value} is not a number from -{MAX_NUMBER:g} to {MAX_NUMBER:g}")
    return value
