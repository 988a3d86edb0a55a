"""Floors of subspaces, computed in the background for all pages."""

from __future__ import annotations

import atexit
import logging
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dsebo.analysis.floor import (
    Floor,
    NoFloor,
    checked_dims,
    embedding_of,
    floors_of_config,
    largest_dimension,
)
from dsebo.config import RunConfig
from dsebo.store.errors import StoreError
from dsebo.store.floors import floor_key, same_matrix, save_floor, stored_floors
from dsebo.store.store import Store

MOST_ENTRIES = 50_000_000  # of S: 400 MB
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
        """What is known of these floors; the others are computed. NoFloor: they do not exist."""
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
            floors = _never_rising({d: job.known[d].floor for d in wanted if d in job.known})
            running = len(floors) < len(wanted) and job.error is None and not self._closed
            return FloorStatus(floors, len(wanted), running, job.error)

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
        while (waiting := self._next()) is not None:
            key, job = waiting
            try:
                self._compute(key, job)
            except (NoFloor, StoreError) as error:
                job.error = str(error)
            except Exception as error:
                _log.exception("A floor could not be computed.")
                job.error = f"The floor could not be computed: {type(error).__name__}."

    def _compute(self, key: str, job: _Job) -> None:
        embedding = embedding_of(job.config)
        same_matrix(embedding, job.checksum)
        known = list(job.known.values())
        for floor in floors_of_config(job.config, job.missing(), embedding, known):
            save_floor(self.store, key, floor)
            with self._lock:
                job.known[floor.d] = floor
                if self._closed:
                    return


def _never_rising(floors: dict[int, float]) -> dict[int, float]:
    """A larger subspace holds the smaller: its floor is at most theirs."""
    dims = sorted(floors)
    least = np.minimum.accumulate(np.array([floors[d] for d in dims], dtype=float))
    return dict(zip(dims, least.tolist(), strict=True))


@atexit.register
def _close_all() -> None:
    for service in list(_open):
        service.close()
