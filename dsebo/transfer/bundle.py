"""The JSON bundle: everything of some runs, and back again without loss.

What comes in is checked as strictly as the pages rely on it. An error names the place in the file, such
as `runs[3].events[2].t`.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import select

from dsebo.config import MAX_BUDGET, RunConfig, stored_hash
from dsebo.runs.commands import checked_name, tags_json
from dsebo.store import schema
from dsebo.store.errors import StoreError
from dsebo.store.schema import ACTIVE, STATES
from dsebo.store.store import Store
from objectives.fields import MAX_D, ConfigError, short

FORMAT, VERSION = "dsebo-bundle", 1
MAX_RUNS = 10_000

MAX_TEXT = 100_000

Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
Seconds = Annotated[float, Field(ge=0, le=1e12)]
Text = Annotated[str, Field(max_length=MAX_TEXT)]
Id = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


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
            raise ValueError("not base64") from None
        size = int(self.z_type[1])
        if not raw or len(raw) % size:
            raise ValueError(f"{len(raw)} bytes, which is not a multiple of {size}")
        if not np.isfinite(np.frombuffer(raw, dtype=f"<{self.z_type}")).all():
            raise ValueError("a number in it is not finite")
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


class ForkedIn(EventIn):
    """`forked`, as the pages read it."""

    parent: Id
    decide: Count | None
    before: dict[str, Any]
    after: dict[str, Any]
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
    "forked": ForkedIn,
    "finished": FinishedIn,
}

Time = Annotated[float, Field(ge=0, le=1e11)]


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
    # not in files of 0.1.0
    fork_points: list[ForkPointIn] = Field(default=[], max_length=MAX_BUDGET)
    ghost: Id | None = None


Model = TypeVar("Model", bound=BaseModel)

_PLAIN = (
    "id",
    "name",
    "group",
    "state",
    "budget",
    "created",
    "started",
    "finished",
    "d",
    "seconds",
    "speed",
    "minimum",
    "at_centre",
    "error",
    "ghost",
)


@dataclass(frozen=True)
class Imported:
    """One run as rows, checked, without its id and owner in the parts."""

    run: dict[str, Any]
    evaluations: list[dict[str, Any]]
    events: list[dict[str, Any]]
    checkpoint: dict[str, Any] | None = None
    fork_points: list[dict[str, Any]] = field(default_factory=list)


# --- out ---


def export_json(store: Store, ids: Sequence[str]) -> bytes:
    """These runs as one JSON object, an evaluation or event a line. Owners stay behind."""
    runs = b",\n".join(_run_text(store, run_id) for run_id in ids)
    return b'{"format": "%s", "version": %d, "runs": [\n%s\n]}\n' % (FORMAT.encode(), VERSION, runs)


def _run_text(store: Store, run_id: str) -> bytes:
    row = store.get_run(run_id)
    about = {name: getattr(row, name) for name in _PLAIN}
    about |= {"tags": row.tags, "config": row.config, "versions": store.versions(row.id)}
    about["checkpoint"] = _checkpoint(store, row.id)
    parts = {"evaluations": _evaluations(store, row.id), "events": store.events(row.id)}
    if points := _fork_points(store, row.id):
        parts["fork_points"] = points
    lists = [b'"%s": [\n%s]' % (name.encode(), _lines(items)) for name, items in parts.items()]
    return orjson.dumps(about)[:-1] + b",\n" + b",\n".join(lists) + b"}"


def _lines(items: list[dict[str, Any]]) -> bytes:
    # json, not orjson: whatever numbers an event carries, they are written as Python has them
    return ",\n".join(json.dumps(item, ensure_ascii=False) for item in items).encode()


def _evaluations(store: Store, run_id: str) -> list[dict[str, Any]]:
    table = schema.evaluation
    with store.read() as connection:
        chosen = select(table).where(table.c.run_id == run_id).order_by(table.c.t)
        found = [dict(row) for row in connection.execute(chosen).mappings()]
    for one in found:
        del one["run_id"]
        one["T"] = one.pop("T", one.pop("patience", None))
        one["z"] = None if one["z"] is None else base64.b64encode(one["z"]).decode()
    return found


def _checkpoint(store: Store, run_id: str) -> str | None:
    """As text: its numbers may include some that strict JSON lacks."""
    table = schema.checkpoint
    with store.read() as connection:
        chosen = select(table.c.state).where(table.c.run_id == run_id)
        return connection.execute(chosen).scalar()


def _fork_points(store: Store, run_id: str) -> list[dict[str, Any]]:
    table = schema.fork_point
    with store.read() as connection:
        chosen = select(table.c.t, table.c.state).where(table.c.run_id == run_id).order_by(table.c.t)
        return [dict(row) for row in connection.execute(chosen).mappings()]


# --- in ---


def parse_bundle(data: bytes, filename: str) -> list[Imported]:
    """The runs of a bundle; StoreError, with the line or the place, where it is not one."""
    try:
        bundle = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise StoreError(f"{filename}, line {error.lineno}: not JSON, {error.msg}.") from None
    if not isinstance(bundle, dict) or bundle.get("format") != FORMAT:
        raise StoreError(f'{filename}: not a dsebo bundle, "format" is not "{FORMAT}".')
    if bundle.get("version") != VERSION:
        version = short(bundle.get("version"))
        raise StoreError(f"{filename}: version = {version} of the bundle is not allowed: {VERSION}.")
    runs = bundle.get("runs")
    if not isinstance(runs, list) or not 1 <= len(runs) <= MAX_RUNS:
        raise StoreError(f'{filename}: "runs" must be a list of 1 to {MAX_RUNS} runs.')
    imported = []
    for i, run in enumerate(runs):
        try:
            imported.append(_imported(run))
        except Problem as problem:
            raise StoreError(f"{filename}, {_path('runs', i, *problem.place)}: {problem}.") from None
    return imported


class Problem(ValueError):
    """What does not fit, and where in the run."""

    def __init__(self, place: tuple[int | str, ...], text: str) -> None:
        super().__init__(text)
        self.place = place


def _path(*steps: int | str) -> str:
    """`runs[3].events[2].t`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)[1:]


