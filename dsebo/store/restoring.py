"""From the rows of a run back to what they stand for: a `Runner` that goes on, points, the embedding."""

from __future__ import annotations

import json
import math
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from dsebo.embedding import SharedEmbedding, pad
from dsebo.methods.base import Optimizer
from dsebo.methods.dsebo import DseboConfig
from dsebo.run import Runner, make_optimizer
from dsebo.store import schema
from dsebo.store.errors import StoreError
from dsebo.store.rows import RunRow
from dsebo.threads import one_thread

if TYPE_CHECKING:
    from dsebo.store.store import Store

Data = list[tuple[NDArray[np.float64], float]]

MOST_ENTRIES = 50_000_000  # of S: 400 MB


def open_runner(store: Store, run_id: str) -> tuple[Runner, bool]:
    """(the run at its last committed evaluation, whether it has not been started before)."""
    row = store.get_run(run_id)
    state = saved_state(store, row.id)
    runner = Runner.from_config(row.parsed, state, row.budget)
    runner.seconds = row.seconds
    started = store.started(row.id)
    if started is not None and state is not None:
        check_matrix(started["checksum"], runner.optimizer, row.id)
    return runner, started is None


def check_can_go_on(store: Store, row: RunRow) -> None:
    """Refuse a run whose points or objective are not known, before anything is changed."""
    if why := row.parsed.unavailable():
        raise StoreError(f"Run {row.short_id} cannot go on here. {why}")
    saved = schema.checkpoint.c.run_id
    with store.read() as connection:
        checkpoint = connection.execute(select(saved).where(saved == row.id)).first()
    if checkpoint is None and row.n_done > 0:
        raise _without_points(row.id)


def saved_state(store: Store, run_id: str) -> dict[str, Any] | None:
    """The checkpoint with the data put back; None before the first evaluation."""
    saved = schema.checkpoint
    with store.read() as connection:
        checkpoint = connection.execute(
            select(saved.c.t.label("n"), saved.c.state).where(saved.c.run_id == run_id)
        ).one_or_none()
        data = _data(connection, run_id)
    if checkpoint is None and not data:
        return None
    if checkpoint is None:
        raise _without_points(run_id)
    if checkpoint.n != len(data):
        raise StoreError(
            f"Run {run_id[:8]} has {len(data)} evaluations, its checkpoint is of {checkpoint.n}."
        )
    return {**json.loads(checkpoint.state), "data": data}


def read_data(store: Store, run_id: str) -> Data:
    """(z, y) of every evaluation, y NaN where it failed; StoreError where a z is not known."""
    with store.read() as connection:
        return _data(connection, run_id)


def _data(connection: Connection, run_id: str) -> Data:
    table = schema.evaluation
    chosen = select(table.c.z, table.c.z_type, table.c.y).where(table.c.run_id == run_id)
    rows = connection.execute(chosen.order_by(table.c.t)).all()
    if any(row.z is None for row in rows):
        raise _without_points(run_id)
    return [
        (np.frombuffer(row.z, dtype=f"<{row.z_type}"), math.nan if row.y is None else row.y) for row in rows
    ]


def _without_points(run_id: str) -> StoreError:
    return StoreError(f"Run {run_id[:8]} was imported without its points and cannot go on.")


def check_matrix(stored: Any, optimizer: Optimizer, run_id: str) -> None:
    """Refuse where the random matrix S comes out other than when the run was made.

    Random streams may change between versions of a library; z means nothing without its S.
    """
    drawn = optimizer.checksum()
    if stored != drawn:
        raise StoreError(
            f"Run {run_id[:8]} was made with another random matrix S (checksum {stored}) than this "
            f"version of the software draws (checksum {drawn}): its points cannot be rebuilt."
        )


class Lifts:
    """x of stored points. Keeps the optimizer of the run asked for last: S takes time to draw."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: tuple[str, Optimizer] | None = None

    def lift(self, store: Store, run_id: str, z: NDArray[Any]) -> NDArray[np.float64]:
        """x (D,) of a z of that run."""
        with self._lock:
            if self._last is None or self._last[0] != run_id:
                self._last = None  # two large matrices need not be in memory at once
                self._last = (run_id, _optimizer(store, run_id))
            with one_thread():
                return self._last[1].lift(z)


def _optimizer(store: Store, run_id: str) -> Optimizer:
    config = store.config(run_id)
    optimizer = make_optimizer(config)
    started = store.started(run_id)
    check_matrix(started["checksum"] if started else None, optimizer, run_id)
    return optimizer


@dataclass(frozen=True)
class EmbeddedRun:
    """A DSEBO run as its embedding sees it."""

    embedding: SharedEmbedding
    points: list[NDArray[np.float64]]
    dims: list[int]  # of the subspace of each evaluation
    effective: NDArray[np.intp]  # empty where it is not known which coordinates matter

    def at(self, t: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(z of the subspace of evaluation t, how far each block of variables is moved besides)."""
        z, d_h = self.points[t - 1], self.embedding.d_h
        return pad(z, d_h)[: self.dims[t - 1]] if z.size < d_h else z[: self.dims[t - 1]], z[d_h:]


def embedded_run(store: Store, run_id: str) -> EmbeddedRun:
    """S, every z and the effective coordinates; StoreError, in a sentence, where there are none."""
    from dsebo.analysis.floor import embedding_of  # takes torch, which no list of runs needs

    row = store.get_run(run_id)
    config = row.parsed
    if not isinstance(config.optimizer, DseboConfig):
        raise StoreError("Only DSEBO has a shared embedding: choose another run.")
    if config.optimizer.embeddings > 1:
        raise StoreError("This run tries several embeddings: only those with one can be shown.")
    if config.objective.D * config.optimizer.d_h > MOST_ENTRIES:
        raise StoreError("S is too large to be shown: at most 50 million entries.")
    table = schema.evaluation
    chosen = select(table.c.z, table.c.z_type, table.c.d).where(table.c.run_id == row.id)
    with store.read() as connection:
        points = connection.execute(chosen.order_by(table.c.t)).all()
    if not points or any(point.z is None for point in points):
        raise StoreError(f"Run {row.short_id} is stored without its points.")
    embedding = embedding_of(config)
    started = store.started(row.id)
    if started and started["checksum"] != embedding.checksum():
        raise StoreError(f"Run {row.short_id} was made with another S than the one drawn here.")
    vectors = [np.frombuffer(point.z, dtype=f"<{point.z_type}").astype(float) for point in points]
    effective = config.objective.build().effective_coordinates
    dims = [point.d or vector.size for point, vector in zip(points, vectors, strict=True)]
    return EmbeddedRun(embedding, vectors, dims, np.empty(0, np.intp) if effective is None else effective)
