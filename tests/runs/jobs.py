"""What the tests run in processes of their own. Imported there, so nothing here is a test."""

from __future__ import annotations

import importlib
import logging
import os
import signal
import time
from typing import Any

from dsebo.config import RunConfig
from dsebo.runs.manager import RunManager
from dsebo.runs.worker import resumed_run, stored_run
from dsebo.settings import Settings
from dsebo.store.rows import RunFilter
from dsebo.store.store import Store


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def work(url: str, config: str, run_id: str | None = None, moment: str = "", at: int = 0) -> None:
    """Run, or resume, in the foreground; die at the chosen moment of evaluation `at`."""
    _arm(moment, at)
    store = Store.open(url)
    events = resumed_run(store, run_id) if run_id else stored_run(RunConfig.from_json(config), store)
    for _ in events:
        pass


def _arm(moment: str, at: int) -> None:
    """Put the death where it belongs."""
    session: Any = importlib.import_module("dsebo.runs.worker")
    writing: Any = importlib.import_module("dsebo.store.writing")
    algorithm: Any = importlib.import_module("dsebo.methods.dsebo")
    if moment == "between tell and commit":
        commit = session.commit_step

        def before_commit(store: Any, lease: Any, runner: Any, *rest: Any) -> Any:
            if runner.t == at:
                die()
            return commit(store, lease, runner, *rest)

        session.commit_step = before_commit
    elif moment == "in the middle of the transaction":
        save = writing.save_checkpoint

        def half_written(connection: Any, run_id: str, runner: Any) -> None:
            save(connection, run_id, runner)
            if runner.t == at:
                die()

        writing.save_checkpoint = half_written
    elif moment == "in the middle of an expansion":
        after = algorithm.after_evaluation

        def expanding(strategy: Any, now: Any, t: int, y: float) -> Any:
            result = after(strategy, now, t, y)
            if t >= at and result[1] is not None and result[1].kind == "expanded":
                die()
            return result

        algorithm.after_evaluation = expanding
    elif moment == "after the commit":
        update = session.commit_step

        def after_commit(store: Any, lease: Any, runner: Any, *rest: Any) -> Any:
            order = update(store, lease, runner, *rest)
            if runner.t == at:
                die()
            return order

        session.commit_step = after_commit
    elif moment:
        raise ValueError(moment)


def manage(url: str, config: str, repeats: int, slots: int, seconds: float) -> None:
    """A manager that launches runs and waits until they have ended; exit code 3 after a warning.

    A heartbeat that finds the database locked only warns and tries again: it must not go unseen.
    """
    warned: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: warned.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("dsebo").addHandler(handler)
    store = Store.open(url)
    manager = RunManager(store, Settings(slots=slots))
    ids = manager.launch(RunConfig.from_json(config).seeds(repeats))
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if all(row.state == "finished" for row in store.list_runs(RunFilter(ids=ids))):
            break
        time.sleep(0.02)
    manager.close()
    if warned:
        print(*warned, sep="\n")
        raise SystemExit(3)


def try_to_resume(url: str, run_id: str, start: Any, answers: Any) -> None:
    """Several at once: who gets the run works on it, the others say why not."""
    store = Store.open(url)
    start.wait()
    try:
        answers.put(sum(1 for event in resumed_run(store, run_id) if event.kind == "evaluated"))
    except Exception as error:
        answers.put(f"{type(error).__name__}: {error}")


def write_for_long(url: str, writing: Any) -> None:
    """A transaction that does not end."""
    with Store.open(url).write():
        writing.set()
        time.sleep(60)
