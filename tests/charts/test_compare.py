"""Bands, groups, tables and the compared chart."""

from __future__ import annotations

import numpy as np
import pytest

from dsebo.analysis.curves import EVERYTHING, band, group_runs, stack, summary
from dsebo.analysis.facts import facts
from dsebo.charts.compare import Curves, compare_figure
from dsebo.config import RunConfig, parse_flat
from dsebo.paper.tables import is_paper_task, paper_results, paper_rows, paper_value
from objectives import names


def plain(**flat: object) -> dict[str, object]:
    return parse_flat(flat).model_dump(mode="json")


def test_mean_and_std_over_seeds() -> None:
    frame = band([np.array([4.0, 2.0]), np.array([6.0, 2.0]), np.array([8.0])], "mean")
    assert list(frame["t"]) == [1, 2]
    assert list(frame["n"]) == [3, 2]
    assert list(frame["mid"]) == [6.0, 2.0]
    np.testing.assert_allclose(frame["high"] - frame["mid"], [2.0, 0.0])


def test_median_and_quartiles() -> None:
    frame = band([np.array([v]) for v in (1.0, 2.0, 3.0, 4.0, 100.0)], "median")
    assert (frame["low"][0], frame["mid"][0], frame["high"][0]) == (2.0, 3.0, 4.0)


def test_quartiles_are_numpys_also_where_runs_end_early() -> None:
    rng = np.random.default_rng(3)
    curves = [rng.normal(size=n) for n in (50, 50, 31, 12, 7, 50, 1)]
    frame = band(curves, "median")
    expected = np.nanquantile(stack(curves), [0.25, 0.5, 0.75], axis=0)
    np.testing.assert_allclose(frame[["low", "mid", "high"]].to_numpy().T, expected)


def test_one_run_has_no_band() -> None:
    frame = band([np.array([3.0, 1.0])], "mean")
    assert (frame["low"] == frame["mid"]).all()


def test_curves_of_different_lengths_are_padded() -> None:
    assert np.isnan(stack([np.ones(3), np.ones(1)])[1, 1:]).all()


def test_groups_ignore_seeds_and_name_only_what_differs() -> None:
    configs = {
        "a": plain(beta=4.0, seed=1),
        "b": plain(beta=4.0, seed=2),
        "c": plain(beta=12.0, seed=1),
        "d": plain(method="random", seed=1),
    }
    groups = group_runs(configs)
    assert list(groups.values()) == [["a", "b"], ["c"], ["d"]]
    assert list(groups) == ["DSEBO, β = 4", "DSEBO, β = 12", "Random search"]
    assert group_runs({"a": configs["a"]}) == {"all runs": ["a"]}
    by_beta = group_runs({k: configs[k] for k in "abc"}, "beta")
    assert list(by_beta) == ["β = 4", "β = 12"]
    assert EVERYTHING not in by_beta


def test_summary_takes_the_best_value_of_each_run() -> None:
    table = summary({"g": ["a", "b"]}, {"a": (2.0, 10.0), "b": (4.0, 20.0)})
    row = table.iloc[0]
    assert (row["runs"], row["mean"], row["best"], row["seconds"]) == (2, 3.0, 2.0, 15.0)
    assert row["std"] == pytest.approx(np.sqrt(2))
    assert np.isnan(summary({"g": ["a"]}, {"a": (None, 0.0)}).iloc[0]["mean"])


def test_the_papers_tables_are_all_there() -> None:
    table = paper_results()
    assert len(table) == 343
    assert set(table["table"]) == {1, 2, 3, 4, 5}


@pytest.mark.parametrize("name", names()[:6])
def test_the_papers_value_where_the_setting_is_the_papers(name: str) -> None:
    assert paper_value(plain(function=name)) is not None
    assert paper_value(plain(function=name, beta=8.0)) is None
    assert paper_value(plain(function=name, budget=400)) is None
    assert paper_rows(plain(function=name, d_e=20)).empty


def test_the_papers_sphere() -> None:
    assert paper_value(plain()) == 3.9387
    assert paper_value(plain(D=10_000)) is not None
    assert not is_paper_task(plain(c=5.0))


def test_facts_of_the_papers_setting() -> None:
    found = facts(RunConfig())
    assert (found.first_step, found.first_patience, found.most_patience) == (7, 20, 41)
    assert found.largest_tail == pytest.approx(970 * 6.12**2 / 10_000)
    assert found.effective_reach == pytest.approx(30 * 6.12**2)
    assert found.matrix_bytes == 800_000
    assert found.at_centre == pytest.approx(30.097)
    assert found.minimum == 0.0


def test_facts_where_they_do_not_apply() -> None:
    assert facts(parse_flat({"method": "random"})).first_step is None
    assert "out of its domain" in facts(parse_flat({"c": 6.0})).minimum_note
    assert facts(parse_flat({"D": 5_000_000})).at_centre is None


def test_the_compared_chart_names_n_and_draws_bands() -> None:
    rng = np.random.default_rng(0)
    runs = [
        Curves(np.minimum.accumulate(rng.uniform(1, 9, 30)), np.full(30, 5.0), [(10, 0.5)]) for _ in range(3)
    ]
    figure = compare_figure({"β = 4": runs, "β = 12": runs[:1]}, at_centre=4.0)
    named = [trace.name for trace in figure.data if trace.showlegend]
    assert named == ["β = 4 (n = 3)", "β = 12 (n = 1)"]
    filled = [trace for trace in figure.data if trace.fill == "toself"]
    assert len(filled) == 2  # value and dimension of the group of three
    with_singles = compare_figure({"β = 4": runs}, singles=True)
    assert len(with_singles.data) == len(compare_figure({"β = 4": runs}).data) + 6
    assert compare_figure({}).data == ()
    without = compare_figure({"β = 4": runs}, slopes=False)
    assert "yaxis3" not in without.layout
    assert without.layout.xaxis.anchor == "y2"


def test_a_band_stays_on_a_log_axis() -> None:
    runs = [Curves(np.array([v]), np.array([np.nan])) for v in (0.001, 10.0)]
    figure = compare_figure({"g": runs}, scale="log")
    band_trace = next(trace for trace in figure.data if trace.fill == "toself")
    assert np.min(band_trace.y) > 0
