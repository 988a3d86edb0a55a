"""Experiments in the store: create, list, tell, delete; who works on one, and how its runs stand."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import pandas as pd
from sqlalchemy import Connection, Row, func, insert, select, update

from dsebo.experiments.progress import frame
from dsebo.experiments.spec import ExperimentSpec
from dsebo.store import leases, schema
from dsebo.store.errors import StoreError
from dsebo.store.leases import NO_LEASE, Holder, Lease, is_free, one_launch_at_a_time, shown_state
from dsebo.store.rows import LOCAL_OWNER, OwnerHash, owner_hash
from dsebo.store.schema import ACTIVE, ENDED
from dsebo.store.store import Store, id_from

Check = Callable[[Connection], None]  # may refuse in the transaction that it is called in

_table = schema.experiment


@dataclass(frozen=True)
class ExperimentRow:
    """One experiment as the list shows it."""

    id: str
    name: str
    spec: ExperimentSpec
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


def create_experiment(
    store: Store, spec: ExperimentSpec, owner: str = LOCAL_OWNER, check: Check | None = None
) -> str:
    """Store an experiment that nobody has begun; `check` may refuse in the transaction."""
    row = {
        "id": secrets.token_hex(16),
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
        connection.execute(insert(_table), row)
    return str(row["id"])


def get_experiment(store: Store, experiment_id: str) -> ExperimentRow:
    """The experiment of that id, which may be shortened while it stays unique."""
    with store.read() as connection:
        full = _find(connection, experiment_id)
        return _row(connection.execute(select(_table).where(_table.c.id == full)).one())


def list_experiments(store: Store, owner: str | None = None, limit: int | None = None) -> list[ExperimentRow]:
    """The newest first; of one owner, by the token, or of all."""
    chosen = select(_table).where(_table.c.deleted_at.is_(None))
    chosen = chosen.order_by(_table.c.created.desc(), _table.c.id.desc()).limit(limit)
    if owner is not None:
        chosen = chosen.where(_table.c.owner == owner_hash(owner))
    with store.read() as connection:
        return [_row(row) for row in connection.execute(chosen)]


def delete_experiment(store: Store, experiment_id: str) -> None:
    """Take an experiment off the list; its runs stay, and `restore_experiment` brings it back.

    A process that works on it has lost its lease, and stops.
    """
    with store.write() as connection:
        row = connection.execute(select(_table).where(_table.c.id == _find(connection, experiment_id))).one()
        left = {"state": "cancelled", **NO_LEASE} if state_of(row) not in ENDED else {}
        deleted = update(_table).where(_table.c.id == row.id).values(deleted_at=time.time(), **left)
        connection.execute(deleted)


def change_spec(store: Store, experiment_id: str, spec: ExperimentSpec) -> None:
    """Give an experiment that nobody works on further runs."""
    with store.write() as connection:
        full = _find(connection, experiment_id)
        leases.free_row(connection, _table, full)
        connection.execute(update(_table).where(_table.c.id == full).values(spec=spec.to_json()))


def restore_experiment(store: Store, experiment_id: str) -> None:
    """Bring a deleted experiment back to the list."""
    with store.write() as connection:
        full = _find(connection, experiment_id, deleted=True)
        connection.execute(update(_table).where(_table.c.id == full).values(deleted_at=None))


def tell(store: Store, experiment_id: str, wanted: str) -> str | None:
    """Tell an experiment that a process works on to "run", "pause" or "cancel".

    None where that was done; else the state of an experiment that nobody works on.
    """
    if wanted not in ("run", "pause", "cancel"):
        raise StoreError(f"wanted must be one of run, pause, cancel (got {wanted!r}).")
    with store.write() as connection:
        full = _find(connection, experiment_id)
        row = connection.execute(select(_table).where(_table.c.id == full).with_for_update()).one()
        values: dict[str, Any] = {"wanted": wanted}
        state = state_of(row)
        if state not in ACTIVE or is_free(row, time.time()):
            if wanted != "cancel" or state not in (*ACTIVE, "interrupted", "stalled"):
                return state
            values |= {"state": "cancelled", "finished": time.time(), **NO_LEASE}
        connection.execute(update(_table).where(_table.c.id == full).values(**values))
    return None


def progress(
    store: Store, experiment: str | ExperimentRow | ExperimentSpec, owner: str = LOCAL_OWNER
) -> pd.DataFrame:
    """A row for each planned run of an experiment (by id or row), or of a spec of that owner."""
    if isinstance(experiment, ExperimentSpec):
        return frame(store, experiment, owner_hash(owner))
    row = get_experiment(store, experiment) if isinstance(experiment, str) else experiment
    return frame(store, row.spec, row.owner)


def state_of(row: Row[Any]) -> str:
    """The state as it is: one that nobody has begun yet waits, one whose process died does not."""
    if row.state == "queued" and row.lease_token is None:
        return "queued"
    return shown_state(row, time.time())


def _find(connection: Connection, experiment_id: str, deleted: bool = False) -> str:
    """The full id of an experiment, from a prefix that only it has."""
    there = _table.c.deleted_at.is_not(None) if deleted else _table.c.deleted_at.is_(None)
    return id_from(connection, select(_table.c.id).where(there), experiment_id, "experiment")


def _row(row: Row[Any]) -> ExperimentRow:
    stored = {field.name: getattr(row, field.name) for field in fields(ExperimentRow)}
    spec = ExperimentSpec.model_validate_json(row.spec)
    return ExperimentRow(**{**stored, "spec": spec, "state": state_of(row)})


# --- who works on it: the same kind of lease as a run has -----------------------------------


def claim(store: Store, experiment_id: str, workers: int, again: bool = False) -> Lease:
    """Take an experiment that nobody works on; `again`: whatever it was told before, it goes on."""
    values: dict[str, Any] = {"wanted": "run"} if again else {}
    started = func.coalesce(_table.c.started, time.time())
    full = get_experiment(store, experiment_id).id
    return leases.claim(store, _table, full, state="running", started=started, workers=workers, **values)


def note_death(store: Store, experiment_id: str, holder: Holder, error: str) -> None:
    """Say of what its process died, if it still has the experiment."""
    held = (
        _table.c.id == experiment_id,
        _table.c.lease_pid == holder.pid,
        _table.c.lease_process == holder.process,
    )
    with store.write() as connection:
        connection.execute(update(_table).where(*held).values(state="interrupted", error=error, **NO_LEASE))
