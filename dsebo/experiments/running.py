"""An experiment at work: hands out its runs, does what its owner wants, and survives its workers."""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait

import pandas as pd

from dsebo.experiments.engines import Engine
from dsebo.experiments.progress import find_runs, frame
from dsebo.experiments.records import ExperimentRow, claim, get_experiment
from dsebo.experiments.spec import Planned
from dsebo.experiments.worker import POLL_SECONDS, Outcome, Task
from dsebo.store import leases, schema
from dsebo.store.errors import LeaseLost, StoreAway, StoreError
from dsebo.store.leases import Heartbeat, Lease
from dsebo.store.patience import Waiting
from dsebo.store.store import Store

_AGAIN_SECONDS = 1.0  # until a run that another process works on is looked at again
_SAVING_SECONDS = 10.0  # that workers have to save their runs when the experiment is stopped
MAX_DEATHS = 5  # of workers on one run, by its own fault, after which it is given up
_MAX_SHARED = 2  # broken pools in which a run was with others, after which it is tried alone

Watcher = Callable[[pd.DataFrame, str], None]  # the frame of `progress`, the experiment's state


def run_experiment(
    store: Store, experiment_id: str, engine: Engine, *, again: bool = False, watch: Watcher | None = None
) -> ExperimentRow:
    """Work on an experiment to its end, or until it is cancelled. Ctrl-C leaves it interrupted.

    `again`: it goes on, whatever it was told before. `watch` is called every now and then with how the
    runs and the experiment stand.
    """
    lease = claim(store, experiment_id, engine.at_once(), again)
    heartbeat = Heartbeat(store)
    heartbeat.hold([lease])
    work = _Work(store, get_experiment(store, lease.run_id), lease, engine, watch)
    try:
        state, error = work.through()
        work.waiting.do(lambda again: leases.release(store, schema.experiment, lease, state, error, again))
    except LeaseLost:  # deleted, or taken over: its workers stop by themselves
        work.let_go()
    except StoreError as failure:
        _mark(store, lease, "interrupted" if isinstance(failure, StoreAway) else "failed", str(failure))
        work.let_go()
        raise
    except BaseException:
        _mark(store, lease, "interrupted", None)
        work.let_go()
        raise
    finally:
        heartbeat.drop(lease)
        heartbeat.close()
    return work.waiting.do(lambda _: get_experiment(store, lease.run_id))


def _mark(store: Store, lease: Lease, state: str, error: str | None) -> None:
    """Without its lease the workers stop; where that cannot be written it runs out."""
    try:
        leases.release(store, schema.experiment, lease, state, error)
    except StoreError:
        return


