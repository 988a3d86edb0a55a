"""A sweep at work, with workers in threads: what is done, waited for, paused and given up."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import update

from dsebo.experiments.engines import ClusterEngine
from dsebo.experiments.records import (
    claim,
    create_experiment,
    delete_experiment,
    get_experiment,
    progress,
    tell,
)
from dsebo.experiments.running import run_experiment
from dsebo.experiments.spec import ExperimentSpec
from dsebo.experiments.worker import Task, Wanted, work
from dsebo.runs.manager import RunManager
from dsebo.runs.worker import stored_run
from dsebo.settings import Settings
from dsebo.store import leases, schema
from dsebo.store.errors import StoreError
from dsebo.store.leases import Lease
from dsebo.store.patience import PATIENCE_SECONDS
from dsebo.store.rows import RunFilter, owner_hash
from dsebo.store.store import Store
from objectives import registry
from objectives.registry import BaseFunction, register
from tests.experiments.helpers import InBackground, ThreadEngine, check_histories, make, random_spec, spec
from tests.small import history, reference, wait_for

pytestmark = pytest.mark.usefixtures("quick_polls")


@pytest.fixture
def engine() -> Iterator[ThreadEngine]:
    opened = ThreadEngine()
    yield opened
    opened.close()


def test_every_run_is_the_engines_own(any_url: str, engine: ThreadEngine) -> None:
    store = Store.open(any_url)
    sweep = spec(seeds="1-2")
    seen: list[int] = []
    sweep_id = create_experiment(store, sweep, owner="someone")
    ended = run_experiment(store, sweep_id, engine, watch=lambda runs, _: seen.append(len(runs)))
    assert (ended.state, ended.error, ended.workers) == ("finished", None, 2)
    assert ended.started is not None
    assert ended.finished is not None
    assert seen
    check_histories(store, sweep)
    rows = store.list_runs(RunFilter(owner=owner_hash("someone")))
    assert [row.group for row in rows] == [sweep_id] * 4
    assert rows[0].tags == ("sweep",)
    assert {row.name for row in rows} == {"β on Sphere, D = 50: β = 2", "β on Sphere, D = 50: β = 4"}
    store.close()


def test_first_seeds_come_first(store: Store) -> None:
    asked: list[tuple[int, int]] = []
    one = ThreadEngine(1, lambda task: asked.append((task.planned.seed, task.planned.cell.index)))
    sweep = random_spec(4)
    run_experiment(store, create_experiment(store, sweep), one)
    one.close()
    assert asked == [(1, 0), (1, 1), (2, 0), (2, 1)]


def test_what_is_there_is_reused_and_carried_on(store: Store, engine: ThreadEngine) -> None:
    sweep = spec(seeds="1-2")
    done = make(store, sweep.planned()[0].config)
    stopped = make(store, sweep.planned()[3].config, stop=5)
    run_experiment(store, create_experiment(store, sweep), engine)
    check_histories(store, sweep)
    ids = list(progress(store, sweep)["run_id"])
    assert (ids[0], ids[3]) == (done, stopped)
    assert store.count_runs() == 4
    asked: list[Task] = []
    again = ThreadEngine(2, asked.append)
    ended = run_experiment(store, create_experiment(store, sweep), again)
    again.close()
    assert (ended.state, asked, store.count_runs()) == ("finished", [], 4)


def test_pause_and_go_on(store: Store, engine: ThreadEngine) -> None:
    sweep = spec(seeds="1-2", budget=30)
    sweep_id = create_experiment(store, sweep)
    background = InBackground(store, sweep_id, engine)
    wait_for(lambda: progress(store, sweep)["n_done"].sum() > 3)
    assert tell(store, sweep_id, "pause") is None
    wait_for(lambda: get_experiment(store, sweep_id).state == "paused")
    wait_for(lambda: "running" not in set(progress(store, sweep)["state"]))
    before = progress(store, sweep)["n_done"].sum()
    time.sleep(0.3)
    paused = progress(store, sweep)
    assert paused["n_done"].sum() == before < 4 * 30
    assert "paused" in set(paused["state"])
    assert tell(store, sweep_id, "run") is None
    assert background.join() == "finished"
    check_histories(store, sweep)


def test_cancel_and_take_up_again(store: Store, engine: ThreadEngine) -> None:
    sweep = spec(seeds="1-3", budget=30)
    sweep_id = create_experiment(store, sweep)
    background = InBackground(store, sweep_id, engine)
    wait_for(lambda: progress(store, sweep)["n_done"].sum() > 3)
    assert tell(store, sweep_id, "cancel") is None
    assert background.join() == "cancelled"
    states = set(progress(store, sweep)["state"])
    assert "cancelled" in states
    assert "missing" in states
    assert not states & {"running", "queued", "paused"}
    assert get_experiment(store, sweep_id).finished is not None
    assert run_experiment(store, sweep_id, engine, again=True).state == "finished"
    check_histories(store, sweep)


def test_a_cancel_that_came_first_is_obeyed(store: Store, engine: ThreadEngine) -> None:
    sweep_id = create_experiment(store, random_spec())
    with store.write() as connection:
        connection.execute(update(schema.experiment).values(wanted="cancel"))
    assert run_experiment(store, sweep_id, engine).state == "cancelled"
    assert store.count_runs() == 0


def test_a_run_that_another_works_on_is_waited_for(store: Store, engine: ThreadEngine) -> None:
    sweep = spec(seeds="1-2")
    ids: list[str] = []
    events = stored_run(sweep.planned()[1].config, store, on_id=ids.append)
    next(events)
    background = InBackground(store, create_experiment(store, sweep), engine)
    wait_for(lambda: progress(store, sweep)["state"].eq("finished").sum() == 3)
    time.sleep(0.2)
    assert background.thread.is_alive()
    list(events)
    assert background.join() == "finished"
    assert store.count_runs() == 4
    assert progress(store, sweep)["run_id"][1] == ids[0]


def test_two_sweeps_of_the_same_runs_make_each_once(any_url: str) -> None:
    """Both begin at once, each on a store of its own; nothing is done twice."""
    sweep = spec(seeds="1-4")
    stores = [Store.open(any_url) for _ in range(2)]
    engines = [ThreadEngine(2) for _ in range(2)]
    both = [
        InBackground(store, create_experiment(store, sweep), engine)
        for store, engine in zip(stores, engines, strict=True)
    ]
    assert [one.join() for one in both] == ["finished"] * 2
    assert stores[0].count_runs() == 8
    check_histories(stores[0], sweep)
    for engine, store in zip(engines, stores, strict=True):
        engine.close()
        store.close()


def test_the_same_run_is_begun_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workers that both found nothing: the second sees it when it would begin."""
    from dsebo.experiments import worker as module

    sweep = spec(seeds="1")
    lease = claim(store, create_experiment(store, sweep), 1)
    url = store.engine.url.render_as_string()
    task = Task(url, lease, owner_hash("local"), "", "sweep", sweep.planned()[0])
    found = module._find

    def late(opened: Store, asked: Task) -> Any:
        monkeypatch.setattr(module, "_find", found)
        seen = found(opened, asked)
        make(store, asked.planned.config)  # someone else does it meanwhile
        return seen

    monkeypatch.setattr(module, "_find", late)
    assert work(task).kind == "busy"
    assert work(task).reused
    assert store.count_runs() == 1


