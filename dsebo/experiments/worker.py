"""What a worker does: one planned run, from wherever it stands to its end."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from functools import lru_cache

from sqlalchemy import Connection, select

from dsebo.config import RunConfig, config_hash
from dsebo.experiments.progress import HELD, MISSING, find_runs
from dsebo.experiments.spec import Planned
from dsebo.runs import commands
from dsebo.runs.places import Job
from dsebo.runs.slots import CoreTokens, FairSlots
from dsebo.runs.worker import Session
from dsebo.store import schema
from dsebo.store.errors import LeaseLost, StoreAway, StoreError
from dsebo.store.leases import Heartbeat, Lease, set_state
from dsebo.store.patience import PATIENCE_SECONDS, Waiting
from dsebo.store.records import versions
from dsebo.store.rows import OwnerHash
from dsebo.store.store import Store
from dsebo.store.writing import NewRuns, claim, create

POLL_SECONDS = 0.25  # how soon it is seen what is wanted


@dataclass(frozen=True)
class Task:
    """One planned run as it is sent to a worker."""

    url: str  # of the store, with its password
    experiment: Lease  # under which this is given out
    owner: OwnerHash
    name: str  # of a new run
    tag: str
    planned: Planned
    parent: int | None = None  # the process that the workers are children of; None on a cluster


@dataclass(frozen=True)
class Outcome:
    """How that went: the state in which the run ended, "stopped" where it is to go on later, or "busy"."""

    kind: str
    run_id: str | None = None  # None where there is no run
    text: str = ""  # what went wrong, for people
    reused: bool = False  # it had finished before


class _Taken(StoreError):
    """Someone has begun the same run at the same moment."""


under_way: set[str] = set()  # hashes of what this process works on


def work(task: Task) -> Outcome:
    """Do one planned run: reuse it if it has finished, carry it on if it has been begun."""
    under_way.add(task.planned.hash)
    waiting = Waiting(f"A worker of experiment {task.experiment.run_id[:8]}")
    try:
        _check_version(task.planned)
        store = waiting.do(lambda _: _store(task.url), slow=True)
        wanted = Wanted(store, task.experiment, task.parent)
        taken = waiting.do(lambda _: _take(store, task, wanted))
        return taken if isinstance(taken, Outcome) else _carry_out(store, task, taken, wanted, waiting)
    finally:
        under_way.discard(task.planned.hash)


def _take(store: Store, task: Task, wanted: Wanted) -> Lease | Outcome:
    """The right to work on the planned run, or what there is to say instead."""
    run_id, state = _find(store, task)
    if state == "finished":
        return Outcome("finished", run_id, reused=True)
    if state in HELD:
        return Outcome("busy", run_id)
    if wanted.now() in ("cancel", "stop"):
        return Outcome("stopped")
    try:
        return _begin(store, task) if run_id is None else claim(store, run_id)
    except _Taken:
        return Outcome("busy")
    except StoreAway:
        raise
    except StoreError:
        if run_id is None:
            raise
        return Outcome("busy", run_id)  # someone was quicker


def _find(store: Store, task: Task) -> tuple[str | None, str]:
    """(id, state) of the run that stands for the planned one; (None, MISSING) where there is none."""
    with store.read() as connection:
        known = find_runs(connection, [task.planned], task.owner).get(task.planned.hash)
    return (None, MISSING) if known is None else (str(known[0].id), known[1])


def _begin(store: Store, task: Task) -> Lease:
    """A new run, unless someone has begun the same one meanwhile."""

    def check(connection: Connection) -> None:
        if find_runs(connection, [task.planned], task.owner):
            raise _Taken("The run has been begun by another process.")

    names, group = [commands.checked_name(task.name)], task.experiment.run_id
    new = NewRuns([task.planned.config], names, [task.tag], task.owner, group=group)
    return create(store, new, check)[0]


def _carry_out(store: Store, task: Task, lease: Lease, wanted: Wanted, waiting: Waiting) -> Outcome:
    heartbeat = Heartbeat(store)
    heartbeat.hold([lease])
    cores = None if task.parent is None else _tokens()
    slots = ExperimentSlots(store, lease, wanted, cores, waiting)
    problem = ""
    try:
        for _ in Session(store, Job(lease), heartbeat, slots).events():
            pass
    except LeaseLost:
        return Outcome("busy", lease.run_id)
    except StoreError:
        raise
    except Exception as error:  # the run is stored as failed; the others go on
        problem = f"{type(error).__name__}: {error}"
    finally:
        heartbeat.close()
    row = waiting.do(lambda _: store.get_run(lease.run_id))
    kind = row.state if row.state in ("finished", "failed", "cancelled") else "stopped"
    return Outcome(kind, row.id, problem or row.error or "")


def _check_version(planned: Planned) -> None:
    """A worker with another engine would make other runs than those that are planned."""
    if config_hash(RunConfig.parse(planned.config.model_dump(mode="json"))) != planned.hash:
        raise StoreError(
            f"A worker has another engine than the experiment: dsebo {versions()['dsebo']} there."
        )


@lru_cache(maxsize=4)
def _store(url: str) -> Store:
    """One for each process: opening it takes longer than a short run."""
    return Store.open(url)


@lru_cache(maxsize=1)
def _tokens() -> CoreTokens:
    return CoreTokens(live=False)


class Wanted:
    """What is wanted of an experiment, as one of its workers sees it."""

    def __init__(self, store: Store, lease: Lease, parent: int | None = None) -> None:
        self._store, self._lease, self._parent = store, lease, parent
        self._read_at, self._known = 0.0, "run"
        self._answered = time.monotonic()

    def now(self) -> str:
        """ "run", "pause", "cancel", or "stop" where nobody waits for this work any more."""
        if self._parent not in (None, os.getpid(), os.getppid()):
            return "stop"
        if time.monotonic() - self._read_at >= POLL_SECONDS:
            self._read_at = time.monotonic()
            self._known = self._read_or_known()
        return self._known

    def _read_or_known(self) -> str:
        """While the database is away nothing new is wanted; not for longer than anyone waits for it."""
        try:
            known = self._read()
        except StoreAway:
            if time.monotonic() - self._answered > PATIENCE_SECONDS:
                raise
            return self._known
        self._answered = time.monotonic()
        return known

    def _read(self) -> str:
        table = schema.experiment.c
        chosen = select(table.wanted, table.lease_token, table.lease_expires)
        with self._store.read() as connection:
            row = connection.execute(chosen.where(table.id == self._lease.run_id)).one_or_none()
        if row is None or row.lease_token != self._lease.token:
            return "stop"
        # Not at once when it runs out: who holds it renews it when the database is back.
        if row.lease_expires + PATIENCE_SECONDS < time.time():
            return "stop"
        return str(row.wanted)


class ExperimentSlots(FairSlots):
    """The slot of one run: it is free while its experiment is to run and a core is free."""

    def __init__(
        self, store: Store, run: Lease, wanted: Wanted, cores: CoreTokens | None, waiting: Waiting
    ) -> None:
        super().__init__(1, cores)
        self._store, self._run, self._wanted, self._database = store, run, wanted, waiting
        self._opened = self._paused = False

    def acquire(
        self,
        stop: threading.Event,
        owner: str = "",
        expected: float = 0.0,
        nudged: threading.Event | None = None,
        first: bool = False,
    ) -> bool:
        """Wait until the next evaluation may start; False when the run is to end instead."""
        while not stop.is_set():
            wanted = self._wanted.now()
            if wanted == "pause":
                self._pause(stop)
                continue
            self._paused = False
            if wanted == "cancel" and self._opened:
                # the session reads it
                self._database.do(lambda _: commands.order(self._store, self._run.run_id, "cancel"))
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
            self._database.do(lambda _: set_state(self._store, schema.run, self._run, "paused"))
            self._paused = True
        stop.wait(POLL_SECONDS)
