"""How the runs of an experiment stand, what the rest will cost, and the curves of what there is."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import Connection, Row, Select, exists, or_, select

from dsebo.config import predict
from dsebo.embedding import Array
from dsebo.experiments.spec import ExperimentSpec, Planned
from dsebo.settings import core_count
from dsebo.store import schema
from dsebo.store.leases import NO_LEASE, shown_state
from dsebo.store.rows import LOCAL_OWNER, owner_hash
from dsebo.store.schema import ENDED, IMPORTED
from dsebo.store.store import Store

WORKER_BYTES = 250_000_000  # of a worker process, less the libraries that it shares with others
WORKER_START = 4.0  # seconds until the workers have begun
STORED = 0.0025  # seconds of a core to keep one evaluation

MISSING = "missing"
HELD = ("running", "queued", "paused")  # some process works on it
_RANK = {"finished": 0, **dict.fromkeys(HELD, 1), "interrupted": 2, "stalled": 2, "failed": 3}
_RESULTS = ("best", "d", "seconds", "minimum", "at_centre")
_NAMES = ("hash", "id", "state", "wanted", "n_done", "budget", "created", *_RESULTS, *NO_LEASE)
_run, _saved = schema.run.c, schema.checkpoint.c


def frame(store: Store, spec: ExperimentSpec, owner: str = LOCAL_OWNER) -> pd.DataFrame:
    """A row for each planned run, in the order of `spec.planned()`.

    Columns: cell, one for each axis, seed, hash, run_id, state ("missing" where there is no run),
    wanted ("pause" where its owner paused it), n_done, budget, best, d, seconds, minimum,
    at_centre. Where an axis is called budget or d, the column holds the setting.
    """
    with store.read() as connection:
        return frame_of(connection, spec, owner)


def frame_of(connection: Connection, spec: ExperimentSpec, owner: str) -> pd.DataFrame:
    """The same in a transaction that is open."""
    planned = spec.planned()
    known = find_runs(connection, planned, owner)
    rows = [known.get(run.hash) for run in planned]
    columns: dict[str, Any] = {"cell": [run.cell.index for run in planned]}
    axes = {name: [run.cell.values[name] for run in planned] for name in spec.fields}
    columns |= axes
    columns["seed"] = [run.seed for run in planned]
    columns["hash"] = [run.hash for run in planned]
    columns["run_id"] = pd.Series([row and row[0].id for row in rows], dtype=object)
    columns["state"] = [row[1] if row else MISSING for row in rows]
    columns["wanted"] = [row[0].wanted if row else "run" for row in rows]
    columns["n_done"] = [row[0].n_done if row else 0 for row in rows]
    columns["budget"] = [run.of_cell.budget for run in planned]
    for name in _RESULTS:
        columns[name] = pd.Series([row and getattr(row[0], name) for row in rows], dtype=float)
    return pd.DataFrame({**columns, **axes})


def waiting_words(runs: pd.DataFrame) -> str:
    """What an experiment at work waits for, where all that is left was paused by hand; else empty."""
    left = runs[~runs["state"].isin(ENDED)]
    if left.empty or not (left["state"].eq("paused") & left["wanted"].eq("pause")).all():
        return ""
    if len(left) == 1:
        return "1 run is paused; the experiment waits for it"
    return f"{len(left)} runs are paused; the experiment waits for them"


def find_runs(
    connection: Connection, planned: Sequence[Planned], owner: str
) -> dict[str, tuple[Row[Any], str]]:
    """(row, state as it is) of the run that stands for each planned one, by hash.

    A finished run counts whoever made it, unless it was imported: a file may say anything. One that
    has not finished counts only where it is the owner's and can go on; a run whose budget has been
    extended is another run.
    """
    budgets = {run.hash: run.of_cell.budget for run in planned}
    best: dict[str, tuple[Row[Any], str]] = {}
    now = time.time()
    for row in _candidates(connection, list(budgets), owner):
        if row.budget != budgets[row.hash]:
            continue
        state = shown_state(row, now)
        if row.hash not in best or _order(row, state) < _order(*best[row.hash]):
            best[row.hash] = row, state
    return best


def _order(row: Row[Any], state: str) -> tuple[int, int, float]:
    """The most useful one first: finished, at work, the furthest."""
    return _RANK.get(state, 4), -row.n_done, row.created


def _candidates(connection: Connection, hashes: list[str], owner: str) -> Iterator[Row[Any]]:
    mine = _run.owner == owner
    can_go_on = or_(_run.n_done == 0, exists().where(_saved.run_id == _run.id))
    chosen = select(*(_run[name] for name in _NAMES)).where(
        _run.deleted_at.is_(None), _run.source != IMPORTED, or_(_run.state == "finished", mine & can_go_on)
    )
    yield from _rows_of(connection, chosen, _run.hash, hashes, 5000)


def _rows_of(
    connection: Connection, chosen: Select[Any], column: Any, values: Sequence[str], at_once: int = 500
) -> Iterator[Any]:
    """What is chosen of these values of a column, some of them in each query."""
    for first in range(0, len(values), at_once):
        yield from connection.execute(chosen.where(column.in_(values[first : first + at_once])))


# --- what it will cost before it starts, and what is left while it runs ---------------------


@dataclass(frozen=True)
class Plan:
    """Runs by how they stand, and what is left to do."""

    total: int
    finished: int  # those in the store, which are reused
    unfinished: int  # those in the store that will be carried on, or waited for
    missing: int  # those that nobody has begun
    seconds: float  # of one core, predicted for what is left
    memory_bytes: int  # predicted for as many runs at once as there are workers, and the workers
    run_bytes: int  # the same without the workers' own
    workers: int  # that work at once
    in_process: bool  # whether this process does the work: others would not be done sooner

    @property
    def wall_seconds(self) -> float:
        """Predicted time with all workers at work."""
        start = 0.0 if self.in_process or not self.seconds else WORKER_START
        return start + self.seconds / self.workers


def plan(store: Store, spec: ExperimentSpec, owner: str = LOCAL_OWNER, workers: int | None = None) -> Plan:
    """What an experiment of that owner (a token) would take now."""
    return plan_of(spec, frame(store, spec, owner_hash(owner)), workers)


def plan_of(spec: ExperimentSpec, runs: pd.DataFrame, workers: int | None = None) -> Plan:
    """The same from the frame of its runs; workers as many as cores, or one where that is quicker."""
    left = runs["state"].ne("finished")
    missing = int(runs["state"].eq(MISSING).sum())
    at_once = max(1, min(workers or core_count(), int(left.sum())))
    seconds = seconds_left(spec, runs)
    in_process = workers is None and seconds <= WORKER_START + seconds / at_once
    at_once = 1 if in_process else at_once
    costs = [predict(config).memory_bytes for config in spec.first_configs()]
    memory = sorted((costs[cell] for cell in runs["cell"][left]), reverse=True)
    run_bytes = sum(memory[:at_once])
    return Plan(
        total=len(runs),
        finished=int((~left).sum()),
        unfinished=int(left.sum()) - missing,
        missing=missing,
        seconds=seconds,
        memory_bytes=run_bytes + (at_once * WORKER_BYTES if memory else 0),
        run_bytes=run_bytes,
        workers=at_once,
        in_process=in_process,
    )


def seconds_left(spec: ExperimentSpec, runs: pd.DataFrame, pace: float = 1.0) -> float:
    """Predicted seconds of one core for what the frame shows as not finished.

    `pace`: measured seconds of computing for each predicted one; keeping evaluations is apart.
    """
    costs = [predict(config).seconds for config in spec.first_configs()]
    planned, total = spec.planned(), 0.0
    rows = zip(runs.index, runs["cell"], runs["state"], runs["n_done"], strict=True)
    for i, cell, state, n_done in rows:
        if state == "finished":
            continue
        computing = costs[cell]
        if n_done:
            computing -= predict(planned[i].of_cell, int(n_done)).seconds
        total += pace * computing + STORED * (planned[i].of_cell.budget - n_done)
    return max(0.0, total)


# --- best value and dimension at every evaluation, of many runs at once ---------------------


def read_curves(store: Store, ids: Sequence[str]) -> dict[str, tuple[Array, Array]]:
    """(best, d) at t = 1, 2, … of each run; NaN where a method has no d, or before a first value.

    A run that was stored with some of its evaluations only keeps their values until the next.
    """
    points: dict[str, list[Any]] = {}
    table = schema.evaluation.c
    chosen = select(table.run_id, table.t, table.best, table.d).order_by(table.run_id, table.t)
    with store.read() as connection:
        for run_id, *row in _rows_of(connection, chosen, table.run_id, ids):
            points.setdefault(run_id, []).append(row)
    return {run_id: _curve(rows) for run_id, rows in points.items()}


def thin_curves(store: Store, ids: Sequence[str], points: int) -> dict[str, list[float]]:
    """Best values of each run for a picture of some pixels: about so many, the last among them."""
    table = schema.evaluation.c
    every = _run.n_done // points + 1
    chosen = (
        select(table.run_id, table.best)
        .join(schema.run, _run.id == table.run_id)
        .where(table.best.is_not(None), or_(table.t % every == 0, table.t == _run.n_done))
        .order_by(table.run_id, table.t)
    )
    curves: dict[str, list[float]] = {}
    with store.read() as connection:
        for run_id, best in _rows_of(connection, chosen, table.run_id, ids):
            curves.setdefault(run_id, []).append(best)
    return curves


def _curve(rows: list[Any]) -> tuple[Array, Array]:
    known = np.array(rows, dtype=float)
    t = known[:, 0].astype(int)
    at = np.searchsorted(t, np.arange(1, t[-1] + 1), side="right") - 1
    best, d = np.where(at < 0, np.nan, known[at, 1]), np.where(at < 0, np.nan, known[at, 2])
    return best, d
