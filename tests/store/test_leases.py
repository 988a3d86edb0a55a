"""A run is never written by two: leases, heartbeats, take-over."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from dsebo.runs.commands import order
from dsebo.runs.manager import RunManager
from dsebo.runs.worker import resumed_run, stored_run
from dsebo.settings import Settings
from dsebo.store import database, leases, schema
from dsebo.store.errors import LeaseLost, StoreAway, StoreError
from dsebo.store.leases import Heartbeat, Holder, Lease, set_state
from dsebo.store.rows import RunFilter
from dsebo.store.store import Store
from dsebo.store.writing import claim
from tests.runs.jobs import try_to_resume, work, write_for_long
from tests.small import history, kill, reference, small, wait_for, wait_state

CONFIG = small(budget=20)


def half_done(store: Store, at: int = 5) -> tuple[str, Any]:
    """A run held by this process, stopped in the middle; close what is returned to end it."""
    ids: list[str] = []
    events = stored_run(CONFIG, store, on_id=ids.append)
    for event in events:
        if event.t == at and event.kind == "evaluated":
            break
    return ids[0], events


def set_row(store: Store, run_id: str, **values: Any) -> None:
    with store.write() as connection:
        connection.execute(update(schema.run).where(schema.run.c.id == run_id).values(**values))


def test_a_taken_run_cannot_be_written_by_its_old_holder(store: Store) -> None:
    run_id, events = half_done(store)
    set_row(store, run_id, lease_host="elsewhere", lease_expires=time.time() - 1)
    assert store.get_run(run_id).state == "stalled"
    lease = claim(store, run_id)
    with pytest.raises(LeaseLost, match="no longer this process's"):
        next(events)
    assert store.get_run(run_id).n_done == 5  # what the old holder had made was not written
    set_state(store, schema.run, lease, "running")
    set_row(store, run_id, lease_expires=time.time() - 1, lease_host="elsewhere")
    list(resumed_run(store, run_id))
    assert history(store, run_id) == reference(CONFIG)


def test_a_lease_elsewhere_is_kept_until_it_expires(store: Store) -> None:
    run_id, events = half_done(store)
    set_row(store, run_id, lease_host="elsewhere", lease_expires=time.time() + 60)
    assert store.get_run(run_id).state == "running"
    with pytest.raises(StoreError, match="is at work in process"):
        claim(store, run_id)
    set_row(store, run_id, lease_expires=time.time() - 1)
    assert store.get_run(run_id).state == "stalled"
    assert [row.id for row in store.list_runs(RunFilter(states=["stalled"]))] == [run_id]
    assert store.list_runs(RunFilter(states=["running"])) == []
    assert store.count_runs(RunFilter(states=["stalled"])) == 1
    manager = RunManager(store, Settings(slots=1))
    assert store.get_run(run_id).state == "stalled"  # not marked: it may come back
    manager.resume(run_id)
    wait_state(store, run_id, "finished")
    manager.close()
    with pytest.raises(LeaseLost):
        next(events)
    assert history(store, run_id) == reference(CONFIG)


def test_a_stopped_process_loses_its_run_to_who_resumes_it(processes: Any, url: str, store: Store) -> None:
    config = small(budget=60)
    process = processes.Process(target=work, args=(url, config.to_json()))
    process.start()
    run_id = wait_for(lambda: [row.id for row in store.list_runs() if row.n_done > 2])[0]
    assert order(store, run_id, "pause") is None
    wait_state(store, run_id, "paused")  # and so not in the middle of a transaction
    os.kill(process.pid, signal.SIGSTOP)  # it lives, but its heartbeat does not
    try:
        with pytest.raises(StoreError, match=f"at work in process {process.pid} on .* heard of less than"):
            claim(store, run_id)
        set_row(store, run_id, lease_expires=time.time() - 1)
        assert store.get_run(run_id).state == "stalled"
        assert store.mark_interrupted() == 0  # it may come back
        list(resumed_run(store, run_id))
        os.kill(process.pid, signal.SIGCONT)
        process.join(30)
        assert process.exitcode == 1  # the run is no longer its own to write
    finally:
        kill(process)
    assert history(store, run_id) == reference(config)


def test_a_killed_process_is_seen_at_once(processes: Any, url: str, store: Store) -> None:
    process = processes.Process(target=work, args=(url, small(budget=2000).to_json()))
    process.start()
    run_id = wait_for(lambda: [row.id for row in store.list_runs() if row.n_done > 2])[0]
    kill(process)
    assert store.get_run(run_id).state == "interrupted"  # before anyone marks it
    assert store.mark_interrupted() == 1
    claim(store, run_id)


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="Only Linux tells who holds a lock.")
def test_who_keeps_the_database_locked_is_named(
    processes: Any, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that was stopped in the middle of a transaction."""
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.2)
    store, writing = Store.open(url), processes.Event()
    process = processes.Process(target=write_for_long, args=(url, writing))
    process.start()
    try:
        assert writing.wait(30)
        with pytest.raises(StoreAway, match=rf"Process {process.pid} has kept .* locked for 0\.2 s"):
            set_row(store, "any", n_done=1)
        os.kill(process.pid, signal.SIGSTOP)
        way_out = (
            rf"Process {process.pid}, which is stopped \(kill -CONT {process.pid} wakes it, .*\), has kept"
        )
        wait_for(lambda: re.search(way_out, refused(store)))
        assert store.list_runs() == []  # reading goes on
    finally:
        kill(process)
    set_row(store, "any", n_done=1)
    store.close()


