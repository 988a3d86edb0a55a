"""This machine is measured once for a store, and predictions count it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dsebo.config import RunConfig, predict
from dsebo.methods import cost
from dsebo.runs import machine
from dsebo.runs.manager import RunManager
from dsebo.settings import Settings
from dsebo.store.store import Store

CONFIG = RunConfig.parse({})


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    cost.set_pace(1.0)


def test_what_was_measured_is_kept_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual, times = predict(CONFIG), iter([3.0])
    monkeypatch.setattr(machine, "measure", lambda: next(times))
    store = Store.open(f"sqlite:///{tmp_path}/a.db")
    machine.measure_once(store)
    machine.measure_once(store)  # not measured again
    cost.set_pace(1.0)
    RunManager(store, Settings()).close()
    assert predict(CONFIG).seconds == pytest.approx(3 * usual.seconds)
    assert predict(CONFIG).memory_bytes == usual.memory_bytes
    monkeypatch.setattr(machine, "name", lambda: "another one")
    cost.set_pace(1.0)
    assert not machine.use_kept_pace(store)
    assert predict(CONFIG) == usual
    store.close()


def test_it_is_measured_by_the_work_of_a_run() -> None:
    assert machine.LEAST < machine.measure() < machine.MOST
    assert machine.name().endswith("cores")


def test_a_chosen_speed_counts() -> None:
    run = cost.Prediction(12.0, 0)
    assert run.wall_seconds(500, None) == 12.0
    assert run.wall_seconds(500, 5.0) == 100.0
    assert run.wall_seconds(500, 1000.0) == 12.0
