"""What a worker does: one planned run, from wherever it stands to its end."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from sqlalchemy import Connection

from dsebo.config import RunConfig, config_hash
from dsebo.experiments.orders import Orders, SweepSlots
from dsebo.experiments.progress import HELD, find_runs
from dsebo.experiments.spec import Planned
from dsebo.runs.commands import checked_name
from dsebo.runs.slots import CoreTokens
from dsebo.runs.worker import Session
from dsebo.store.errors import LeaseLost, StoreError
from dsebo.store.leases import Heartbeat, Lease
from dsebo.store.records import versions
from dsebo.store.rows import OwnerHash
from dsebo.store.store import Store
from dsebo.store.writing import NewRuns, claim, create

TAG = "sweep"


@dataclass(frozen=True)
class Task:
    """One planned run as it is sent to a worker.

    Attributes:
        url: The store's, with its password.
        sweep: The sweep's id and the token of the lease under which this is given out.
        owner: Whose runs these are.
        name: What a new run is called.
        planned: The run.
        parent: The process whose children the workers are; None on a cluster.
    """

    url: str
    sweep: Lease
    owner: OwnerHash
    name: str
    planned: Planned
    parent: int | None = None


@dataclass(frozen=True)
class Outcome:
    """How that went.

    Attributes:
        kind: "finished", "failed" or "cancelled" as the run is now; "stopped" where it is to go
            on later; "busy" where another process works on it.
        run_id: The run; None where there is none.
        text: What went wrong, for people.
        reused: Whether it had finished before.
    """

    kind: str
    run_id: str | None = None
    text: str = ""
    reused: bool = False


class _Taken(StoreError):
    """Someone has begun the same run at the same moment."""


under_way: set[str] = set()  # hashes of what this process works on


def work(task: Task) -> Outcome:
    """Do one planned run: reuse it if it has finished, carry it on if it has been begun."""
    under_way.add(task.planned.hash)
    try:
        return _work(_store(task.url), task)
    finally:
        under_way.discard(task.planned.hash)


def _work(store: Store, task: Task) -> Outcome:
    _check_version(task.planned)
    found = _find(store, task)
    if found is not None and found[1] == "finished":
        return Outcome("finished", found[0], reused=True)
    if found is not None and found[1] in HELD:
        return Outcome("busy", found[0])
    orders = Orders(store, task.sweep, task.parent)
    if orders.wanted() in ("cancel", "stop"):
        return Outcome("stopped")
    try:
        lease = _begin(store, task) if found is None else claim(store, found[0])
    except _Taken:
        return Outcome("busy")
    except StoreError:
        if found is None:
            raise
        return Outcome("busy", found[0])  # someone was quicker
    return _carry_out(store, task, lease, orders)


def _find(store: Store, task: Task) -> tuple[str, str] | None:
    """(id, state) of the run that stands for the planned one."""
    with store.read() as connection:
        found = find_runs(connection, [task.planned], task.owner).get(task.planned.hash)
    return None if found is None else (str(found[0].id), found[1])


def _begin(store: Store, task: Task) -> Lease:
    """A new run, unless someone has begun the same one meanwhile."""

    def check(connection: Connection) -> None:
        if find_runs(connection, [task.planned], task.owner):
            raise _Taken("The run has been begun by another process.")

    names = [checked_name(task.name)]
    new = NewRuns([task.planned.config], names, [TAG], task.owner, group=task.sweep.run_id)
    return create(store, new, check)[0]


def _carry_out(store: Store, task: Task, lease: Lease, orders: Orders) -> Outcome:
    heartbeat = Heartbeat(store)
    heartbeat.hold([lease])
    cores = None if task.parent is None else _tokens()
    slots = SweepSlots(store, lease, orders, cores)
    said = ""
    try:
        for _ in Session(store, lease, heartbeat, slots).events():
            pass
    except LeaseLost:
        return Outcome("busy", lease.run_id)
    except StoreError:
        raise
    except Exception as error:  # the run is stored as failed; the others go on
        said = f"{type(error).__name__}: {error}"
    finally:
        heartbeat.close()
    row = store.get_run(lease.run_id)
    kind = row.state if row.state in ("finished", "failed", "cancelled") else "stopped"
    return Outcome(kind, row.id, said or row.error or "")


def _check_version(planned: Planned) -> None:
    """A worker with another engine would make other runs than those that are planned."""
    if config_hash(RunConfig.parse(planned.config.model_dump(mode="json"))) != planned.hash:
        raise StoreError(f"A worker has another engine than the sweep: dsebo {versions()['dsebo']} there.")


@lru_cache(maxsize=4)
def _store(url: str) -> Store:
    """One for each process: opening it takes longer than a short run."""
    return Store.open(url)


@lru_cache(maxsize=1)
def _tokens() -> CoreTokens:
    return CoreTokens(live=False)
