"""Every write to the store: short transactions, each checked against the run's lease."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Executable, bindparam, delete, insert, select, update

from dsebo.config import RunConfig, config_hash
from dsebo.events import Evaluated, Event, Started
from dsebo.run import Runner
from dsebo.store import leases, schema
from dsebo.store.leases import NO_LEASE, Lease, lease_columns, one_launch_at_a_time, update_held
from dsebo.store.records import evaluation_row, event_row, finite, fork_point_row, versions
from dsebo.store.rows import LOCAL_OWNER, OwnerHash
from dsebo.store.schema import ACTIVE, ENDED, RUN
from dsebo.store.store import Store

_run = schema.run

# Built once: building and compiling them again would cost more than running them.
_HELD = (_run.c.id == bindparam("held_run"), _run.c.lease_token == bindparam("held_token"))
_ORDER = (_run.c.wanted, _run.c.steps, _run.c.speed, _run.c.budget, _run.c.state)
_READ_ORDER = select(*_ORDER).where(*_HELD)
_COUNT_EVALUATION = (
    update(_run)
    .where(*_HELD)
    .values(
        n_done=bindparam("new_done"),
        best=bindparam("new_best"),
        d=bindparam("new_d"),
        seconds=_run.c.seconds + bindparam("more_seconds"),
        steps=_run.c.steps - bindparam("fewer_steps"),
    )
    .returning(*_ORDER)
)
_ADD_EVALUATION = insert(schema.evaluation)
_ADD_EVENT = insert(schema.event)
_ADD_FORK_POINT = insert(schema.fork_point)
_CHECKPOINT: dict[str, Any] = {"t": bindparam("saved_t"), "state": bindparam("saved_state")}
_REPLACE_CHECKPOINT = (
    update(schema.checkpoint)
    .where(schema.checkpoint.c.run_id == bindparam("saved_run"))
    .values(**_CHECKPOINT)
)
_ADD_CHECKPOINT = insert(schema.checkpoint).values(run_id=bindparam("saved_run"), **_CHECKPOINT)


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
    ghost: str | None = None  # the run that charts draw behind them


def create(store: Store, new: NewRuns, check: Callable[[Connection], None] | None = None) -> list[Lease]:
    """Store new runs as queued, held by this process; `check` may refuse in the transaction."""
    new_leases = [Lease.new(secrets.token_hex(16)) for _ in new.configs]
    group, now = new.group or secrets.token_hex(8), time.time()
    rows = [
        new_row(new, config, name, group, now + 1e-6 * i, lease)
        for i, (config, name, lease) in enumerate(zip(new.configs, new.names, new_leases, strict=True))
    ]
    with store.write() as connection:
        one_launch_at_a_time(connection)
        if check is not None:
            check(connection)
        connection.execute(insert(_run), rows)
    return new_leases


def new_row(
    new: NewRuns, config: RunConfig, name: str, group: str, created: float, lease: Lease
) -> dict[str, Any]:
    """The row of one of them, queued."""
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
        **_made_with(config),
        "created": created,
        "n_done": 0,
        "budget": config.budget,
        "seconds": 0.0,
        "source": RUN,
        "wanted": "pause" if new.paused else "run",
        "steps": 0,
        "speed": new.speed,
        "ghost": new.ghost,
        **lease_columns(lease),
    }


def _made_with(config: RunConfig) -> dict[str, str]:
    """What tells whether a stored run is the one that a config asks for."""
    software = {**versions(), "arithmetic": config.arithmetic}
    return {"versions": json.dumps(software), "hash": config_hash(config)}


def claim(
    store: Store,
    run_id: str,
    wanted: str = "run",
    steps: int = 0,
    check: Callable[[Connection], None] | None = None,
) -> Lease:
    """Take a run that nobody works on; a StoreError where someone does or `check` refuses."""
    return leases.claim(store, _run, run_id, check=check, state="queued", wanted=wanted, steps=steps)


def read_order(store: Store, lease: Lease) -> Order:
    """What is wanted of the run now."""
    with store.read() as connection:
        return _order(connection, lease, _READ_ORDER)


def _order(connection: Connection, lease: Lease, statement: Executable, **values: Any) -> Order:
    held = {"held_run": lease.run_id, "held_token": lease.token}
    row = connection.execute(statement, {**held, **values}).one_or_none()
    if row is None:
        raise leases.lost(_run, lease)
    return Order(*row)


def _written(connection: Connection, lease: Lease, t: int) -> Order | None:
    """What is wanted where evaluation t has been written under this lease, or has even ended the run.

    So it is known whether a transaction whose answer was lost had been committed.
    """
    held = (_run.c.n_done, _run.c.lease_token, *_ORDER)
    row = connection.execute(select(*held).where(_run.c.id == lease.run_id)).one_or_none()
    if row is None or row.n_done < t:
        return None
    ours = row.lease_token == lease.token or (row.lease_token is None and row.state in ENDED)
    return Order(*row[2:]) if ours else None


def begin(store: Store, lease: Lease, started: Started | None, again: bool = False) -> Order:
    """The run goes on; a new one with its `started` event, once even where this is tried again."""
    with store.write() as connection:
        order = _order(connection, lease, _READ_ORDER)
        if again and started is not None:
            event = schema.event.c
            same = select(event.id).where(event.run_id == lease.run_id, event.kind == started.kind)
            started = None if connection.execute(same).first() else started
        state = "paused" if order.wanted == "pause" else "running"
        values: dict[str, Any] = {"state": state, "finished": None}
        if started is not None:
            values |= {
                "started": time.time(),
                "minimum": started.minimum,
                "at_centre": started.at_centre,
                **_made_with(RunConfig.parse(started.config)),
            }
            connection.execute(_ADD_EVENT, event_row(lease.run_id, started))
        update_held(connection, _run, lease, values)
    return replace(order, state=state)


def commit_step(
    store: Store, lease: Lease, runner: Runner, events: list[Event], stepped: bool, again: bool = False
) -> Order:
    """One evaluation and all that it led to, in one transaction; what is wanted next.

    `again`: an earlier attempt may have been written; then nothing is.

    Three statements, built once, do all of it where nothing else happened: this is the store's part of
    every evaluation. After a power failure the run goes on from an earlier one, to the same history.
    """
    evaluated = events[0]
    assert isinstance(evaluated, Evaluated)
    if runner.done:  # what takes long, before anybody has to wait for the database
        runner.incumbent()
    with store.write(lasting=False) as connection:
        if again and (written := _written(connection, lease, runner.t)):
            runner.extend(written.budget)
            return written
        order = _order(
            connection,
            lease,
            _COUNT_EVALUATION,
            new_done=runner.t,
            new_best=finite(evaluated.best),
            new_d=runner.optimizer.d,
            more_seconds=evaluated.seconds,
            fewer_steps=int(stepped),
        )
        connection.execute(_ADD_EVALUATION, evaluation_row(lease.run_id, evaluated))
        for event in events[1:]:
            connection.execute(_ADD_EVENT, event_row(lease.run_id, event))
        if (point := runner.optimizer.fork_point()) is not None:
            connection.execute(_ADD_FORK_POINT, fork_point_row(lease.run_id, runner.t, point))
        save_checkpoint(connection, lease.run_id, runner)
        runner.extend(order.budget)
        if runner.done:
            _end(connection, lease, runner)
    return order


def save_checkpoint(connection: Connection, run_id: str, runner: Runner) -> None:
    """Replace the checkpoint: the optimizer's state without what the evaluations give."""
    state = {name: part for name, part in runner.state_dict().items() if name != "data"}
    values = {"saved_run": run_id, "saved_t": runner.t, "saved_state": json.dumps(state)}
    if connection.execute(_REPLACE_CHECKPOINT, values).rowcount == 0:
        connection.execute(_ADD_CHECKPOINT, values)


