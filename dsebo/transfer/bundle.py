"""The JSON bundle: everything of some runs, and back again without loss."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError
from sqlalchemy import select

from dsebo.config import RunConfig
from dsebo.runs.commands import checked_name, tags_json
from dsebo.store import schema
from dsebo.store.errors import StoreError
from dsebo.store.identity import known_hash
from dsebo.store.schema import ACTIVE
from dsebo.store.store import Store
from dsebo.transfer.locate import line_of
from dsebo.transfer.models import EVENTS, EventIn, Problem, RunIn, check_evaluations
from dsebo.transfer.saving import Imported
from objectives.fields import ConfigError

FORMAT, VERSION = "dsebo-bundle", 1
MAX_RUNS = 10_000

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
)


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


def parse_bundle(data: bytes, filename: str) -> list[Imported]:
    """The runs of a bundle; StoreError, with the line, where it is not one."""
    try:
        given = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise StoreError(f"{filename}, line {error.lineno}: not JSON, {error.msg}.") from None
    if not isinstance(given, dict) or given.get("format") != FORMAT:
        raise StoreError(f'{filename}, line 1: not a dsebo bundle, "format" is not "{FORMAT}".')
    if given.get("version") != VERSION:
        raise StoreError(
            f"{filename}, line 1: version = {_short(given.get('version'))} of the bundle is not "
            f"allowed: {VERSION}."
        )
    runs = given.get("runs")
    if not isinstance(runs, list) or not 1 <= len(runs) <= MAX_RUNS:
        raise StoreError(f'{filename}, line 1: "runs" must be a list of 1 to {MAX_RUNS} runs.')
    found = []
    for i, run in enumerate(runs):
        try:
            found.append(_imported(run))
        except Problem as problem:
            line = line_of(data.decode(), ("runs", i, *problem.place))
            raise StoreError(f"{filename}, line {line}: {problem}.") from None
    return found


def _imported(given: Any) -> Imported:
    """One run, checked; a Problem says what does not fit."""
    run = _valid(RunIn, given, ())
    try:
        config = RunConfig.parse(run.config)
        name, tags = checked_name(run.name), tags_json(run.tags)
    except (ConfigError, StoreError) as error:
        raise Problem(("config",), str(error).rstrip(".")) from None
    check_evaluations(run, config)
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
        "hash": known_hash(config.model_dump(mode="json"), run.versions),
        "n_done": len(bests),
        "best": bests[-1] if bests else None,
    }
    if run.state in (*ACTIVE, "stalled"):
        row["state"] = "interrupted"  # nobody works on it here; it can be resumed
    return Imported(row, [_evaluation_row(one) for one in run.evaluations], events, _saved(run))


def _evaluation_row(one: Any) -> dict[str, Any]:
    return {**one.model_dump(), "z": one.point()}


def _event(given: dict[str, Any], i: int, n: int) -> dict[str, Any]:
    kind = given.get("event")
    model = EVENTS.get(kind, EventIn) if isinstance(kind, str) else EventIn
    event = _valid(model, given, ("events", i))
    if event.t > n:
        raise Problem(("events", i, "t"), f"t = {event.t} is after the last evaluation, {n}")
    try:
        payload = orjson.dumps(given).decode()
    except TypeError:  # nested beyond reason
        raise Problem(("events", i), "the event is nested too deeply") from None
    return {"t": event.t, "kind": event.event, "payload": payload}


def _saved(run: RunIn) -> dict[str, Any] | None:
    if run.checkpoint is None:
        return None
    try:
        state = json.loads(run.checkpoint)
    except (json.JSONDecodeError, RecursionError):
        raise Problem(("checkpoint",), "the checkpoint is not JSON") from None
    if not isinstance(state, dict):
        raise Problem(("checkpoint",), "the checkpoint is not a JSON object")
    return {"t": len(run.evaluations), "state": run.checkpoint}


def _valid(model: type[Model], given: Any, place: tuple[int | str, ...]) -> Model:
    try:
        return model.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(step) for step in first["loc"]) or "the run"
        said = f"{path} = {_short(first['input'])} is not allowed: {first['msg']}"
        raise Problem((*place, *first["loc"]), said) from None


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
