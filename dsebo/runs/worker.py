"""`Session`: one run being worked on, in a thread of the manager or in the foreground."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence

from dsebo.config import RunConfig
from dsebo.events import Event, Started
from dsebo.parsing import LEAST_SPEED
from dsebo.run import Runner
from dsebo.runs import commands
from dsebo.runs.places import Job, Place
from dsebo.runs.slots import CoreTokens, FairSlots
from dsebo.store import schema
from dsebo.store.errors import LeaseLost, StoreAway, StoreError
from dsebo.store.forking import NewFork, create_fork
from dsebo.store.leases import Heartbeat, Lease, release, set_state
from dsebo.store.patience import Waiting
from dsebo.store.restoring import check_can_go_on, open_runner
from dsebo.store.rows import LOCAL_OWNER, owner_hash
from dsebo.store.store import Store
from dsebo.store.writing import (
    NewRuns,
    Order,
    begin,
    claim,
    commit_step,
    create,
    finish_if_done,
    leave_paused,
    read_order,
)

POLL_SECONDS = 0.25  # how soon a waiting run sees a command from another process
PAUSE_SECONDS = 1800.0  # after which a paused run gives up its thread and its memory
_OPEN_SECONDS_PER_BYTE = 2e-9  # of S, to draw it
_STALE_SECONDS = 0.005  # of waiting for a slot, after which orders are read again

_log = logging.getLogger(__name__)


class Session:
    """Works on a run whose lease it holds, and obeys its owner between two evaluations.

    Slots are shared equally among owners; the place may be taken away, so that others get their turn.
    """

    def __init__(
        self, store: Store, job: Job, heartbeat: Heartbeat, slots: FairSlots, place: Place | None = None
    ) -> None:
        self.store, self.job, self.heartbeat, self.slots = store, job, heartbeat, slots
        self.lease, self.place = job.lease, place or Place()
        self.queued = False  # whether it left to be queued again, with its lease
        self._paused_since: float | None = None
        self._last_seconds = 0.0  # that an evaluation took
        self._expected = 0.0  # that the next will take: the less of the last two, one may have been disturbed
        self._stop = threading.Event()
        self._wake = threading.Event()
        self.waiting = Waiting(f"Run {job.lease.run_id[:8]}", self._stop)

    def stop(self) -> None:
        """End after the evaluation under way; the run is saved as interrupted."""
        self._stop.set()
        self.nudge()

    def nudge(self) -> None:
        """Look at the orders, and whether others need the place, now."""
        self._wake.set()
        self.slots.wake()

    def events(self) -> Generator[Event, None, None]:
        """The run's events, each after it has been committed. However it ends, it is saved."""
        try:
            yield from self._work()
        except LeaseLost:
            raise
        except StoreError as error:  # a full disk, another S: what is stored stays good
            self._give_up("interrupted", str(error))
            raise
        except Exception as error:
            self._give_up("failed", f"{type(error).__name__}: {error}")
            raise
        except BaseException:  # Ctrl-C, or nobody listens any more
            self._give_up("interrupted", None)
            raise
        finally:
            if not self.queued:
                self.heartbeat.drop(self.lease)

    def _work(self) -> Iterator[Event]:
        opened = self._open()
        if opened is None:
            return
        runner, started = opened
        order = self.waiting.do(lambda again: begin(self.store, self.lease, started, again))
        if started is not None:
            yield started
        ended = self.waiting.do(lambda again: finish_if_done(self.store, self.lease, runner, again))
        while not ended:
            if self._stop.is_set() or order.wanted == "cancel":
                state = "cancelled" if order.wanted == "cancel" else "interrupted"
                self._release(state)
                return
            if self._leaves(order):
                return
            if not self._may_go(order):
                order = self._wait(order)
                continue
            done = self._evaluate(runner, order)
            if done is None:  # stopped, or told otherwise while waiting for a slot
                order = self._read_order()
                continue
            order = self._commit(runner, *done)
            ended = runner.done
            yield from done[0]
        yield runner.finished()

    def _open(self) -> tuple[Runner, Started | None] | None:
        """Drawing S is work too, and so is F(centre): they take a slot. None when stopped."""
        expected = _OPEN_SECONDS_PER_BYTE * self.job.memory_bytes
        if not self.slots.acquire(self._stop, self.job.owner, expected, first=self.job.first):
            self._release("interrupted")
            return None
        try:
            runner, fresh = self.waiting.do(lambda _: open_runner(self.store, self.lease.run_id), slow=True)
            return runner, runner.started() if fresh else None
        finally:
            self.slots.release()

    def _may_go(self, order: Order) -> bool:
        """Whether the next evaluation may start now."""
        if order.wanted == "cancel":
            return False
        if order.wanted == "pause":
            return order.steps > 0
        return order.speed is None or time.monotonic() >= self.job.due

    def _leaves(self, order: Order) -> bool:
        """Make room where others need it, or after a long pause; the run can be opened again as it is."""
        paused, now = order.wanted == "pause" and order.steps == 0, time.monotonic()
        self._paused_since = (self._paused_since or now) if paused else None
        too_long = self._paused_since is not None and now - self._paused_since >= PAUSE_SECONDS
        may = (
            paused or self._last_seconds > 0
        )  # one evaluation at least: to be opened only would lead nowhere
        if not (too_long or (may and self.place.must_leave())):
            return False
        if paused:
            return self.waiting.do(lambda _: leave_paused(self.store, self.lease))
        self._set_state("queued")
        self.queued = True
        return True

    def _wait(self, order: Order) -> Order:
        """Without a slot, until an order comes, the speed allows, or it is time to look again."""
        if order.wanted == "pause" and order.state != "paused":
            self._set_state("paused")
        left = self.job.due - time.monotonic() if order.wanted == "run" else POLL_SECONDS
        self.place.wait()
        self._wake.wait(max(0.0, min(POLL_SECONDS, left)))
        self._wake.clear()
        return self._read_order()

    def _evaluate(self, runner: Runner, order: Order) -> tuple[list[Event], bool] | None:
        """One evaluation in a slot; (what happened, whether it was a single step)."""
        self.place.go_on()
        asked = time.monotonic()
        if not self.slots.acquire(self._stop, self.job.owner, self._expected, self._wake, self.job.first):
            self._wake.clear()
            return None
        try:
            if self._wake.is_set() or time.monotonic() - asked > _STALE_SECONDS:
                self._wake.clear()
                order = self._read_order()
            if not self._may_go(order):
                return None
            if order.wanted == "run" and order.state != "running":
                self._set_state("running")
            if order.speed is not None:
                self.job.due = time.monotonic() + 1.0 / max(order.speed, LEAST_SPEED)
            began = time.monotonic()
            events = runner.step()
            took, self.job.first = time.monotonic() - began, False
            self._expected, self._last_seconds = min(took, self._last_seconds or took), took
            return events, order.wanted == "pause"
        finally:
            self.slots.release()

    def _commit(self, runner: Runner, events: list[Event], stepped: bool) -> Order:
        """Kept once, however often the database goes away meanwhile."""
        return self.waiting.do(
            lambda again: commit_step(self.store, self.lease, runner, events, stepped, again)
        )

    def _read_order(self) -> Order:
        return self.waiting.do(lambda _: read_order(self.store, self.lease))

    def _set_state(self, state: str) -> None:
        self.waiting.do(lambda _: set_state(self.store, schema.run, self.lease, state))

    def _release(self, state: str) -> None:
        self.waiting.do(lambda again: release(self.store, schema.run, self.lease, state, again=again))

    def _give_up(self, state: str, error: str | None) -> None:
        """Save what can be saved; where even that fails it is written once the database is back."""
        try:
            release(self.store, schema.run, self.lease, state, error)
        except LeaseLost:
            _log.debug("Run %s had been saved already.", self.lease.run_id[:8])
        except StoreAway:
            self.heartbeat.release_later(schema.run, self.lease, state, error)
        except StoreError as second:
            _log.warning("Run %s could not be marked: %s", self.lease.run_id[:8], second)


