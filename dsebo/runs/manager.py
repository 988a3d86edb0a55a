"""`RunManager`: runs in background threads. It knows nothing of pages."""

from __future__ import annotations

import atexit
import logging
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from sqlalchemy import Connection

from dsebo.config import DEFAULT_SEED, RunConfig, predict
from dsebo.runs import commands
from dsebo.runs.limits import check_limits
from dsebo.runs.machine import use_kept_pace
from dsebo.runs.places import Job, Place, Places
from dsebo.runs.slots import CoreTokens, FairSlots
from dsebo.runs.worker import Session
from dsebo.settings import Settings
from dsebo.store.errors import LeaseLost, NotAllowed, StoreAway, StoreError
from dsebo.store.forking import create_fork, plan_fork
from dsebo.store.leases import Heartbeat
from dsebo.store.restoring import check_can_go_on
from dsebo.store.rows import LOCAL_OWNER, OwnerHash, RunRow, owner_hash
from dsebo.store.schema import ACTIVE
from dsebo.store.store import Store
from dsebo.store.writing import NewRuns, claim, create, interrupt

MAX_LAUNCH = 1000  # runs at a time
_SAVING_SECONDS = 0.3  # of a close's time, kept for marking what did not stop by itself


class Owned(Protocol):
    """What belongs to someone: a run, an experiment."""

    @property
    def owner(self) -> OwnerHash:
        """Whose it is."""


_log = logging.getLogger(__name__)
_open: weakref.WeakSet[RunManager] = weakref.WeakSet()


