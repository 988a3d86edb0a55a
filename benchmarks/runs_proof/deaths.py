"""Processes that are killed, databases that go away, disks that are full: nothing is lost."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import select

from benchmarks.browsers import Browser
from benchmarks.server import Server
from dsebo.experiments.child import start_child
from dsebo.experiments.records import create_experiment, get_experiment
from dsebo.runs.commands import change
from dsebo.runs.manager import RunManager
from dsebo.runs.worker import resumed_run
from dsebo.settings import Settings
from dsebo.store import schema
from dsebo.store.patience import WAITING
from dsebo.store.store import Store
from tests.experiments.helpers import InBackground, ThreadEngine, check_histories, spec
from tests.runs import jobs
from tests.small import history, reference, small, wait_for, wait_state
from tests.stores import fill, little_disk, running_postgres

RANDOM_KILLS = 28
RESTARTS, DOWN_SECONDS = 10, 1.5  # of PostgreSQL
LOCKED_SECONDS = (12, 12, 12, 12, 37)  # that another program keeps a SQLite file
MOMENTS = (
    "between tell and commit",
    "in the middle of the transaction",
    "in the middle of an expansion",
    "after the commit",
)


def processes() -> Any:
    """Processes that start quickly, as what they need is imported once."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["dsebo.runs.manager", "torch", "objectives"])
    return context


def kill(folder: Path) -> None:
    """kill -9 at 28 random moments and at 12 chosen ones."""
    config = small(budget=40)
    expected = reference(config)
    several, chance = processes(), random.Random(1)
    lost = doubled = 0
    kept: list[int] = []
    cases: list[tuple[str, int]] = [("", 0)] * RANDOM_KILLS
    cases += [(moment, at) for moment in MOMENTS for at in (2, 13, 27)]
    for i, (moment, at) in enumerate(cases):
        url = f"sqlite:///{folder}/kill{i}.db"
        Store.open(url).close()
        args = (url, config.to_json(), None, moment, at)
        process = several.Process(target=jobs.work, args=args)
        process.start()
        if not moment:
            _wait_for_evaluations(url, chance.randrange(0, 30), process)
            time.sleep(chance.uniform(0, 0.05))
            os.kill(process.pid, signal.SIGKILL)
        process.join(120)
        store = Store.open(url)
        found = store.list_runs()
        if found:
            run_id, before = found[0].id, history(store, found[0].id)[0]
            kept.append(len(before))
            lost += found[0].n_done - len(before)
            if found[0].state != "finished":
                assert found[0].state == "interrupted", found[0].state
                list(resumed_run(store, run_id))
            after = history(store, run_id)
            doubled += len(after[0]) - len({row[0] for row in after[0]})
            assert after[0][: len(before)] == before
            assert after == expected, (i, moment)
        store.close()
    assert len(kept) == len(cases), "a run was not in the store when its process was killed"
    print(
        f"kill -9: {RANDOM_KILLS} random and {len(cases) - RANDOM_KILLS} chosen moments, killed after "
        f"{min(kept)} to {max(kept)} of 40 evaluations; every resumed history identical, {lost} lost, "
        f"{doubled} doubled"
    )


def _wait_for_evaluations(url: str, count: int, process: Any) -> None:
    store = Store.open(url)
    while process.is_alive():
        found = store.list_runs()
        if found and found[0].n_done >= count:
            break
        time.sleep(0.002)
    store.close()


CRASHES = 10
LINK = "function=sphere&D=50&d_e=5&d_l=2&d_h=20&beta=4&budget=150&speed=1&seed={}"


def crashes(folder: Path) -> None:
    """kill -9 of a dashboard with two runs, and of the process of a sweep, in turn; one button each time."""
    url, chance, counts = f"sqlite:///{folder}/crashes.db", random.Random(1), Counter[str]()
    store, server = Store.open(url), Server(str(folder), url)
    server.wait()
    browser = Browser(server.port)
    browser.open()  # what comes with the package is in the store
    before = store.count_runs()
    for seed in (1, 2):
        browser = Browser(server.port, LINK.format(seed))
        browser.open()
        browser.press("Launch")
        assert not browser.said, browser.said
    ids = [row.id for row in store.list_runs(limit=2)]
    sweep = spec(seeds="1-8", budget=100)
    sweep_id = create_experiment(store, sweep)
    start_child(store, sweep_id)
    for number in range(CRASHES):
        time.sleep(chance.uniform(0.5, 2.5))
        holder = _holder(store, sweep_id)
        if number % 2 and holder is not None:
            os.kill(holder, signal.SIGKILL)
            counts["of the sweep"] += 1
        else:
            server.process.kill()
            server.process.wait()
            server = Server(str(folder), url)
            server.wait()
            counts["of the dashboard"] += 1
        wait_for(lambda: _press(server.port, "Resume what was at work"), 60)  # noqa: B023
    for run_id in ids:
        change(store, run_id, speed=None)
        wait_state(store, run_id, "finished", seconds=300)
        assert history(store, run_id) == reference(store.config(run_id))
    wait_for(lambda: get_experiment(store, sweep_id).state == "finished", 300)
    check_histories(store, sweep)
    assert store.count_runs() == before + len(ids) + sweep.total, "a run was lost or doubled"
    server.close()
    store.close()
    said = ", ".join(f"{count} {whose}" for whose, count in counts.items())
    print(
        f"crashes: {CRASHES} kills -9, {said}; after one press each, 2 runs and a sweep of {sweep.total} "
        "ended with identical histories, none lost, none doubled"
    )


