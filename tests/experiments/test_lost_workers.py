"""Workers that die: runs are carried on, the guilty one is found, and no other is given up."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import BrokenExecutor

import pytest

from dsebo.experiments.records import create_experiment, progress
from dsebo.experiments.running import MAX_DEATHS, LostWorkers, run_experiment
from dsebo.experiments.worker import Task
from dsebo.runs.worker import resumed_run
from dsebo.store.store import Store
from tests.experiments.helpers import BreakingEngine, ThreadEngine, check_histories, make, random_spec, spec

pytestmark = pytest.mark.usefixtures("quick_polls")


def test_a_broken_pool_is_replaced(store: Store) -> None:
    broken: list[str] = []

    def breaks(task: Task) -> None:
        if len(broken) < 3:
            broken.append(task.planned.hash)
            raise BrokenExecutor("a worker died")

    engine = ThreadEngine(2, breaks)
    sweep = spec(seeds="1-2")
    assert run_experiment(store, create_experiment(store, sweep), engine).state == "finished"
    engine.close()
    assert engine.replaced >= 1
    check_histories(store, sweep)


def test_a_run_that_kills_its_workers_is_given_up(store: Store) -> None:
    sweep = random_spec(4)
    bad = sweep.planned()[0].hash
    tries: list[str] = []

    def breaks(task: Task) -> None:
        if task.planned.hash == bad:
            tries.append(bad)
            raise MemoryError("killed")

    engine = ThreadEngine(2, breaks)
    ended = run_experiment(store, create_experiment(store, sweep), engine)
    engine.close()
    assert len(tries) == MAX_DEATHS
    assert ended.state == "failed"
    assert ended.error == (
        "1 of 4 runs did not finish: 1 missing; the first: c = 1, seed 1: its worker died "
        f"{MAX_DEATHS} times (MemoryError)."
    )


@pytest.mark.parametrize("bad", [1, 2])
def test_runs_that_kill_their_workers_take_no_others_with_them(store: Store, bad: int) -> None:
    sweep = random_spec(10)
    guilty = {one.hash for one in sweep.planned()[:bad]}
    tries: Counter[str] = Counter()

    def dies(task: Task) -> bool:
        tries[task.planned.hash] += 1
        return task.planned.hash in guilty

    engine = BreakingEngine(dies)
    ended = run_experiment(store, create_experiment(store, sweep), engine)
    engine.close()
    states = progress(store, sweep)["state"]
    assert list(states) == ["missing"] * bad + ["finished"] * (10 - bad)
    assert str(ended.error).startswith(f"{bad} of 10 runs did not finish: {bad} missing")
    assert f"its worker died {MAX_DEATHS} times (BrokenExecutor)." in str(ended.error)
    assert max(tries.values()) <= 4 * MAX_DEATHS


def test_a_run_that_gets_on_between_two_deaths_is_never_given_up(store: Store) -> None:
    """Its worker is killed from outside, again and again."""
    sweep = spec(seeds="1")
    first = sweep.planned()[0]
    left = list(range(1, 2 * MAX_DEATHS))

    def dies(task: Task) -> bool:
        if task.planned.hash != first.hash or not left:
            return False
        if left[0] == 1:
            make(store, first.config, stop=1)
        else:
            carry_on(store, progress(store, sweep)["run_id"][0], left[0])
        left.pop(0)
        return True

    engine = BreakingEngine(dies)
    assert run_experiment(store, create_experiment(store, sweep), engine).state == "finished"
    engine.close()
    check_histories(store, sweep)


def carry_on(store: Store, run_id: str, until: int) -> None:
    """Up to so many evaluations."""
    events = resumed_run(store, run_id)
    for event in events:
        if event.kind == "evaluated" and event.t == until:
            events.close()


def test_what_is_held_against_a_run() -> None:
    one, other = random_spec(2).planned()
    done = {one.hash: 0, other.hash: 0}
    deaths = LostWorkers(lambda planned: done[planned.hash])
    deaths.shared([one, other])
    assert not deaths.suspected(one)  # it may have been anyone
    done[one.hash] = 3
    deaths.shared([one, other])
    assert not deaths.suspected(one)  # it had got on
    assert deaths.suspected(other)
    assert not deaths.alone(other)
    deaths.shared([one, other])
    assert not deaths.suspected(one)  # the other's death had cleared it
    assert [deaths.alone(other) for _ in range(MAX_DEATHS - 1)][-2:] == [False, True]
    done[other.hash] = 1
    assert not deaths.own(other)