class RunManager:
    """Starts runs, each in its own daemon thread, and passes on what their owners want.

    Safe from any thread. Commands take effect between two evaluations, whichever process of the
    store works on the run.
    """

    def __init__(self, store: Store, settings: Settings | None = None) -> None:
        self.store = store
        self.settings = settings or Settings.load()
        count = self.settings.slot_count
        self._slots = FairSlots(count, CoreTokens(count, live=True))
        self._heartbeat = Heartbeat(store)
        self._lock = threading.RLock()
        self._places = Places(lambda: self.settings)
        self._sessions: dict[str, tuple[Session, threading.Thread]] = {}  # of the runs at work
        self._closed = False
        use_kept_pace(store)
        self._mark_interrupted()
        _open.add(self)

    def launch(
        self,
        configs: RunConfig | Sequence[RunConfig],
        *,
        name: str | Sequence[str] = "",
        tags: Sequence[str] = (),
        owner: str = LOCAL_OWNER,
        speed: float | None = None,
        paused: bool = False,
        ghost: str | None = None,
    ) -> list[str]:
        """Start runs as one group: all of them or, over a limit, none.

        `name`: one for all or one for each; empty: method, function and D. `speed`: evaluations per second,
        None: as fast as it goes. `paused`: they wait for `step` or `resume`. `ghost`: a stored run that
        charts draw behind them.
        """
        configs = [configs] if isinstance(configs, RunConfig) else list(configs)
        if not 1 <= len(configs) <= MAX_LAUNCH:
            raise StoreError(f"A launch must be of 1 to {MAX_LAUNCH} runs (got {len(configs)}).")
        names = [name] * len(configs) if isinstance(name, str) else name
        whose = owner_hash(owner)
        plain = [config.with_seed(DEFAULT_SEED) for config in configs]
        repeats = len(configs) > 1 and plain.count(plain[0]) == len(configs)
        called = plain if repeats else configs  # seeds of one group share its name
        new = NewRuns(
            configs,
            [commands.run_name(text, config) for text, config in zip(names, called, strict=True)],
            commands.checked_tags(tags),
            whose,
            commands.checked_speed(speed),
            paused,
            ghost=None if ghost is None else self.store.get_run(ghost).id,
        )
        asked = [(config, config.budget, 0) for config in configs]
        self._refuse_when_closed()
        leases = create(self.store, new, lambda c: check_limits(c, self.settings, whose, asked))
        pairs = zip(leases, configs, strict=True)
        self._take_on([Job(lease, whose, _memory(config), first=True) for lease, config in pairs])
        return [lease.run_id for lease in leases]

    def fork(
        self,
        run_id: str,
        at: int,
        *,
        decide: int | None = None,
        changes: Mapping[str, Any] | None = None,
        budget: int | None = None,
        name: str = "",
        tags: Sequence[str] = (),
        owner: str = LOCAL_OWNER,
        speed: float | None = None,
        paused: bool = False,
    ) -> str:
        """Start a run that shares another one's history up to a convergence, and goes on otherwise.

        Everyone may fork what everyone may watch: the other run, at work or not, stays as it is, and is the
        fork's ghost. What is decided and changed: as in `plan_fork`; the rest: as in `launch`.
        """
        self._refuse_when_closed()
        new_tags, new_speed, whose = (
            commands.checked_tags(tags),
            commands.checked_speed(speed),
            owner_hash(owner),
        )
        fork = plan_fork(self.store, run_id, at, decide, changes, budget)
        names = [commands.run_name(name, fork.config)]
        new = NewRuns([fork.config], names, new_tags, whose, new_speed, paused, ghost=fork.parent.id)
        asked = [(fork.config, fork.budget, fork.at)]
        lease = create_fork(self.store, fork, new, lambda c: check_limits(c, self.settings, whose, asked))
        self._take_on([Job(lease, whose, _memory(fork.config, fork.budget))])
        return lease.run_id

    def pause(self, run_id: str, owner: str = LOCAL_OWNER) -> None:
        """Stop after the evaluation under way, until resumed."""
        row = self._controlled(run_id, owner)
        self._told(row, commands.order(self.store, row.id, "pause"), "paused")

    def step(self, run_id: str, owner: str = LOCAL_OWNER) -> None:
        """Exactly one evaluation; the run is paused before and after it."""
        row = self._controlled(run_id, owner)
        if commands.order(self.store, row.id, "pause", steps=1) is not None:
            self._take_up(row, wanted="pause", steps=1)
        self._nudge(row.id)

    def resume(self, run_id: str, owner: str = LOCAL_OWNER) -> None:
        """Go on: a paused run, or one that was interrupted, from its last evaluation."""
        row = self._controlled(run_id, owner)
        if commands.order(self.store, row.id, "run") is not None:
            self._take_up(row)
        self._nudge(row.id)

    def cancel(self, run_id: str, owner: str = LOCAL_OWNER) -> None:
        """End after the evaluation under way."""
        row = self._controlled(run_id, owner)
        self._told(row, commands.order(self.store, row.id, "cancel"), "cancelled")
        self._forget_queued(row.id)

    def delete(self, run_id: str, owner: str = LOCAL_OWNER) -> None:
        """Take it off the list; `restore` brings it back. A run at work is cancelled."""
        row = self._controlled(run_id, owner)
        if row.state in (*ACTIVE, "stalled"):
            self.cancel(row.id, owner)
        commands.change(self.store, row.id, deleted_at=time.time())

    def restore(self, run_id: str, owner: str = LOCAL_OWNER) -> None:
        """Bring a deleted run back to the list."""
        row = self._controlled(run_id, owner, deleted=True)
        commands.change(self.store, row.id, deleted_at=None)

    def set_speed(self, run_id: str, speed: float | None, owner: str = LOCAL_OWNER) -> None:
        """Evaluations per second, for demonstrations; None is as fast as it goes."""
        row = self._controlled(run_id, owner)
        commands.change(self.store, row.id, speed=commands.checked_speed(speed))
        self._nudge(row.id)

    def rename(self, run_id: str, name: str, owner: str = LOCAL_OWNER) -> None:
        """Another name; an empty one gives the default."""
        row = self._controlled(run_id, owner)
        commands.change(self.store, row.id, name=commands.run_name(name, row.parsed))

    def tag(self, run_id: str, tags: Sequence[str], owner: str = LOCAL_OWNER) -> None:
        """Exactly these tags."""
        row = self._controlled(run_id, owner)
        commands.change(self.store, row.id, tags=commands.tags_json(tags))

    def annotate(self, run_id: str, note: str, owner: str = LOCAL_OWNER) -> None:
        """Another note; an empty one is none."""
        row = self._controlled(run_id, owner)
        commands.change(self.store, row.id, note=commands.checked_note(note))

    def extend(self, run_id: str, more: int, owner: str = LOCAL_OWNER) -> None:
        """More evaluations; a finished run goes on. Its patience T keeps to the first budget."""
        row = self._controlled(run_id, owner)
        commands.checked_more(more, row.budget)
        check_can_go_on(self.store, row)
        if commands.grow_budget(self.store, row.id, more, self._check(row, row.budget + more)):
            self._take_up(self.store.get_run(row.id))

    def waiting(self, run_id: str) -> str:
        """Whether a run at work here waits for the database, and why; empty where it does not."""
        with self._lock:
            at_work = self._sessions.get(run_id)
        return at_work[0].waiting.words() if at_work else ""

    def may_control(self, row: Owned, owner: str) -> bool:
        """Everyone may watch; in class mode only the owner and the lecturer may do more."""
        if self.settings.mode == "local":
            return True
        return self.settings.is_lecturer(owner) or owner_hash(owner) == row.owner

    def close(self, timeout: float = 2.0) -> None:
        """Stop every run within `timeout` seconds and save it as interrupted."""
        deadline = time.monotonic() + timeout - min(_SAVING_SECONDS, timeout / 2)
        with self._lock:
            if self._closed:
                return
            self._closed = True
            sessions = list(self._sessions.values())
            leases = [job.lease for job in self._places.queue.values()]
            self._places.queue.clear()
        for session, _ in sessions:
            session.stop()
        for _, thread in sessions:
            thread.join(max(0.0, deadline - time.monotonic()))
        leases += [session.lease for session, thread in sessions if session.queued or thread.is_alive()]
        try:
            if leases:
                interrupt(self.store, [lease.token for lease in leases])
        except StoreAway as error:  # the leases run out, and a dead process's runs are interrupted
            _log.warning("Runs could not be marked as interrupted: %s", error)
        finally:
            self._heartbeat.close()
            _open.discard(self)

    # -- who may, and what is refused ------------------------------------------------------

    def _controlled(self, run_id: str, owner: str, deleted: bool = False) -> RunRow:
        self._refuse_when_closed()
        row = self.store.get_run(run_id)
        if not self.may_control(row, owner):
            raise NotAllowed(
                f"Run {row.short_id} belongs to someone else: only its owner or the lecturer may control it."
            )
        if row.deleted_at is not None and not deleted:
            raise StoreError(f"Run {row.short_id} is deleted: restore it first.")
        return row

    def _told(self, row: RunRow, state: str | None, wish: str) -> None:
        if state is not None:
            raise StoreError(f"Run {row.short_id} is {state} and cannot be {wish}.")
        self._nudge(row.id)

    def _check(self, row: RunRow, budget: int) -> Callable[[Connection], None]:
        """What refuses, in a transaction, to let the run go on to that budget."""
        asked = [(row.parsed, budget, row.n_done)]
        return lambda connection: check_limits(connection, self.settings, row.owner, asked, but=row.id)

    def _mark_interrupted(self) -> None:
        """What a dead process left; it is shown as interrupted even where this cannot be written now."""
        try:
            self.store.mark_interrupted()
        except StoreAway as error:
            _log.warning("Interrupted runs could not be marked: %s", error)

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise StoreError("The manager of runs has been closed.")

    # -- threads ---------------------------------------------------------------------------

    def _take_up(self, row: RunRow, wanted: str = "run", steps: int = 0) -> None:
        """Claim a run that nobody works on, and queue it here."""
        check_can_go_on(self.store, row)
        if row.state == "finished" and row.n_done >= row.budget:
            raise StoreError(
                f"Run {row.short_id} has finished its {row.budget} evaluations: extend it to go on."
            )
        memory = _memory(row.parsed, row.budget)
        lease = claim(self.store, row.id, wanted, steps, self._check(row, row.budget))
        self._take_on([Job(lease, row.owner, memory)])

    def _take_on(self, jobs: list[Job]) -> None:
        self._heartbeat.hold([job.lease for job in jobs])
        with self._lock:
            self._places.queue.update({job.lease.run_id: job for job in jobs})
            self._start_some()

    def _start_some(self) -> None:
        """Start queued runs while there is room."""
        while not self._closed and (job := self._places.start_next()) is not None:
            run_id, place = job.lease.run_id, _ManagedPlace(self, job)
            session = Session(self.store, job, self._heartbeat, self._slots, place)
            thread = threading.Thread(
                target=self._work, args=(session, job), name=f"dsebo-run-{run_id[:8]}", daemon=True
            )
            self._sessions[run_id] = (session, thread)
            thread.start()
        for job in self._places.wanted_from():
            self._sessions[job.lease.run_id][0].nudge()

    def _work(self, session: Session, job: Job) -> None:
        """What a thread does."""
        run_id = session.lease.run_id
        try:
            for _ in session.events():
                pass
        except LeaseLost as error:
            _log.info("%s", error)
        except StoreError as error:
            _log.warning("Run %s stopped: %s", run_id[:8], error)
        except Exception:
            _log.exception("Run %s failed.", run_id[:8])
        finally:
            with self._lock:
                if self._sessions.get(run_id, (None,))[0] is session:
                    del self._sessions[run_id], self._places.at_work[run_id]
                if session.queued and not self._closed:
                    self._places.queue[run_id] = job
                self._start_some()

    def _nudge(self, run_id: str) -> None:
        with self._lock:
            if run_id in self._sessions:
                self._sessions[run_id][0].nudge()

    def _forget_queued(self, run_id: str) -> None:
        with self._lock:
            queued = self._places.queue.pop(run_id, None)
        if queued is not None:
            self._heartbeat.drop(queued.lease)


class _ManagedPlace(Place):
    """A place that a manager gives and takes."""

    def __init__(self, manager: RunManager, job: Job) -> None:
        self._manager, self._job = manager, job

    def wait(self) -> None:
        """See `Place.wait`."""
        if not self._job.waiting:
            with self._manager._lock:
                self._manager._places.wait(self._job)
                self._manager._start_some()

    def go_on(self) -> None:
        """See `Place.go_on`."""
        if self._job.waiting:
            with self._manager._lock:
                self._manager._places.go_on(self._job)

    def must_leave(self) -> bool:
        """See `Place.must_leave`."""
        with self._manager._lock:
            if time.monotonic() >= self._manager._places.next_due:
                self._manager._start_some()
            return self._manager._places.must_leave(self._job)


def _memory(config: RunConfig, budget: int | None = None) -> int:
    return predict(config, budget).memory_bytes


@atexit.register
def _close_all() -> None:
    """Normal exit and Ctrl-C: every run is saved as interrupted."""
    for manager in list(_open):
        manager.close()
