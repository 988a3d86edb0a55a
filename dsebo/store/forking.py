"""A fork of a stored run: its own rows, with a copy of the history that it shares with its parent.

So that a fork can be replayed, exported and carried on also when its parent is gone.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, literal, select

from dsebo.config import RunConfig, kept_settings
from dsebo.events import Converged, Event, Expanded, Finished, Forked, Started
from dsebo.objectives.fields import must
from dsebo.run import make_optimizer, take_fork
from dsebo.store import schema
from dsebo.store.errors import StoreError
from dsebo.store.leases import Lease, one_launch_at_a_time
from dsebo.store.records import event_row, fork_point_row
from dsebo.store.restoring import Data, check_matrix, read_data
from dsebo.store.rows import RunRow
from dsebo.store.schema import IMPORTED, RUN
from dsebo.store.store import Store
from dsebo.store.writing import NewRuns, new_row
from dsebo.threads import one_thread

DECISIONS = (Expanded.kind, Converged.kind)


@dataclass(frozen=True)
class NewFork:
    """A fork that has not been stored yet.

    Attributes:
        parent: The run that it was asked of; up to the fork their rows are the same.
        config: Its config.
        budget: Its evaluations, with the extensions of its parent.
        point: The state from which it goes on.
        state: That state after the decision, without the evaluations.
        d: The dimension that it goes on in.
        events: That it was forked, and what was decided.
    """

    parent: RunRow
    config: RunConfig
    budget: int
    point: dict[str, Any]
    state: dict[str, Any]
    d: int | None
    events: list[Event]

    @property
    def at(self) -> int:
        """The evaluation after which the two differ."""
        return self.config.forks[-1].at


def convergences(store: Store, run_id: str) -> list[int]:
    """The evaluations at which a run can be forked."""
    return [event["t"] for event in store.events(run_id) if event["event"] in DECISIONS]


def plan_fork(
    store: Store,
    run_id: str,
    at: int,
    decide: int | None = None,
    changes: Mapping[str, Any] | None = None,
    budget: int | None = None,
) -> NewFork:
    """What a fork of a stored run would be; a sentence where it cannot be.

    Where the run was stored without its states, they are learnt again from its evaluations up to there.

    Args:
        at: A convergence of the run.
        decide: The step Δd there, 0 for no expansion; None: as the strategy decides.
        changes: Settings by their flat names, which hold from there on.
        budget: A larger one, by which the patience is computed from there on; None: the run's.
    """
    row = store.get_run(run_id)
    if row.deleted_at is not None:
        raise StoreError(f"Run {row.short_id} is deleted: restore it first.")
    changes = {**(changes or {})}
    budget = changes.pop("budget", None) if budget is None else budget
    if budget is not None:
        if type(budget) is not int or budget < row.budget:
            raise StoreError(must("budget", f"a whole number, {row.budget} or more", budget))
        changes["budget"] = budget
    parent = row.parsed
    kept_settings(parent)  # a method that cannot fork says so first
    _check_point(row, at, convergences(store, row.id), budget or row.budget)
    config = parent.forked(row.id, _hash(store, row.id), at, decide, changes)
    data = read_data(store, row.id)[:at]
    point = _stored_point(store, row.id, at) or _computed_point(parent, row, at, data)
    before = make_optimizer(parent.at(at - 1))
    started = store.started(row.id)
    check_matrix(started["checksum"] if started else None, before, row.id)
    before.load_state_dict({**point, "data": data})
    optimizer, events = take_fork(config, before, point)
    return NewFork(row, config, budget or row.budget, point, optimizer.own_state(), optimizer.d, events)


def _check_point(row: RunRow, at: int, known: Sequence[int], budget: int) -> None:
    if not known:
        raise StoreError(f"Run {row.short_id} has not converged yet: there is nothing to decide otherwise.")
    if at not in known:
        raise StoreError(must("at", f"a convergence of run {row.short_id}, {_listed(known)}", at))
    if at >= budget:
        raise StoreError(f"Evaluation {at} is the last one: a fork there needs a larger budget.")


def _listed(known: Sequence[int]) -> str:
    """`17, 29 or 44`; of many, the first and the last."""
    shown = [str(t) for t in known] if len(known) <= 12 else [*map(str, known[:10]), "…", str(known[-1])]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


def _hash(store: Store, run_id: str) -> str | None:
    run = schema.run.c
    with store.read() as connection:
        known: str | None = connection.execute(select(run.hash).where(run.id == run_id)).scalar_one()
    return known


def _stored_point(store: Store, run_id: str, at: int) -> dict[str, Any] | None:
    table = schema.fork_point
    with store.read() as connection:
        chosen = select(table.c.state).where(table.c.run_id == run_id, table.c.t == at)
        state = connection.execute(chosen).scalar_one_or_none()
    return None if state is None else dict(json.loads(state))


def _computed_point(config: RunConfig, row: RunRow, at: int, data: Data) -> dict[str, Any]:
    """The state at a convergence of a run that was stored without it, learnt again from its evaluations.

    On the processor that made the run it is the same to the last bit. On another one the model's fits
    differ in their last digits; the points are taken as they are stored, so that the history that is
    shared stays exact, and decisions are, as they follow from the values alone.
    """
    optimizer = make_optimizer(config.at(0))
    forks = [config.at(fork.at) for fork in config.forks if fork.at <= at]
    for t, (z, y) in enumerate(data, start=1):
        if not optimizer.may_have_asked(z):
            raise StoreError(
                f"Run {row.short_id} cannot be forked: computed again, it is at d = {optimizer.d} at "
                f"evaluation {t}, where its point has {z.size} coordinates: it was made with other rules."
            )
        with one_thread():
            optimizer.retrace(z, y)
        if forks and forks[0].forks[-1].at == t:
            optimizer, _ = take_fork(forks.pop(0), optimizer)
    point = optimizer.fork_point()
    if point is None:
        raise StoreError(f"Run {row.short_id} cannot be forked: computed again, it does not converge there.")
    return point


def create_fork(
    store: Store, fork: NewFork, new: NewRuns, check: Callable[[Connection], None] | None = None
) -> Lease:
    """Store a fork as queued, held by this process, with all that it shares with its parent.

    `new` says its name, tags and owner; `check` may refuse in the transaction.
    """
    lease, now = Lease.new(secrets.token_hex(16)), time.time()
    row = new_row(new, fork.config, new.names[0], new.group or secrets.token_hex(8), now, lease)
    with store.write() as connection:
        one_launch_at_a_time(connection)
        if check is not None:
            check(connection)
        connection.execute(insert(schema.run), {**row, **_shared(connection, fork), "started": now})
        _copy(connection, fork, lease.run_id)
        table = schema.checkpoint
        state = {"run_id": lease.run_id, "t": fork.at, "state": json.dumps(fork.state)}
        connection.execute(insert(table), state)
        connection.execute(insert(schema.event), _events(connection, fork, lease.run_id))
    return lease


def _shared(connection: Connection, fork: NewFork) -> dict[str, Any]:
    """Where it stands when it begins."""
    table, row = schema.evaluation, fork.parent
    chosen = select(table.c.t, table.c.best, table.c.seconds).where(
        table.c.run_id == row.id, table.c.t <= fork.at
    )
    evaluations = connection.execute(chosen.order_by(table.c.t)).all()
    if len(evaluations) != fork.at:
        raise StoreError(f"Run {row.short_id} has changed meanwhile.")
    return {
        "n_done": fork.at,
        "best": evaluations[-1].best,
        "seconds": sum(evaluation.seconds for evaluation in evaluations),
        "budget": fork.budget,
        "d": fork.d,
        "minimum": row.minimum,
        "at_centre": row.at_centre,
        "source": IMPORTED if row.imported else RUN,  # what it shares is still what a file says
    }


def _copy(connection: Connection, fork: NewFork, run_id: str) -> None:
    """The evaluations and the earlier fork points, without reading them."""
    for table, last in ((schema.evaluation, fork.at), (schema.fork_point, fork.at - 1)):
        others = [column for column in table.c if column.key != "run_id"]
        shared = select(literal(run_id), *others).where(table.c.run_id == fork.parent.id, table.c.t <= last)
        columns = [table.c.run_id, *others]
        connection.execute(insert(table).from_select([column.key for column in columns], shared))
    connection.execute(insert(schema.fork_point), fork_point_row(run_id, fork.at, fork.point))


def _events(connection: Connection, fork: NewFork, run_id: str) -> list[dict[str, Any]]:
    """What happened until there, under its own config, and then what its fork decides."""
    table = schema.event
    chosen = select(table.c.t, table.c.kind, table.c.payload).where(
        table.c.run_id == fork.parent.id, table.c.t <= fork.at, table.c.kind != Finished.kind
    )
    rows = []
    for t, kind, payload in connection.execute(chosen.order_by(table.c.id)):
        if t == fork.at and kind in (*DECISIONS, Forked.kind):
            continue
        if kind == Started.kind:
            own = {"config": fork.config.model_dump(mode="json"), "warnings": fork.config.warnings()}
            payload = json.dumps({**json.loads(payload), **own}, ensure_ascii=False)
        rows.append({"run_id": run_id, "t": t, "kind": kind, "payload": payload})
    return rows + [event_row(run_id, event) for event in fork.events]