def finish_if_done(store: Store, lease: Lease, runner: Runner, again: bool = False) -> bool:
    """End a run that has nothing left to do when it is taken up again."""
    with store.write() as connection:
        if again and (written := _written(connection, lease, runner.t)) and written.state in ENDED:
            return True
        runner.extend(_order(connection, lease, _READ_ORDER).budget)
        if runner.done:
            _end(connection, lease, runner)
    return runner.done


def _end(connection: Connection, lease: Lease, runner: Runner) -> None:
    """The `finished` event, in place of that of a shorter budget, and what the row then says."""
    finished, event = runner.finished(), schema.event
    connection.execute(delete(event).where(event.c.run_id == lease.run_id, event.c.kind == finished.kind))
    connection.execute(_ADD_EVENT, event_row(lease.run_id, finished))
    error = finished.text if finished.state == "failed" else None
    values = {"state": finished.state, "finished": time.time(), "error": error, **NO_LEASE}
    update_held(connection, _run, lease, values)


def leave_paused(store: Store, lease: Lease) -> bool:
    """Let go of a paused run, which stays paused until it is resumed; False where it just was."""
    paused = (_run.c.wanted == "pause", _run.c.steps == 0)
    held = (_run.c.id == lease.run_id, _run.c.lease_token == lease.token)
    with store.write() as connection:
        left = connection.execute(update(_run).where(*held, *paused).values(state="paused", **NO_LEASE))
    return left.rowcount == 1


def interrupt(store: Store, tokens: list[str]) -> None:
    """Take the runs of these leases from whoever still works on them: the process ends."""
    with store.write() as connection:
        connection.execute(
            update(_run)
            .where(_run.c.lease_token.in_(tokens), _run.c.state.in_(ACTIVE))
            .values(state="interrupted", **NO_LEASE)
        )
