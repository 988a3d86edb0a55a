"""The chart of compared runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dsebo.analysis.curves import EVERYTHING
from dsebo.charts.compare import figure_of_groups, groups_of
from dsebo.charts.curves import curves_of
from dsebo.runs.data import RunData, read_run
from dsebo.store.rows import RunFilter
from dsebo.store.store import Store
from dsebo.transfer.examples import import_bundled


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[RunData]:
    folder: Path = tmp_path_factory.mktemp("compared")
    store = Store.open(f"sqlite:///{folder}/runs.db")
    import_bundled(store)
    found = [read_run(store, row.id) for row in store.list_runs(RunFilter(functions=["sphere"]))]
    store.close()
    return found


def test_the_axis_ends_with_the_budget_while_runs_are_at_work(runs: list[RunData]) -> None:
    begun = [run.until(20) for run in runs[:2]]
    assert ends_at(begun) == 500
    cancelled = [replace(run, row=run.row._replace(state="cancelled")) for run in begun]
    assert ends_at(cancelled) == 20


def test_half_of_a_replay_is_not_drawn_to_the_end(runs: list[RunData]) -> None:
    assert len(curves_of(runs[0].until(20)).best) == 20


def ends_at(runs: list[RunData]) -> int:
    figure = figure_of_groups(groups_of(runs, EVERYTHING), "mean", "log", False)
    return round(figure.layout.xaxis.range[1] / 1.01)