class _Work:
    """What is still to do, what is being done, and which of it workers die of."""

    def __init__(
        self, store: Store, experiment: ExperimentRow, lease: Lease, engine: Engine, watch: Watcher | None
    ) -> None:
        self.store, self.experiment, self.lease, self.engine = store, experiment, lease, engine
        self.waiting = Waiting(f"Experiment {experiment.short_id}")
        self.watcher = _Watching(store, experiment, watch)
        self.url = store.engine.url.render_as_string(hide_password=False)
        self.parent = os.getpid() if engine.local else None
        self.pending: deque[Planned] = deque(self._to_do())
        self.later: deque[tuple[float, Planned]] = deque()
        self.under_way: dict[Future[Outcome], Planned] = {}
        self.lost_workers = LostWorkers(self._evaluated)
        self.problems: list[str] = []
        self.state, self._looked = "running", 0.0

    def _to_do(self) -> list[Planned]:
        """The runs that have not finished; every cell's first seed before any second one."""
        spec = self.experiment.spec
        states = self._frame()["state"]
        left = [run for run, state in zip(spec.planned(), states, strict=True) if state != "finished"]
        place = {seed: i for i, seed in enumerate(spec.seeds)}
        return sorted(left, key=lambda run: place[run.seed])

    def _frame(self) -> pd.DataFrame:
        spec, owner = self.experiment.spec, self.experiment.owner
        return self.waiting.do(lambda _: frame(self.store, spec, owner), slow=True)

    def through(self) -> tuple[str, str | None]:
        """Work until nothing is left; (the state, what is to be said of it)."""
        wanted = "run"
        while self.pending or self.later or self.under_way:
            wanted = self._read_wanted(wanted)
            if wanted == "cancel":
                self.pending.clear()
                self.later.clear()
            elif wanted == "run":
                self._hand_out()
            self._collect()
            self.watcher.look(self.state)
        self.watcher.look(self.state, now=True)
        return ("cancelled", None) if wanted == "cancel" else self._ending()

    def let_go(self) -> None:
        """Wait for the workers to save their runs; they have seen that the experiment is not ours."""
        for future in self.under_way:
            future.cancel()
        wait(self.under_way, timeout=_SAVING_SECONDS)

    def _read_wanted(self, before: str) -> str:
        """What is wanted now; the experiment's state says what is done about it."""
        if time.monotonic() - self._looked < POLL_SECONDS:
            return before
        wanted = self.waiting.do(lambda _: leases.read_wanted(self.store, schema.experiment, self.lease))
        state = "paused" if wanted == "pause" else "running"
        if state != self.state:
            self.waiting.do(lambda _: leases.set_state(self.store, schema.experiment, self.lease, state))
            self.state = state
        self._looked = time.monotonic()
        return wanted

    def _hand_out(self) -> None:
        """Keep every worker busy, with tasks ready where any worker may take them."""
        while self.later and self.later[0][0] <= time.monotonic():
            self.pending.append(self.later.popleft()[1])
        room = self.engine.wanted() - len(self.under_way) if self.pending else 0
        for _ in range(min(room, len(self.pending))):
            beside = [self.pending[0], *self.under_way.values()]
            if len(beside) > 1 and any(map(self.lost_workers.suspected, beside)):
                return  # a run that is suspected has the workers to itself
            planned = self.pending.popleft()
            try:
                self.under_way[self.engine.submit(self._task(planned))] = planned
            except BrokenExecutor as error:
                self.pending.appendleft(planned)
                self._start_over(error)
                return

    def _task(self, planned: Planned) -> Task:
        spec = self.experiment.spec
        name, tag = spec.run_name(planned), "race" if spec.is_race else "sweep"
        return Task(self.url, self.lease, self.experiment.owner, name, tag, planned, self.parent)

    def _collect(self) -> None:
        """Take what has been done; wait a moment where nothing has."""
        if not self.under_way:
            time.sleep(POLL_SECONDS)
            return
        done, _ = wait(self.under_way, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
        broken = None
        for future in done:
            error = None if future.cancelled() else future.exception()
            if isinstance(error, BrokenExecutor):
                broken = error
                continue
            planned = self.under_way.pop(future)
            if isinstance(error, StoreError):
                raise error
            if future.cancelled() or error is not None:
                self._died(planned, error, self.lost_workers.own(planned))
            else:
                self._ended(planned, future.result())
        if broken is not None:
            self._start_over(broken)

    def _ended(self, planned: Planned, outcome: Outcome) -> None:
        if outcome.kind in ("busy", "stopped"):
            self.later.append((time.monotonic() + _AGAIN_SECONDS, planned))
        elif outcome.kind == "failed":
            self.problems.append(f"{planned.cell.label}, seed {planned.seed}: {outcome.text}")

    def _died(self, planned: Planned, error: BaseException | None, for_good: bool) -> None:
        """Its worker is gone: another one carries the run on from its last evaluation."""
        if not for_good:
            self.pending.appendleft(planned)
            return
        why = type(error).__name__ if error is not None else "cancelled"
        run = f"{planned.cell.label}, seed {planned.seed}"
        self.problems.append(f"{run}: its worker died {MAX_DEATHS} times ({why}).")

    def _start_over(self, error: BrokenExecutor) -> None:
        """Another executor; what the broken one had is handed out again."""
        lost = []
        for future, planned in self.under_way.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                self._ended(planned, future.result())
            else:
                lost.append(planned)
        self.under_way.clear()
        if len(lost) == 1:
            self._died(lost[0], error, self.lost_workers.alone(lost[0]))
        else:
            self.lost_workers.shared(lost)
            self.pending.extendleft(reversed(lost))
        self.engine.replace()

    def _evaluated(self, planned: Planned) -> int:
        def read(_: bool) -> int:
            with self.store.read() as connection:
                known = find_runs(connection, [planned], self.experiment.owner).get(planned.hash)
            return known[0].n_done if known else 0

        return self.waiting.do(read)

    def _ending(self) -> tuple[str, str | None]:
        states = self._frame()["state"]
        missed = Counter(states[states != "finished"])
        if not missed:
            return "finished", None
        counts = ", ".join(f"{count} {state}" for state, count in missed.most_common())
        first = f"; the first: {self.problems[0]}" if self.problems else "."
        return "failed", f"{missed.total()} of {len(states)} runs did not finish: {counts}{first}"


class _Watching:
    """Tells someone how the runs stand, not so often that it costs more than a tenth."""

    def __init__(self, store: Store, experiment: ExperimentRow, watch: Watcher | None) -> None:
        self._store, self._experiment, self._watch = store, experiment, watch
        self._due = 0.0

    def look(self, state: str, now: bool = False) -> None:
        """Tell, if it is time."""
        if self._watch is None or (not now and time.monotonic() < self._due):
            return
        began = time.monotonic()
        try:
            runs = frame(self._store, self._experiment.spec, self._experiment.owner)
        except StoreAway:  # those who work say that they wait
            self._due = time.monotonic() + 0.5
            return
        self._watch(runs, state)
        took = time.monotonic() - began
        self._due = time.monotonic() + max(0.5, 10 * took)


class LostWorkers:
    """Whose fault it is that workers die.

    A pool that loses one process fails all that it had, so one run that kills its workers would
    take others with it. A run that was in two broken pools and made no progress is tried alone: if
    the pool breaks again, it is its own fault. Progress clears a run.
    """

    def __init__(self, evaluated: Callable[[Planned], int]) -> None:
        self._evaluated = evaluated
        self._own: Counter[str] = Counter()
        self._shared: Counter[str] = Counter()
        self._reached: dict[str, int] = {}

    def suspected(self, planned: Planned) -> bool:
        """Whether it must be tried alone: until it gets on."""
        if self._shared[planned.hash] < _MAX_SHARED:
            return False
        return self._evaluated(planned) <= self._reached.get(planned.hash, 0)

    def shared(self, lost: Iterable[Planned]) -> None:
        """A pool broke that had all of these."""
        for planned in lost:
            self._count(self._shared, planned)

    def alone(self, planned: Planned) -> bool:
        """A pool broke that had only this one, so the others are cleared; as `own`."""
        self._shared = Counter({planned.hash: _MAX_SHARED})
        return self.own(planned)

    def own(self, planned: Planned) -> bool:
        """Its worker died, and only its worker; whether it is to be given up."""
        self._count(self._own, planned)
        return self._own[planned.hash] >= MAX_DEATHS

    def _count(self, deaths: Counter[str], planned: Planned) -> None:
        done = self._evaluated(planned)
        if done > self._reached.get(planned.hash, 0):
            self._own[planned.hash] = self._shared[planned.hash] = 0
            self._reached[planned.hash] = done
        deaths[planned.hash] += 1
