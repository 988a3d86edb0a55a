"""Slots: how many evaluations may run at a time, and the cores that all processes share.

Within a process slots are shared equally among owners. Among all processes of a user a token for
each core is a lock on a file, so the operating system takes it back when a process dies. The files
are in the user's runtime folder (never a shared home), or in that which DSEBO_CORES names.
Live runs come first: while one of them waits, a sweep's workers let it pass. Where there are no
such locks (not a Unix, no folder to write to) nobody waits for anything.
"""

from __future__ import annotations

import errno
import itertools
import logging
import os
import stat
import tempfile
import threading
import time
import warnings
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import platformdirs

from dsebo.settings import core_count

try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None  # type: ignore[assignment]

LIVE_PATIENCE = 2.0  # seconds after which a live run goes on without a token
_SWEEP_PATIENCE = 1.0  # seconds after which a sweep's worker no longer lets live runs pass
LONG_WAIT = 4.0  # seconds without a slot, after which an owner's turn has come
CREDIT_SECONDS = 0.5  # that an owner may be ahead of the others and still have first points first
QUICK_SECONDS = 0.05  # that such a point may take, or a run to be opened for it
_LEAST_SECONDS = 0.001  # that an evaluation counts for, so that owners take turns at quick ones
_LIVE_POLL, _SWEEP_POLL = 0.001, 0.002

_log = logging.getLogger(__name__)


@dataclass(order=True)
class _Ticket:
    """Someone who waits for a slot; the lowest is served first."""

    later: bool  # than all who wait for a first point
    tag: float  # of a first point: what it is expected to take
    number: int  # in the order of asking
    owner: str = field(compare=False)
    began: float = field(compare=False)  # what the owner's clock showed
    expected: float = field(compare=False)  # seconds
    since: float = field(compare=False)  # when it asked, or another run of its owner was served
    ends: tuple[threading.Event, ...] = field(compare=False)  # what ends the waiting
    served: bool = field(default=False, compare=False)
    called: threading.Event = field(default_factory=threading.Event, compare=False)


