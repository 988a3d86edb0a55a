"""Worker processes of this machine: killed, interrupted, orphaned, and counted by cores."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text

from dsebo.experiments.child import start_child
from dsebo.experiments.engines import LocalEngine
from dsebo.experiments.limits import experiment_check
from dsebo.experiments.records import create_experiment, get_experiment, progress, tell
from dsebo.experiments.running import run_experiment
from dsebo.runs.slots import CoreTokens
from dsebo.settings import Limits, LimitSettings, Settings, core_count
from dsebo.store import schema
from dsebo.store.errors import LimitExceeded, StoreError
from dsebo.store.leases import Holder
from dsebo.store.store import Store
from tests.experiments.helpers import check_histories, random_spec, spec
from tests.processes import start
from tests.small import wait_for

STRICT = LimitSettings(owner=Limits(budget=5))
LONG = spec(seeds="1-2", budget=30)


@pytest.fixture
def engine() -> Iterator[LocalEngine]:
    opened = LocalEngine(2)
    yield opened
    opened.close()


def workers(store: Store) -> list[int]:
    """The processes that work on runs now."""
    run = schema.run.c
    with store.read() as connection:
        chosen = select(run.lease_pid).where(run.lease_pid.is_not(None), run.n_done > 2)
        return [int(pid) for pid in connection.execute(chosen).scalars()]


def in_thread(store: Store, sweep_id: str, engine: LocalEngine) -> tuple[threading.Thread, list[Any]]:
    ended: list[Any] = []
    thread = threading.Thread(target=lambda: ended.append(run_experiment(store, sweep_id, engine)))
    thread.start()
    return thread, ended


@pytest.mark.slow
def test_a_killed_worker_costs_nothing(store: Store, engine: LocalEngine) -> None:
    thread, ended = in_thread(store, create_experiment(store, LONG), engine)
    for _ in range(2):  # the pool that replaces the first one is broken too
        victim = wait_for(lambda: workers(store), 120)[0]
        assert victim != os.getpid()
        os.kill(victim, signal.SIGKILL)
        wait_for(lambda gone=victim: gone not in workers(store), 30)
    thread.join(200)
    assert [row.state for row in ended] == ["finished"]
    assert store.count_runs() == LONG.total
    check_histories(store, LONG)


@pytest.mark.slow
def test_workers_have_one_thread_and_wait_for_a_core(store: Store, engine: LocalEngine) -> None:
    threads, niceness = engine.executor.submit(about_worker).result(120)
    assert threads == 1
    assert niceness > os.nice(0)
    held = [CoreTokens(live=True) for _ in range(core_count())]
    assert all(tokens.acquire(threading.Event(), 1.0) for tokens in held)
    sweep = random_spec(4)
    thread, ended = in_thread(store, create_experiment(store, sweep), engine)
    wait_for(lambda: progress(store, sweep)["state"].eq("queued").sum() == 2, 60)
    thread.join(0.5)
    assert progress(store, sweep)["n_done"].sum() == 0
    for tokens in held:
        tokens.release()
    thread.join(60)
    assert ended[0].state == "finished"


def about_worker() -> tuple[int, int]:
    import torch

    return torch.get_num_threads(), os.nice(0)


def command(*words: str) -> list[str]:
    """With processes: one as short as these would be run by the command itself."""
    return [sys.executable, "-m", "dsebo", "sweep", *words, "--workers", "2"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sweep.yaml"
    path.write_text(LONG.to_yaml())
    return path


def members(group: int) -> list[int]:
    """The processes of a process group that are not zombies."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            state, _, pgrp = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(pgrp) == group and state != "Z":
            found.append(int(folder.name))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_saves_every_run(store: Store, url: str, file: Path, sign: int) -> None:
    process = start(
        command(str(file), "--db", url, "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for(lambda: workers(store), 120)
    os.killpg(process.pid, sign) if sign == signal.SIGINT else process.send_signal(sign)
    out, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert '"event": "sweep-started"' in out
    assert len(said.splitlines()) == 1
    assert "--resume goes on." in said
    wait_for(lambda: not members(process.pid), 20)
    with store.read() as connection:  # written, not only worked out
        states = set(connection.execute(text("SELECT state FROM run")).scalars())
        ended = connection.execute(text("SELECT state, lease_token FROM experiment")).all()
    assert states <= {"interrupted", "finished"}
    assert [tuple(row) for row in ended] == [("interrupted", None)]


@pytest.mark.slow
def test_a_killed_sweep_leaves_no_workers_and_goes_on(store: Store, url: str, file: Path) -> None:
    process = subprocess.Popen(
        command(str(file), "--db", url), stderr=subprocess.DEVNULL, start_new_session=True
    )
    wait_for(lambda: workers(store), 120)
    process.kill()
    process.wait()
    with store.read() as connection:
        sweep_id = connection.execute(text("SELECT id FROM experiment")).scalar_one()
    assert get_experiment(store, sweep_id).state == "interrupted"  # seen at once
    wait_for(lambda: not members(process.pid), 40)
    assert set(progress(store, LONG)["state"]) <= {"interrupted", "finished", "missing"}
    again = command(str(file), "--db", url, "--resume", "-o", str(file.with_suffix(".csv")))
    done = subprocess.run(again, capture_output=True, text=True, timeout=200, check=True)
    assert "4 of 4 runs finished" in done.stdout
    assert len(file.with_suffix(".csv").read_text().splitlines()) > 4 * 30
    with store.read() as connection:  # the same sweep, not another
        assert connection.execute(text("SELECT COUNT(*) FROM experiment")).scalar_one() == 1
    check_histories(store, LONG)
    assert store.count_runs() == LONG.total


@pytest.mark.slow
def test_a_child_obeys_and_its_death_is_noted(store: Store) -> None:
    sweep = spec(seeds="1-2", budget=2000)
    sweep_id = create_experiment(store, sweep)
    start_child(store, sweep_id)
    assert get_experiment(store, sweep_id).state == "queued"
    with pytest.raises(StoreError, match="is at work in process"):
        start_child(store, sweep_id)
    wait_for(lambda: workers(store), 120)
    assert tell(store, sweep_id, "cancel") is None
    wait_for(lambda: get_experiment(store, sweep_id).state == "cancelled", 30)
    with pytest.raises(LimitExceeded, match="budget must be within the limit of 5"):
        start_child(store, sweep_id, experiment_check(Settings(limits=STRICT), "local", sweep))
    assert get_experiment(store, sweep_id).state == "cancelled"
    start_child(store, sweep_id)
    pid = wait_for(lambda: child_of(store, sweep_id))
    os.kill(pid, signal.SIGKILL)
    row = wait_for(lambda: noted(store, sweep_id))
    assert row.state == "interrupted"
    assert row.error == "Its process ended with code -9: it said nothing."


def child_of(store: Store, sweep_id: str) -> int:
    with store.read() as connection:
        chosen = select(schema.experiment.c.lease_pid).where(schema.experiment.c.id == sweep_id)
        pid = int(connection.execute(chosen).scalar_one())
    assert Holder.of(pid).alive()
    return pid


def noted(store: Store, sweep_id: str) -> Any:
    row = get_experiment(store, sweep_id)
    return row if row.error else None


@pytest.mark.slow
def test_a_child_that_cannot_start_says_why(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep_id = create_experiment(store, random_spec())
    monkeypatch.setenv("DSEBO_SETTINGS", "/nowhere/settings.toml")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    start_child(store, sweep_id)
    row = wait_for(lambda: noted(store, sweep_id))
    assert row.state == "interrupted"
    assert "code 1" in row.error
