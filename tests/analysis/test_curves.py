"""Bands, groups and tables of several runs."""

from __future__ import annotations

import numpy as np
import pytest

from dsebo.analysis.curves import EVERYTHING, band, group_runs, stack, summary
from dsebo.config import parse_flat


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


def test_a_label_names_what_was_given_not_what_follows_from_it() -> None:
    rules = {"a": plain(D=200), "b": plain(D=200, variant="adaptive")}
    assert list(group_runs(rules)) == ["variant = paper", "variant = adaptive"]
    task = {"a": plain(D=200), "b": plain(function="lasso-simple")}  # that has no D
    assert list(group_runs(task)) == ["Sphere, D = 200", "Lasso-Simple"]


def test_a_fork_is_in_no_group_of_plain_runs() -> None:
    fork = parse_flat({"beta": 4.0}).forked("a" * 32, None, 17, 7, {"alpha": 0.1}).model_dump(mode="json")
    configs = {"a": plain(beta=4.0, seed=1), "b": plain(beta=4.0, seed=2), "f": fork}
    words = "fork of aaaaaaaa at 17, α 0.5 → 0.1, Δd = 7"
    assert group_runs(configs, "beta") == {"β = 4": ["a", "b"], f"β = 4, {words}": ["f"]}
    assert list(group_runs(configs).values()) == [["a", "b"], ["f"]]
    unchanged = parse_flat({"beta": 4.0}).forked("a" * 32, None, 17).model_dump(mode="json")
    alike = group_runs({"a": configs["a"], "f": unchanged})
    assert alike == {"all runs": ["a"], "fork of aaaaaaaa at 17": ["f"]}


def test_summary_takes_the_best_value_of_each_run() -> None:
    table = summary({"g": ["a", "b"]}, {"a": (2.0, 10.0), "b": (4.0, 20.0)})
    row = table.iloc[0]
    assert (row["runs"], row["mean"], row["best"], row["seconds"]) == (2, 3.0, 2.0, 15.0)
    assert row["std"] == pytest.approx(np.sqrt(2))
    assert np.isnan(summary({"g": ["a"]}, {"a": (None, 0.0)}).iloc[0]["mean"])
