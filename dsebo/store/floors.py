"""Floors of subspaces: kept in the store by what they depend on, computed in the background."""

from __future__ import annotations

import atexit
import hashlib
import json
import logging
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from sqlalchemy import delete, insert, select

from dsebo.analysis.floor import (
    FLOOR_STREAM,
    SEARCH,
    Floor,
    NoFloor,
    checked_dims,
    embedding_of,
    embedding_seed,
    floors,
    largest_dimension,
)
from dsebo.config import RunConfig
from dsebo.embedding import SharedEmbedding
from dsebo.methods.base import stream
from dsebo.run import make_objective
from dsebo.store import schema
from dsebo.store.errors import StoreError
from dsebo.store.store import Store

MOST_ENTRIES = 50_000_000  # of S, in the background: 400 MB
_STOP_SECONDS = 2.0

_log = logging.getLogger(__name__)
_open: weakref.WeakSet[FloorService] = weakref.WeakSet()


@dataclass(frozen=True)
class FloorStatus:
    """The floors that are known of those asked for."""

    floors: dict[int, float]
    total: int
    running: bool = False
    error: str | None = None

    @property
    def done(self) -> int:
        """How many of those asked for are known."""
        return len(self.floors)


@dataclass
class _Job:
    """The floors that are wanted of one S."""

    config: RunConfig
    checksum: str | None
    wanted: set[int] = field(default_factory=set)
    known: dict[int, Floor] = field(default_factory=dict)
    error: str | None = None

    def missing(self) -> list[int]:
        return sorted(self.wanted - set(self.known))


def floor_key(config: RunConfig, checksum: str) -> str:
    """A hash of all that a floor depends on: the function, S and how it is searched."""
    depends = {
        "objective": config.objective.model_dump(mode="json", exclude={"kind"}),
        "d_h": largest_dimension(config),
        "seed": embedding_seed(config),
        "S": checksum,
        "search": SEARCH,
    }
    return hashlib.sha256(json.dumps(depends, sort_keys=True).encode()).hexdigest()


def stored_floors(store: Store, key: str) -> list[Floor]:
    """What the store has under a key, from the smallest d up, never rising."""
    table = schema.floor
    chosen = select(table.c.d, table.c.value, table.c.z).where(table.c.key == key)
    with store.read() as connection:
        rows = connection.execute(chosen.order_by(table.c.d)).all()
    found: list[Floor] = []
    for row in rows:
        floor = Floor(row.d, row.value, np.frombuffer(row.z, dtype="<f8"))
        if found and found[-1].floor < floor.floor:  # searched before the smaller one was
            floor = Floor(row.d, found[-1].floor, found[-1].z)
        found.append(floor)
    return found


def _save(store: Store, key: str, floor: Floor) -> None:
    table = schema.floor
    z = np.ascontiguousarray(floor.z, dtype="<f8").tobytes()
    with store.write() as connection:
        connection.execute(delete(table).where(table.c.key == key, table.c.d == floor.d))
        connection.execute(insert(table).values(key=key, d=floor.d, value=floor.floor, z=z))


def floors_with_store(
    store: Store,
    config: RunConfig,
    dims: Sequence[int],
    checksum: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Floor]:
    """The floors of these dimensions, from the store where it has them.

    Args:
        store: Where they are kept.
        config: Of a DSEBO run.
        dims: Dimensions of subspaces.
        checksum: Of the S that the run was made with; None: of the S that is drawn now.
        progress: Is told (done, of how many).
    """
    wanted = checked_dims(config, dims)
    embedding = embedding_of(config)
    key = floor_key(config, _same_matrix(embedding, checksum))
    known = {floor.d: floor for floor in stored_floors(store, key)}
    missing = [d for d in wanted if d not in known]
    for floor in _search(config, embedding, missing, list(known.values())):
        known[floor.d] = floor
        _save(store, key, floor)
        if progress is not None:
            progress(sum(d in known for d in wanted), len(wanted))
    known = {floor.d: floor for floor in stored_floors(store, key)}
    return [known[d] for d in wanted]


def _search(
    config: RunConfig, embedding: SharedEmbedding, dims: Sequence[int], known: Sequence[Floor]
) -> Iterator[Floor]:
    rng = stream(embedding_seed(config), FLOOR_STREAM)
    return floors(make_objective(config), embedding, dims, rng, known)


def _same_matrix(embedding: SharedEmbedding, checksum: str | None) -> str:
    """The fingerprint of S; NoFloor where the run had another than this software draws."""
    drawn = embedding.checksum()
    if checksum is not None and checksum != drawn:
        raise NoFloor("The floor does not apply: the run's S is not the one drawn here.")
    return drawn


class FloorService:
    """Computes floors in one background thread, for all pages. Safe from any thread."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lock = threading.Lock()
        self._jobs: dict[str, _Job] = {}
        self._thread: threading.Thread | None = None
        self._closed = False
        _open.add(self)

    def want(self, config: RunConfig, dims: Sequence[int], checksum: str) -> FloorStatus:
        """What is known of these floors; the others are put to work. NoFloor: they do not exist."""
        wanted = checked_dims(config, dims)
        if config.objective.D * largest_dimension(config) > MOST_ENTRIES:
            raise NoFloor("S is too large for the background: dsebo floor --run computes it.")
        key = floor_key(config, checksum)
        with self._lock:
            job = self._jobs.get(key)
            if job is None:
                job = self._jobs[key] = _Job(config, checksum)
                job.known = {floor.d: floor for floor in stored_floors(self.store, key)}
            job.wanted |= set(wanted)
            if job.missing() and job.error is None and not self._closed:
                self._start()
            found = _never_rising({d: job.known[d].floor for d in wanted if d in job.known})
            running = len(found) < len(wanted) and job.error is None and not self._closed
            return FloorStatus(found, len(wanted), running, job.error)

    def close(self) -> None:
        """Stop after the dimension under way."""
        with self._lock:
            self._closed = True
            thread = self._thread
        if thread is not None:
            thread.join(_STOP_SECONDS)
        _open.discard(self)

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="dsebo-floors", daemon=True)
            self._thread.start()

    def _next(self) -> tuple[str, _Job] | None:
        """A job with something to do; None, and the thread's end, when there is none."""
        with self._lock:
            for key, job in self._jobs.items():
                if job.missing() and job.error is None and not self._closed:
                    return key, job
            self._thread = None
            return None

    def _work(self) -> None:
        while (found := self._next()) is not None:
            key, job = found
            try:
                self._compute(key, job)
            except (NoFloor, StoreError) as error:
                job.error = str(error)
            except Exception as error:
                _log.exception("A floor could not be computed.")
                job.error = f"The floor could not be computed: {type(error).__name__}."

    def _compute(self, key: str, job: _Job) -> None:
        embedding = embedding_of(job.config)
        _same_matrix(embedding, job.checksum)
        known = list(job.known.values())
        for floor in _search(job.config, embedding, job.missing(), known):
            _save(self.store, key, floor)
            with self._lock:
                job.known[floor.d] = floor
                if self._closed:
                    return


def _never_rising(found: dict[int, float]) -> dict[int, float]:
    """A larger subspace holds the smaller: its floor is at most theirs."""
    dims = sorted(found)
    least = np.minimum.accumulate(np.array([found[d] for d in dims], dtype=float))
    return dict(zip(dims, least.tolist(), strict=True))


@atexit.register
def _close_all() -> None:
    for service in list(_open):
        service.close()
