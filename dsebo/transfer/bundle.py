"""The JSON bundle: everything of some runs, and back again without loss.

What comes in is checked as strictly as the pages rely on it. An error names the place in the file, such
as `runs[3].events[2].t`.
"""

from __future__ import annotations

import base64
import json
import math
import time
import types
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import orjson
from sqlalchemy import Table, select

from dsebo.config import RunConfig, stored_hash
from dsebo.methods.base import Optimizer
from dsebo.methods.dsebo import DseboConfig
from dsebo.objectives.base import ObjectiveConfig
from dsebo.objectives.fields import ConfigError, short
from dsebo.run import make_optimizer
from dsebo.runs.commands import checked_name, tags_json
from dsebo.store import schema
from dsebo.store.errors import StoreError
from dsebo.store.schema import ACTIVE
from dsebo.store.store import Store
from dsebo.transfer.incoming import EVENTS, EvaluationIn, EventIn, Problem, RunIn, plain_value, valid

FORMAT, VERSION = "dsebo-bundle", 1
MAX_RUNS = 10_000
MAX_TRIED_D = 2000

_OWN_FORM = ("tags", "config", "versions", "evaluations", "events", "checkpoint", "fork_points")
_PLAIN = [name for name in RunIn.model_fields if name not in _OWN_FORM]  # as the store has them


@dataclass(frozen=True)
class Imported:
    """One run as rows, checked, without its id and owner in the parts."""

    run: dict[str, Any]
    evaluations: list[dict[str, Any]]
    events: list[dict[str, Any]]
    checkpoint: dict[str, Any] | None = None
    fork_points: list[dict[str, Any]] = field(default_factory=list)


def rows_of_run(
    name: str,
    group: str,
    config: RunConfig,
    evaluations: list[dict[str, Any]],
    events: Sequence[dict[str, Any]],
    **more: Any,
) -> Imported:
    """A run of other software: finished, and without what only ours keeps, unless `more` says otherwise."""
    run = {
        "name": name,
        "group": group,
        "tags": "[]",
        "config": config.to_json(),
        "method": config.optimizer.method,
        "function": config.objective.name,
        "state": "finished",
        "seed": config.seed,
        "versions": "{}",
        "created": time.time(),
        "n_done": len(evaluations),
        "best": evaluations[-1]["best"],
        "d": None,
        "budget": max(config.budget, len(evaluations)),
        "seconds": sum(row["seconds"] for row in evaluations),
        "minimum": None,
        "at_centre": None,
        "error": None,
        **more,
    }
    told = [
        {"t": event["t"], "kind": event["event"], "payload": json.dumps(event, ensure_ascii=False)}
        for event in events
    ]
    return Imported(run, evaluations, told)


def evaluation_row(t: int, y: float | None, best: float | None, **more: Any) -> dict[str, Any]:
    """An evaluation without a point and without times, unless `more` has them; y is None where it failed."""
    unknown = dict.fromkeys(("d", "z", "T", "since_gain", "error"))
    seconds = dict.fromkeys(("seconds", "seconds_fit", "seconds_acq", "seconds_eval"), 0.0)
    own = {"t": t, "y": y, "best": best, "failed": y is None, "z_type": "f8"}
    return {**own, **unknown, **seconds, **more}


# --- out ---


def export_json(store: Store, ids: Sequence[str]) -> bytes:
    """These runs as one JSON object, one line per evaluation or event. Owners stay behind."""
    runs = b",\n".join(_run_text(store, run_id) for run_id in ids)
    return b'{"format": "%s", "version": %d, "runs": [\n%s\n]}\n' % (FORMAT.encode(), VERSION, runs)


def _run_text(store: Store, run_id: str) -> bytes:
    row = store.get_run(run_id)
    about = {name: getattr(row, name) for name in _PLAIN}
    about |= {"tags": row.tags, "config": row.config, "versions": store.versions(row.id)}
    # as text: its numbers may include some that strict JSON lacks
    about["checkpoint"] = next((saved["state"] for saved in _rows(store, schema.checkpoint, row.id)), None)
    parts = {"evaluations": _evaluations(store, row.id), "events": store.events(row.id)}
    if points := _rows(store, schema.fork_point, row.id):
        parts["fork_points"] = points
    lists = [b'"%s": [\n%s]' % (name.encode(), _lines(items)) for name, items in parts.items()]
    return orjson.dumps(about)[:-1] + b",\n" + b",\n".join(lists) + b"}"


def _lines(items: list[dict[str, Any]]) -> bytes:
    # json, not orjson: whatever numbers an event carries, they are written as Python has them
    return ",\n".join(json.dumps(item, ensure_ascii=False) for item in items).encode()


def _rows(store: Store, table: Table, run_id: str) -> list[dict[str, Any]]:
    """What a table holds of a run, by evaluation."""
    columns = [column for column in table.c if column.key != "run_id"]
    with store.read() as connection:
        chosen = select(*columns).where(table.c.run_id == run_id).order_by(table.c.t)
        return [dict(row) for row in connection.execute(chosen).mappings()]


