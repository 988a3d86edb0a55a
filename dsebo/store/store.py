"""`Store`: runs in a database. Here it is opened and read; `dsebo.store.writing` writes."""

from __future__ import annotations

import json
import logging
import math
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection, Engine, Select, bindparam, func, select, update

from dsebo.config import RunConfig
from dsebo.events import Started
from dsebo.objectives.fields import must
from dsebo.store import database, schema
from dsebo.store.database import LASTING, QUICK, connect, locked, plain_errors, resolve
from dsebo.store.errors import NotFound, StoreError
from dsebo.store.leases import NO_LEASE
from dsebo.store.migrations import bring_up_to_date
from dsebo.store.patience import SLOW_SECONDS, SLOW_WORDS
from dsebo.store.presence import Presence
from dsebo.store.restoring import Lifts
from dsebo.store.rows import (
    ALL_RUNS,
    COLUMNS,
    RunFilter,
    RunRow,
    ordered,
    shown_states,
    state_column,
    to_rows,
)

if TYPE_CHECKING:
    import pandas as pd

INCIDENT_SECONDS = 86_400.0  # that one is told of

Array = np.ndarray

_SECONDS = ("seconds", "seconds_fit", "seconds_acq", "seconds_eval")
_EVALUATION = ("t", "y", "best", "d", "T", "since_gain", "failed", *_SECONDS, "error")
_SELECT_AFTER = (  # built once: it is asked for every second by every open page
    select(*(schema.evaluation.c[name] for name in _EVALUATION))
    .where(schema.evaluation.c.run_id == bindparam("run"))
    .where(schema.evaluation.c.t > bindparam("after"))
    .order_by(schema.evaluation.c.t)
)
_log = logging.getLogger(__name__)
_DTYPES: dict[str, Any] = {"t": np.int64, "failed": np.bool_, "error": object}
_WHOLE = ("d", "T", "since_gain")


