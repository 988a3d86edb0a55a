"""Slots: how many evaluations may run at a time, first come first served."""

from __future__ import annotations

import threading
from collections import deque

from dsebo.runs.cores import LIVE_PATIENCE, CoreTokens


class FairSlots:
    """A semaphore that serves in the order of asking, so that every run's curve moves.

    Args:
        count: Slots of this process.
        cores: Tokens of all processes: who has a slot takes one too, or goes on without one when
            that takes long, as a live run is watched.
    """

    def __init__(self, count: int, cores: CoreTokens | None = None) -> None:
        self._free = count
        self._cores = cores
        self._waiting: deque[object] = deque()
        self._changed = threading.Condition()

    def acquire(self, stop: threading.Event) -> bool:
        """Wait for a slot; False when `stop` is set first (and `wake` called)."""
        ticket = object()
        with self._changed:
            self._waiting.append(ticket)
            while not stop.is_set() and not (self._free > 0 and self._waiting[0] is ticket):
                self._changed.wait()
            self._waiting.remove(ticket)
            if stop.is_set():
                self._changed.notify_all()  # who stood behind us may be first now
                return False
            self._free -= 1
            self._changed.notify_all()
        if self._cores is None or self._cores.acquire(stop, LIVE_PATIENCE) or not stop.is_set():
            return True
        self.release()
        return False

    def release(self) -> None:
        """Give the slot to the next."""
        if self._cores is not None:
            self._cores.release()
        with self._changed:
            self._free += 1
            self._changed.notify_all()

    def wake(self) -> None:
        """Let those who wait look at their `stop` again."""
        with self._changed:
            self._changed.notify_all()
