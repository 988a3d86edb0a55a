"""The points of a stored run in its own subspaces, with the S that lifts them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from dsebo.analysis.floor import embedding_of
from dsebo.config import RunConfig
from dsebo.embedding import SharedEmbedding
from dsebo.methods.dsebo import DseboConfig
from dsebo.run import make_objective
from dsebo.store import schema
from dsebo.store.errors import StoreError
from dsebo.store.store import Store

MOST_ENTRIES = 50_000_000  # of S: 400 MB


@dataclass(frozen=True)
class EmbeddedRun:
    """A DSEBO run as its embedding sees it."""

    embedding: SharedEmbedding
    points: list[NDArray[np.float64]]
    effective: NDArray[np.intp]  # empty where it is not known which coordinates matter


def embedded_run(store: Store, run_id: str) -> EmbeddedRun:
    """S, every z and the effective coordinates; StoreError, in a sentence, where there are none."""
    row = store.get_run(run_id)
    config = RunConfig.parse(row.config)
    if not isinstance(config.optimizer, DseboConfig):
        raise StoreError("Only DSEBO has a shared embedding: choose another run.")
    if config.objective.D * config.optimizer.d_h > MOST_ENTRIES:
        raise StoreError("S is too large to be shown: at most 50 million entries.")
    table = schema.evaluation
    chosen = select(table.c.z, table.c.z_type).where(table.c.run_id == row.id)
    with store.read() as connection:
        rows = connection.execute(chosen.order_by(table.c.t)).all()
    if not rows or any(one.z is None for one in rows):
        raise StoreError(f"Run {row.short_id} is stored without its points.")
    embedding = embedding_of(config)
    started = [event for event in store.events(row.id) if event["event"] == "started"]
    if started and started[0]["checksum"] != embedding.checksum():
        raise StoreError(f"Run {row.short_id} was made with another S than the one drawn here.")
    points = [np.frombuffer(one.z, dtype=f"<{one.z_type}").astype(float) for one in rows]
    effective = make_objective(config).effective_coordinates
    return EmbeddedRun(embedding, points, np.empty(0, np.intp) if effective is None else effective)
