"""Places: which of the queued runs may start, and which of those at work make room for them.

A place is for a run that wants to compute now. One that is paused, or waits for its time because it is
slowed, holds none, and gives its memory back where another run needs it. Where all places are taken,
owners take turns: no number of runs, owners or pauses keeps another owner's run waiting for long.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from dsebo.settings import Settings
from dsebo.store.leases import Lease
from dsebo.store.rows import LOCAL_OWNER

TURN_SECONDS = 2.0  # that a run keeps its place at least: to be opened again takes time
SPARE_THREADS = 64  # beyond the places: of paused and slowed runs, and of an owner's only run that computes


class Place:
    """What a run at work has of its manager; this one, of a run in the foreground, is never taken away."""

    def wait(self) -> None:
        """The run waits now: others may use its place."""

    def go_on(self) -> None:
        """The run wants to compute again."""

    def must_leave(self) -> bool:
        """Whether the run is to make room for another."""
        return False


@dataclass(eq=False)
class Job:
    """A queued run, or one at work."""

    lease: Lease
    owner: str = LOCAL_OWNER
    memory_bytes: int = 0  # predicted, from its start to its end
    waiting: bool = False  # paused or slowed: at work without a place
    since: float = 0.0  # when it began to compute; a time of `monotonic`, as the next
    due: float = 0.0  # before which it only waits, as it is slowed
    first: bool = False  # it is new, and has no point yet


@dataclass
class _Shortage:
    """What a queued run needs before it can start."""

    owner: str
    of_owner: bool  # over the limit of its owner, so that only the owner's own runs can make room
    places: int = 0
    threads: int = 0
    memory_bytes: float = 0.0

    def helped_by(self, job: Job, computing: Counter[str], now: float) -> bool:
        """Whether it helps, and is fair, that this run leaves."""
        if self.of_owner and job.owner != self.owner:
            return False
        if job.waiting:
            return self.threads > 0 or self.memory_bytes > 0
        # Turns are between owners: the one with the most at work gives way.
        most = computing[job.owner] == max(computing.values(), default=0) > computing[self.owner]
        short = max(self.places, self.threads, self.memory_bytes) > 0
        return short and most and now - job.since >= TURN_SECONDS

    def count(self, job: Job) -> None:
        """This run leaves."""
        self.places -= not job.waiting
        self.threads -= 1
        self.memory_bytes -= job.memory_bytes


class Places:
    """The queue and the runs at work of one manager, which holds a lock around every call."""

    def __init__(self, settings: Callable[[], Settings], clock: Callable[[], float] = time.monotonic) -> None:
        self._settings, self._clock = settings, clock
        self._short: list[_Shortage] = []
        self._served: dict[str, int] = {}  # owners, in the order in which a run of theirs was last started
        self.queue: dict[str, Job] = {}  # by run id, in order
        self.at_work: dict[str, Job] = {}
        self.next_due = math.inf  # when a queued run that is slowed wants to go on

    def start_next(self) -> Job | None:
        """Move a run from the queue to work.

        The oldest of the owner with the fewest that compute; among equals, of who was served longest ago.
        """
        self._short, self.next_due = [], math.inf
        if not self.queue:
            return None
        now, roomy = self._clock(), len(self.at_work) < SPARE_THREADS
        computing, held = self._computing(), Counter[str]()
        for job in self.at_work.values():
            held[job.owner] += job.memory_bytes
        first: dict[str, Job] = {}
        for job in self.queue.values():
            if job.due <= now or roomy:
                first.setdefault(job.owner, job)
            else:  # to open it for its waiting would cost others time
                self.next_due = min(self.next_due, job.due)
        self._served = {owner: at for owner, at in self._served.items() if owner in first or owner in held}
        for job in sorted(
            first.values(), key=lambda job: (computing[job.owner], self._served.get(job.owner, 0))
        ):
            limits = self._settings().owner_limits
            if limits.active is not None and computing[job.owner] >= limits.active:
                continue
            over = _over(limits.memory_mb, held[job.owner], job)
            if over > 0:
                self._short.append(_Shortage(job.owner, True, memory_bytes=over))
                continue
            short = self._shortage(job, computing, held.total())
            if short is not None:
                self._short.append(short)
                return None
            del self.queue[job.lease.run_id]
            self.at_work[job.lease.run_id] = job
            self._served[job.owner] = max(self._served.values(), default=0) + 1
            job.waiting, job.since = False, now
            return job
        return None

    def _shortage(self, job: Job, computing: Counter[str], held: int) -> _Shortage | None:
        """What is missing. Who has nothing that computes needs no free place: a class starts at once."""
        limits = self._settings().all_limits
        short = _Shortage(job.owner, False, memory_bytes=_over(limits.memory_mb, held, job))
        if limits.active is not None:
            short.places = computing.total() + 1 - limits.active if computing[job.owner] else 0
            short.threads = len(self.at_work) + 1 - (limits.active + SPARE_THREADS)
        return short if max(short.places, short.threads, short.memory_bytes) > 0 else None

    def wait(self, job: Job) -> None:
        """It gives up its place, not yet its memory."""
        job.waiting = True

    def go_on(self, job: Job) -> None:
        """It has a place again, at once: what it takes, thread and memory, it has kept."""
        job.waiting, job.since = False, self._clock()

    def must_leave(self, job: Job) -> bool:
        """Whether a queued run needs what this one has, and in fairness gets it."""
        if not self._short:
            return False
        computing, now = self._computing(), self._clock()
        for short in self._short:
            if short.helped_by(job, computing, now):
                short.count(job)
                return True
        return False

    def wanted_from(self) -> list[Job]:
        """Who would make room now for an owner of whom nothing computes, and need not evaluate before."""
        computing, now = self._computing(), self._clock()
        first = [short for short in self._short if not computing[short.owner]]
        return [
            job
            for job in (self.at_work.values() if first else ())
            if any(short.helped_by(job, computing, now) for short in first)
        ]

    def _computing(self) -> Counter[str]:
        return Counter(job.owner for job in self.at_work.values() if not job.waiting)


def _over(limit_mb: float | None, held: int, job: Job) -> float:
    """The bytes that are missing; none where nothing is at work, as waiting would not help."""
    return 0.0 if limit_mb is None or not held else held + job.memory_bytes - 1e6 * limit_mb
