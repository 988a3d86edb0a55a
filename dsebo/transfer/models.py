"""The JSON bundle's shape, as strictly as the pages rely on it."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from dsebo.config import MAX_BUDGET, RunConfig
from dsebo.store.schema import STATES
from objectives.fields import MAX_D

MAX_TEXT = 100_000

Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
Seconds = Annotated[float, Field(ge=0, le=1e12)]
Text = Annotated[str, Field(max_length=MAX_TEXT)]


class _Strict(BaseModel):
    """No conversions, no NaN, nothing unknown."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class EvaluationIn(_Strict):
    """One evaluation; z is base64 of its raw bytes."""

    t: int = Field(ge=1, le=MAX_BUDGET)
    y: float | None
    best: float | None
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
            raise ValueError("z is not base64") from None
        size = int(self.z_type[1])
        if not raw or len(raw) % size:
            raise ValueError(f"z has {len(raw)} bytes, which is not a multiple of {size}")
        if not np.isfinite(np.frombuffer(raw, dtype=f"<{self.z_type}")).all():
            raise ValueError("z holds a number that is not finite")
        return raw


class EventIn(BaseModel):
    """Any event: its kind, its t, and whatever else it carries."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)

    event: str = Field(pattern=r"^[a-z][a-z_-]{0,39}$")
    t: int = Field(ge=0, le=MAX_BUDGET)


class StartedIn(EventIn):
    """`started`, as the pages read it."""

    config: dict[str, Any]
    minimum: float | None
    at_centre: float | None
    checksum: Annotated[str, Field(max_length=64)] | None
    warnings: list[Text]


class ConvergedIn(EventIn):
    """`converged` and `expanded`, as the pages read them."""

    d_from: Count
    d_to: Count
    dims: list[Count]
    bests: list[float | None]
    slopes: list[float | None]
    s_min: float | None
    s_max: float | None
    k: float | None
    delta_before: Count | None
    delta_after: Count
    T_before: Count
    T_after: Count
    text: Text


class FinishedIn(EventIn):
    """`finished`, as the pages read it."""

    state: Literal["finished", "failed"]
    best: float | None
    d: Count | None
    seconds: Seconds
    text: Text


EVENTS: dict[str, type[EventIn]] = {
    "started": StartedIn,
    "converged": ConvergedIn,
    "expanded": ConvergedIn,
    "finished": FinishedIn,
}

Time = Annotated[float, Field(ge=0, le=1e11)]


class RunIn(_Strict):
    """One run of a bundle. Its events are checked one by one, by their kind."""

    id: str = Field(pattern=r"^[0-9a-f]{32}$")
    name: str = Field(max_length=200)
    group: str = Field(pattern=r"^[0-9A-Za-z_-]{0,64}$")
    tags: list[Annotated[str, Field(max_length=50)]] = Field(max_length=20)
    config: dict[str, Any]
    state: Literal[STATES]  # type: ignore[valid-type]
    budget: int = Field(ge=2, le=MAX_BUDGET)
    versions: dict[str, Annotated[str, Field(max_length=100)]] = Field(max_length=50)
    created: Time
    started: Time | None
    finished: Time | None
    d: Annotated[int, Field(ge=1, le=MAX_D)] | None
    seconds: Seconds
    speed: Annotated[float, Field(ge=0.001, le=1000)] | None
    minimum: float | None
    at_centre: float | None
    error: Text | None
    evaluations: list[EvaluationIn] = Field(max_length=MAX_BUDGET)
    events: list[dict[str, Any]] = Field(max_length=10 * MAX_BUDGET)
    checkpoint: str | None = Field(max_length=50_000_000)


class Problem(ValueError):
    """What does not fit, and where in the run."""

    def __init__(self, place: tuple[int | str, ...], said: str) -> None:
        super().__init__(said)
        self.place = place


def check_evaluations(run: RunIn, config: RunConfig) -> None:
    """Numbered from 1, each best the least so far, each z of its subspace's dimension."""
    best: float | None = None
    for i, one in enumerate(run.evaluations):
        place = ("evaluations", i)
        if one.t != i + 1:
            raise Problem((*place, "t"), f"t = {one.t} is not allowed: {i + 1} comes next")
        if one.failed != (one.y is None):
            raise Problem((*place, "failed"), "failed does not agree with y")
        if one.y is not None:
            best = one.y if best is None else min(best, one.y)
        if one.best != best:
            raise Problem((*place, "best"), f"best = {one.best} is not the least y so far ({best})")
        if one.d is not None and one.d > config.objective.D:
            raise Problem((*place, "d"), f"d = {one.d} is above D = {config.objective.D}")
        _check_point(one, config, place)
    if len(run.evaluations) > run.budget:
        raise Problem(("budget",), f"budget = {run.budget} is less than the evaluations")


def _check_point(one: EvaluationIn, config: RunConfig, place: tuple[int | str, ...]) -> None:
    try:
        raw = one.point()
    except ValueError as error:
        raise Problem((*place, "z"), str(error)) from None
    if raw is None or config.optimizer.method != "dsebo":
        return
    entries = len(raw) // int(one.z_type[1])
    if entries != one.d:
        raise Problem((*place, "z"), f"z has {entries} entries, d = {one.d}")