def _holder(store: Store, experiment_id: str) -> int | None:
    """The process that works on an experiment."""
    table = schema.experiment.c
    with store.read() as connection:
        chosen = select(table.lease_pid).where(table.id == experiment_id, table.state == "running")
        return connection.execute(chosen).scalar_one_or_none()


def _press(port: int, words: str) -> bool:
    """Whether the page of all runs had that button, and it was pressed."""
    browser = Browser(port, page="experiments")
    browser.open()
    label = next((label for label in browser.buttons if label.startswith(words)), None)
    if label is not None:
        browser.press(label)
    browser.close()
    return label is not None


HEAD = "| database | away | runs | sweep | histories | said | dashboard |\n" + "|---" * 7 + "|"


def restarts(folder: Path) -> None:
    """PostgreSQL restarts, with two runs, a sweep and a dashboard at work; nobody lends a hand."""
    print(HEAD)
    with running_postgres() as server:

        def restart(number: int) -> None:
            server.stop(signal.SIGQUIT if number % 2 else signal.SIGINT)  # a crash, or an orderly end
            time.sleep(DOWN_SECONDS)
            server.start()

        _away("PostgreSQL", server.address, [partial(restart, i) for i in range(RESTARTS)], folder)


def lockouts(folder: Path) -> None:
    """Another program locks a SQLite file, with the same at work."""
    print(HEAD)
    file = folder / "locked.db"
    locks = [partial(_lock, file, seconds) for seconds in LOCKED_SECONDS]
    _away("SQLite", f"sqlite:///{file}", locks, folder)


def _lock(file: Path, seconds: float) -> None:
    other = sqlite3.connect(file, isolation_level=None, timeout=30)
    other.execute("BEGIN EXCLUSIVE")
    time.sleep(seconds)
    other.execute("ROLLBACK")
    other.close()


class _Dashboard:
    """A browser that looks at a run again and again, in a thread of its own."""

    def __init__(self, port: int, run_id: str) -> None:
        self._browser = Browser(port, query=f"run={run_id}")
        self.said: set[str] = set()
        self.looks = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self) -> None:
        while not self._over.is_set():
            self._browser.open()
            self.looks += 1
            self.said |= set(self._browser.said)
            self._over.wait(0.2)

    def close(self) -> list[str]:
        """What the page says at last."""
        self._over.set()
        self._thread.join()
        self._browser.open()
        self._browser.close()
        return self._browser.said


def _away(kind: str, url: str, times: Sequence[Callable[[], None]], folder: Path) -> None:
    """One line of the table: the database goes away so often, and all ends as if it had not."""
    server = Server(str(folder), url)
    server.wait()
    Browser(server.port).open()  # it has its store, and what comes with the package is in it
    store = Store.open(url)
    before = store.count_runs()
    manager, engine = RunManager(store, Settings(slots=1)), ThreadEngine(1)
    configs = small(budget=150).seeds(2)
    ids = manager.launch(configs, speed=2)
    sweep = spec(seeds="1-6", budget=60)
    background = InBackground(store, create_experiment(store, sweep), engine)
    dashboard, said = _Dashboard(server.port, ids[0]), 0
    for go_away in times:
        wait_for(lambda: "running" in {store.get_run(run_id).state for run_id in ids}, 60)
        away = threading.Thread(target=go_away)
        away.start()
        heard = False
        while away.is_alive():
            heard |= any(manager.waiting(run_id) for run_id in ids)
            time.sleep(0.02)
        said += heard
    for run_id in ids:
        manager.set_speed(run_id, None)
    for config, run_id in zip(configs, ids, strict=True):
        wait_state(store, run_id, "finished", seconds=300)
        assert history(store, run_id) == reference(config)
    assert background.join(600.0) == "finished"
    check_histories(store, sweep)
    assert store.count_runs() == before + len(ids) + sweep.total, "a run was lost or doubled"
    last = dashboard.close()
    server.close()
    assert all(WAITING in words or "deleted" in words for words in dashboard.said), dashboard.said
    assert last == [], last
    looked = f"{dashboard.looks} pages, none broken, {'said' if dashboard.said else 'readable'} meanwhile"
    ended = f"2 of 2 finished | {sweep.total} of {sweep.total} | identical"
    print(f"| {kind} | {len(times)} times | {ended} | {said} times | {looked} |")
    engine.close()
    manager.close()
    store.close()


def disk(folder: Path) -> None:
    """A file system that is full for a while."""
    with little_disk(folder / "disk", 16) as place:
        store = Store.open(str(place / "runs.db"))
        manager = RunManager(store, Settings(slots=1))
        config = small(budget=400, method="random")
        run_id = manager.launch(config, speed=50)[0]
        wait_for(lambda: store.get_run(run_id).n_done > 20)
        fill(place)
        began = time.monotonic()
        said = wait_for(lambda: manager.waiting(run_id), 60)
        waited, done = time.monotonic() - began, store.get_run(run_id).n_done
        time.sleep(3.0)
        (place / "filler").unlink()
        manager.set_speed(run_id, None)
        wait_state(store, run_id, "finished", seconds=120)
        assert history(store, run_id) == reference(config)
        manager.close()
        store.close()
    print(
        f"full disk: 16 MB, full after {done} of 400 evaluations, said after {waited:.1f} s, went on by "
        f"itself to the identical history; {said}"
    )