def stored_run(
    config: RunConfig,
    store: Store,
    name: str = "",
    *,
    tags: Sequence[str] = (),
    owner: str = LOCAL_OWNER,
    ghost: str | None = None,
    on_id: Callable[[str], None] | None = None,
) -> Generator[Event, None, None]:
    """The events of a new run, each committed before it is given out.

    Stopping early, by Ctrl-C or by no longer asking, leaves the run interrupted, to be resumed. `on_id`
    is called with the run's id before the first event. `ghost`: a stored run that charts draw behind it.
    """
    names = [commands.run_name(name, config)]
    behind = None if ghost is None else store.get_run(ghost).id
    new = NewRuns([config], names, commands.checked_tags(tags), owner_hash(owner), ghost=behind)
    lease = create(store, new)[0]
    if on_id is not None:
        on_id(lease.run_id)
    yield from _events(store, lease)


def forked_run(
    fork: NewFork, store: Store, name: str = "", *, on_id: Callable[[str], None] | None = None
) -> Generator[Event, None, None]:
    """The events of a fork that has been planned, from what it decides on; as `stored_run`."""
    names = [commands.run_name(name, fork.config)]
    lease = create_fork(store, fork, NewRuns([fork.config], names, ghost=fork.parent.id))
    if on_id is not None:
        on_id(lease.run_id)
    try:
        yield from fork.events
    except BaseException:  # nobody listens any more
        release(store, schema.run, lease, "interrupted")
        raise
    yield from _events(store, lease)


def resumed_run(store: Store, run_id: str) -> Generator[Event, None, None]:
    """The further events of a run that nobody works on, from its last committed evaluation."""
    row = store.get_run(run_id)
    if row.deleted_at is not None:
        raise StoreError(f"Run {row.short_id} is deleted: restore it first.")
    if row.state == "finished" and row.n_done >= row.budget:
        raise StoreError(f"Run {row.short_id} has finished its {row.budget} evaluations.")
    check_can_go_on(store, row)
    yield from _events(store, claim(store, row.id))


def _events(store: Store, lease: Lease) -> Generator[Event, None, None]:
    heartbeat = Heartbeat(store)
    heartbeat.hold([lease])
    slots = FairSlots(1, CoreTokens(live=True))
    try:
        yield from Session(store, Job(lease), heartbeat, slots).events()
    finally:
        heartbeat.close()
