"""How the runs of a sweep stand: one row for each planned run, in one query."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
from sqlalchemy import Connection, Row, exists, or_, select

from dsebo.experiments.spec import Planned, SweepSpec
from dsebo.store import schema
from dsebo.store.leases import shown_state
from dsebo.store.rows import LOCAL_OWNER, owner_hash
from dsebo.store.store import Store

MISSING = "missing"
HELD = ("running", "queued", "paused")  # some process works on it
ENDED = ("finished", "failed", "cancelled")
_RANK = {"finished": 0, **dict.fromkeys(HELD, 1), "interrupted": 2, "stalled": 2, "failed": 3}
_CHUNK = 5000
_NAMES = (
    "hash",
    "id",
    "state",
    "wanted",
    "n_done",
    "budget",
    "best",
    "d",
    "seconds",
    "minimum",
    "at_centre",
    "created",
    "lease_token",
    "lease_expires",
    "lease_host",
    "lease_pid",
    "lease_process",
)
_run, _saved = schema.run.c, schema.checkpoint.c


def frame(store: Store, spec: SweepSpec, owner: str = LOCAL_OWNER) -> pd.DataFrame:
    """A row for each planned run, in the order of `spec.planned()`.

    Columns: cell, one for each axis, seed, hash, run_id, state ("missing" where there is no run),
    wanted ("pause" where its owner paused it), n_done, budget, best, d, seconds, minimum,
    at_centre. Where an axis is called budget or d, the column holds the setting.

    Args:
        store: Where the runs are.
        spec: What is planned.
        owner: Whose unfinished runs count, as a token or as its mark.
    """
    with store.read() as connection:
        return frame_of(connection, spec, owner)


def frame_of(connection: Connection, spec: SweepSpec, owner: str) -> pd.DataFrame:
    """The same in a transaction that is open."""
    planned = spec.planned()
    known = find_runs(connection, planned, owner)
    found = [known.get(one.hash) for one in planned]
    columns: dict[str, Any] = {"cell": [one.cell.index for one in planned]}
    axes = {name: [one.cell.values[name] for one in planned] for name in spec.fields}
    columns |= axes
    columns["seed"] = [one.seed for one in planned]
    columns["hash"] = [one.hash for one in planned]
    columns["run_id"] = pd.Series([row and row[0].id for row in found], dtype=object)
    columns["state"] = [row[1] if row else MISSING for row in found]
    columns["wanted"] = [row[0].wanted if row else "run" for row in found]
    columns["n_done"] = [row[0].n_done if row else 0 for row in found]
    columns["budget"] = [one.config.budget for one in planned]
    for name in ("best", "d", "seconds", "minimum", "at_centre"):
        columns[name] = [_number(row[0], name) if row else math.nan for row in found]
    return pd.DataFrame({**columns, **axes})


def _number(row: Row[Any], name: str) -> float:
    value = getattr(row, name)
    return math.nan if value is None else float(value)


def waiting_words(runs: pd.DataFrame) -> str:
    """What a sweep at work waits for, where all that is left was paused by hand; else empty."""
    left = runs[~runs["state"].isin(ENDED)]
    if left.empty or not (left["state"].eq("paused") & left["wanted"].eq("pause")).all():
        return ""
    if len(left) == 1:
        return "1 run is paused on the Runs page; the sweep waits for it"
    return f"{len(left)} runs are paused on the Runs page; the sweep waits for them"


def find_runs(
    connection: Connection, planned: Sequence[Planned], owner: str
) -> dict[str, tuple[Row[Any], str]]:
    """(row, state as it is) of the run that stands for each planned one, by hash.

    A finished run counts whoever made it. One that has not finished counts only where it is the
    owner's and can go on; a run whose budget has been extended is another run.
    """
    budgets = {one.hash: one.config.budget for one in planned}
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
    mine = _run.owner.in_({owner, owner_hash(owner)})
    can_go_on = or_(_run.n_done == 0, exists().where(_saved.run_id == _run.id))
    chosen = select(*(_run[name] for name in _NAMES)).where(
        _run.deleted_at.is_(None), or_(_run.state == "finished", mine & can_go_on)
    )
    for first in range(0, len(hashes), _CHUNK):
        part = hashes[first : first + _CHUNK]
        yield from connection.execute(chosen.where(_run.hash.in_(part)))
