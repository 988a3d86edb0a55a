"""What all browsers share, so that thirty who watch cost one read and one drawing per refresh.

Runs are read on from where they were; figures, curves and reports are made once, by what they
depend on.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import pandas as pd
import plotly.graph_objects as go

from dsebo.charts.curves import Curves, finished_curves
from dsebo.charts.theme import Sketch
from dsebo.experiments.findings import Report, finished, report
from dsebo.experiments.records import ExperimentRow, progress
from dsebo.runs.data import RunData
from dsebo.store.rows import RunFilter, RunRow
from dsebo.store.store import Store
from dsebo.ui.wire import Frame

RUNS_KEPT = 1200  # of all that is being watched
FIGURES_KEPT = 200
CURVES_KEPT = 4000  # of 500 evaluations: 32 MB
FRESH = 0.2  # seconds within which all get what one has read
RATE_WINDOW = 8.0  # seconds over which the speed of a run is measured

Kept = TypeVar("Kept")


class Shelf(Generic[Kept]):
    """The newest things that were made, by key; while one is being made, others wait for it."""

    def __init__(self, size: int) -> None:
        self._size, self._lock = size, threading.RLock()
        self._things: OrderedDict[Hashable, Kept] = OrderedDict()

    def __len__(self) -> int:
        return len(self._things)

    def get(self, key: Hashable) -> Kept | None:
        """The thing of that key, if it is there."""
        with self._lock:
            if key in self._things:
                self._things.move_to_end(key)
            return self._things.get(key)

    def put(self, key: Hashable, thing: Kept) -> Kept:
        """Keep it; the oldest go."""
        with self._lock:
            self._things[key] = thing
            self._things.move_to_end(key)
            while len(self._things) > self._size:
                self._things.popitem(last=False)
        return thing

    def made(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """The thing of that key, made if it is not there."""
        with self._lock:
            known = self.get(key)
            return self.put(key, make()) if known is None else known

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._things.clear()


@dataclass
class _Watched:
    """One run as far as it has been read."""

    data: RunData | None = None
    has_events: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)
    pace: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=200))

    def read_on(self, store: Store, row: RunRow, events: bool) -> RunData:
        """The run as it now stands, from what is known of it and what has come since."""
        with self.lock:
            known = self.data if self.has_events or not events else None
            self.data = _read_on(store, row, known, events or self.has_events)
            self.has_events |= events
            self.pace.append((time.monotonic(), self.data.t))
            return self.data


@dataclass
class _Reading:
    """What was last read of something, and when."""

    at: float = 0.0
    known: object = None
    lock: threading.Lock = field(default_factory=threading.Lock)


class SharedCache:
    """Runs, figures and whatever else is read or made once for all."""

    def __init__(self) -> None:
        self._runs: Shelf[_Watched] = Shelf(RUNS_KEPT)
        self._figures: Shelf[Frame] = Shelf(FIGURES_KEPT)
        self._curves: Shelf[Curves] = Shelf(CURVES_KEPT)
        self._reports: Shelf[Report] = Shelf(64)
        self._read: Shelf[_Reading] = Shelf(FIGURES_KEPT)
        self._pictures: Shelf[list[float]] = Shelf(CURVES_KEPT)

    def data(self, store: Store, run_id: str) -> RunData:
        """A run as it now stands, with what happened; only what is new is read."""

        def read() -> RunData:
            return self._read_on(store, store.get_run(run_id), events=True)

        return self.fresh(("run", str(store.engine.url), run_id), read)

    def runs(self, store: Store, ids: Sequence[str]) -> list[RunData]:
        """Many runs as they now stand, without events, in the order in which they were created."""

        def read() -> list[RunData]:
            rows = store.list_runs(RunFilter(ids=list(ids)), descending=False) if ids else []
            return [self._read_on(store, row, events=False) for row in rows]

        return self.fresh(("runs", str(store.engine.url), *ids), read)

    def frame(self, store: Store, row: ExperimentRow) -> pd.DataFrame:
        """How the runs of an experiment stand."""
        return self.fresh(("frame", str(store.engine.url), row.id), lambda: progress(store, row))

    def curves(self, store: Store, frame: pd.DataFrame) -> dict[str, Curves]:
        """The curves of an experiment's finished runs, by id; one that has finished does not change."""
        done = finished(frame)
        budgets = dict(zip(done["run_id"], done["budget"].astype(int), strict=True))
        known = {run: curve for run, n in budgets.items() if (curve := self._curves.get((run, n)))}
        new = frame[frame["run_id"].isin([run for run in budgets if run not in known])]
        for run, curve in finished_curves(store, new).items():
            known[run] = self._curves.put((run, budgets[run]), curve)
        return known

    def pictures(
        self, wanted: Iterable[tuple[str, int]], read: Callable[[Sequence[str]], Mapping[str, list[float]]]
    ) -> dict[str, list[float]]:
        """Small curves of runs, by id, of which each has so many evaluations; only new ones are read."""
        places = dict(wanted)
        known = {run: curve for run, n in places.items() if (curve := self._pictures.get((run, n)))}
        if new := [run for run in places if run not in known]:
            for run, curve in read(new).items():
                known[run] = self._pictures.put((run, places[run]), curve)
        return known

    def report(self, row: ExperimentRow, frame: pd.DataFrame) -> Report:
        """What is seen; said again only when a run has finished or failed."""
        return self._reports.made((row.id, ended_runs(frame)), lambda: report(frame, row.spec.fields))

    def _read_on(self, store: Store, row: RunRow, events: bool) -> RunData:
        return self._runs.made(row.id, _Watched).read_on(store, row, events)

    def fresh(self, key: Hashable, read: Callable[[], Kept]) -> Kept:
        """What was read of it a moment ago; else one reads it again, while the others wait for that."""
        reading = self._read.made(key, _Reading)
        with reading.lock:
            if reading.known is None or time.monotonic() - reading.at > FRESH:
                reading.known = read()
                reading.at = time.monotonic()
            return reading.known  # type: ignore[return-value]

    def stale(self) -> None:
        """Read everything again at the next look: someone has just done something to it."""
        self._read.clear()

    def figure(self, key: Hashable, build: Callable[[], go.Figure | Sketch]) -> Frame:
        """The figure of that key; built by whoever asks first, while the others wait for it."""
        return self._figures.made(key, lambda: Frame(build().to_plotly_json()))

    def rate(self, run_id: str) -> float | None:
        """Evaluations per second of late; None while it is not known."""
        watched = self._runs.get(run_id)
        now = time.monotonic()
        recent = [point for point in list(watched.pace) if now - point[0] <= RATE_WINDOW] if watched else []
        if len(recent) < 2 or recent[-1][0] - recent[0][0] < 1.0:
            return None
        gained = recent[-1][1] - recent[0][1]
        return gained / (recent[-1][0] - recent[0][0]) if gained > 0 else None


def _read_on(store: Store, row: RunRow, known: RunData | None, events: bool) -> RunData:
    """A run's data, from what is known of it and what has come since."""
    if known is None or row.n_done < known.t:
        return RunData(row, store.evaluations(row.id), store.events(row.id) if events else [])
    if events and row == known.row:
        return known
    new = store.evaluations(row.id, after=known.t) if row.n_done > known.t else known.evaluations[:0]
    evaluations = pd.concat([known.evaluations, new], ignore_index=True) if len(new) else known.evaluations
    if not events or (not len(new) and row.state == known.row.state):
        return RunData(row, evaluations, known.events)
    # What happened at the last known evaluation may have been written after it was read.
    kept = [event for event in known.events if event["t"] < known.t] if known.t > 1 else []
    return RunData(row, evaluations, kept + store.events(row.id, after=max(0, known.t - 1)))


def ended_runs(frame: pd.DataFrame) -> Hashable:
    """Tells an experiment's frames apart by the runs that have ended: what results are drawn from."""
    ended = frame[frame["state"].isin(("finished", "failed"))]
    return tuple(ended["run_id"]), int((ended["state"] == "failed").sum())


SHARED = SharedCache()
