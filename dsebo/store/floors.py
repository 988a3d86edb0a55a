"""Floors of subspaces: computed once, and kept in the store by what they depend on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import delete, insert, select

from dsebo.analysis.floor import (
    SEARCH,
    Floor,
    NoFloor,
    checked_dims,
    embedding_of,
    embedding_seed,
    floors_of_config,
    largest_dimension,
    n_blocks,
)
from dsebo.config import RunConfig
from dsebo.embedding import SharedEmbedding
from dsebo.store import schema
from dsebo.store.store import Store


def floor_key(config: RunConfig, checksum: str) -> str:
    """A hash of all that a floor depends on: the function, S and how it is searched."""
    depends = {
        "objective": config.objective.model_dump(mode="json", exclude={"kind"}),
        "d_h": largest_dimension(config),
        "seed": embedding_seed(config),
        "S": checksum,
        "search": SEARCH,
    }
    if blocks := n_blocks(config):
        depends["blocks"] = blocks
    return hashlib.sha256(json.dumps(depends, sort_keys=True).encode()).hexdigest()


def stored_floors(store: Store, key: str) -> list[Floor]:
    """What the store has under a key, from the smallest d up, never rising."""
    table = schema.floor
    chosen = select(table.c.d, table.c.value, table.c.z).where(table.c.key == key)
    with store.read() as connection:
        rows = connection.execute(chosen.order_by(table.c.d)).all()
    floors: list[Floor] = []
    for row in rows:
        floor = Floor(row.d, row.value, np.frombuffer(row.z, dtype="<f8"))
        if floors and floors[-1].floor < floor.floor:  # searched before the smaller one was
            floor = Floor(row.d, floors[-1].floor, floors[-1].z)
        floors.append(floor)
    return floors


def save_floor(store: Store, key: str, floor: Floor) -> None:
    """Keep a floor, in place of an earlier one."""
    table = schema.floor
    z = np.ascontiguousarray(floor.z, dtype="<f8").tobytes()
    with store.write() as connection:
        connection.execute(delete(table).where(table.c.key == key, table.c.d == floor.d))
        connection.execute(insert(table).values(key=key, d=floor.d, value=floor.floor, z=z))


def kept_floors(store: Store) -> list[dict[str, Any]]:
    """All floors of a store, as rows."""
    with store.read() as connection:
        return [row._asdict() for row in connection.execute(select(schema.floor))]


def keep_floors(store: Store, rows: Sequence[Mapping[str, Any]]) -> None:
    """Put rows of another store's floors into one that has none of them."""
    with store.write() as connection:
        connection.execute(insert(schema.floor), [dict(row) for row in rows])


def floors_with_store(
    store: Store,
    config: RunConfig,
    dims: Sequence[int],
    checksum: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Floor]:
    """The floors of these dimensions, from the store where it has them.

    `checksum`: of the S that the run was made with, None: of the S that is drawn now; `progress` is told
    (done, of how many).
    """
    wanted = checked_dims(config, dims)
    embedding = embedding_of(config)
    key = floor_key(config, same_matrix(embedding, checksum))
    known = {floor.d: floor for floor in stored_floors(store, key)}
    missing = [d for d in wanted if d not in known]
    for floor in floors_of_config(config, missing, embedding, list(known.values())):
        known[floor.d] = floor
        save_floor(store, key, floor)
        if progress is not None:
            progress(sum(d in known for d in wanted), len(wanted))
    known = {floor.d: floor for floor in stored_floors(store, key)}
    return [known[d] for d in wanted]


def same_matrix(embedding: SharedEmbedding, checksum: str | None) -> str:
    """The fingerprint of S; NoFloor where the run had another than this software draws."""
    drawn = embedding.checksum()
    if checksum is not None and checksum != drawn:
        raise NoFloor("The floor does not apply: the run's S is not the one drawn here.")
    return drawn
