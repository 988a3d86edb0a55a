"""Connections: which database, how it is opened, and its errors in plain words."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import platformdirs
from sqlalchemy import URL, Connection, Engine, create_engine, event, exc, make_url

from dsebo.objectives.fields import ConfigError, must
from dsebo.settings import Settings
from dsebo.store.errors import StoreAway, StoreError, StoreFull

BUSY_SECONDS = 10  # that a writer waits for others; a run at work then tries again, see `patience`
_FORGOTTEN_SECONDS = 60  # after which a server ends a transaction that a stopped process left open
# Execution options of a connection that will write. What lasts survives a power loss; without it a
# commit survives the death of the process, and the last ones are lost where the power fails.
LASTING = {"dsebo_writing": "FULL"}
QUICK = {"dsebo_writing": "NORMAL"}


def default_url() -> str:
    """A SQLite file in the user's data folder."""
    folder = platformdirs.user_data_path("dsebo", appauthor=False)
    return f"sqlite:///{folder / 'runs.db'}"


def resolve(url: str | None) -> URL:
    """The address: what is given, DSEBO_DB, the settings' or the default; a path means SQLite."""
    try:
        given = url or os.environ.get("DSEBO_DB") or Settings.load().database or default_url()
    except ConfigError as error:
        raise StoreError(str(error)) from None
    if "://" not in given:
        given = f"sqlite:///{Path(given).expanduser()}"
    try:
        if "\x00" in given:
            raise ValueError("no file and no server has such a name")
        parsed = make_url(given)
    except (exc.ArgumentError, ValueError):
        allowed = "a database address such as sqlite:///runs.db or postgresql://user@host/name"
        raise StoreError(must("db", allowed, given)) from None
    if parsed.drivername in ("postgres", "postgresql"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.get_backend_name() == "sqlite":
        _check_file(parsed)
    return parsed


def _check_file(url: URL) -> None:
    """Make the folder; threads cannot share a database in memory."""
    if url.database in (None, "", ":memory:"):
        raise StoreError("db must not be in memory: runs in threads need a file.")
    try:
        Path(str(url.database)).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"The folder of {url.database} cannot be made: {error.strerror}.") from None


def connect(url: URL) -> Engine:
    """The engine for that address."""
    options: dict[str, Any] = {"max_overflow": -1}  # a thread for each run: never wait for one
    if url.get_backend_name() == "sqlite":
        options["connect_args"] = {"timeout": BUSY_SECONDS, "check_same_thread": False}
    else:
        options["pool_pre_ping"] = True  # a server may have been restarted
    if url.get_backend_name() == "postgresql":
        waits = {"lock_timeout": BUSY_SECONDS, "idle_in_transaction_session_timeout": _FORGOTTEN_SECONDS}
        words = " ".join(f"-c {name}={seconds}s" for name, seconds in waits.items())
        options["connect_args"] = {"connect_timeout": BUSY_SECONDS, "options": words}
    try:
        engine = create_engine(url, **options)
    except (exc.ArgumentError, exc.NoSuchModuleError):
        raise StoreError(f"There is no driver for {url.drivername}, of which {shown(url)} is.") from None
    except ModuleNotFoundError as error:
        raise StoreError(f"{shown(url)} needs the Python package {error.name}.") from None
    if url.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves, see below
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA cache_size = -32768")  # 32 MB, so that a long list stays in memory


def _begin_sqlite(connection: Connection) -> None:
    """A writer takes its lock first: a reader that turns writer would be refused at once."""
    synchronous = connection.get_execution_options().get("dsebo_writing")
    driver: Any = connection.connection.dbapi_connection  # SQLAlchemy would take longer than SQLite
    if synchronous is not None:
        driver.execute(f"PRAGMA synchronous = {synchronous}")
    driver.execute("BEGIN" if synchronous is None else "BEGIN IMMEDIATE")


def shown(url: URL) -> str:
    """The address without its password."""
    return url.render_as_string(hide_password=True)


@contextmanager
def plain_errors(url: URL) -> Iterator[None]:
    """The database's own errors as a `StoreError`."""
    try:
        yield
    except exc.DBAPIError as error:
        away = isinstance(error, exc.OperationalError | exc.InterfaceError) or error.connection_invalidated
        raise _plain(url, str(error.orig).strip(), away) from error
    except sqlite3.Error as error:  # from a connection that is only just being set up
        raise _plain(url, str(error).strip(), isinstance(error, sqlite3.OperationalError)) from error


def locked(url: URL, message: str = "database is locked") -> StoreAway:
    """The error of who has waited too long for others."""
    who = _locking(url) or "Another program"
    return StoreAway(f"{who} has kept {shown(url)} locked for {BUSY_SECONDS} s: {message}.")


def _locking(url: URL) -> str:
    """Which other process of this machine writes to a SQLite file, where Linux tells; else empty."""
    try:
        files = {os.stat(f"{url.database}{end}").st_ino for end in ("", "-shm")}
        lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
        # Such as: 3: POSIX  ADVISORY  WRITE 4711 08:02:131090 120 120
        pids = {int(words[4]) for words in lines if words[3] == "WRITE" and _inode(words[5]) in files}
        pid = min(pids - {0, os.getpid()})
        stopped = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "Tt"
    except (OSError, ValueError, IndexError):
        return ""
    way_out = f", which is stopped (kill -CONT {pid} wakes it, kill -9 {pid} ends it)," if stopped else ""
    return f"Process {pid}{way_out}"


def _inode(place: str) -> int:
    return int(place.rpartition(":")[2])


def _plain(url: URL, message: str, away: bool) -> StoreError:
    """`away`: it may go better later."""
    low, kind = message.lower(), StoreAway if away else StoreError
    if "is full" in low or "no space left" in low:
        return StoreFull(f"The disk or the database {shown(url)} is full: {message}.")
    if "is locked" in low or "lock timeout" in low:
        return locked(url, message.splitlines()[0])
    if "not a database" in low or "malformed" in low:
        return StoreError(f"{shown(url)} is not a dsebo store: {message}.")
    if "unable to open" in low or "readonly" in low:
        return kind(f"{shown(url)} cannot be opened for writing: {message}.")
    return kind(f"The database {shown(url)} refused: {message.splitlines()[0] if message else ''}.")