class Store:
    """Runs, their evaluations, events and checkpoints, in any database that SQLAlchemy knows."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._lasting = engine.execution_options(**LASTING)
        self._quick = engine.execution_options(**QUICK)
        self._lifts = Lifts()
        self._asking: dict[int, float] = {}  # by thread: since when it waits to write
        # SQLite has one writer: waiting here is fair and quick, its own waiting sleeps and polls
        self._turn = threading.Lock() if engine.dialect.name == "sqlite" else None
        self._presence = Presence(engine.url, self._prepare) if engine.dialect.name == "sqlite" else None

    @classmethod
    def open(cls, url: str | None = None) -> Store:
        """The store at that address (None: DSEBO_DB, the settings' or the user's own).

        An empty database is set up, an older one migrated; where neither is needed nothing is
        written, so that a full disk or a lock hides no run.
        """
        engine = connect(resolve(url))
        try:
            bring_up_to_date(engine)
            store = cls(engine)
        except BaseException:
            engine.dispose()
            raise
        return store

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One consistent view."""
        if self._presence is not None and self._presence.lost():
            with self._in_turn():
                self._find_again()
        with plain_errors(self.engine.url), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def write(self, *, lasting: bool = True) -> Iterator[Connection]:
        """One short transaction: all of it or, after an exception, nothing.

        `lasting`: safe on the disk when it ends. What can be computed again need not wait for that:
        it outlives the process, but not a power failure.
        """
        engine, me = self._lasting if lasting else self._quick, threading.get_ident()
        self._asking[me] = time.monotonic()
        try:
            with plain_errors(self.engine.url), self._in_turn():
                self._find_again()
                with engine.begin() as connection:
                    self._asking.pop(me, None)
                    yield connection
        finally:
            self._asking.pop(me, None)

    def waiting(self) -> str:
        """Whether something here waits to write while another program does; empty where nothing does."""
        since = min(list(self._asking.values()), default=math.inf)
        return SLOW_WORDS if time.monotonic() - since > SLOW_SECONDS else ""

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        """Among the writers of this process; not for ever, as the one before may wait for others."""
        if self._turn is None:
            yield
            return
        if not self._turn.acquire(timeout=database.BUSY_SECONDS):
            raise locked(self.engine.url)
        try:
            yield
        finally:
            self._turn.release()

    def _find_again(self) -> None:
        """Go on with the file at the path, where it is not the one that was opened, and lose nothing."""
        if self._presence is None or not self._presence.lost():
            return
        self._presence.recover()
        self.engine.dispose()  # connections that are in use end with what they do
        for sentence in self.incidents(60.0):
            _log.warning("%s", sentence)

    def _prepare(self) -> None:
        self.engine.dispose()
        bring_up_to_date(self.engine)

    def incidents(self, seconds: float = INCIDENT_SECONDS) -> list[str]:
        """What has happened to the database file within so many seconds, oldest first."""
        table = schema.incident.c
        with self.read() as connection:
            late = select(table.text).where(table.at > time.time() - seconds).order_by(table.at)
            return list(connection.execute(late).scalars())

    def list_runs(
        self,
        which: RunFilter = ALL_RUNS,
        *,
        order_by: str = "created",
        descending: bool = True,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[RunRow]:
        """The runs that pass the filter, in that order."""
        with self.read() as connection:
            shown = shown_states(connection)
            chosen = which.apply(select(*COLUMNS), shown)
            chosen = ordered(chosen, order_by, descending, shown).limit(limit).offset(offset)
            # The driver's own tuples: ten thousand Row objects would call the garbage collector.
            return to_rows(connection.execute(chosen).cursor.fetchall(), shown)

    def run_columns(
        self, names: Sequence[str], which: RunFilter = ALL_RUNS, *, limit: int | None = None
    ) -> dict[str, list[Any]]:
        """Columns of a list, newest first, as stored: for tables of thousands of runs."""
        with self.read() as connection:
            shown = shown_states(connection)
            columns = [state_column(shown) if n == "state" else schema.run.c[n] for n in names]
            chosen = ordered(which.apply(select(*columns), shown), "created", True, shown).limit(limit)
            tuples = connection.execute(chosen).cursor.fetchall()
        values = zip(*tuples, strict=True) if tuples else [()] * len(names)
        return {name: list(column) for name, column in zip(names, values, strict=True)}

    def count_runs(self, which: RunFilter = ALL_RUNS) -> int:
        """How many runs pass the filter."""
        with self.read() as connection:
            counted = which.apply(select(func.count()).select_from(schema.run), shown_states(connection))
            return int(connection.execute(counted).scalar_one())

    def get_run(self, run_id: str) -> RunRow:
        """The run of that id, which may be shortened while it stays unique."""
        with self.read() as connection:
            full = find_id(connection, run_id)
            tuples = connection.execute(select(*COLUMNS).where(schema.run.c.id == full)).all()
            return to_rows(tuples, shown_states(connection, full))[0]

    def evaluations(self, run_id: str, after: int = 0) -> pd.DataFrame:
        """The evaluations with t > after, a row each; y is NaN where one failed."""
        import pandas as pd  # slow to import, and no run needs it

        with self.read() as connection:
            full = find_id(connection, run_id)
            rows = connection.execute(_SELECT_AFTER, {"run": full, "after": after}).all()
        columns = zip(*rows, strict=True) if rows else [()] * len(_EVALUATION)
        return pd.DataFrame(
            {name: _column(name, values) for name, values in zip(_EVALUATION, columns, strict=True)}
        )

    def events(self, run_id: str, after: int = 0) -> list[dict[str, Any]]:
        """Every event but the evaluations, as JSON objects; those with t > after, 0 for all."""
        table = schema.event
        with self.read() as connection:
            full = find_id(connection, run_id)
            chosen = select(table.c.payload).where(table.c.run_id == full).order_by(table.c.id)
            if after > 0:
                chosen = chosen.where(table.c.t > after)
            return [json.loads(payload) for payload in connection.execute(chosen).scalars()]

    def started(self, run_id: str) -> dict[str, Any] | None:
        """The event that a run began with, which tells its S; None before it has begun."""
        table = schema.event
        with self.read() as connection:
            full = find_id(connection, run_id)
            chosen = select(table.c.payload).where(table.c.run_id == full, table.c.kind == Started.kind)
            payload = connection.execute(chosen.order_by(table.c.id).limit(1)).scalar_one_or_none()
        return None if payload is None else dict(json.loads(payload))

    def point(self, run_id: str, t: int) -> Array:
        """x (D,) of evaluation t, rebuilt from what is stored of it."""
        table = schema.evaluation
        with self.read() as connection:
            full = find_id(connection, run_id)
            chosen = select(table.c.z, table.c.z_type)
            point = connection.execute(chosen.where(table.c.run_id == full, table.c.t == t)).one_or_none()
        if point is None:
            raise StoreError(must("t", f"an evaluation of run {full[:8]}", t))
        if point.z is None:
            raise StoreError(f"Run {full[:8]} was imported without its points.")
        return self._lifts.lift(self, full, np.frombuffer(point.z, dtype=f"<{point.z_type}"))

    def config(self, run_id: str) -> RunConfig:
        """The validated config of a run."""
        return self.get_run(run_id).parsed

    def versions(self, run_id: str) -> dict[str, str]:
        """The versions of the software that began the run."""
        with self.read() as connection:
            chosen = select(schema.run.c.versions).where(schema.run.c.id == find_id(connection, run_id))
            return dict(json.loads(connection.execute(chosen).scalar_one()))

    def mark_interrupted(self) -> int:
        """Mark the runs whose process has died; they can be resumed. Returns how many."""
        with self.read() as connection:
            shown = shown_states(connection)
        dead = [run_id for run_id, state in shown.items() if state == "interrupted"]
        if not dead:
            return 0
        with self.write() as connection:
            shown = shown_states(connection)  # again: someone may have taken one meanwhile
            dead = [run_id for run_id, state in shown.items() if state == "interrupted"]
            connection.execute(
                update(schema.run).where(schema.run.c.id.in_(dead)).values(state="interrupted", **NO_LEASE)
            )
        return len(dead)

    def close(self) -> None:
        """Close every connection."""
        if self._presence is not None:
            self._presence.close()
        self.engine.dispose()


def find_id(connection: Connection, run_id: str) -> str:
    """The full id of a run, from a prefix that only it has."""
    run = schema.run.c
    exact = connection.execute(select(run.id).where(run.id == run_id)).first()
    return str(exact.id) if exact is not None else id_from(connection, select(run.id), run_id, "run")


def id_from(connection: Connection, ids: Select[tuple[str]], prefix: str, thing: str) -> str:
    """The only one of these ids that begins so; NotFound where there is none, or more than one."""
    a_thing = f"{'an' if thing[0] in 'aeiou' else 'a'} {thing}"
    if not prefix:
        raise NotFound(f"id is missing: the id of {a_thing}, which may be shortened.")
    column = ids.selected_columns[0]
    near = ids.where(column.startswith(prefix.lower(), autoescape=True)).limit(2)
    matches = connection.execute(near).scalars().all()
    if not matches:
        raise NotFound(f"{prefix!r} is not {a_thing} of this store.")
    if len(matches) > 1:
        raise NotFound(f"{prefix!r} begins the ids of several {thing}s: give more of it.")
    return str(matches[0])


def _column(name: str, values: Sequence[Any]) -> Array:
    """A column, of numbers mostly; whole ones stay whole unless one is missing (then NaN)."""
    if name in _DTYPES:
        return np.array(values, dtype=_DTYPES[name])
    if name in _WHOLE and None not in values:
        return np.array(values, dtype=np.int64)
    return np.array(values, dtype=np.float64)
