"""From what is stored of a point back to its x."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dsebo.methods.base import Optimizer
from dsebo.store.errors import StoreError
from dsebo.threads import one_thread

if TYPE_CHECKING:
    from dsebo.store.store import Store


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
    with one_thread():
        optimizer = config.optimizer.build(config.objective.D, config.budget, config.seed)
    started = [event for event in store.events(run_id) if event["event"] == "started"]
    check_matrix(started[0]["checksum"] if started else None, optimizer, run_id)
    return optimizer
