"""What a worker obeys between two evaluations: the sweep's orders, and whether it still exists."""

from __future__ import annotations

import os
import threading
import time

from sqlalchemy import select

from dsebo.runs import commands
from dsebo.runs.slots import CoreTokens, FairSlots
from dsebo.store import schema
from dsebo.store.leases import Lease, set_state
from dsebo.store.store import Store

POLL_SECONDS = 0.25  # how soon an order is seen

_sweep = schema.sweep.c


class Orders:
    """What is wanted of a sweep, as one of its workers sees it.

    Args:
        store: Where the sweep is.
        sweep: Its id and the token of the lease under which this work was given out.
        parent: The process that gave it out, where it is this one's parent.
    """

    def __init__(self, store: Store, sweep: Lease, parent: int | None = None) -> None:
        self._store, self._sweep, self._parent = store, sweep, parent
        self._read_at, self._known = 0.0, "run"

    def wanted(self) -> str:
        """ "run", "pause", "cancel", or "stop" where nobody waits for this work any more."""
        if self._parent is not None and os.getppid() != self._parent:
            return "stop"
        if time.monotonic() - self._read_at >= POLL_SECONDS:
            self._known, self._read_at = self._read(), time.monotonic()
        return self._known

    def _read(self) -> str:
        chosen = select(_sweep.wanted, _sweep.lease_token, _sweep.lease_expires)
        with self._store.read() as connection:
            row = connection.execute(chosen.where(_sweep.id == self._sweep.run_id)).one_or_none()
        if row is None or row.lease_token != self._sweep.token or row.lease_expires < time.time():
            return "stop"
        return str(row.wanted)


class SweepSlots(FairSlots):
    """The slot of one run of a sweep: it is had while the sweep is to run and a core is free.

    Args:
        store: Where the run is.
        run: The run's lease.
        orders: The sweep's.
        cores: The tokens of this machine; None where a cluster shares out its own.
    """

    def __init__(self, store: Store, run: Lease, orders: Orders, cores: CoreTokens | None) -> None:
        super().__init__(1, cores)
        self._store, self._run, self._orders = store, run, orders
        self._opened = self._paused = False

    def acquire(self, stop: threading.Event) -> bool:
        """Wait until the next evaluation may start; False when the run is to end instead."""
        while not stop.is_set():
            wanted = self._orders.wanted()
            if wanted == "pause":
                self._pause(stop)
                continue
            self._paused = False
            if wanted == "cancel" and self._opened:
                commands.order(self._store, self._run.run_id, "cancel")  # the session reads it
                return False
            if wanted != "run":
                stop.set()
            elif self._cores is None or self._cores.acquire(stop, POLL_SECONDS):
                self._opened = True
                return True
        return False

    def release(self) -> None:
        """Give the core back."""
        if self._cores is not None:
            self._cores.release()

    def _pause(self, stop: threading.Event) -> None:
        """Keep the run, and say so; it goes on by itself."""
        if not self._paused:
            set_state(self._store, schema.run, self._run, "paused")
            self._paused = True
        stop.wait(POLL_SECONDS)