def no_value(x: Any) -> Any:
    raise ValueError("no value here")


@pytest.fixture
def broken_function() -> Iterator[str]:
    """Fails wherever it is asked."""
    name = "broken-in-sweeps"
    register(BaseFunction(name, -1.0, 1.0, no_value))
    yield name
    registry._functions.pop(name)


def test_a_failing_run_does_not_stop_the_others(
    store: Store, engine: ThreadEngine, broken_function: str
) -> None:
    base = {"optimizer": {"method": "random"}, "objective": {"D": 20, "d_e": 5}, "budget": 15}
    sweep = ExperimentSpec.parse(
        {"base": base, "axes": {"function": [broken_function, "sphere"]}, "seeds": "1-2"}
    )
    sweep_id = create_experiment(store, sweep)
    ended = run_experiment(store, sweep_id, engine)
    assert ended.state == "failed"
    assert "2 of 4 runs did not finish: 2 failed; the first" in str(ended.error)
    assert "10 evaluations in a row failed" in str(ended.error)
    assert list(progress(store, sweep)["state"]) == ["failed"] * 2 + ["finished"] * 2
    assert run_experiment(store, sweep_id, engine, again=True).state == "failed"  # and it ends
    assert store.count_runs() == 4


def test_a_store_that_refuses_ends_the_sweep(store: Store) -> None:
    def refuses(task: Task) -> None:
        raise StoreError("The disk is full.")

    engine = ThreadEngine(2, refuses)
    sweep_id = create_experiment(store, random_spec())
    with pytest.raises(StoreError, match="disk is full"):
        run_experiment(store, sweep_id, engine)
    engine.close()
    row = get_experiment(store, sweep_id)
    assert (row.state, row.error) == ("failed", "The disk is full.")