class FairSlots:
    """A semaphore that shares time equally among owners, and serves each owner's runs in the order of asking.

    Each owner has a clock, which runs on by what its evaluations take. Whoever asks is tagged with
    what that clock will show when the evaluation is done, and the lowest tag is served first. So twenty
    runs of one owner do not slow the one run of another, nor do long evaluations short ones. The clock of
    someone who did not ask for a while is put forward to that of the last who was served: idle time
    is not saved up.

    Two come before that order. Quick first points, one of an owner's at a time while the owner's clock is
    not far ahead: a class that starts at once sees something at once. Then an owner who has had nothing for
    `LONG_WAIT`, for no more than an equal share of that time: whatever others do, and even where an
    evaluation of its own took long, on a busy machine, nobody waits for much longer.

    Args:
        count: Slots of this process.
        cores: Tokens of all processes: who has a slot takes one too, or goes on without one when
            that takes long, as a live run is watched.
    """

    def __init__(self, count: int, cores: CoreTokens | None = None) -> None:
        self._count = self._free = count
        self._cores = cores
        self._waiting: list[_Ticket] = []
        self._asked = itertools.count()
        self._clocks: dict[str, float] = {}  # of owners that are ahead
        self._now = 0.0  # the clock of the last who was served, before that
        self._held = threading.local()  # by whom a thread has its slot, since when, and what was expected
        self._lock = threading.Lock()

    def acquire(
        self,
        stop: threading.Event,
        owner: str = "",
        expected: float = 0.0,
        nudged: threading.Event | None = None,
        first: bool = False,
    ) -> bool:
        """Wait for a slot; False when `stop` or `nudged` is set first (and `wake` called).

        Args:
            stop: Ends the waiting, also that for a core.
            owner: Who asks.
            expected: Seconds that the slot will be held for, as far as is known.
            nudged: Ends the waiting for a slot.
            first: Whether the run has no point yet.
        """
        ends = (stop,) if nudged is None else (stop, nudged)
        expected = max(expected, _LEAST_SECONDS)
        with self._lock:
            if any(end.is_set() for end in ends):
                return False
            began = max(self._now, self._clocks.get(owner, 0.0))
            self._clocks[owner] = began + expected
            own = [ticket for ticket in self._waiting if ticket.owner == owner]
            ahead = began > self._now + CREDIT_SECONDS or not all(other.later for other in own)
            later = not first or ahead or expected > QUICK_SECONDS
            tag = max([began + expected, *(other.tag for other in own)]) if later else expected
            now = time.monotonic()
            ticket = _Ticket(later, tag, next(self._asked), owner, began, expected, now, ends)
            self._waiting.append(ticket)
            self._serve()
        ticket.called.wait()
        with self._lock:
            if not ticket.served:
                self._waiting.remove(ticket)
                self._run_on(owner, -expected)
                return False
        if self._cores is not None:
            self._cores.acquire(stop, LIVE_PATIENCE)
        self._held.by = (owner, time.monotonic(), expected)  # the wait for a core is not the owner's doing
        if not stop.is_set():
            return True
        self.release()
        return False

    def release(self) -> None:
        """Give the slot to the next."""
        if self._cores is not None:
            self._cores.release()
        owner, since, expected = self._held.by
        with self._lock:
            self._run_on(owner, time.monotonic() - since - expected)
            self._free += 1
            self._serve()

    def _serve(self) -> None:
        """Call whoever is next, and nobody else: a hundred may wait, and each call costs the others time."""
        while self._free > 0 and self._waiting:
            now, lowest = time.monotonic(), min(self._waiting)
            ticket = (self._overdue(now) or lowest) if lowest.later else lowest
            self._waiting.remove(ticket)
            for other in self._waiting:
                if other.owner == ticket.owner:
                    other.since = now
            self._free -= 1
            if ticket is lowest:
                self._now = max(self._now, ticket.began)
            ticket.served = True
            ticket.called.set()

    def _overdue(self, now: float) -> _Ticket | None:
        """Who has waited longest for what it asks, if long, and asks for no more than its share."""
        if now - min(ticket.since for ticket in self._waiting) < LONG_WAIT:
            return None
        share = self._count / len({ticket.owner for ticket in self._waiting})
        long = [ticket for ticket in self._waiting if now - ticket.since >= LONG_WAIT]
        fair = [ticket for ticket in long if ticket.expected <= share * (now - ticket.since)]
        return max(fair, key=lambda ticket: (now - ticket.since) / ticket.expected, default=None)

    def _run_on(self, owner: str, seconds: float) -> None:
        """Put an owner's clock forward or back; one that is not ahead need not be kept."""
        clock = self._clocks.get(owner, self._now) + seconds
        self._clocks[owner] = clock
        if clock <= self._now:
            del self._clocks[owner]

    def wake(self) -> None:
        """Let those go whose waiting has been ended."""
        with self._lock:
            for ticket in self._waiting:
                if any(end.is_set() for end in ticket.ends):
                    ticket.called.set()


def tokens_folder() -> Path:
    """Where the locks are: the same for all processes of this user, and nobody else's.

    Whoever may open a lock's file may hold it: so the folder is the user's runtime folder, or one in
    the temporary folder that is used only where it is this user's.
    """
    named = os.environ.get("DSEBO_CORES")
    if named:
        return Path(named)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no such folder, and which other one is given
        runtime = platformdirs.user_runtime_path("dsebo", appauthor=False)
    return runtime if _is_private(runtime) else _temporary()


def _temporary() -> Path:
    who = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"dsebo-cores-{who}"


def _is_private(folder: Path) -> bool:
    """Make a folder of this user's alone; whether it is one, and nobody else can put another there."""
    if not hasattr(os, "getuid"):
        return True
    me = os.getuid()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
        if (
            not stat.S_ISDIR(status.st_mode)
            or status.st_uid != me
            or folder.parent.stat().st_uid not in (0, me)
        ):
            return False
        if stat.S_IMODE(status.st_mode) & 0o077:
            folder.chmod(0o700)
    except OSError:
        return False
    return True