def _evaluations(store: Store, run_id: str) -> list[dict[str, Any]]:
    evaluations = _rows(store, schema.evaluation, run_id)
    for evaluation in evaluations:
        evaluation["T"] = evaluation.pop("T", evaluation.pop("patience", None))
        evaluation["z"] = None if evaluation["z"] is None else base64.b64encode(evaluation["z"]).decode()
    return evaluations


# --- in ---


def parse_bundle(data: bytes, filename: str, ours: bool = False) -> list[Imported]:
    """The runs of a bundle; StoreError, with the line or the place, where it is not one.

    `ours`: it came with the package. Then its states are not tried, nor its minima computed: that takes
    torch, and the first page waits for these runs.
    """
    try:
        bundle = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise StoreError(f"{filename}, line {error.lineno}: not JSON, {error.msg}.") from None
    if not isinstance(bundle, dict) or bundle.get("format") != FORMAT:
        raise StoreError(f'{filename}: not a dsebo bundle, "format" is not "{FORMAT}".')
    if bundle.get("version") != VERSION:
        version = short(bundle.get("version"))
        raise StoreError(f"{filename}: version must be {VERSION} (got {version}).")
    runs = bundle.get("runs")
    if not isinstance(runs, list) or not 1 <= len(runs) <= MAX_RUNS:
        raise StoreError(f'{filename}: "runs" must be a list of 1 to {MAX_RUNS} runs.')
    imported = []
    for i, run in enumerate(runs):
        try:
            imported.append(_imported(run, ours))
        except Problem as problem:
            raise StoreError(f"{filename}, {_path('runs', i, *problem.place)}: {problem}.") from None
    return imported


