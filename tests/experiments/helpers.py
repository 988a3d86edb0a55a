"""What the tests of sweeps share: a small sweep, and runs of it made by hand."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future
from typing import Any

from sqlalchemy import update

from dsebo.config import RunConfig
from dsebo.experiments import engines
from dsebo.experiments.records import ExperimentRow, progress
from dsebo.experiments.running import run_experiment
from dsebo.experiments.spec import ExperimentSpec
from dsebo.experiments.worker import Outcome, Task, work
from dsebo.runs.worker import stored_run
from dsebo.store import schema
from dsebo.store.leases import Lease, lease_columns
from dsebo.store.store import Store
from tests.small import history, reference

BASE = {
    "objective": {"name": "sphere", "D": 50, "d_e": 5},
    "optimizer": {"method": "dsebo", "d_l": 2, "d_h": 20, "beta": 4},
    "budget": 12,
}


def spec(axes: dict[str, Any] | None = None, seeds: str = "1-2", **base: Any) -> ExperimentSpec:
    """Quick to run: two values of β and two seeds, unless told otherwise."""
    return ExperimentSpec.parse({"base": {**BASE, **base}, "axes": axes or {"beta": [2, 4]}, "seeds": seeds})


def random_spec(runs: int = 4, budget: int = 5) -> ExperimentSpec:
    """Runs of random search, which take next to no time."""
    base = {**BASE, "optimizer": {"method": "random"}, "budget": budget}
    return ExperimentSpec.parse({"base": base, "axes": {"c": [1, 2]}, "seeds": f"1-{runs // 2}"})


def make(store: Store, config: RunConfig, stop: int | None = None, **more: Any) -> str:
    """A finished run, or one that stopped after so many evaluations."""
    ids: list[str] = []
    events = stored_run(config, store, on_id=ids.append, **more)
    for event in events:
        if event.kind == "evaluated" and event.t == stop:
            events.close()
    return ids[0]


class ThreadEngine(engines.ThreadEngine):
    """Several workers in threads, with something done before each task.

    Args:
        workers: How many.
        before: Called with each task before it is worked on; may raise as a broken pool does.
    """

    def __init__(self, workers: int = 2, before: Callable[[Task], None] = lambda _: None) -> None:
        super().__init__(workers)
        self._before, self.replaced = before, 0

    def replace(self) -> None:
        self.replaced += 1

    def submit(self, task: Task) -> Future[Outcome]:
        return self.executor.submit(self._work, task)

    def _work(self, task: Task) -> Outcome:
        self._before(task)
        return work(task)


class InBackground:
    """A sweep at work in a thread of its own."""

    def __init__(self, store: Store, sweep_id: str, engine: ThreadEngine, **more: Any) -> None:
        self.ended: ExperimentRow | None = None
        self.error: Exception | None = None

        def target() -> None:
            try:
                self.ended = run_experiment(store, sweep_id, engine, **more)
            except Exception as error:
                self.error = error

        self.thread = threading.Thread(target=target)
        self.thread.start()

    def join(self, seconds: float = 60.0) -> str:
        self.thread.join(seconds)
        assert not self.thread.is_alive()
        return self.ended.state if self.ended else f"error: {self.error}"


def hold(store: Store, sweep_id: str, state: str = "running", **lease: Any) -> None:
    """An experiment that a process of another machine works on."""
    values = {**lease_columns(Lease.new(sweep_id)), "lease_host": "elsewhere", **lease}
    with store.write() as connection:
        connection.execute(
            update(schema.experiment).where(schema.experiment.c.id == sweep_id).values(state=state, **values)
        )


def check_histories(store: Store, sweep: ExperimentSpec) -> None:
    """Every run of the sweep is, bit for bit, what the engine gives undisturbed."""
    runs = progress(store, sweep)
    assert list(runs["state"]) == ["finished"] * sweep.total
    for planned, run_id in zip(sweep.planned(), runs["run_id"], strict=True):
        assert history(store, run_id) == reference(planned.config)


class BreakingEngine(ThreadEngine):
    """Threads that die as loky's processes do: with one, all that the pool had is lost.

    Args:
        dies: Whether a worker dies of a task. The others take longer than that.
    """

    def __init__(self, dies: Callable[[Task], bool], workers: int = 4) -> None:
        super().__init__(workers)
        self._dies, self._lock = dies, threading.Lock()
        self._pool: list[Future[Outcome]] | None = []  # None: broken

    def replace(self) -> None:
        super().replace()
        self._pool = []

    def submit(self, task: Task) -> Future[Outcome]:
        with self._lock:
            if self._pool is None:
                raise BrokenExecutor("a worker died")
            future: Future[Outcome] = Future()
            self._pool.append(future)
        self.executor.submit(self._live, task, future)
        return future

    def _live(self, task: Task, future: Future[Outcome]) -> None:
        if future.done():  # it was still in the queue
            return
        if self._dies(task):
            self._break()
            return
        time.sleep(0.03)
        if not future.done():  # else it was killed with the others
            outcome = work(task)
            with self._lock:
                if not future.done():
                    future.set_result(outcome)

    def _break(self) -> None:
        with self._lock:
            for future in self._pool or []:
                if not future.done():
                    future.set_exception(BrokenExecutor("a worker died"))
            self._pool = None
