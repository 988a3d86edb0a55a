"""From the rows of a run back to a `Runner` that goes on as if nothing had happened."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from sqlalchemy import select

from dsebo.config import RunConfig
from dsebo.run import Runner
from dsebo.store import schema
from dsebo.store.errors import StoreError
from dsebo.store.points import check_matrix
from dsebo.store.rows import RunRow
from dsebo.store.store import Store


def open_runner(store: Store, run_id: str) -> tuple[Runner, bool]:
    """(the run at its last committed evaluation, whether it has not been started before)."""
    row = store.get_run(run_id)
    state = saved_state(store, row.id)
    runner = Runner.from_config(RunConfig.parse(row.config), state, row.budget)
    runner.seconds = row.seconds
    started = [event for event in store.events(row.id) if event["event"] == "started"]
    if started and state is not None:
        check_matrix(started[0]["checksum"], runner.optimizer, row.id)
    return runner, not started


def check_can_go_on(store: Store, row: RunRow) -> None:
    """Refuse a run whose points are not known, before anything is changed."""
    saved = schema.checkpoint.c.run_id
    with store.read() as connection:
        found = connection.execute(select(saved).where(saved == row.id)).first()
    if found is None and row.n_done > 0:
        raise StoreError(f"Run {row.short_id} was imported without its points and cannot go on.")


def saved_state(store: Store, run_id: str) -> dict[str, Any] | None:
    """The checkpoint with the data put back; None before the first evaluation."""
    table, saved = schema.evaluation, schema.checkpoint
    with store.read() as connection:
        checkpoint = connection.execute(
            select(saved.c.t.label("n"), saved.c.state).where(saved.c.run_id == run_id)
        ).one_or_none()
        rows = connection.execute(
            select(table.c.z, table.c.z_type, table.c.y).where(table.c.run_id == run_id).order_by(table.c.t)
        ).all()
    if checkpoint is None and not rows:
        return None
    if checkpoint is None or any(row.z is None for row in rows):
        raise StoreError(f"Run {run_id[:8]} was imported without its points and cannot go on.")
    if checkpoint.n != len(rows):
        raise StoreError(
            f"Run {run_id[:8]} has {len(rows)} evaluations, its checkpoint is of {checkpoint.n}."
        )
    data = [
        (np.frombuffer(row.z, dtype=f"<{row.z_type}"), math.nan if row.y is None else row.y) for row in rows
    ]
    return {**json.loads(checkpoint.state), "data": data}
