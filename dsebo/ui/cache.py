"""What all browsers share: each run's data, read on from where it was, and its drawn figures."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

import pandas as pd

from dsebo.runs.data import RunData
from dsebo.store.rows import RunRow
from dsebo.store.store import Store

RUNS_KEPT = 64
FIGURES_KEPT = 200
FRESH = 0.2  # seconds within which all get what one has read
STILL_WATCHING = 15.0  # seconds after which a browser that has not asked again is gone
FASTEST = 0.5  # seconds between two refreshes
PER_WATCHER = 0.1  # more of them for each browser: 30 watch at 3 s
RATE_WINDOW = 8.0  # seconds over which the speed of a run is measured


@dataclass
class _Watched:
    """One run as far as it has been read."""

    data: RunData | None = None
    read_at: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)
    seen: dict[str, float] = field(default_factory=dict)
    pace: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=200))


class SharedCache:
    """Thirty browsers that watch one run cost one read and one drawing of each refresh."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: OrderedDict[str, _Watched] = OrderedDict()
        self._figures: OrderedDict[Hashable, bytes] = OrderedDict()
        self.built = 0

    def data(self, store: Store, run_id: str) -> RunData:
        """The run as it now stands; only what is new is read."""
        fresh = self._watched(run_id)
        if fresh.data is not None and time.monotonic() - fresh.read_at < FRESH:
            return fresh.data
        row = store.get_run(run_id)
        watched = self._watched(row.id)
        with watched.lock:
            watched.read_at = time.monotonic()
            watched.data = _read_on(store, row, watched.data)
            watched.pace.append((time.monotonic(), watched.data.t))
            return watched.data

    def stale(self, run_id: str) -> None:
        """Read the run anew at the next look: someone has just done something to it."""
        self._watched(run_id).read_at = 0.0

    def figure(self, key: Hashable, build: Callable[[], bytes]) -> bytes:
        """The figure of that key; built by whoever asks first, while the others wait for it."""
        with self._lock:
            if key in self._figures:
                self._figures.move_to_end(key)
                return self._figures[key]
            built = build()
            self.built += 1
            self._figures[key] = built
            while len(self._figures) > FIGURES_KEPT:
                self._figures.popitem(last=False)
            return built

    def watch(self, run_id: str, browser: str) -> int:
        """Note that a browser is watching; how many are."""
        now = time.monotonic()
        seen = self._watched(run_id).seen
        seen[browser] = now
        for other in [b for b, at in list(seen.items()) if now - at > STILL_WATCHING]:
            seen.pop(other, None)
        return len(seen)

    def rate(self, run_id: str) -> float | None:
        """Evaluations a second of late; None while it is not known."""
        now = time.monotonic()
        recent = [p for p in list(self._watched(run_id).pace) if now - p[0] <= RATE_WINDOW]
        if len(recent) < 2 or recent[-1][0] - recent[0][0] < 1.0:
            return None
        gained = recent[-1][1] - recent[0][1]
        return gained / (recent[-1][0] - recent[0][0]) if gained > 0 else None

    def _watched(self, run_id: str) -> _Watched:
        with self._lock:
            watched = self._runs.setdefault(run_id, _Watched())
            self._runs.move_to_end(run_id)
            while len(self._runs) > RUNS_KEPT:
                self._runs.popitem(last=False)
            return watched


def interval(watchers: int, state: str) -> float:
    """Seconds between two refreshes: longer the more browsers watch, and while a run rests."""
    at_rest = 1.0 if state in ("paused", "queued") else FASTEST
    return max(at_rest, PER_WATCHER * watchers)


def _read_on(store: Store, row: RunRow, known: RunData | None) -> RunData:
    """The run's data, from what is known of it and what has come since."""
    if known is None or row.n_done < known.t:
        return RunData(row, store.evaluations(row.id), store.events(row.id))
    if row == known.row:
        return known
    if row.n_done == known.t and row.state == known.row.state:
        return RunData(row, known.evaluations, known.events)
    new = store.evaluations(row.id, after=known.t)
    evaluations = pd.concat([known.evaluations, new], ignore_index=True) if len(new) else (known.evaluations)
    # What happened at the last known evaluation may have been written after it was read.
    kept = [event for event in known.events if event["t"] < known.t]
    later = store.events(row.id, after=known.t - 1) if known.t > 1 else store.events(row.id)
    return RunData(row, evaluations, (kept if known.t > 1 else []) + later)


SHARED = SharedCache()
