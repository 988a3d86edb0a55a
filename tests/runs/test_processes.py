"""Whole processes: many writers on one store, exit, Ctrl-C, a full disk, memory."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import tracemalloc
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, text

from dsebo.runs.manager import RunManager
from dsebo.runs.worker import resumed_run, stored_run
from dsebo.settings import Settings
from dsebo.store import patience
from dsebo.store.errors import StoreError
from dsebo.store.rows import RunFilter
from dsebo.store.store import Store
from tests.processes import start
from tests.runs.jobs import manage
from tests.small import history, reference, small, wait_for, wait_state


def test_eight_threads_and_two_processes_on_one_store(processes: Any, store: Store, url: str) -> None:
    config = small(budget=25, method="random")
    both = [processes.Process(target=manage, args=(url, config.to_json(), 8, 8, 100.0)) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join(120)
    assert [process.exitcode for process in both] == [0, 0]
    rows = store.list_runs()
    assert [(row.state, row.n_done, row.error) for row in rows] == [("finished", 25, None)] * 16
    for row in rows:
        assert history(store, row.id) == reference(small(25, row.seed, "random"))


SCRIPT = """
import sys, time
from dsebo.config import RunConfig
from dsebo.runs.manager import RunManager
from dsebo.settings import Settings
from dsebo.store.store import Store
store = Store.open(sys.argv[1])
manager = RunManager(store, Settings(slots=2))
ids = manager.launch(RunConfig.from_json(sys.argv[2]).seeds(3))
while min(row.n_done for row in store.list_runs()) < 2:
    time.sleep(0.01)
print("ready", flush=True)
if sys.argv[3] == "exit":
    sys.exit(0)
time.sleep(60)
"""


@pytest.mark.parametrize("how", ["exit", "ctrl-c"])
def test_exit_and_ctrl_c_save_every_run(store: Store, url: str, how: str) -> None:
    command = [sys.executable, "-c", SCRIPT, url, small(budget=2000).to_json(), how]
    process = start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    if how == "ctrl-c":
        process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    with store.read() as connection:  # written, not only worked out
        written = connection.execute(text("SELECT state, lease_token FROM run")).all()
    assert [tuple(row) for row in written] == [("interrupted", None)] * 3


def test_a_full_disk_ends_the_run_and_leaves_a_readable_store(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "PATIENCE_SECONDS", 0.5)
    config = small(budget=200, method="random")
    ids: list[str] = []
    with store.read() as connection:
        pages = connection.execute(text("PRAGMA page_count")).scalar_one()
    store.engine.dispose()

    def little_room(connection: Any, _: Any) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages + 4}")

    event.listen(store.engine, "connect", little_room)
    with pytest.raises(StoreError, match="is full"):
        list(stored_run(config, store, on_id=ids.append))
    row = store.get_run(ids[0])
    assert row.state == "interrupted"
    assert "full" in str(row.error)
    assert 1 <= row.n_done == len(store.evaluations(row.id)) < 200
    with store.read() as connection:
        assert connection.execute(text("PRAGMA integrity_check")).scalar() == "ok"
    event.remove(store.engine, "connect", little_room)
    store.engine.dispose()
    list(resumed_run(store, row.id))
    assert history(store, row.id) == reference(config)


def test_a_full_disk_under_a_manager(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "PATIENCE_SECONDS", 3.0)
    with store.read() as connection:
        pages = connection.execute(text("PRAGMA page_count")).scalar_one()
    store.engine.dispose()

    def little_room(connection: Any, _: Any) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages + 4}")

    event.listen(store.engine, "connect", little_room)
    manager = RunManager(store, Settings(slots=1))
    run_id = manager.launch(small(budget=400, method="random"))[0]
    said = wait_for(lambda: manager.waiting(run_id))  # at once, though nothing can be written
    assert said.startswith(patience.WAITING)
    assert "is full" in said
    assert "full" in str(wait_state(store, run_id, "interrupted").error)
    manager.close()


def test_a_manager_does_not_grow_with_the_runs_it_has_worked_through(store: Store) -> None:
    manager = RunManager(store, Settings(slots=2))
    config = small(budget=3, method="random")

    def work_through(count: int) -> int:
        ids = manager.launch(config.seeds(count))
        wait_for(lambda: store.count_runs(RunFilter(states=["finished"], ids=ids)) == count, 120)
        wait_for(lambda: not manager._sessions)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        held = [work_through(20) for _ in range(4)]  # all the same: the last batch's settings are kept
    finally:
        tracemalloc.stop()
    grown = [after - before for before, after in pairwise(held)]
    # What is kept of each run is there every time; what others do in this process, or is set up once, is not.
    assert min(grown) < 20 * 1000, f"{min(grown) / 20:.0f} bytes a run"
    manager.close()


def test_a_store_on_a_path_with_spaces(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path / "a folder" / "my runs.db"))
    list(stored_run(small(budget=2, method="random"), store))
    assert store.count_runs() == 1
    store.close()