def refused(store: Store) -> str:
    with pytest.raises(StoreAway) as error:
        set_row(store, "any", n_done=1)
    return str(error.value)


def test_the_heartbeat_has_a_thread_of_its_own(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "HEARTBEAT_SECONDS", 0.05)
    run_id, events = half_done(store)
    lease = Lease(run_id, token(store, run_id))
    heartbeat = Heartbeat(store)
    heartbeat.hold([lease])
    first = expires(store, run_id)
    wait_for(lambda: expires(store, run_id) > first)  # though the run does nothing at all
    heartbeat.drop(lease)
    heartbeat.close()
    events.close()
    assert store.get_run(run_id).state == "interrupted"


def token(store: Store, run_id: str) -> Any:
    with store.read() as connection:
        chosen = select(schema.run.c.lease_token).where(schema.run.c.id == run_id)
        return connection.execute(chosen).scalar_one()


def expires(store: Store, run_id: str) -> Any:
    with store.read() as connection:
        chosen = select(schema.run.c.lease_expires).where(schema.run.c.id == run_id)
        return connection.execute(chosen).scalar_one()


def test_who_is_alive() -> None:
    me = Holder.this()
    assert me.alive() is True
    assert Holder(me.host, me.pid, "another start").alive() is False  # the pid was used again
    assert Holder(me.host, 2**22 + 5, me.process).alive() is False
    assert Holder("elsewhere", me.pid, me.process).alive() is None


def test_two_processes_do_not_run_the_same_run(processes: Any, any_url: str) -> None:
    store = Store.open(any_url)
    run_id, events = half_done(store)
    events.close()
    start, answers = processes.Event(), processes.Queue()
    both = [processes.Process(target=try_to_resume, args=(any_url, run_id, start, answers)) for _ in range(3)]
    for process in both:
        process.start()
    time.sleep(1.0)
    start.set()
    said = [answers.get(timeout=60) for _ in both]
    for process in both:
        process.join(30)
    worked = [answer for answer in said if answer == 15]
    refused = [answer for answer in said if "at work" in str(answer) or "finished" in str(answer)]
    assert (len(worked), len(refused)) == (1, 2), said
    assert history(store, run_id) == reference(CONFIG)
    store.close()
