"""A sweep on a Dask cluster of separate processes on loopback, with PostgreSQL."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import select, update
from typer.testing import CliRunner

from dsebo.cli import app
from dsebo.experiments.engines import ClusterEngine
from dsebo.experiments.records import create_experiment, get_experiment, list_experiments, progress, tell
from dsebo.experiments.running import run_experiment
from dsebo.store import schema
from dsebo.store.errors import StoreError
from dsebo.store.store import Store
from tests.experiments.helpers import check_histories, make, spec
from tests.experiments.services import Cluster
from tests.small import wait_for

if os.environ.get("CI") != "true":
    pytest.importorskip("distributed")

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    opened = Cluster(tmp_path_factory.mktemp("cluster"))
    for _ in range(2):
        opened.add_worker()
    yield opened
    opened.close()


@pytest.fixture
def shared(postgres_url: str) -> Iterator[Store]:
    opened = Store.open(postgres_url)
    yield opened
    opened.close()


def at_work(store: Store) -> dict[int, str]:
    """Run ids by the process that works on each."""
    run = schema.run.c
    with store.read() as connection:
        chosen = select(run.lease_pid, run.id).where(run.lease_pid.is_not(None), run.n_done > 2)
        return {int(row.lease_pid): str(row.id) for row in connection.execute(chosen)}


@pytest.mark.slow
def test_a_killed_worker_of_a_cluster_costs_nothing(cluster: Cluster, shared: Store) -> None:
    sweep = spec(seeds="1-3", budget=30)
    sweep_id = create_experiment(shared, sweep)
    engine = ClusterEngine(cluster.address)
    ended: list[Any] = []
    thread = threading.Thread(target=lambda: ended.append(run_experiment(shared, sweep_id, engine)))
    thread.start()
    wait_for(lambda: len(at_work(shared)) == 2, 120)  # both have begun
    by_pid = {process.pid: process for process in cluster.workers}
    victim, run_id = next(iter(at_work(shared).items()))
    by_pid[victim].send_signal(signal.SIGKILL)
    by_pid[victim].wait()
    cluster.workers.remove(by_pid[victim])
    assert shared.get_run(run_id).state in ("interrupted", "finished")
    assert tell(shared, sweep_id, "pause") is None
    wait_for(lambda: get_experiment(shared, sweep_id).state == "paused")
    wait_for(lambda: "running" not in set(progress(shared, sweep)["state"]))
    before = progress(shared, sweep)["n_done"].sum()
    time.sleep(0.5)
    assert progress(shared, sweep)["n_done"].sum() == before
    assert tell(shared, sweep_id, "run") is None
    thread.join(240)
    engine.close()
    cluster.add_worker()  # for the next test
    assert [row.state for row in ended] == ["finished"]
    assert shared.count_runs() == sweep.total
    check_histories(shared, sweep)


@pytest.mark.slow
def test_a_cancelled_sweep_ends_on_a_cluster_and_can_be_taken_up(cluster: Cluster, shared: Store) -> None:
    sweep = spec(seeds="1-2", budget=40)
    sweep_id = create_experiment(shared, sweep)
    engine = ClusterEngine(cluster.address)
    ended: list[Any] = []
    thread = threading.Thread(target=lambda: ended.append(run_experiment(shared, sweep_id, engine)))
    thread.start()
    wait_for(lambda: at_work(shared), 120)
    assert tell(shared, sweep_id, "cancel") is None
    thread.join(60)
    assert [row.state for row in ended] == ["cancelled"]
    runs = progress(shared, sweep)
    assert "cancelled" in set(runs["state"])
    assert set(runs["state"]) <= {"cancelled", "finished", "missing"}
    assert at_work(shared) == {}  # the workers have let go of their runs
    assert run_experiment(shared, sweep_id, engine, again=True).state == "finished"
    engine.close()
    check_histories(shared, sweep)


@pytest.mark.slow
def test_a_dead_hosts_lease_runs_out(cluster: Cluster, shared: Store) -> None:
    """A run whose worker died on another host: waited for until its lease has run out."""
    sweep = spec(seeds="1")
    make(shared, sweep.planned()[0].config, stop=5)
    lease = {"lease_token": "a" * 32, "lease_host": "elsewhere", "lease_pid": 1}
    with shared.write() as connection:
        connection.execute(
            update(schema.run).values(state="running", lease_expires=time.time() + 15, **lease)
        )
    engine = ClusterEngine(cluster.address)
    began = time.time()
    ended = run_experiment(shared, create_experiment(shared, sweep), engine)
    engine.close()
    assert ended.state == "finished"
    assert time.time() - began > 5
    assert shared.count_runs() == 2
    check_histories(shared, sweep)


@pytest.mark.slow
def test_the_command_on_a_cluster(cluster: Cluster, postgres_url: str, shared: Store) -> None:
    words = ["--D", "50", "--d-e", "5", "--method", "random", "--budget", "5", "--vary", "c=1,2"]
    options = ["--seeds", "1-2", "--db", postgres_url, "--cluster"]
    done = CliRunner().invoke(app, ["sweep", *words, *options, cluster.address])
    assert done.exit_code == 0, done.output
    assert progress(shared, list_experiments(shared)[0])["state"].eq("finished").all()


def test_a_cluster_that_is_not_there(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dsebo.experiments.engines.CONNECT_SECONDS", 1)
    words = ["--vary", "beta=1,2", "--db", postgres_url, "--cluster", "tcp://127.0.0.1:9"]
    done = CliRunner().invoke(app, ["sweep", *words])
    assert done.exit_code == 2
    assert "The cluster at tcp://127.0.0.1:9 cannot be reached" in done.output
    store = Store.open(postgres_url)
    assert list_experiments(store) == []  # nothing is begun
    store.close()


@pytest.mark.slow
def test_a_cluster_that_ends_leaves_a_sweep_to_be_resumed(
    cluster: Cluster, shared: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last one here: it ends the cluster of the others."""
    monkeypatch.setattr("dsebo.experiments.engines.CONNECT_SECONDS", 2)
    sweep = spec(seeds="1-3", budget=300)
    sweep_id = create_experiment(shared, sweep)
    engine = ClusterEngine(cluster.address)
    said: list[str] = []

    def work() -> None:
        try:
            run_experiment(shared, sweep_id, engine)
        except StoreError as error:
            said.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    wait_for(lambda: at_work(shared), 60)
    cluster.scheduler.kill()
    thread.join(60)
    engine.close()
    assert "is no longer there" in said[0]
    row = get_experiment(shared, sweep_id)
    assert (row.state, row.error) == ("failed", said[0])
    wait_for(lambda: set(progress(shared, sweep)["state"]) <= {"interrupted", "missing"}, 30)
