"""A database that goes away and comes back: runs wait, and go on to the same history."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, create_engine, event, text
from typer.testing import CliRunner

from dsebo.cli import app
from dsebo.experiments.records import create_experiment
from dsebo.runs import worker
from dsebo.runs.commands import change
from dsebo.runs.manager import RunManager
from dsebo.runs.worker import stored_run
from dsebo.settings import Settings
from dsebo.store import database, leases, patience, schema
from dsebo.store.errors import LeaseLost, StoreAway, StoreError
from dsebo.store.leases import Heartbeat
from dsebo.store.patience import Waiting
from dsebo.store.store import Store
from dsebo.store.writing import NewRuns, claim, create
from tests.experiments.helpers import InBackground, ThreadEngine, check_histories, spec
from tests.small import history, reference, small, wait_for, wait_state
from tests.stores import running_postgres


def test_what_fails_while_the_database_is_away_is_done_again_and_said() -> None:
    waiting = Waiting("Run 1")
    tries: list[bool] = []
    said: list[str] = []

    def attempt(again: bool) -> str:
        tries.append(again)
        said.append(waiting.words())
        if len(tries) < 3:
            raise StoreAway("It is restarting.")
        return "done"

    assert waiting.do(attempt) == "done"
    assert tries == [False, True, True]
    assert said == ["", *[f"{patience.WAITING}: It is restarting."] * 2]
    assert waiting.words() == ""


def test_nobody_waits_for_ever_or_for_what_will_not_change(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    def refused(_: bool) -> None:
        tries.append(1)
        raise StoreError("Never.")

    def away(_: bool) -> None:
        raise StoreAway("Not now.")

    with pytest.raises(StoreError, match="Never"):
        Waiting("Run 1").do(refused)
    assert len(tries) == 1
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    with pytest.raises(StoreAway):
        Waiting("Run 1", stop).do(away)
    monkeypatch.setattr(patience, "PATIENCE_SECONDS", 0.3)
    with pytest.raises(StoreAway):
        Waiting("Run 1").do(away)


class AnswersLost:
    """Commits and says that it has not, now and then: as where a server dies after the commit."""

    def __init__(self, store: Store, every: int) -> None:
        self.write, self.every, self.count, self.lost = store.write, every, 0, 0

    @contextmanager
    def __call__(self, *, lasting: bool = True) -> Iterator[Connection]:
        with self.write(lasting=lasting) as connection:
            yield connection
        self.count += 1
        if self.count % self.every == 0:
            self.lost += 1
            raise StoreAway("The connection was closed before the answer came.")


@pytest.mark.parametrize("every", [2, 3, 4])
def test_nothing_is_written_twice_where_the_answer_was_lost(
    store: Store, monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    """Evaluations, events and the end are asked for again though they had been written."""
    monkeypatch.setattr(patience, "FIRST_PAUSE", 0.001)
    config = small(budget=12)
    manager = RunManager(store, Settings(slots=1))
    run_id = manager.launch(config, paused=True)[0]
    wait_state(store, run_id, "paused")
    manager.close()
    wait_state(store, run_id, "interrupted")
    faulty = AnswersLost(store, every)
    lease = claim(store, run_id)
    monkeypatch.setattr(store, "write", faulty)
    list(worker._events(store, lease))
    row = store.get_run(run_id)
    assert (row.state, row.n_done, row.error) == ("finished", 12, None)
    assert history(store, run_id) == reference(config)
    assert faulty.lost >= 12 // every


def test_a_new_run_whose_first_answers_were_lost(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "FIRST_PAUSE", 0.001)
    config = small(budget=6)
    faulty = AnswersLost(store, 2)
    monkeypatch.setattr(store, "write", faulty)  # the second transaction is the start
    ids: list[str] = []
    list(stored_run(config, store, on_id=ids.append))
    assert faulty.lost > 3
    assert history(store, ids[0]) == reference(config)


def test_a_release_whose_answer_was_lost(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    manager = RunManager(store, Settings(slots=1))
    run_id = manager.launch(small(budget=500), paused=True)[0]
    wait_state(store, run_id, "paused")
    monkeypatch.setattr(store, "write", AnswersLost(store, 2))
    manager.cancel(run_id)
    assert wait_state(store, run_id, "cancelled").error is None
    manager.close()


@contextmanager
def locked(store: Store) -> Iterator[None]:
    """Another program writes to the file, and takes its time."""
    other = sqlite3.connect(str(store.engine.url.database), isolation_level=None)
    other.execute("PRAGMA busy_timeout = 5000")
    other.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


@pytest.fixture
def hasty(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store that waits for other writers for a moment only."""
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.3)
    opened = Store.open(url)
    yield opened
    opened.close()


