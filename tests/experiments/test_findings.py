"""Sentences from tables made by hand: what is said, and what is not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import wilcoxon

from dsebo.experiments.findings import findings, report
from dsebo.experiments.paired import holm, seeds_needed, signed_ranks, too_few
from tests.experiments.frames import FLAT, progress, seeds, shuffled


def test_a_plateau_and_a_value_that_is_worse() -> None:
    frame = progress(
        {
            (1.0,): [6 * v for v in shuffled(4)],
            (8.0,): shuffled(1),
            (16.0,): shuffled(2),
            (24.0,): shuffled(3),
        }
    )
    said = findings(frame, ["beta"])
    assert said == [
        "β between 8 and 24 changes the final value by less than the seeds do; "
        "β = 1 is 6 times worse than β = 8."
    ]
    frame.loc[frame["beta"] == 1.0, "best"] = 60 + np.arange(10.0)
    assert "β = 1 is 12 times worse" in findings(frame, ["beta"])[0]


def test_no_effect_is_said_of_all_values() -> None:
    frame = progress({(beta,): shuffled(i) for i, beta in enumerate((4, 8, 12))})
    assert findings(frame, ["beta"]) == [
        "β between 4 and 12 changes the final value by less than the seeds do."
    ]


def test_every_value_worse_than_the_best() -> None:
    base = np.array(FLAT)
    frame = progress({(8,): base, (16,): base * 1.3, (32,): base * 4})
    assert findings(frame, ["beta"]) == [
        "β = 8 ends lowest: β = 16 is 30 % worse and β = 32 is 4 times worse."
    ]


def test_not_significant_is_not_called_the_same_when_medians_are_far_apart() -> None:
    """A few seeds that jump: the test does not support it, the medians differ by much."""
    one = [1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06]
    other = [9.0, 0.9, 9.2, 0.8, 9.4, 0.7, 9.6]
    said = findings(progress({(8,): one, (16,): other}), ["beta"])
    assert said == ["7 seeds do not tell β = 16 from β = 8, the lowest median."]


def test_ties_are_no_difference() -> None:
    frame = progress({(8,): FLAT, (16,): FLAT, (24,): FLAT})
    assert findings(frame, ["beta"]) == [
        "β between 8 and 24 changes the final value by less than the seeds do."
    ]


@pytest.mark.parametrize("count", [0, 1, 4])
def test_too_few_seeds_say_only_that_more_are_needed(count: int) -> None:
    cells = {(b,): [b * 1.0] * count + [None] * (5 - count) for b in (1, 8)}
    frame = progress(cells, centre={(1,): 10.0, (8,): 20.0})
    said = findings(frame, ["beta"])
    assert len(said) == 1
    assert said[0] == too_few(count, 2)
    assert ("6 such seeds can" if count == 0 else "6 can") in said[0]
    assert report(frame, ["beta"]).more_seeds == 1  # of the 5 that were planned
    assert "worse" not in said[0]
    assert report(frame, ["beta"]).hint == ""


def test_seeds_that_no_test_can_decide_with_say_so_too() -> None:
    frame = progress({(b,): [b * v for v in FLAT[:6]] for b in (1, 10, 100, 1000)})
    assert findings(frame, ["beta"]) == ["Six seeds cannot exclude chance; 8 can."]
    assert report(frame, ["beta"]).more_seeds == 2
    for cells in (2, 3, 4, 7, 28):  # the figure is exact: one seed fewer never suffices
        pairs, n = cells * (cells - 1) // 2, seeds_needed(cells)
        least = [wilcoxon(np.arange(1.0, k + 1), method="exact").pvalue for k in (n - 1, n)]
        assert least[0] * pairs > 0.05 >= least[1] * pairs


def test_runs_that_failed_are_left_out_and_counted() -> None:
    far = [v * 5 for v in FLAT]
    frame = progress({(8,): [*FLAT[:8], "failed", "failed"], (16,): far})
    said = findings(frame, ["beta"])
    assert said == ["β = 8 ends lowest: β = 16 is 5 times worse.", "2 runs have failed and are left out."]


def test_a_run_at_work_or_without_a_number_is_not_a_final_value() -> None:
    frame = progress({(8,): FLAT, (16,): [v * 5 for v in FLAT]})
    frame.loc[(frame["beta"] == 16) & (frame["seed"] > 4), "state"] = "running"
    assert findings(frame, ["beta"]) == [too_few(4, 2)]
    assert report(frame, ["beta"]).more_seeds == 0  # there will be ten
    frame["state"] = "finished"
    frame.loc[(frame["beta"] == 16) & (frame["seed"] > 4), "best"] = np.nan
    assert findings(frame, ["beta"]) == [too_few(4, 2)]


def test_a_missing_cell_is_named_and_the_rest_compared() -> None:
    cells = {(8,): FLAT, (16,): [v * 5 for v in FLAT], (32,): [None] * 10}
    assert findings(progress(cells), ["beta"]) == [
        "β = 8 ends lowest: β = 16 is 5 times worse.",
        "More seeds are needed at β = 32.",
    ]


def test_a_value_with_too_few_seeds_for_any_test_is_not_called_alike() -> None:
    """With 5 of 10 seeds no difference, however large, could pass the test of three values."""
    far = [v * 1000 for v in FLAT[:5]]
    cells = {(4,): FLAT, (8,): shuffled(1), (16,): [*far, *[None] * 5]}
    assert findings(progress(cells), ["beta"]) == [
        "β between 4 and 8 changes the final value by less than the seeds do.",
        "More seeds are needed at β = 16.",
    ]


def test_a_value_with_too_few_seeds_is_never_the_best() -> None:
    low = [v / 1000 for v in FLAT[:5]]
    cells = {(4,): FLAT, (8,): [v * 3 for v in FLAT], (16,): [*low, *[None] * 5]}
    assert findings(progress(cells), ["beta"]) == [
        "β = 4 ends lowest: β = 8 is 3 times worse.",
        "More seeds are needed at β = 16.",
    ]


def test_the_fewest_seeds_of_those_not_told_apart_are_said() -> None:
    one = [1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07, 1.08]
    close = [v + 0.001 for v in reversed(one)]
    jumps = [9.0, 0.9, 9.2, 0.8, 9.4, 0.7, 9.6, None, None]
    cells = {(8,): one, (16,): close, (24,): jumps}
    said = findings(progress(cells), ["beta"])
    assert said == ["7 seeds do not tell β between 16 and 24 from β = 8, the lowest median."]


def test_cells_without_common_seeds_are_not_compared() -> None:
    cells = {(8,): [*FLAT[:5], *[None] * 5], (16,): [*[None] * 5, *FLAT[5:]]}
    said = findings(progress(cells), ["beta"])
    assert said == [too_few(0, 2)]


@pytest.mark.parametrize("minimum", [None, 3.0])
def test_differences_where_the_minimum_is_not_known_or_was_passed(minimum: float | None) -> None:
    frame = progress({(8,): FLAT, (16,): [v + 4 for v in FLAT]}, minimum=minimum)
    result = report(frame, ["beta"])
    assert result.sentences == ("β = 8 ends lowest: β = 16 ends 4 higher.",)
    assert "difference" in result.hint
    assert "Holm" in result.hint


def test_a_higher_median_that_wins_on_most_seeds_is_said_as_it_is() -> None:
    one = [10.0, 10.1, 10.2, 10.3, 10.4, 10.5, 1.0, 1.1, 1.2, 1.3, 1.4]
    other = [v - 0.2 * (i + 1) for i, v in enumerate(one)]
    other[6:] = [0.9, 0.95, 1.0, 1.05, 1.1]
    frame = progress({(8,): one, (16,): other})
    said = findings(frame, ["beta"])
    assert said[0].startswith("β = 16 ends lowest: β = 8")
    # the same paired wins, with seeds that only one cell has turning the medians round
    cells = {(8,): [*one, *[0.1] * 9], (16,): [*other, *[None] * 9]}
    assert findings(progress(cells), ["beta"]) == [
        "β = 16 has a higher median than β = 8, though it wins on most seeds."
    ]


def test_methods_and_choices_are_named() -> None:
    cells = {("dsebo",): FLAT, ("turbo",): [v * 3 for v in FLAT], ("random",): shuffled(1)}
    said = findings(progress(cells, ["method"]), ["method"])
    assert said == [
        "DSEBO and Random search differ by less than the seeds do; TuRBO-1 is 3 times worse than DSEBO."
    ]
    few = progress({("dsebo",): FLAT[:2], ("random",): FLAT[:3]}, ["method"])
    assert findings(few, ["method"]) == [too_few(2, 2)]
    cells = {("paper",): FLAT, ("authors",): [v * 3 for v in FLAT]}
    assert findings(progress(cells, ["variant"]), ["variant"]) == [
        "variant = paper ends lowest: variant = authors is 3 times worse."
    ]


def test_functions_are_compared_within_each_and_never_with_one_another() -> None:
    cells = {
        ("sphere", 10): FLAT,
        ("sphere", 30): [v * 3 for v in FLAT],
        ("levy", 10): [v * 1000 for v in FLAT],
        ("levy", 30): [v * 1000 for v in shuffled(1)],
    }
    said = findings(progress(cells, ["function", "d_e"]), ["function", "d_e"])
    assert said == [
        "Sphere: dₑ = 10 ends lowest: dₑ = 30 is 3 times worse.",
        "Levy: dₑ between 10 and 30 changes the final value by less than the seeds do.",
    ]
    few = {key: values[:2] for key, values in cells.items()}
    few["levy", 10] = FLAT[:3]
    told = report(progress(few, ["function", "d_e"]), ["function", "d_e"])
    assert list(told.sentences) == [too_few(2, 2)]
    assert told.lead.startswith(
        "Sphere: lowest median dₑ = 10 (1.5), then dₑ = 30 (4.5). Levy: lowest median"
    )
    alone = {("sphere",): FLAT, ("levy",): [v * 1000 for v in FLAT]}
    said = findings(progress(alone, ["function"]), ["function"])
    assert said == ["Each function has values of its own, so they are not compared with one another."]


def test_a_field_of_the_objective_says_what_it_does_to_the_centre() -> None:
    frame = progress(
        {(1.0,): FLAT, (5.0,): [v * 3 for v in FLAT]}, ["c"], centre={(1.0,): 30.1, (5.0,): 752.0}
    )
    assert findings(frame, ["c"])[1] == (
        "c changes the function itself: its value at the centre goes from 30 to 750."
    )


def test_holm_and_the_signed_rank_test() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []
    assert holm([0.01, 0.04], tests=5) == pytest.approx([0.05, 0.16])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    tied = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0])
    rng = np.random.default_rng(2)
    plain = [rng.normal(size=size) for size in (5, 8, 5, 8, 8)]
    found = signed_ranks([np.zeros(6), tied, *plain])
    assert found[0] == 1.0
    assert found[1] == pytest.approx(2 / 2**6)
    expected = [wilcoxon(one, method="exact").pvalue for one in plain]
    assert found[2:] == pytest.approx(expected)


def test_noise_alone_is_seldom_called_an_effect() -> None:
    """Of 100 sweeps of nothing at most about five may claim a difference."""
    rng = np.random.default_rng(1)
    claimed = 0
    for _ in range(100):
        cells = {(b,): list(np.exp(rng.normal(size=10))) for b in (4, 8, 12, 16)}
        claimed += "worse" in " ".join(findings(progress(cells), ["beta"]))
    assert claimed <= 8


def test_the_papers_ten_seeds_are_enough_for_its_seven_values() -> None:
    assert seeds_needed(7) == 10
    cells = {(b,): seeds(1.0, seed=b) for b in (4, 8, 12, 16, 24, 32)}
    cells[1,] = seeds(20.0, seed=1)
    assert "β = 1 is" in findings(progress(cells), ["beta"])[0]


def test_what_everyone_sees_comes_first_and_agrees_with_the_values() -> None:
    frame = pd.DataFrame(
        {
            "cell": [0, 0, 1, 1, 2, 2],
            "beta": [4.0, 4.0, 12.0, 12.0, 32.0, 32.0],
            "method": ["dsebo", "dsebo", "turbo", "turbo", "random", "random"],
            "seed": [1, 2, 1, 2, 1, 2],
            "state": "finished",
            "best": [9.0, 11.0, 12.0, 14.0, 19.0, 21.0],
            "minimum": 0.0,
            "at_centre": 30.0,
        }
    )
    found = report(frame, ["beta"])
    assert found.lead == "Lowest median: β = 4 (10), then β = 12 (13); highest: β = 32 (20)."
    assert found.texts == [found.lead, *found.sentences]
    assert (
        report(frame, ["method"]).lead
        == "Lowest mean: DSEBO (10), then TuRBO-1 (13); highest: Random search (20)."
    )
    assert report(frame[frame["cell"] == 0], ["beta"]).lead == ""