class CoreTokens:
    """Tokens for evaluations, one a core: live runs go before sweeps. A thread holds at most one."""

    def __init__(self, count: int = 1, *, live: bool, folder: Path | None = None) -> None:
        numbers = range(max(count, core_count()))
        # From opposite ends, so that the two kinds rarely try the same lock.
        self._numbers = list(reversed(numbers)) if live else list(numbers)
        self._live = live
        self._lock = threading.Lock()
        self._taken: set[int] = set()
        self._waiting = 0
        self._mine = threading.local()
        self._files = _opened(folder or tokens_folder(), len(numbers))  # of the tokens
        self._queue: int | None = self._files.pop() if self._files else None
        self._turn: int | None = self._files.pop() if self._files else None

    def acquire(self, stop: threading.Event, seconds: float) -> bool:
        """Wait up to so long for a token; False when none came or `stop` was set."""
        if self._queue is None or self._turn is None:
            return True
        if self._live:
            if _is_held(self._turn):  # else whoever gives a token back could take it again for ever
                time.sleep(2 * _SWEEP_POLL)
            return self._try_take() or self._wait_in_queue(stop, seconds)
        began = time.monotonic()
        try:
            while not stop.is_set():
                waited = time.monotonic() - began
                if waited > _SWEEP_PATIENCE:
                    _try_lock(self._turn, fcntl.LOCK_SH)
                if (waited > _SWEEP_PATIENCE or not _is_held(self._queue)) and self._try_take():
                    return True
                if waited >= seconds:
                    return False
                time.sleep(_SWEEP_POLL)
            return False
        finally:
            fcntl.flock(self._turn, fcntl.LOCK_UN)

    def release(self) -> None:
        """Give back what this thread holds, if anything."""
        number = getattr(self._mine, "number", None)
        if number is None:
            return
        self._mine.number = None
        with self._lock:
            fcntl.flock(self._files[number], fcntl.LOCK_UN)
            self._taken.discard(number)

    def _try_take(self) -> bool:
        with self._lock:
            for number in self._numbers:
                if number not in self._taken and _try_lock(self._files[number], fcntl.LOCK_EX):
                    self._taken.add(number)
                    self._mine.number = number
                    return True
        return False

    def _wait_in_queue(self, stop: threading.Event, seconds: float) -> bool:
        """Poll for a token, with a shared lock that says so to sweeps; less often in their turn."""
        deadline = time.monotonic() + seconds
        self._count_waiting(1)
        try:
            while not stop.is_set() and time.monotonic() < deadline:
                self._count_waiting(0)  # again: a worker that looked may have been in the way
                if self._try_take():
                    return True
                time.sleep(2 * _SWEEP_POLL if _is_held(self._turn) else _LIVE_POLL)
            return False
        finally:
            self._count_waiting(-1)

    def _count_waiting(self, more: int) -> None:
        assert self._queue is not None
        with self._lock:
            self._waiting += more
            if self._waiting:
                _try_lock(self._queue, fcntl.LOCK_SH)
            else:
                fcntl.flock(self._queue, fcntl.LOCK_UN)

    def __del__(self) -> None:
        for file in (*self._files, self._queue, self._turn):
            if file is not None:
                os.close(file)


def _is_held(file: int | None) -> bool:
    """Whether someone has a lock on it: live runs that wait on the queue, a worker whose turn it is."""
    if file is None:
        return False
    if not _try_lock(file, fcntl.LOCK_EX):
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


def _opened(folder: Path, count: int) -> list[int]:
    """A file for each token, that of whose turn it is and that of the queue; none where that cannot be."""
    if fcntl is None:
        return []
    opened: list[int] = []
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder == _temporary() and not _is_private(folder):
            raise PermissionError(errno.EPERM, "it is not a folder of yours alone")
        for name in (*(f"core-{i}" for i in range(count)), "turn", "queue"):
            opened.append(os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))
    except OSError as error:
        for file in opened:
            os.close(file)
        _say_once(str(folder), str(error.strerror))
        return []
    return opened


@cache
def _say_once(folder: str, why: str) -> None:
    _log.warning("Cores are not shared out between processes: %s cannot be used: %s.", folder, why)


def _try_lock(file: int, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
