"""Sweeps in the store: create, list, order about, delete; how their runs stand."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd
from sqlalchemy import Connection, Row, delete, insert, select, update

from dsebo.experiments.progress import frame
from dsebo.experiments.spec import SweepSpec
from dsebo.store import schema
from dsebo.store.errors import StoreError
from dsebo.store.leases import NO_LEASE, is_free, one_launch_at_a_time, shown_state
from dsebo.store.rows import LOCAL_OWNER, OwnerHash, owner_hash
from dsebo.store.schema import ACTIVE
from dsebo.store.store import Store

_sweep = schema.sweep


class SweepNotFound(StoreError):
    """No sweep, or more than one, has that id."""


@dataclass(frozen=True)
class SweepRow:
    """One sweep as the list shows it."""

    id: str
    name: str
    spec: SweepSpec
    state: str  # as it is: "interrupted" where its process died
    wanted: str
    created: float
    started: float | None
    finished: float | None
    error: str | None
    owner: OwnerHash
    workers: int | None

    @property
    def short_id(self) -> str:
        """The first eight characters, for people."""
        return self.id[:8]

    @property
    def at_work(self) -> bool:
        """Whether some process holds it, or will."""
        return self.state in ACTIVE


def create_sweep(
    store: Store, spec: SweepSpec, owner: str = LOCAL_OWNER, check: Callable[[Connection], None] | None = None
) -> str:
    """Store a sweep that nobody has begun; `check` may refuse in the transaction."""
    sweep_id = secrets.token_hex(16)
    row = {
        "id": sweep_id,
        "name": spec.name,
        "owner": owner_hash(owner),
        "spec": spec.to_json(),
        "state": "queued",
        "wanted": "run",
        "created": time.time(),
    }
    with store.write() as connection:
        one_launch_at_a_time(connection)
        if check is not None:
            check(connection)
        connection.execute(insert(_sweep), row)
    return sweep_id


def get_sweep(store: Store, sweep_id: str) -> SweepRow:
    """The sweep of that id, which may be shortened while it stays unique."""
    with store.read() as connection:
        full = find_sweep(connection, sweep_id)
        return _row(connection.execute(select(_sweep).where(_sweep.c.id == full)).one())


def list_sweeps(store: Store, owner: str | None = None, limit: int | None = None) -> list[SweepRow]:
    """The newest first."""
    chosen = select(_sweep).order_by(_sweep.c.created.desc(), _sweep.c.id.desc()).limit(limit)
    if owner is not None:
        chosen = chosen.where(_sweep.c.owner.in_({owner, owner_hash(owner)}))
    with store.read() as connection:
        return [_row(row) for row in connection.execute(chosen)]


def order(store: Store, sweep_id: str, wanted: str) -> str | None:
    """Tell a sweep that a process works on to "run", "pause" or "cancel".

    Returns:
        None where that was done; else the state of a sweep that nobody works on.
    """
    if wanted not in ("run", "pause", "cancel"):
        raise StoreError(f"wanted = {wanted!r} is not allowed: one of run, pause, cancel.")
    with store.write() as connection:
        full = find_sweep(connection, sweep_id)
        row = connection.execute(select(_sweep).where(_sweep.c.id == full).with_for_update()).one()
        values: dict[str, Any] = {"wanted": wanted}
        state = sweep_state(row)
        if state not in ACTIVE or is_free(row, time.time()):
            if wanted != "cancel" or state not in (*ACTIVE, "interrupted", "stalled"):
                return state
            values |= {"state": "cancelled", "finished": time.time(), **NO_LEASE}
        connection.execute(update(_sweep).where(_sweep.c.id == full).values(**values))
    return None


def delete_sweep(store: Store, sweep_id: str) -> None:
    """Forget a sweep; its runs stay. A process that works on it stops."""
    with store.write() as connection:
        full = find_sweep(connection, sweep_id)
        connection.execute(delete(_sweep).where(_sweep.c.id == full))


def progress(store: Store, sweep: str | SweepRow | SweepSpec, owner: str = LOCAL_OWNER) -> pd.DataFrame:
    """A row for each planned run of a sweep (by id or row), or of a spec of that owner."""
    if isinstance(sweep, SweepSpec):
        return frame(store, sweep, owner)
    row = get_sweep(store, sweep) if isinstance(sweep, str) else sweep
    return frame(store, row.spec, row.owner)


def find_sweep(connection: Connection, sweep_id: str) -> str:
    """The full id of a sweep, from a prefix that only it has."""
    ids = _sweep.c.id
    if not sweep_id:
        raise SweepNotFound("id is missing: the id of a sweep, which may be shortened.")
    near = select(ids).where(ids.startswith(sweep_id.lower(), autoescape=True)).limit(2)
    found = connection.execute(near).scalars().all()
    if not found:
        raise SweepNotFound(f"id = {sweep_id!r} is not a sweep of this store.")
    if len(found) > 1:
        raise SweepNotFound(f"id = {sweep_id!r} is shared by several sweeps: give more of it.")
    return str(found[0])


def sweep_state(row: Row[Any]) -> str:
    """The state as it is: one that nobody has begun yet waits, one whose process died does not."""
    if row.state == "queued" and row.lease_token is None:
        return "queued"
    return shown_state(row, time.time())


def _row(row: Row[Any]) -> SweepRow:
    return SweepRow(
        id=row.id,
        name=row.name,
        spec=SweepSpec.model_validate_json(row.spec),
        state=sweep_state(row),
        wanted=row.wanted,
        created=row.created,
        started=row.started,
        finished=row.finished,
        error=row.error,
        owner=row.owner,
        workers=row.workers,
    )