def _path(*steps: int | str) -> str:
    """`runs[3].events[2].t`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)[1:]


def _imported(fields: Any, ours: bool) -> Imported:
    """One run, checked; a Problem says what does not fit."""
    run = valid(RunIn, fields)
    try:
        config = RunConfig.parse(plain_value(run.config, ("config",)))
        name, tags = checked_name(run.name), tags_json(run.tags)
    except (ConfigError, StoreError, RecursionError) as error:
        raise Problem(("config",), str(error).rstrip(".")) from None
    minimum = run.minimum if ours else known_minimum(config.objective)
    _check_evaluations(run, config, lowest_value(minimum))
    limit = _largest_subspace(config)
    events = [_event(event, i, len(run.evaluations), limit) for i, event in enumerate(run.events)]
    row = {name: getattr(run, name) for name in _PLAIN}
    now = time.time()
    row |= {name: min(row[name], now) for name in ("created", "started", "finished") if row[name] is not None}
    bests = [evaluation.best for evaluation in run.evaluations]
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
        "minimum": minimum,
    }
    if run.state in (*ACTIVE, "stalled"):
        row["state"] = "interrupted"  # nobody works on it here; it can be resumed
    evaluations = [{**evaluation.model_dump(), "z": evaluation.point()} for evaluation in run.evaluations]
    return Imported(row, evaluations, events, *_states(run, config, ours))


def _largest_subspace(config: RunConfig) -> int:
    """The most dimensions that the run can have been in."""
    stages = (config.optimizer, config.at(0).optimizer)  # of a fork: from its start, and before
    limits = [stage.columns for stage in stages if isinstance(stage, DseboConfig)]
    return max(limits, default=config.D)


def _event(given: dict[str, Any], i: int, n: int, limit: int) -> dict[str, Any]:
    place = ("events", i)
    given = plain_value(given, place)
    kind = given.get("event")
    event = valid(EVENTS.get(kind, EventIn) if isinstance(kind, str) else EventIn, given, place)
    for name in ("d_from", "d_to", "dims", "d"):
        value = given.get(name)
        largest = max(value, default=0) if isinstance(value, list) else value
        if isinstance(largest, int) and largest > limit:
            raise Problem((*place, name), f"{largest} is above the largest subspace, {limit}")
    if event.t > n:
        raise Problem((*place, "t"), f"{event.t} is after the last evaluation, {n}")
    return {"t": event.t, "kind": event.event, "payload": orjson.dumps(given).decode()}


def _states(run: RunIn, config: RunConfig, ours: bool) -> tuple[dict[str, Any] | None, list[dict[str, Any]]]:
    """(the checkpoint, the states at convergences), from which the run can go on."""
    last = 0
    tried = _TriedState(run, config, able=not ours)
    for i, point in enumerate(run.fork_points):
        if not last < point.t <= len(run.evaluations):
            raise Problem(("fork_points", i, "t"), f"{point.t} is not a later evaluation of the run")
        tried.check(point.state, ("fork_points", i, "state"), whole=False)
        last = point.t
    points = [point.model_dump() for point in run.fork_points]
    if run.checkpoint is None:
        return None, points
    tried.check(run.checkpoint, ("checkpoint",), whole=True)
    return {"t": len(run.evaluations), "state": run.checkpoint}, points


class _TriedState:
    """Whether a run can go on from a state: tried where drawing its random matrices takes no time."""

    def __init__(self, run: RunIn, config: RunConfig, able: bool) -> None:
        self._run, self._config = run, config
        self._able = able and config.D <= MAX_TRIED_D

    @cached_property
    def _optimizer(self) -> Optimizer:
        return make_optimizer(self._config.at(len(self._run.evaluations)))

    @cached_property
    def _new(self) -> dict[str, Any]:
        return self._optimizer.own_state()

    def check(self, text: str, place: tuple[int | str, ...], whole: bool) -> None:
        """A Problem where it is none; `whole`: it is the state after all evaluations."""
        try:
            state = json.loads(text)
        except (ValueError, RecursionError):  # also of a number with thousands of digits
            raise Problem(place, "not JSON") from None
        if not isinstance(state, dict):
            raise Problem(place, "not a JSON object")
        plain_value(state, place)
        if not all(evaluation.z for evaluation in self._run.evaluations):
            raise Problem(place, "a run without its points cannot go on from one")
        if not self._able:
            return
        try:
            check_like(self._new, state, self._config.D)
            if whole:
                self._optimizer.load_state_dict({**state, "data": self._data()})
        except Exception:  # whatever a state that is none makes a method do
            method = self._config.optimizer.method
            raise Problem(place, f"not a state that a run of {method} can go on from") from None

    def _data(self) -> list[tuple[Any, float]]:
        return [
            (
                np.frombuffer(evaluation.point() or b"", dtype=f"<{evaluation.z_type}"),
                math.nan if evaluation.y is None else evaluation.y,
            )
            for evaluation in self._run.evaluations
        ]


LATER = {"b_entered", "enough", "most", "pending", "probes"}  # what not every state has: there is a default


def check_like(new: Any, saved: Any, D: int) -> None:
    """Raise ValueError where a saved state is not of the types that the state of a new run is of."""
    if isinstance(new, dict) and isinstance(saved, dict):
        if set(new) - LATER != set(saved) - LATER:
            raise ValueError("other names")
        for name in set(new) & set(saved):
            check_like(new[name], saved[name], D)
    elif new is None:  # what a model has not learnt yet: a number of each of d dimensions, and two more
        fits = isinstance(saved, list) and 3 <= len(saved) <= D + 2
        if saved is not None and not isinstance(saved, (int, float)) and not fits:
            raise ValueError("neither numbers nor null")
    elif isinstance(new, (int, float)) and not isinstance(saved, (int, float, types.NoneType)):
        raise ValueError("not a number")
    elif isinstance(new, (list, tuple)) and not isinstance(saved, list):
        raise ValueError("not a list")


def _check_evaluations(run: RunIn, config: RunConfig, lowest: float) -> None:
    """Numbered from 1, each best the least so far, each z of its subspace's dimension."""
    best: float | None = None
    limit = _largest_subspace(config)
    noisy = getattr(config.objective, "noise", 0.0) > 0  # then y may lie below F*, and best above y
    for i, evaluation in enumerate(run.evaluations):
        place = ("evaluations", i)
        if evaluation.t != i + 1:
            raise Problem((*place, "t"), f"{i + 1} comes next (got {evaluation.t})")
        if evaluation.failed != (evaluation.y is None):
            raise Problem((*place, "failed"), "it does not agree with y")
        if evaluation.y is not None:
            best = evaluation.y if best is None else min(best, evaluation.y)
        seen = "best" if noisy else "y"
        value = getattr(evaluation, seen)
        if value is not None and value < lowest:
            raise Problem((*place, seen), f"{value} is below the minimum of {config.function}")
        if evaluation.best != best and not noisy:
            raise Problem((*place, "best"), f"{evaluation.best} is not the least y so far ({best})")
        if evaluation.d is not None and evaluation.d > limit:
            raise Problem((*place, "d"), f"{evaluation.d} is above the largest subspace, {limit}")
        _check_point(evaluation, config, place)
    if len(run.evaluations) > run.budget:
        raise Problem(("budget",), f"{run.budget} is less than the evaluations")


def lowest_value(minimum: float | None) -> float:
    """The least that an evaluation can give, rounding aside; minus infinity where F* is not known."""
    return -math.inf if minimum is None else minimum - 1e-9 * (1.0 + abs(minimum))


@lru_cache(maxsize=256)
def known_minimum(objective: ObjectiveConfig) -> float | None:
    """F* of an objective; the runs of a file often share one."""
    return objective.build().minimum


def _check_point(evaluation: EvaluationIn, config: RunConfig, place: tuple[int | str, ...]) -> None:
    try:
        raw = evaluation.point()
    except ValueError as error:
        raise Problem((*place, "z"), str(error)) from None
    if raw is None or not isinstance(config.optimizer, DseboConfig):
        return
    entries, d = len(raw) // int(evaluation.z_type[1]), evaluation.d
    spare = config.optimizer.columns - config.optimizer.d_h  # 0 in the blocks of other embeddings
    blocks = config.optimizer.n_blocks(config.D)
    with_blocks = blocks > 0 and entries == config.optimizer.columns + blocks
    if d is None or not (d <= entries <= d + spare or with_blocks):
        raise Problem((*place, "z"), f"{entries} entries, but d = {evaluation.d}")
