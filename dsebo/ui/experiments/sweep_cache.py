"""What all browsers share of a sweep: how its runs stand, their curves, what is said of them."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import pandas as pd

from dsebo.charts.compare import Curves
from dsebo.charts.groups import finished_curves
from dsebo.experiments.findings import Report, finished, report
from dsebo.experiments.records import SweepRow, progress
from dsebo.store.store import Store

RUNS_KEPT = 4000  # of 500 evaluations: 32 MB
FRESH = 0.4  # seconds within which all get what one has read

Kept = TypeVar("Kept")


class Shelf(Generic[Kept]):
    """The newest things that were made, by key."""

    def __init__(self, size: int) -> None:
        self._size, self._lock = size, threading.Lock()
        self._things: OrderedDict[Hashable, Kept] = OrderedDict()

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
            while len(self._things) > self._size:
                self._things.popitem(last=False)
        return thing

    def made(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """The thing of that key, made if it is not there."""
        found = self.get(key)
        return self.put(key, make()) if found is None else found


_curves: Shelf[Curves] = Shelf(RUNS_KEPT)
_frames: Shelf[tuple[float, pd.DataFrame]] = Shelf(32)
_reports: Shelf[Report] = Shelf(64)


def frame_of(store: Store, row: SweepRow) -> pd.DataFrame:
    """How the runs of a sweep stand; read once for all who ask at the same moment."""
    key = (str(store.engine.url), row.id)
    kept = _frames.get(key)
    if kept is None or time.monotonic() - kept[0] > FRESH:
        kept = _frames.put(key, (time.monotonic(), progress(store, row)))
    return kept[1]


def curves_of(store: Store, frame: pd.DataFrame) -> dict[str, Curves]:
    """The curves of the finished runs, by id; one that has finished does not change."""
    done = finished(frame)
    keys = dict(zip(done["run_id"], done["budget"].astype(int), strict=True))
    known = {run: curve for run, budget in keys.items() if (curve := _curves.get((run, budget)))}
    new = frame[frame["run_id"].isin([run for run in keys if run not in known])]
    for run, curve in finished_curves(store, new).items():
        known[run] = _curves.put((run, keys[run]), curve)
    return known


def report_of(row: SweepRow, frame: pd.DataFrame) -> Report:
    """What is seen; said anew only when a run has finished or failed."""
    return _reports.made((row.id, mark(frame)), lambda: report(frame, [axis.field for axis in row.spec.axes]))


def mark(frame: pd.DataFrame) -> Hashable:
    """Tells frames apart by the runs that have ended: what charts of results are drawn from."""
    ended = frame[frame["state"].isin(("finished", "failed"))]
    return tuple(ended["run_id"]), int((ended["state"] == "failed").sum())
