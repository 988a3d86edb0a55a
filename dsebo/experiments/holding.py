"""Who works on a sweep: the same kind of lease as a run has, and what is written under it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Row, select, update

from dsebo.experiments.records import find_sweep
from dsebo.store import schema
from dsebo.store.errors import LeaseLost, StoreError
from dsebo.store.leases import NO_LEASE, Holder, Lease, is_free, lease_columns, one_launch_at_a_time
from dsebo.store.store import Store

_sweep = schema.sweep


def claim_sweep(store: Store, sweep_id: str, workers: int, again: bool = False) -> Lease:
    """Take a sweep that nobody works on; `again`: whatever it was told before, it goes on."""
    with store.write() as connection:
        row = _free_row(connection, sweep_id)
        lease = Lease.new(row.id)
        values = {
            "state": "running",
            "wanted": "run" if again else row.wanted,
            "started": row.started or time.time(),
            "finished": None,
            "error": None,
            "workers": workers,
            **lease_columns(lease),
        }
        connection.execute(update(_sweep).where(_sweep.c.id == row.id).values(**values))
    return lease


def lend_sweep(
    store: Store, sweep_id: str, holder: Holder, check: Callable[[Connection], None] | None = None
) -> None:
    """Queue a sweep that nobody works on for a process that has just started and will claim it."""
    with store.write() as connection:
        one_launch_at_a_time(connection)
        row = _free_row(connection, sweep_id)
        if check is not None:
            check(connection)
        values = {
            **lease_columns(Lease.new(row.id)),
            "lease_host": holder.host,
            "lease_pid": holder.pid,
            "lease_process": holder.process,
            "state": "queued",
            "wanted": "run",
            "finished": None,
            "error": None,
        }
        connection.execute(update(_sweep).where(_sweep.c.id == row.id).values(**values))


def _free_row(connection: Connection, sweep_id: str) -> Row[Any]:
    full = find_sweep(connection, sweep_id)
    row = connection.execute(select(_sweep).where(_sweep.c.id == full).with_for_update()).one()
    if not is_free(row, time.time()):
        raise StoreError(
            f"Sweep {full[:8]} is at work in process {row.lease_pid} on "
            f"{row.lease_host.split('/')[0]}, which keeps it while it lives."
        )
    return row


def note_death(store: Store, sweep_id: str, holder: Holder, error: str) -> None:
    """Say of what its process died, if it still has the sweep."""
    with store.write() as connection:
        connection.execute(
            update(_sweep)
            .where(
                _sweep.c.id == sweep_id,
                _sweep.c.lease_pid == holder.pid,
                _sweep.c.lease_process == holder.process,
            )
            .values(state="interrupted", error=error, **NO_LEASE)
        )


def sweep_wanted(store: Store, lease: Lease) -> str:
    """What is wanted of the sweep now; LeaseLost where it is no longer this process's."""
    chosen = select(_sweep.c.wanted).where(_sweep.c.id == lease.run_id, _sweep.c.lease_token == lease.token)
    with store.read() as connection:
        wanted = connection.execute(chosen).scalar_one_or_none()
    if wanted is None:
        raise LeaseLost(f"Sweep {lease.run_id[:8]} is no longer this process's.")
    return str(wanted)


def set_sweep_state(store: Store, lease: Lease, state: str) -> None:
    """Between "running" and "paused"."""
    _update(store, lease, {"state": state})


def release_sweep(store: Store, lease: Lease, state: str, error: str | None = None) -> None:
    """Let go of a sweep, however it ended."""
    ended = None if state == "interrupted" else time.time()
    _update(store, lease, {"state": state, "error": error, "finished": ended, **NO_LEASE})


def _update(store: Store, lease: Lease, values: dict[str, Any]) -> None:
    with store.write() as connection:
        changed = connection.execute(
            update(_sweep)
            .where(_sweep.c.id == lease.run_id, _sweep.c.lease_token == lease.token)
            .values(**values)
        )
    if changed.rowcount != 1:
        raise LeaseLost(f"Sweep {lease.run_id[:8]} is no longer this process's.")
