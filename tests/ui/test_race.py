"""A race read from the store, and what its charts are drawn from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dsebo.charts.curves import curves_of
from dsebo.charts.experiment import PARTS, time_figure, time_spent
from dsebo.experiments.status import CENTRE
from dsebo.runs.manager import RunManager
from dsebo.store.rows import RunFilter
from dsebo.ui.cache import SharedCache
from dsebo.ui.experiments.race import common, lanes_of, methods_of, table_of
from tests.races import start_race
from tests.small import wait_for

TASK = {"function": "sphere", "D": 40, "d_e": 4, "budget": 12}


@pytest.fixture
def finished(manager: RunManager) -> list[str]:
    ids = start_race(manager, "random,dsebo,bandit-softmax", TASK, "1-2")
    wait_for(lambda: manager.store.count_runs(RunFilter(states=["finished"])) == len(ids))
    return ids


def test_a_race_is_read_by_method(manager: RunManager, finished: list[str]) -> None:
    reader = SharedCache()
    runs = reader.runs(manager.store, finished)
    lanes = lanes_of(runs)
    assert {label: len(group) for label, group in lanes.items()} == {
        "Random search": 2,
        "DSEBO": 2,
        "Bandit: Softmax": 2,
    }
    assert methods_of(lanes)["DSEBO"] == "dsebo"
    table = table_of(lanes)
    assert set(table["method"]) == {*lanes, CENTRE}
    assert list(table["mean"]) == sorted(table["mean"])
    assert dict(zip(table["method"], table["of"], strict=True))["DSEBO"] == 2
    assert common(lanes, "at_centre") == pytest.approx(4.0036)
    assert table["paper"].isna().all()
    assert len(curves_of(lanes["DSEBO"][0]).best) == 12


def test_only_what_is_new_is_read(
    manager: RunManager, finished: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = SharedCache()
    reader.runs(manager.store, finished)
    asked: list[tuple[str, int]] = []
    whole = manager.store.evaluations

    def evaluations(run_id: str, after: int = 0) -> Any:
        asked.append((run_id, after))
        return whole(run_id, after)

    monkeypatch.setattr(manager.store, "evaluations", evaluations)
    reader.stale()
    reader.runs(manager.store, finished)
    assert asked == []
    manager.extend(finished[0], 3)
    wait_for(lambda: manager.store.get_run(finished[0]).n_done == 15)
    reader.stale()
    runs = reader.runs(manager.store, finished)
    assert asked == [(finished[0], 12)]
    assert list(runs[0].evaluations["t"]) == list(range(1, 16))
    assert reader.runs(manager.store, []) == []


def test_time_is_split_by_what_it_was_spent_on(manager: RunManager, finished: list[str]) -> None:
    lanes = lanes_of(SharedCache().runs(manager.store, finished))
    spent = time_spent(lanes)
    assert list(spent.index) == list(lanes)
    rows = [run.row for run in lanes["DSEBO"]]
    assert spent.loc["DSEBO"].sum() == pytest.approx(np.mean([r.seconds for r in rows]), rel=0.05)
    assert spent.loc["Random search", "seconds_fit"] == 0
    figure = time_figure(spent)
    assert [trace.name for trace in figure.data] == list(PARTS.values())
    assert any(note.text.startswith("DSEBO: ") for note in figure.layout.annotations)