def test_runs_and_a_sweep_wait_for_a_locked_file_and_go_on_by_themselves(
    hasty: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0.8)
    monkeypatch.setattr(leases, "HEARTBEAT_SECONDS", 0.2)
    manager = RunManager(hasty, Settings(slots=2))
    configs = small(budget=40).seeds(2)
    ids = manager.launch(configs, speed=40)
    sweep, engine = spec(seeds="1", budget=40), ThreadEngine(1)
    background = InBackground(hasty, create_experiment(hasty, sweep), engine)
    wait_for(lambda: min(row.n_done for row in hasty.list_runs()) > 2 and hasty.count_runs() > 2)
    with locked(hasty):
        assert patience.WAITING in wait_for(lambda: manager.waiting(ids[0]))
        time.sleep(1.2)  # longer than a lease
        assert {hasty.get_run(run_id).state for run_id in ids} == {"running"}  # we know better
        with pytest.raises(StoreAway, match=r"has kept .* locked"):
            manager.launch(small())
        listed = CliRunner().invoke(app, ["runs", "--db", str(hasty.engine.url)])
        assert (listed.exit_code, listed.output.count("running")) == (0, 3), listed.output
    for config, run_id in zip(configs, ids, strict=True):
        wait_state(hasty, run_id, "finished")
        assert history(hasty, run_id) == reference(config)
        assert manager.waiting(run_id) == ""
    assert background.join() == "finished"
    engine.close()
    check_histories(hasty, sweep)
    manager.close()


STOPS = """
import os, signal, sqlite3, sys
other = sqlite3.connect(sys.argv[1], isolation_level=None)
other.execute("BEGIN IMMEDIATE")
print("holds", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
"""


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="Only Linux tells who holds a lock.")
def test_a_process_that_is_stopped_within_a_transaction_is_named_and_runs_go_on_without_it(
    hasty: Store,
) -> None:
    config, manager = small(budget=40), RunManager(hasty, Settings(slots=1))
    run_id = manager.launch(config, speed=40)[0]
    wait_for(lambda: hasty.get_run(run_id).n_done > 2)
    words = [sys.executable, "-c", STOPS, str(hasty.engine.url.database)]
    stopped = subprocess.Popen(words, stdout=subprocess.PIPE)
    assert stopped.stdout is not None
    assert stopped.stdout.readline() == b"holds\n"
    named = f"Process {stopped.pid}, which is stopped (kill -CONT {stopped.pid} wakes it"
    wait_for(lambda: named in manager.waiting(run_id))
    assert hasty.waiting() in ("", patience.SLOW_WORDS)
    assert hasty.count_runs() == 1  # it can be read meanwhile
    stopped.kill()  # as the sentence says
    stopped.wait()
    wait_state(hasty, run_id, "finished")
    assert history(hasty, run_id) == reference(config)
    manager.close()


