"""Who works on a run or an experiment. A lease names a process, runs out unless renewed, and is secret.

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

from sqlalchemy import Connection, Row, Table, select, text, update

from dsebo.store import schema
from dsebo.store.errors import LeaseLost, StoreError
from dsebo.store.schema import ACTIVE

if TYPE_CHECKING:
    from dsebo.store.store import Store

LEASE_SECONDS = 30.0
HEARTBEAT_SECONDS = 5.0

_log = logging.getLogger(__name__)
_held: set[str] = set()  # tokens that a heartbeat of this process renews


@dataclass(frozen=True)
class Lease:
    """The right to write to one run or experiment."""

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


def lease_columns(lease: Lease, holder: Holder | None = None) -> dict[str, Any]:
    """What a row says while this process, or another, holds its lease."""
    holder, now = holder or Holder.this(), time.time()
    return {
        "lease_token": lease.token,
        "lease_expires": now + LEASE_SECONDS,
        "lease_host": holder.host,
        "lease_pid": holder.pid,
        "lease_process": holder.process,
        "heartbeat": now,
    }


NO_LEASE: dict[str, Any] = dict.fromkeys(
    ("lease_token", "lease_expires", "lease_host", "lease_pid", "lease_process")
)


def shown_state(row: Any, now: float, alive: Callable[[Holder], bool | None] = Holder.alive) -> str:
    """The state as it is, not as it was last written: a dead holder writes nothing."""
    if row.state not in ACTIVE:
        return str(row.state)
    if row.lease_token is None:  # a pause that was left for long is nobody's work, and stays one
        return "paused" if row.state == "paused" else "interrupted"
    if alive(_holder(row)) is False:
        return "interrupted"
    ours = row.lease_token in _held and _holder(row) == Holder.this()
    if row.lease_expires < now and not ours:  # ours only waits for the database
        return "stalled"
    return str(row.state)


def is_free(row: Any, now: float) -> bool:
    """Whether someone else may take the run: its process is gone, or has not been heard of for too long.

    A process that lives but is stopped (Ctrl-Z) or hangs does not keep it: should it wake, what it
    writes is refused, as the lease is another's.
    """
    if row.state not in ACTIVE or row.lease_token is None:
        return True
    holder = _holder(row)
    if holder == Holder.this():
        return row.lease_token not in _held
    return holder.alive() is False or bool(row.lease_expires < now)


def _holder(row: Any) -> Holder:
    return Holder(row.lease_host, row.lease_pid, row.lease_process)


# -- what is done under a lease, to a row of either table -----------------------------------------


def free_row(connection: Connection, table: Table, row_id: str) -> Row[Any]:
    """The row of a run or an experiment that nobody works on, locked until the transaction ends."""
    row = connection.execute(select(table).where(table.c.id == row_id).with_for_update()).one()
    if not is_free(row, time.time()):
        raise StoreError(
            f"{table.name.capitalize()} {row_id[:8]} is at work in process {row.lease_pid} on "
            f"{row.lease_host.split('/')[0]}, which was heard of less than {LEASE_SECONDS:.0f} s ago."
        )
    return row


def claim(
    store: Store,
    table: Table,
    row_id: str,
    holder: Holder | None = None,
    check: Callable[[Connection], None] | None = None,
    **values: Any,
) -> Lease:
    """Take what nobody works on; a StoreError where someone does.

    `check` may refuse, in the transaction; `values` are what else its row then says.
    """
    lease = Lease.new(row_id)
    with store.write() as connection:
        one_launch_at_a_time(connection)
        free_row(connection, table, row_id)
        if check is not None:
            check(connection)
        held = {"error": None, "finished": None, **values, **lease_columns(lease, holder)}
        connection.execute(update(table).where(table.c.id == row_id).values(**held))
    return lease


def update_held(connection: Connection, table: Table, lease: Lease, values: dict[str, Any]) -> None:
    """Change the row that the lease is of; it must still be ours, else nothing is written at all."""
    held = (table.c.id == lease.run_id, table.c.lease_token == lease.token)
    if connection.execute(update(table).where(*held).values(**values)).rowcount != 1:
        raise lost(table, lease)


def lost(table: Table, lease: Lease) -> LeaseLost:
    """The error of who finds that the lease is another's, or nobody's."""
    return LeaseLost(f"{table.name.capitalize()} {lease.run_id[:8]} is no longer this process's to write.")


def read_wanted(store: Store, table: Table, lease: Lease) -> str:
    """What is wanted now: "run", "pause" or "cancel"."""
    held = (table.c.id == lease.run_id, table.c.lease_token == lease.token)
    with store.read() as connection:
        wanted = connection.execute(select(table.c.wanted).where(*held)).scalar_one_or_none()
    if wanted is None:
        raise lost(table, lease)
    return str(wanted)


def set_state(store: Store, table: Table, lease: Lease, state: str) -> None:
    """Between "running", "paused" and "queued"."""
    with store.write() as connection:
        update_held(connection, table, lease, {"state": state})


def release(
    store: Store, table: Table, lease: Lease, state: str, error: str | None = None, again: bool = False
) -> None:
    """Let go, however it ended; `again`: unless that has been written already."""
    ended = None if state == "interrupted" else time.time()
    values = {"state": state, "error": error, "finished": ended, **NO_LEASE}
    with store.write() as connection:
        if again:
            now = select(table.c.state, table.c.lease_token).where(table.c.id == lease.run_id)
            if connection.execute(now).one_or_none() == (state, None):
                return
        update_held(connection, table, lease, values)


def one_launch_at_a_time(connection: Connection) -> None:
    """Limits are counted and then used up: nobody may come in between (SQLite: never can)."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('dsebo_launch'))"))


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
        self._owed: dict[Lease, tuple[Table, str, str | None]] = {}
        self._failing = False
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

    def release_later(self, table: Table, lease: Lease, state: str, error: str | None) -> None:
        """Let go as soon as the database is back; should someone take it before, it is theirs."""
        with self._lock:
            self._owed[lease] = (table, state, error)

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
                owed = list(self._owed.items())
            try:
                for lease, (table, state, error) in owed:
                    self._pay(table, lease, state, error)
                renew(self._store, tokens)
                self._failing = False
            except StoreError as failure:  # tried again at the next beat
                if not self._failing:
                    _log.warning("A heartbeat failed: %s", failure)
                self._failing = True

    def _pay(self, table: Table, lease: Lease, state: str, error: str | None) -> None:
        try:
            release(self._store, table, lease, state, error, again=True)
        except LeaseLost as taken:
            _log.info("%s", taken)
        with self._lock:
            self._owed.pop(lease, None)


def renew(store: Store, tokens: list[str]) -> None:
    """Push the end of these leases back."""
    if not tokens:
        return
    now = time.time()
    with store.write() as connection:
        for table in (schema.run, schema.experiment):
            connection.execute(
                update(table)
                .where(table.c.lease_token.in_(tokens))
                .values(heartbeat=now, lease_expires=now + LEASE_SECONDS)
            )
