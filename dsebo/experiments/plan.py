"""What a sweep will cost before it starts, and what is left while it runs."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from dsebo.config import Prediction, predict
from dsebo.experiments.progress import MISSING, frame
from dsebo.experiments.spec import SweepSpec
from dsebo.settings import core_count
from dsebo.store.rows import LOCAL_OWNER
from dsebo.store.store import Store

WORKER_BYTES = 250_000_000  # of a worker process, less the libraries that it shares with others
WORKER_START = 4.0  # seconds until the workers have begun
STORED = 0.0025  # seconds of a core to keep one evaluation


@dataclass(frozen=True)
class Plan:
    """Runs by how they stand, and what is left to do.

    Attributes:
        total: Runs of the sweep.
        finished: Those in the store, which are reused.
        unfinished: Those in the store that will be carried on, or waited for.
        missing: Those that nobody has begun.
        seconds: Predicted seconds of one core for what is left.
        memory_bytes: Predicted for as many runs at once as there are workers, and the workers.
        run_bytes: The same without the workers' own.
        workers: How many work at once.
    """

    total: int
    finished: int
    unfinished: int
    missing: int
    seconds: float
    memory_bytes: int
    run_bytes: int
    workers: int

    @property
    def wall_seconds(self) -> float:
        """Predicted time with all workers at work."""
        return WORKER_START + self.seconds / self.workers if self.seconds else 0.0


def plan(store: Store, spec: SweepSpec, owner: str = LOCAL_OWNER, workers: int | None = None) -> Plan:
    """What a sweep of that owner would take now; workers as many as cores."""
    return plan_of(spec, frame(store, spec, owner), workers)


def plan_of(spec: SweepSpec, runs: pd.DataFrame, workers: int | None = None) -> Plan:
    """The same from the frame of its runs."""
    left = runs["state"].ne("finished")
    missing = int(runs["state"].eq(MISSING).sum())
    at_once = max(1, min(workers or core_count(), int(left.sum())))
    costs = _costs(spec)
    memory = sorted((costs[cell].memory_bytes for cell in runs["cell"][left]), reverse=True)
    run_bytes = sum(memory[:at_once])
    return Plan(
        total=len(runs),
        finished=int((~left).sum()),
        unfinished=int(left.sum()) - missing,
        missing=missing,
        seconds=seconds_left(spec, runs),
        memory_bytes=run_bytes + (at_once * WORKER_BYTES if memory else 0),
        run_bytes=run_bytes,
        workers=at_once,
    )


def seconds_left(spec: SweepSpec, runs: pd.DataFrame, pace: float = 1.0) -> float:
    """Predicted seconds of one core for what the frame shows as not finished.

    `pace`: measured seconds of computing for each predicted one; keeping evaluations is apart.
    """
    costs, planned, total = _costs(spec), spec.planned(), 0.0
    rows = zip(runs.index, runs["cell"], runs["state"], runs["n_done"], strict=True)
    for i, cell, state, n_done in rows:
        if state == "finished":
            continue
        computing = costs[cell].seconds
        if n_done:
            computing -= predict(planned[i].config, int(n_done)).seconds
        total += pace * computing + STORED * (planned[i].config.budget - n_done)
    return max(0.0, total)


def _costs(spec: SweepSpec) -> list[Prediction]:
    """Of a run of each cell: seeds cost the same."""
    return [predict(one.config) for one in spec.planned()[:: len(spec.seeds)]]