def _imported(fields: Any) -> Imported:
    """One run, checked; a Problem says what does not fit."""
    run = _valid(RunIn, fields, ())
    try:
        config = RunConfig.parse(run.config)
        name, tags = checked_name(run.name), tags_json(run.tags)
    except (ConfigError, StoreError) as error:
        raise Problem(("config",), str(error).rstrip(".")) from None
    _check_evaluations(run, config)
    events = [_event(event, i, len(run.evaluations)) for i, event in enumerate(run.events)]
    row = {name: getattr(run, name) for name in _PLAIN}
    bests = [one.best for one in run.evaluations]
    row |= {
        "name": name,
        "tags": tags,
        "config": config.to_json(),
        "method": config.optimizer.method,
        "function": config.objective.name,
        "seed": config.seed,
        "versions": json.dumps(run.versions),
        "hash": stored_hash(config, run.versions),
        "n_done": len(bests),
        "best": bests[-1] if bests else None,
    }
    if run.state in (*ACTIVE, "stalled"):
        row["state"] = "interrupted"  # nobody works on it here; it can be resumed
    evaluations = [{**one.model_dump(), "z": one.point()} for one in run.evaluations]
    return Imported(row, evaluations, events, _saved(run), _points(run))


def _event(fields: dict[str, Any], i: int, n: int) -> dict[str, Any]:
    kind = fields.get("event")
    model = EVENTS.get(kind, EventIn) if isinstance(kind, str) else EventIn
    event = _valid(model, fields, ("events", i))
    if event.t > n:
        raise Problem(("events", i, "t"), f"{event.t} is after the last evaluation, {n}")
    try:
        payload = orjson.dumps(fields).decode()
    except TypeError:  # nested beyond reason
        raise Problem(("events", i), "the event is nested too deeply") from None
    return {"t": event.t, "kind": event.event, "payload": payload}


def _saved(run: RunIn) -> dict[str, Any] | None:
    if run.checkpoint is None:
        return None
    _check_state(run.checkpoint, ("checkpoint",))
    return {"t": len(run.evaluations), "state": run.checkpoint}


def _points(run: RunIn) -> list[dict[str, Any]]:
    """At rising evaluations that there are."""
    last = 0
    for i, point in enumerate(run.fork_points):
        if not last < point.t <= len(run.evaluations):
            raise Problem(("fork_points", i, "t"), f"{point.t} is not a later evaluation of the run")
        _check_state(point.state, ("fork_points", i, "state"))
        last = point.t
    return [point.model_dump() for point in run.fork_points]


def _check_state(text: str, place: tuple[int | str, ...]) -> None:
    try:
        state = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        raise Problem(place, "not JSON") from None
    if not isinstance(state, dict):
        raise Problem(place, "not a JSON object")


def _valid(model: type[Model], fields: Any, place: tuple[int | str, ...]) -> Model:
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        text = f"{short(first['input'])} is not allowed: {first['msg']}"
        raise Problem((*place, *first["loc"]), text) from None


def _check_evaluations(run: RunIn, config: RunConfig) -> None:
    """Numbered from 1, each best the least so far, each z of its subspace's dimension."""
    best: float | None = None
    for i, evaluation in enumerate(run.evaluations):
        place = ("evaluations", i)
        if evaluation.t != i + 1:
            raise Problem((*place, "t"), f"{evaluation.t} is not allowed: {i + 1} comes next")
        if evaluation.failed != (evaluation.y is None):
            raise Problem((*place, "failed"), "it does not agree with y")
        if evaluation.y is not None:
            best = evaluation.y if best is None else min(best, evaluation.y)
        if evaluation.best != best:
            raise Problem((*place, "best"), f"{evaluation.best} is not the least y so far ({best})")
        if evaluation.d is not None and evaluation.d > config.objective.D:
            raise Problem((*place, "d"), f"{evaluation.d} is above D = {config.objective.D}")
        _check_point(evaluation, config, place)
    if len(run.evaluations) > run.budget:
        raise Problem(("budget",), f"{run.budget} is less than the evaluations")


def _check_point(evaluation: EvaluationIn, config: RunConfig, place: tuple[int | str, ...]) -> None:
    try:
        raw = evaluation.point()
    except ValueError as error:
        raise Problem((*place, "z"), str(error)) from None
    if raw is None or config.optimizer.method != "dsebo":
        return
    entries = len(raw) // int(evaluation.z_type[1])
    if entries != evaluation.d:
        raise Problem((*place, "z"), f"{entries} entries, but d = {evaluation.d}")