def test_a_deleted_sweep_stops(store: Store, engine: ThreadEngine) -> None:
    sweep = spec(seeds="1-2", budget=300)
    sweep_id = create_experiment(store, sweep)
    background = InBackground(store, sweep_id, engine)
    wait_for(lambda: progress(store, sweep)["n_done"].sum() > 3)
    delete_experiment(store, sweep_id)
    assert "is not an experiment of this store" in background.join()
    wait_for(lambda: not set(progress(store, sweep)["state"]) & {"running", "queued"})
    assert set(progress(store, sweep)["state"]) <= {"interrupted", "missing"}


def test_ctrl_c_leaves_runs_that_can_go_on(store: Store, engine: ThreadEngine) -> None:
    sweep = spec(seeds="1", budget=150)
    sweep_id = create_experiment(store, sweep)

    def press(runs: Any, _: str) -> None:
        if runs["n_done"].sum() > 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_experiment(store, sweep_id, engine, watch=press)
    row = get_experiment(store, sweep_id)
    assert (row.state, row.finished) == ("interrupted", None)
    assert set(progress(store, sweep)["state"]) <= {"interrupted", "missing"}
    assert run_experiment(store, sweep_id, engine, again=True).state == "finished"
    check_histories(store, sweep)


def test_a_sweep_at_work_is_not_taken(store: Store) -> None:
    sweep_id = create_experiment(store, random_spec())
    background_engine = ThreadEngine(1, lambda _: time.sleep(0.1))
    background = InBackground(store, sweep_id, background_engine)
    wait_for(lambda: get_experiment(store, sweep_id).state == "running")
    with pytest.raises(StoreError, match="is at work in process"):
        claim(store, sweep_id, 1)
    assert background.join() == "finished"
    background_engine.close()


def test_work_stops_when_the_experiment_is_no_longer_ours(store: Store) -> None:
    lease = claim(store, create_experiment(store, random_spec()), 1)
    assert Wanted(store, lease).now() == "run"
    assert Wanted(store, Lease(lease.run_id, "another")).now() == "stop"
    assert Wanted(store, Lease("nothing", lease.token)).now() == "stop"
    assert Wanted(store, lease, parent=1).now() == "stop"  # its parent has died
    with store.write() as connection:
        connection.execute(update(schema.experiment).values(lease_expires=time.time() - 1))
    assert Wanted(store, lease).now() == "run"  # who holds it may only be waiting for the database
    with store.write() as connection:
        long_ago = time.time() - PATIENCE_SECONDS - 1
        connection.execute(update(schema.experiment).values(lease_expires=long_ago))
    assert Wanted(store, lease).now() == "stop"
    leases.release(store, schema.experiment, lease, "interrupted")
    assert Wanted(store, lease).now() == "stop"


def test_a_worker_with_another_engine_is_refused(
    store: Store, engine: ThreadEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dsebo.experiments.worker.config_hash", lambda config: "other")
    with pytest.raises(StoreError, match="another engine than the experiment"):
        run_experiment(store, create_experiment(store, random_spec()), engine)


def test_a_cancelled_run_is_left_and_said(store: Store, engine: ThreadEngine) -> None:
    """Someone cancels one run of a sweep on the page of runs."""
    sweep = spec(seeds="1", budget=200)
    manager = RunManager(store, Settings(slots=1))
    background = InBackground(store, create_experiment(store, sweep), engine)
    wait_for(lambda: progress(store, sweep)["n_done"].min() > 1)
    manager.cancel(progress(store, sweep)["run_id"][0])
    assert background.join() == "failed"
    assert background.ended is not None
    assert "1 of 2 runs did not finish: 1 cancelled" in str(background.ended.error)
    assert history(store, progress(store, sweep)["run_id"][1]) == reference(sweep.planned()[1].config)
    manager.close()


def test_a_cluster_needs_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(StoreError, match=r"pip install 'dsebo\[cluster\]'"):
        ClusterEngine("tcp://127.0.0.1:1")
