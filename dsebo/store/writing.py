"""Every write to the store: short transactions, each checked against the run's lease."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, insert, select, text, update

from dsebo.config import RunConfig
from dsebo.events import Evaluated, Event, Started
from dsebo.run import Runner
from dsebo.store import schema
from dsebo.store.errors import LeaseLost, StoreError
from dsebo.store.identity import config_hash, hash_of
from dsebo.store.leases import NO_LEASE, Lease, is_free, lease_columns
from dsebo.store.records import add_evaluation, add_event, finite, save_checkpoint, versions
from dsebo.store.rows import LOCAL_OWNER, OwnerHash
from dsebo.store.schema import ACTIVE
from dsebo.store.store import Store

_run = schema.run


@dataclass(frozen=True)
class Order:
    """What its owner wants of a run, as read between two evaluations."""

    wanted: str  # "run", "pause" or "cancel"
    steps: int  # single evaluations asked for while it is paused
    speed: float | None
    budget: int
    state: str


@dataclass(frozen=True)
class NewRuns:
    """What `create` needs to know of a launch."""

    configs: Sequence[RunConfig]
    names: Sequence[str]  # one for each
    tags: Sequence[str] = ()
    owner: OwnerHash = LOCAL_OWNER
    speed: float | None = None
    paused: bool = False
    group: str = ""  # empty: one of their own


def create(store: Store, new: NewRuns, check: Callable[[Connection], None] | None = None) -> list[Lease]:
    """Store new runs as queued, held by this process; `check` may refuse in the transaction."""
    leases = [Lease.new(secrets.token_hex(16)) for _ in new.configs]
    group, now = new.group or secrets.token_hex(8), time.time()
    rows = [
        _new_row(new, config, name, group, now + 1e-6 * i, lease)
        for i, (config, name, lease) in enumerate(zip(new.configs, new.names, leases, strict=True))
    ]
    with store.write() as connection:
        one_launch_at_a_time(connection)
        if check is not None:
            check(connection)
        connection.execute(insert(_run), rows)
    return leases


def one_launch_at_a_time(connection: Connection) -> None:
    """Limits are counted and then used up: nobody may come in between (SQLite: never can)."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('dsebo_launch'))"))


def _new_row(
    new: NewRuns, config: RunConfig, name: str, group: str, created: float, lease: Lease
) -> dict[str, Any]:
    return {
        "id": lease.run_id,
        "name": name,
        "group": group,
        "owner": new.owner,
        "tags": json.dumps(list(new.tags), ensure_ascii=False),
        "config": config.to_json(),
        "method": config.optimizer.method,
        "function": config.objective.name,
        "state": "queued",
        "seed": config.seed,
        "versions": json.dumps(versions()),
        "hash": config_hash(config),
        "created": created,
        "n_done": 0,
        "budget": config.budget,
        "seconds": 0.0,
        "source": "run",
        "wanted": "pause" if new.paused else "run",
        "steps": 0,
        "speed": new.speed,
        **lease_columns(lease),
    }


def claim(store: Store, run_id: str, wanted: str = "run", steps: int = 0) -> Lease:
    """Take a run that nobody works on; a StoreError where someone does."""
    lease = Lease.new(run_id)
    with store.write() as connection:
        row = connection.execute(select(_run).where(_run.c.id == run_id).with_for_update()).one()
        if not is_free(row, time.time()):
            raise StoreError(
                f"Run {run_id[:8]} is at work in process {row.lease_pid} on "
                f"{row.lease_host.split('/')[0]}, which keeps it while it lives."
            )
        connection.execute(
            update(_run)
            .where(_run.c.id == run_id)
            .values(state="queued", wanted=wanted, steps=steps, error=None, **lease_columns(lease))
        )
    return lease


def read_order(store: Store, lease: Lease) -> Order:
    """What is wanted of the run now."""
    with store.read() as connection:
        return _order(connection, lease)