def test_a_store_says_that_something_of_it_waits_to_write(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dsebo.store.store.SLOW_SECONDS", 0.2)
    run_id = create(store, NewRuns([small()], ["a run"]))[0].run_id
    assert store.waiting() == ""
    with locked(store):
        writer = threading.Thread(target=change, args=(store, run_id), kwargs={"name": "another"})
        writer.start()
        assert wait_for(store.waiting) == patience.SLOW_WORDS
    writer.join()
    assert store.waiting() == ""


def test_a_release_that_failed_is_written_when_the_database_is_back(
    hasty: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "PATIENCE_SECONDS", 0.3)
    monkeypatch.setattr(leases, "HEARTBEAT_SECONDS", 0.1)
    manager = RunManager(hasty, Settings(slots=1))
    run_id = manager.launch(small(budget=500))[0]
    wait_for(lambda: hasty.get_run(run_id).n_done > 2)
    with locked(hasty):
        wait_for(lambda: run_id not in manager._sessions)
        assert hasty.run_columns(["error"])["error"] == [None]
    assert "locked" in str(wait_state(hasty, run_id, "interrupted").error)
    manager.resume(run_id)
    wait_state(hasty, run_id, "running")
    manager.close()


def test_what_is_owed_is_dropped_where_another_has_taken_the_run(store: Store) -> None:
    ids: list[str] = []
    events = stored_run(small(), store, on_id=ids.append)
    next(events)
    events.close()
    old = claim(store, ids[0])
    leases.release(store, schema.run, old, "interrupted")
    new = claim(store, ids[0])
    with pytest.raises(LeaseLost):
        leases.release(store, schema.run, old, "interrupted", again=True)
    heartbeat = Heartbeat(store)
    heartbeat.release_later(schema.run, old, "interrupted", "too late")
    heartbeat._pay(schema.run, old, "interrupted", "too late")
    assert heartbeat._owed == {}
    leases.set_state(store, schema.run, new, "running")  # still held
    assert store.get_run(ids[0]).error is None


def test_runs_are_listed_where_nothing_can_be_written(store: Store, url: str) -> None:
    list(stored_run(small(budget=3, method="random"), store, "the only one"))
    store.close()

    def no_writing(connection: Any, _: Any) -> None:
        connection.execute("PRAGMA query_only = ON")

    event.listen(Engine, "connect", no_writing)
    try:
        listed = CliRunner().invoke(app, ["runs", "--db", url])
        run = CliRunner().invoke(app, ["run", "--D", "40", "--d-e", "4", "--budget", "3", "--db", url])
    finally:
        event.remove(Engine, "connect", no_writing)
    assert listed.exit_code == 0, listed.output
    assert "the only one" in listed.output
    assert run.exit_code != 0
    assert "cannot be opened for writing" in run.output


def test_a_run_in_the_terminal_says_that_it_waits(hasty: Store, caplog: pytest.LogCaptureFixture) -> None:
    config = small(budget=20)
    ids: list[str] = []
    events = stored_run(config, hasty, on_id=ids.append)
    for happened in events:
        if happened.t == 5:
            break
    with locked(hasty):
        rest = threading.Thread(target=lambda: list(events))
        rest.start()
        wait_for(lambda: "waits for the database" in caplog.text)
    rest.join(30)
    assert "goes on: the database is back" in caplog.text
    assert history(hasty, ids[0]) == reference(config)


@pytest.mark.postgres
def test_runs_outlive_connections_that_are_cut(postgres_url: str) -> None:
    store = Store.open(postgres_url)
    manager = RunManager(store, Settings(slots=2))
    configs = small(budget=40).seeds(2)
    ids = manager.launch(configs)
    admin = create_engine(postgres_url, isolation_level="AUTOCOMMIT")
    cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
    others = "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    for _ in range(8):
        with admin.connect() as connection:
            connection.execute(text(cut + others))
        time.sleep(0.05)
    admin.dispose()
    for config, run_id in zip(configs, ids, strict=True):
        wait_state(store, run_id, "finished")
        assert history(store, run_id) == reference(config)
    manager.close()
    store.close()


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
def test_runs_and_a_sweep_outlive_a_restart_of_postgresql(how: signal.Signals) -> None:
    with running_postgres() as server:
        store = Store.open(server.address)
        manager = RunManager(store, Settings(slots=2))
        configs = small(budget=50).seeds(2)
        ids = manager.launch(configs, speed=30)
        sweep, engine = spec(seeds="1", budget=40), ThreadEngine(1)
        background = InBackground(store, create_experiment(store, sweep), engine)
        wait_for(lambda: min(store.get_run(run_id).n_done for run_id in ids) > 5)
        server.stop(how)
        assert patience.WAITING in wait_for(lambda: manager.waiting(ids[0]))
        with pytest.raises(StoreAway):
            store.list_runs()
        time.sleep(1.5)
        server.start()
        for config, run_id in zip(configs, ids, strict=True):
            wait_state(store, run_id, "finished")
            assert history(store, run_id) == reference(config)
        assert background.join() == "finished"
        engine.close()
        check_histories(store, sweep)
        manager.close()
        store.close()
