"""Sentences on two axes: the best cell, what each axis does on average, and the centre."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dsebo.experiments.findings import findings, report
from dsebo.experiments.paired import Outcomes, compare
from tests.experiments.frames import FLAT, progress, shuffled

AXES = ["beta", "d_h"]


def test_what_everyone_sees_comes_before_how_sure_it_is() -> None:
    cells = {(b, h): [float(b * h)] * 5 for b in (1, 2) for h in (3, 5)}
    few = report(progress(cells, AXES), AXES)
    assert few.lead.startswith("Lowest median: β = 1, dₕ = 3 (3), then β = 1, dₕ = 5 (5); highest: β = 2")
    assert "cannot exclude chance" in few.texts[1]


def test_many_cells_are_compared() -> None:
    rng = np.random.default_rng(0)
    cells = {(b, h): list(np.exp(rng.normal(size=30))) for b in range(1, 21) for h in range(60, 75)}
    frame = progress(cells, ["beta", "d_h"])
    said = findings(frame, ["beta", "d_h"])
    assert " has the lowest median (best − F* = " in said[0]
    assert "of the 299 other cells " in said[0]


def test_two_axes_name_the_best_cell_and_what_each_axis_does() -> None:
    cells = {
        (beta, d_h): [v * (5 if beta == 1 else 1) * (1 + 0.001 * d_h) for v in shuffled(beta + d_h)]
        for beta in (1, 8)
        for d_h in (60, 100)
    }
    cells[8, 60] = [v * 0.5 for v in cells[8, 60]]
    said = findings(progress(cells, ["beta", "d_h"]), ["beta", "d_h"])
    assert said[0].startswith("β = 8, dₕ = 60 has the lowest median (best − F* = 3)")
    assert said[0].endswith("of the 3 other cells 2 are worse, 1 cannot be told from it.")
    assert said[1].startswith("Averaged over dₕ, β = 8 ends lowest: β = 1 is ")
    assert said[2].startswith("Averaged over β, ")
    assert "dₕ" in said[2]


def test_two_axes_with_a_cell_that_is_missing_average_over_what_all_have() -> None:
    cells = {(beta, d_h): [v * beta for v in FLAT] for beta in (1, 4) for d_h in (60, 100)}
    cells[4, 100] = [None] * 10
    said = findings(progress(cells, ["beta", "d_h"]), ["beta", "d_h"])
    assert said == [
        "β = 1, dₕ = 60 has the lowest median (best − F* = 5.5); of the 3 other cells 1 is worse, "
        "1 cannot be told from it, 1 has too few seeds.",
        "At dₕ = 60, β = 1 ends lowest: β = 4 is 4 times worse.",
        "At β = 1, dₕ between 60 and 100 changes the final value by less than the seeds do.",
    ]


def test_two_axes_with_few_seeds_say_one_thing() -> None:
    cells = {(beta, d_h): FLAT[:3] for beta in (1, 4) for d_h in (60, 100)}
    said = findings(progress(cells, ["beta", "d_h"]), ["beta", "d_h"])
    assert said == ["Three seeds cannot exclude chance; 8 can."]


def test_an_average_names_the_values_that_it_is_over() -> None:
    cells = {(b, h): [v * b for v in FLAT] for b in (1, 4) for h in (60, 80, 100)}
    cells[4, 80] = [None] * 10
    said = findings(progress(cells, AXES), AXES)
    assert "Averaged over dₕ = 60 and 100, β = 1 ends lowest: β = 4 is 4 times worse." in said


def test_nothing_to_average_over_is_said() -> None:
    """Enough runs for the best cell, and at no value of an axis are all of them done."""
    cells = {(b, h): [v * b for v in FLAT] for b in (1, 4) for h in (60, 100)}
    cells[1, 60] = cells[4, 100] = [None] * 10
    assert findings(progress(cells, AXES), AXES)[1:] == [
        "More seeds are needed to average over dₕ.",
        "More seeds are needed to average over β.",
    ]


def test_cells_that_were_not_tested_are_not_called_alike() -> None:
    cells = {(b, h): [v * b for v in FLAT] for b in (1, 4) for h in (60, 100)}
    cells[4, 60] = [*[v * 1000 for v in FLAT[:5]], *[None] * 5]
    cells[4, 100] = [*[v / 1000 for v in FLAT[:6]], *[None] * 4]
    said = findings(progress(cells, AXES), AXES)
    assert said[0] == (
        "β = 1, dₕ = 60 has the lowest median (best − F* = 5.5); of the 3 other cells 0 are worse, "
        "1 cannot be told from it, 2 have too few seeds."
    )


def test_a_cell_that_wins_on_most_seeds_is_not_called_alike() -> None:
    high, low = 100 + np.arange(11.0), 1 + 0.1 * np.arange(11.0)
    cells = {(1, 60): [*high, *[0.1] * 12], (1, 100): [*(high - low), *[None] * 12]}
    cells |= {(4, 60): [*high * 9, *[0.9] * 12], (4, 100): [*high * 8, *[0.8] * 12]}
    said = findings(progress(cells, AXES), AXES)
    assert said[0].endswith("of the 3 other cells 2 are worse, 1 wins on most seeds.")


@pytest.mark.parametrize("count", [10, 18])
def test_of_more_than_a_hundred_cells_the_best_is_named_or_more_seeds_are_asked_for(count: int) -> None:
    cells = {
        (b, h): [b * h**2 + seed**2 * (b + 0.1 * h) for seed in range(count)]
        for b in range(1, 12)
        for h in range(60, 70)
    }
    said = findings(progress(cells, AXES), AXES)
    if count == 18:
        assert said[0].startswith("β = 1, dₕ = 60 has the lowest median")
        assert said[0].endswith("of the 109 other cells 109 are worse.")
    else:
        assert said[0] == "Ten seeds cannot exclude chance; 18 can."


def test_the_pairs_of_one_cell_are_never_judged_more_leniently_than_all_pairs() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        values = np.exp(rng.normal(size=(10, 5)) * 0.5 + np.arange(5))
        every = compare(Outcomes(values, True), range(5), 5)
        assert list(every) == list(combinations(range(5), 2))
        for best in range(5):
            own = compare(Outcomes(values, True), range(5), 5, best)
            assert list(own) == [pair for pair in every if best in pair]
            assert all(own[pair].p >= every[pair].p - 1e-12 for pair in own)


def test_the_centre_is_said_of_each_function_by_itself() -> None:
    cells = {(k, f): [v * k for v in FLAT] for k in (1, 10) for f in ("sphere", "levy")}
    centres = {(1, "sphere"): 3.0, (10, "sphere"): 5.0, (1, "levy"): 0.8, (10, "levy"): 0.8}
    said = findings(progress(cells, ["K", "function"], centre=centres), ["K", "function"])
    assert said[2:] == ["Sphere: K changes the function itself: its value at the centre goes from 3 to 5."]


def test_each_axis_of_the_objective_is_judged_while_the_other_stands_still() -> None:
    cells = {(c, seed): FLAT for c in (1.0, 5.0) for seed in (0, 1)}
    centres = {key: 30.1 if key[0] == 1.0 else 752.0 for key in cells}
    axes = ["c", "coordinates_seed"]
    assert findings(progress(cells, axes, centre=centres), axes)[-1] == (
        "c changes the function itself: its value at the centre goes from 30 to 750."
    )


def test_a_range_that_hangs_on_the_other_axis_says_where_it_is() -> None:
    cells = {(c, d_e): FLAT for c in (1.0, 5.0) for d_e in (10, 30)}
    centres = {key: key[0] ** 2 * key[1] for key in cells}
    axes = ["c", "d_e"]
    assert findings(progress(cells, axes, centre=centres), axes)[-2:] == [
        "c changes the function itself: at dₑ = 10 its value at the centre goes from 10 to 250.",
        "dₑ changes the function itself: at c = 1 its value at the centre goes from 10 to 30.",
    ]