def _order(connection: Connection, lease: Lease) -> Order:
    chosen = select(_run.c.wanted, _run.c.steps, _run.c.speed, _run.c.budget, _run.c.state)
    row = connection.execute(
        chosen.where(_run.c.id == lease.run_id, _run.c.lease_token == lease.token)
    ).one_or_none()
    if row is None:
        raise LeaseLost(f"Run {lease.run_id[:8]} is no longer this process's to write.")
    return Order(*row)


def update_held(connection: Connection, lease: Lease, values: dict[str, Any]) -> None:
    """Change the run's row; the lease must still be ours, else nothing is written at all."""
    changed = connection.execute(
        update(_run).where(_run.c.id == lease.run_id, _run.c.lease_token == lease.token).values(**values)
    )
    if changed.rowcount != 1:
        raise LeaseLost(f"Run {lease.run_id[:8]} is no longer this process's to write.")


def begin(store: Store, lease: Lease, started: Started | None) -> Order:
    """The run goes on; a new one with its `started` event."""
    now = time.time()
    with store.write() as connection:
        order = _order(connection, lease)
        state = "paused" if order.wanted == "pause" else "running"
        values: dict[str, Any] = {"state": state, "finished": None}
        if started is not None:
            values |= {
                "started": now,
                "minimum": started.minimum,
                "at_centre": started.at_centre,
                "versions": json.dumps(versions()),
                "hash": hash_of(started.config, versions()["dsebo"]),
            }
            add_event(connection, lease.run_id, started)
        update_held(connection, lease, values)
    return order


def set_state(store: Store, lease: Lease, state: str) -> None:
    """Between "running" and "paused"."""
    with store.write() as connection:
        update_held(connection, lease, {"state": state})


def commit_step(store: Store, lease: Lease, runner: Runner, events: list[Event], stepped: bool) -> Order:
    """One evaluation and all that it led to, in one transaction."""
    with store.write() as connection:
        order = _order(connection, lease)
        runner.extend(order.budget)  # it may have been extended meanwhile
        values: dict[str, Any] = {"n_done": runner.t, "d": runner.optimizer.d}
        for event in events:
            if isinstance(event, Evaluated):
                add_evaluation(connection, lease.run_id, event)
                values |= {
                    "best": finite(event.best),
                    "seconds": _run.c.seconds + event.seconds,
                    "steps": _run.c.steps - (1 if stepped else 0),
                }
            else:
                add_event(connection, lease.run_id, event)
        save_checkpoint(connection, lease.run_id, runner)
        if runner.done:
            values |= _ending(connection, lease, runner)
        update_held(connection, lease, values)
        return _order(connection, lease) if not runner.done else order


def finish_if_done(store: Store, lease: Lease, runner: Runner) -> bool:
    """End a run that has nothing left to do when it is taken up again."""
    with store.write() as connection:
        runner.extend(_order(connection, lease).budget)
        if runner.done:
            update_held(connection, lease, _ending(connection, lease, runner))
    return runner.done


def _ending(connection: Connection, lease: Lease, runner: Runner) -> dict[str, Any]:
    """The `finished` event (in place of that of a shorter budget), and what the row then says."""
    finished, event = runner.finished(), schema.event
    connection.execute(delete(event).where(event.c.run_id == lease.run_id, event.c.kind == finished.kind))
    add_event(connection, lease.run_id, finished)
    error = finished.text if finished.state == "failed" else None
    return {"state": finished.state, "finished": time.time(), "error": error, **NO_LEASE}


def release(store: Store, lease: Lease, state: str, error: str | None = None) -> None:
    """Let go of a run that has not finished."""
    ended = time.time() if state in ("failed", "cancelled") else None
    with store.write() as connection:
        update_held(
            connection, lease, {"state": state, "error": error, "steps": 0, "finished": ended, **NO_LEASE}
        )


def interrupt(store: Store, tokens: list[str]) -> None:
    """Take the runs of these leases from whoever still works on them: the process ends."""
    with store.write() as connection:
        connection.execute(
            update(_run)
            .where(_run.c.lease_token.in_(tokens), _run.c.state.in_(ACTIVE))
            .values(state="interrupted", steps=0, **NO_LEASE)
        )
