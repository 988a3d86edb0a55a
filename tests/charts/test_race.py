"""A race's charts and its data, without a page."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dsebo.charts.arms import arms_figure
from dsebo.charts.compare import Curves
from dsebo.charts.groups import curves_of
from dsebo.charts.race import race_figure, time_figure
from dsebo.charts.run import References
from dsebo.charts.styles import STYLES, styles_of
from dsebo.config import METHODS
from dsebo.experiments.race import Race
from dsebo.experiments.standings import CENTRE, launch
from dsebo.run import run
from dsebo.runs.manager import RunManager
from dsebo.store.rows import RunFilter
from dsebo.ui.cache import SharedCache
from dsebo.ui.experiments.race_data import PARTS, abreast, common, lanes_of, methods_of, table_of, time_spent
from tests.pages.conftest import wait_for

TASK = {"function": "sphere", "D": 40, "d_e": 4, "budget": 12}


def curves(n: int, d: float = np.nan) -> Curves:
    return Curves(np.linspace(9.0, 2.0, n), np.full(n, d))


def words(figure: Any) -> list[str]:
    return [note.text for note in figure.layout.annotations]


def test_every_method_has_a_style_of_its_own() -> None:
    assert set(STYLES) == set(METHODS)
    assert len(set(STYLES.values())) == len(STYLES)


def test_a_method_that_runs_twice_keeps_its_colour() -> None:
    methods = {"REMBO": "rembo", "REMBO, DSEBO's scale": "rembo", "Random search": "random"}
    styles = styles_of(methods)
    assert styles["REMBO"] == STYLES["rembo"]
    assert styles["REMBO, DSEBO's scale"][0] == styles["REMBO"][0]
    assert len(set(styles.values())) == 3
    assert styles_of({"Random search": "random"})["Random search"] == styles["Random search"]
    many = styles_of({f"DSEBO, β = {i}": "dsebo" for i in range(20)})
    assert len(set(many.values())) == 20


def test_the_chart_has_n_in_the_legend_and_the_lines_to_read_it_against() -> None:
    lanes = {"A": [curves(5, 3.0), curves(4, 5.0)], "B": [curves(5), curves(0)]}
    styles = styles_of({"A": "dsebo", "B": "random"})
    lines = References(minimum=0.0, at_centre=5.0, paper=3.9)
    figure = race_figure(lanes, styles, lines, budget=20)
    assert [t.name for t in figure.data if t.showlegend] == ["A (n = 2)", "B (n = 1)"]
    assert sum(t.fill == "toself" for t in figure.data) == 2  # A's value and dimension
    assert {"centre 5", "paper's DSEBO 3.9", "F* = 0, below a log axis"} <= set(words(figure))
    assert tuple(figure.layout.xaxis.range) == (0, 20.2)
    only_a = [t for t in figure.data if t.yaxis == "y2" and t.mode == "lines" and not t.fill]
    assert [t.line.color for t in only_a] == [styles["A"][0]]


def test_methods_without_a_subspace_have_no_empty_row_for_it() -> None:
    figure = race_figure({"B": [curves(5)]}, styles_of({"B": "random"}), References(), 5)
    assert "yaxis2" not in figure.to_plotly_json()["layout"]


def test_the_centre_is_there_below_zero_too() -> None:
    lanes = {"A": [Curves(np.array([-1.0, -3.0]), np.full(2, np.nan))]}
    lines = References(minimum=-4.7, at_centre=-0.7)
    figure = race_figure(lanes, styles_of({"A": "dsebo"}), lines, 5, scale="log")
    assert {"centre −0.7", "F* = −4.7"} <= set(words(figure))
    assert len(figure.layout.shapes) == 2


def test_the_mean_is_over_runs_that_have_all_come_as_far() -> None:
    assert [len(c.best) for c in abreast([curves(14), curves(14), curves(13)])] == [13, 13, 13]
    far = abreast([curves(500), curves(500), curves(3), curves(2)])
    assert [len(c.best) for c in far] == [500, 500]
    assert [len(c.d) for c in abreast([curves(7, 5.0), curves(0)])] == [7]
    assert abreast([curves(0)]) == abreast([]) == []


def test_a_race_that_has_not_begun_can_be_drawn() -> None:
    figure = race_figure({"A": [curves(0)]}, styles_of({"A": "dsebo"}), References(), 5)
    assert not figure.data


@pytest.fixture
def finished(manager: RunManager) -> list[str]:
    ids = launch(manager, Race.parse("random,dsebo,bandit-softmax", TASK, "1-2"))
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
    assert any(text.startswith("DSEBO: ") for text in words(figure))


@pytest.mark.parametrize(
    ("method", "rows", "dots"), [("bandit-softmax", 3, 2), ("bandit-c-ucb", 2, 2), ("bandit-random", 2, 1)]
)
def test_a_bandits_arms(method: str, rows: int, dots: int) -> None:
    race = Race.parse(method, TASK, "1")
    events = [e.to_json() for e in run(race.config(race.entrants[0])) if e.kind == "arm-pulled"]
    first, last = events[0], events[-1]
    figure = arms_figure(last, method)
    assert list(figure.data[0].x) == [f"d = {d}" for d in last["dims"]]
    assert sum(figure.data[0].y) == 12
    chosen = last["dims"].index(last["d_to"])
    assert len({*figure.data[0].marker.color}) == 2
    assert figure.data[0].marker.color.count(figure.data[0].marker.color[chosen]) == 1
    assert sum(key.startswith("yaxis") for key in figure.to_plotly_json()["layout"]) == rows
    assert len(figure.data) - 1 == dots
    assert arms_figure(first, method).data[0].y.sum() == 1


def test_an_arm_out_of_the_race_has_no_score() -> None:
    event = {"dims": [10, 20], "pulls": [3, 1], "means": [-4.0, None], "scores": [0.5, None], "d_to": 10}
    figure = arms_figure(event, "bandit-softmax")
    assert np.isnan(figure.data[2].y[1])
