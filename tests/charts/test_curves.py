"""Groups of runs in one chart: bands over seeds, legend, grey lines."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsebo.charts.curves import Curves, abreast, curves_figure, to_the_end
from dsebo.charts.experiment import race_figure
from dsebo.charts.scales import References
from dsebo.charts.theme import styles_of


def curves(n: int, d: float = np.nan) -> Curves:
    return Curves(np.linspace(9.0, 2.0, n), np.full(n, d))


def words(figure: Any) -> list[str]:
    return [note.text for note in figure.layout.annotations]


def test_the_compared_chart_names_n_and_draws_bands() -> None:
    rng = np.random.default_rng(0)
    runs = [
        Curves(np.minimum.accumulate(rng.uniform(1, 9, 30)), np.full(30, 5.0), [(10, 0.5)]) for _ in range(4)
    ]
    figure = curves_figure({"β = 4": runs, "β = 12": runs[:1]}, lines=References(at_centre=4.0), slopes=True)
    named = [trace.name for trace in figure.data if trace.showlegend]
    assert named == ["β = 4 (n = 4)", "β = 12 (n = 1)"]
    filled = [trace for trace in figure.data if trace.fill == "tonexty"]
    assert len(filled) == 2  # value and dimension of the group of four
    assert {trace.line.shape for trace in filled} == {"hv"}  # the steps of its line
    with_singles = curves_figure({"β = 4": runs}, singles=True)
    assert len(with_singles.data) == len(curves_figure({"β = 4": runs}).data) + 8
    few = curves_figure({"β = 4": runs[:3]})  # each by itself, no band
    assert not any(trace.fill for trace in few.data)
    assert sum(trace.line.width == 1 for trace in few.data) == 6
    assert curves_figure({}).data == ()
    without = curves_figure({"β = 4": runs})
    assert "yaxis3" not in without.layout
    assert without.layout.xaxis.anchor == "y2"


def test_a_band_stays_on_a_log_axis() -> None:
    runs = [Curves(np.array([v]), np.array([np.nan])) for v in (0.001, 10.0, 10.0, 10.0)]
    figure = curves_figure({"g": runs}, scale="log")
    assert any(trace.fill == "tonexty" for trace in figure.data)
    assert min(np.min(trace.y) for trace in figure.data) > 0


def test_the_chart_has_n_in_the_legend_and_the_lines_to_read_it_against() -> None:
    lanes = {"A": [curves(5, 3.0), curves(4, 5.0)] * 2, "B": [curves(5), curves(0)]}
    styles = styles_of({"A": "dsebo", "B": "random"})
    lines = References(minimum=0.0, at_centre=5.0, paper=3.9)
    figure = race_figure(lanes, styles, lines, budget=20)
    assert [t.name for t in figure.data if t.showlegend] == ["A (n = 4)", "B (n = 1)"]
    assert sum(t.fill == "tonexty" for t in figure.data) == 2  # A's value and dimension
    assert {"centre 5", "paper's<br>DSEBO 3.9", "F* = 0 ↓"} <= set(words(figure))
    assert tuple(figure.layout.xaxis.range) == (0, 20.2)
    only_a = [t for t in figure.data if t.yaxis == "y2" and t.mode == "lines" and t.line.width > 1]
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


def test_a_run_that_ended_early_keeps_its_best_value() -> None:
    assert list(to_the_end(np.array([3.0, 2.0]), 5)) == [3.0, 2.0, 2.0, 2.0, 2.0]
    assert len(to_the_end(np.array([]), 5)) == 0
