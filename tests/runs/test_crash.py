"""kill -9: nothing committed is lost or doubled, and the resumed history is the same to the bit."""

from __future__ import annotations

import random
import time
from functools import partial
from typing import Any

import pytest

from dsebo.runs.worker import resumed_run
from dsebo.store.store import Store
from tests.runs.jobs import work
from tests.small import history, kill, reference, small, wait_for

CONFIG = small(budget=30)


@pytest.fixture(scope="module")
def expected() -> Any:
    evaluations, events = reference(CONFIG)
    assert sum(event["event"] == "expanded" for event in events) >= 3
    return evaluations, events


def only_run(url: str) -> tuple[Store, Any]:
    store = Store.open(url)
    rows = store.list_runs()
    assert len(rows) == 1
    return store, rows[0]


@pytest.mark.parametrize(
    ("moment", "at", "kept"),
    [
        ("between tell and commit", 1, 0),
        ("between tell and commit", 17, 16),
        ("between tell and commit", 30, 29),
        ("in the middle of the transaction", 9, 8),
        ("in the middle of an expansion", 5, None),
        ("after the commit", 12, 12),
        ("after the commit", 30, 30),
    ],
)
def test_killed_at_a_chosen_moment(
    processes: Any, url: str, expected: Any, moment: str, at: int, kept: int | None
) -> None:
    killed_and_resumed(processes, url, expected, moment, at, kept)


@pytest.mark.postgres
def test_killed_on_postgresql(processes: Any, postgres_url: str, expected: Any) -> None:
    moment = "in the middle of the transaction"
    killed_and_resumed(processes, postgres_url, expected, moment, 17, 16)


def killed_and_resumed(
    processes: Any, url: str, expected: Any, moment: str, at: int, kept: int | None
) -> None:
    process = processes.Process(target=work, args=(url, CONFIG.to_json(), None, moment, at))
    process.start()
    process.join(60)
    assert process.exitcode == -9
    store, row = only_run(url)
    assert row.n_done == len(history(store, row.id)[0])
    assert kept is None or row.n_done == kept
    assert history(store, row.id)[0] == expected[0][: row.n_done]
    if row.n_done < 30:
        assert row.state == "interrupted"
        list(resumed_run(store, row.id))
    assert store.get_run(row.id).state == "finished"
    assert history(store, row.id) == expected
    store.close()


@pytest.mark.slow
def test_killed_again_and_again_at_random_moments(processes: Any, url: str, expected: Any) -> None:
    chance = random.Random(3)
    run_id, kills, seen = None, 0, 0
    while kills < 5:
        process = processes.Process(target=work, args=(url, CONFIG.to_json(), run_id))
        process.start()
        wait_for(partial(_moved, url, seen, process), 60)
        time.sleep(chance.uniform(0, 0.03))  # short: a whole run takes half a second
        kill(process)
        store, row = only_run(url)
        run_id, seen = row.id, row.n_done
        assert history(store, run_id)[0] == expected[0][:seen]
        store.close()
        if process.exitcode == 0 or row.state == "finished":
            break
        assert row.state == "interrupted"
        kills += 1
    assert kills >= 3
    store = Store.open(url)
    if store.get_run(run_id).state != "finished":
        list(resumed_run(store, run_id))
    assert history(store, run_id) == expected
    store.close()


def _moved(url: str, seen: int, process: Any) -> bool:
    store = Store.open(url)
    rows = store.list_runs()
    store.close()
    return bool(rows and rows[0].n_done > seen) or not process.is_alive()
