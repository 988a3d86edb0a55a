"""Who works on a run or a sweep. A lease names a process, runs out unless renewed, and is secret.

Whoever writes to a run names the lease's token in the same transaction, so that a run is never
written by two. The clocks of hosts that share a store should agree to within some seconds.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import update

from dsebo.store import schema
from dsebo.store.errors import StoreError
from dsebo.store.schema import ACTIVE

if TYPE_CHECKING:
    from dsebo.store.store import Store

LEASE_SECONDS = 30.0
HEARTBEAT_SECONDS = 5.0

_log = logging.getLogger(__name__)
_held: set[str] = set()  # tokens that a heartbeat of this process renews


@dataclass(frozen=True)
class Lease:
    """The right to write to one run."""

    run_id: str
    token: str

    @classmethod
    def new(cls, run_id: str) -> Lease:
        """A lease that nobody can guess."""
        return cls(run_id, secrets.token_hex(16))


@dataclass(frozen=True)
class Holder:
    """A process, so named that no other is taken for it."""

    host: str | None
    pid: int | None
    process: str | None

    @classmethod
    def this(cls) -> Holder:
        """The process that asks."""
        return _this(os.getpid())

    @classmethod
    def of(cls, pid: int) -> Holder:
        """Another process of this host."""
        return cls(_host(), pid, _process_start(pid))

    def alive(self) -> bool | None:
        """Whether it runs; None where that cannot be seen from here."""
        if self.host is None or self.pid is None or self.host != _host() or os.name != "posix":
            return None
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return self.process == _process_start(self.pid)
        return self.process == _process_start(self.pid)


@cache
def _this(pid: int) -> Holder:
    """By pid, as a forked process is another one."""
    return Holder(_host(), pid, _process_start(pid))


def lease_columns(lease: Lease) -> dict[str, Any]:
    """What the run's row says while this process holds the lease."""
    holder, now = Holder.this(), time.time()
    return {
        "lease_token": lease.token,
        "lease_expires": now + LEASE_SECONDS,
        "lease_host": holder.host,
        "lease_pid": holder.pid,
        "lease_process": holder.process,
        "heartbeat": now,
    }


NO_LEASE: dict[str, Any] = {
    "lease_token": None,
    "lease_expires": None,
    "lease_host": None,
    "lease_pid": None,
    "lease_process": None,
}


def shown_state(row: Any, now: float, alive: Callable[[Holder], bool | None] = Holder.alive) -> str:
    """The state as it is, not as it was last written: a dead holder writes nothing."""
    if row.state not in ACTIVE:
        return str(row.state)
    if row.lease_token is None or alive(_holder(row)) is False:
        return "interrupted"
    if row.lease_expires < now:
        return "stalled"
    return str(row.state)


def is_free(row: Any, now: float) -> bool:
    """Whether someone else may take the run: a living process on this host keeps it."""
    if row.state not in ACTIVE or row.lease_token is None:
        return True
    holder = _holder(row)
    if holder == Holder.this():
        return row.lease_token not in _held
    alive = holder.alive()
    return alive is False or (alive is None and row.lease_expires < now)


def _holder(row: Any) -> Holder:
    return Holder(row.lease_host, row.lease_pid, row.lease_process)


@cache
def _host() -> str:
    """This host, apart from another of the same name or another container's processes."""
    try:
        space = os.stat("/proc/self/ns/pid").st_ino
    except OSError:  # not Linux
        space = 0
    return f"{socket.gethostname()}/{_read('/etc/machine-id')[:12]}/{space}"


def _process_start(pid: int) -> str:
    """When the process began, in a way that no later one of the same pid shares."""
    stat = _read(f"/proc/{pid}/stat")
    ticks = stat.rpartition(")")[2].split()[19] if stat else ""
    return f"{_read('/proc/sys/kernel/random/boot_id')[:13]}/{ticks}"


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


class Heartbeat:
    """Renews leases from a thread of its own, so that a long evaluation does not lose its run."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._leases: set[Lease] = set()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def hold(self, leases: Iterable[Lease]) -> None:
        """Renew these from now on."""
        with self._lock:
            added = set(leases)
            self._leases |= added
            _held.update(lease.token for lease in added)
            if self._leases and self._thread is None:
                self._thread = threading.Thread(target=self._beat, name="dsebo-heartbeat", daemon=True)
                self._thread.start()

    def drop(self, lease: Lease) -> None:
        """Renew it no more."""
        with self._lock:
            self._leases.discard(lease)
            _held.discard(lease.token)

    def close(self) -> None:
        """Stop the thread; what it held may be taken."""
        self._closing.set()
        with self._lock:
            _held.difference_update(lease.token for lease in self._leases)
            self._leases.clear()

    def _beat(self) -> None:
        while not self._closing.wait(HEARTBEAT_SECONDS):
            with self._lock:
                tokens = [lease.token for lease in self._leases]
            try:
                renew(self._store, tokens)
            except StoreError as error:  # tried again at the next beat
                _log.warning("A heartbeat failed: %s", error)


def renew(store: Store, tokens: list[str]) -> None:
    """Push the end of these leases back."""
    if not tokens:
        return
    now = time.time()
    with store.write() as connection:
        for table in (schema.run, schema.sweep):
            connection.execute(
                update(table)
                .where(table.c.lease_token.in_(tokens))
                .values(heartbeat=now, lease_expires=now + LEASE_SECONDS)
            )
