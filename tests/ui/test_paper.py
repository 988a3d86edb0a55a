"""The paper's rows as they are shown, and the readings' switches."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dsebo.paper.bundled import bundled_peer_runs
from dsebo.paper.comparison import (
    FinalRun,
    PaperRow,
    all_rows,
    below_the_centre,
    no_better_than_random,
    peer_finals,
    printed_rows,
    rows_of,
    sentences,
    tally,
)
from dsebo.paper.readings import READINGS
from dsebo.parsing import read_link
from dsebo.text import spread
from dsebo.ui.form import complete, link_of, to_config
from dsebo.ui.paper.table import CENTRE, GAP, MINIMUM, lines_of, shown_table, signed, wish


def row_of(label: str) -> PaperRow:
    return next(row for row in printed_rows(1, "Sphere") if row.label == label)


def final(row: PaperRow, seed: int, best: float | None, bundled: bool = False) -> FinalRun:
    return FinalRun(row.setting, seed, best, None, 7.0, bundled)


@pytest.mark.parametrize(
    ("mean", "std", "words"),
    [
        (3.9387, 1.3304, "3.9 ± 1.3"),
        (37699.6758, 780.7019, "37\u202f700 ± 780"),
        (6.7886, 0.0155, "6.789 ± 0.015"),
        (-10.6887, 1.1657, "−10.7 ± 1.2"),
        (6223221.1, 641472.8, "6\u202f220\u202f000 ± 640\u202f000"),
        (5.25, math.nan, "5.25"),
        (5.25, 0.0, "5.25"),
        (-0.01, 1.2, "0.0 ± 1.2"),
        (math.nan, math.nan, "–"),
        (None, None, "–"),
    ],
)
def test_digits_follow_the_deviation(mean: float | None, std: float | None, words: str) -> None:
    assert spread(mean, std) == words


def test_differences_have_a_sign() -> None:
    assert [signed(v) for v in (2.44, -0.04, -47.4)] == ["+2.4", "+0.0", "−47.4"]
    assert signed(1234.5) == "+1\u202f234"


def test_the_table_has_the_centre_f_star_and_every_row() -> None:
    row = row_of("DSEBO")
    finals = [final(row, 1, 3.0, True), final(row, 2, 5.0), final(row, 3, None)]
    table = shown_table(lines_of(printed_rows(1, "Sphere"), finals)).set_index("Method")
    assert len(table) == 21
    assert (table["Here"][CENTRE], table["Here"][MINIMUM]) == ("30.1", "0")
    assert table["Paper"]["DSEBO"] == "3.9 ± 1.3"
    assert table["Here"]["DSEBO"] == "4.0 ± 1.4"
    assert table["Apart"]["DSEBO"] == "+0.0"
    assert table["Runs"]["DSEBO"] == "1 bundled, 1 of yours, 1 under way"
    assert (table["Paper, s"]["DSEBO"], table["Here, s"]["DSEBO"]) == ("339", "7")
    assert (table["Here"]["TuRBO"], table["Apart"]["TuRBO"]) == (GAP, "")


def test_a_task_that_is_only_like_the_papers_has_no_difference() -> None:
    rows = rows_of(5, "MSLR")
    lines = lines_of(rows, [final(row, 1, -2.5, True) for row in rows])
    table = shown_table(lines).set_index("Method")
    assert list(table.index)[:5] == [
        "DSEBO",
        "DSEBO, authors' variant",
        "DSEBO, our rules",
        CENTRE,
        "Best of 500 random",
    ]
    assert set(table["Apart"]) == {""}
    assert table["Here"]["UCB-E"] == "−2.5 (1 run)"
    assert (table["Paper"]["DSEBO, our rules"], table["Paper, s"]["DSEBO, our rules"]) == ("", "")
    assert MINIMUM not in table.index


def test_lasso_hard_is_compared_and_has_its_lines() -> None:
    rows = rows_of(2, "Lasso-Hard")
    table = shown_table(lines_of(rows, [final(rows[0], 1, 39.8469 + 2.7875)])).set_index("Method")
    assert table["Apart"][rows[0].label] == "+1.0"
    assert table["Here"]["Best constant λ"] == "2.329"
    assert table["Here"]["DSEBO"] == GAP


def test_only_rows_with_gaps_can_be_run() -> None:
    row = row_of("DSEBO")
    full = [final(row, seed, 1.0) for seed in range(1, 11)]
    runnable = [line.row.label for line in lines_of(printed_rows(1, "Sphere"), full) if line.runnable]
    assert "DSEBO" not in runnable
    assert "TuRBO" in runnable
    assert "RDUCB" in runnable
    line = lines_of([row], full[:8])[0]
    assert wish(line, 13.0) == "Run 2 seeds, about 26 s"
    started = lines_of([row], [final(row, 1, None)])[0]
    assert started.ours == "1 under way"


def test_what_could_be_reproduced_is_counted_from_the_runs() -> None:
    rows = [row_of("DSEBO"), row_of("TuRBO"), row_of("BAxUS"), *printed_rows(2, "MSLR")[:2]]
    finals = [
        final(rows[0], 1, 4.0),
        final(rows[1], 1, 1000.0),
        final(rows[2], 1, 1.0),
        final(rows[3], 1, -8.6),
    ]
    found = tally(finals, rows)
    assert (found.printed, found.run, found.unlike) == (5, 4, 1)
    assert (found.within, found.lower, found.higher) == (1, 1, 1)
    assert tally([], rows).run == 0


def test_rows_no_better_than_the_centre() -> None:
    rosenbrock = printed_rows(1, "Rosenbrock")
    labels = [row.label for row in below_the_centre(rosenbrock)]
    assert "DSEBO" in labels
    assert [row.label for row in below_the_centre([row_of("DSEBO")])] == []
    assert below_the_centre(printed_rows(2, "LIMO")) == []


def test_the_summary_in_words() -> None:
    assert len(all_rows()) == 334
    said = sentences([])
    assert said[0] == "None of the 334 printed rows has been run here yet; all can be."
    assert "2 of the 13 means printed for DSEBO" in said[-1]
    row = row_of("DSEBO")
    some = sentences([final(row, 1, 4.0)])
    assert some[0].startswith("DSEBO here, beside 1 of its 13 rows in the paper: 1 within three")
    assert some[0].endswith("none lower (better), none higher.")
    assert some[1].startswith("All methods, 1 of 334 rows so far: 1 within")
    assert sentences([final(row_of("BAxUS"), 1, 4.0)])[0].startswith("All methods, 1 of 334")


def test_methods_that_are_printed_worse_than_random_points_are_named() -> None:
    assert no_better_than_random([]) == []
    bundled = peer_finals(bundled_peer_runs())
    assert no_better_than_random(bundled) == ["REMBO, d = 50", "RDUCB"]
    said = next(sentence for sentence in sentences(bundled) if "need no model" in sentence)
    assert said.startswith("What is printed for REMBO, d = 50 and RDUCB is worse")
    worst = final(row_of("Random Search"), 99, 1e9)  # on one function all are better then
    assert no_better_than_random([*bundled, worst]) == []


def test_a_row_that_no_ten_values_can_give_is_named() -> None:
    impossible = [row for row in all_rows() if not row.possible]
    assert [(row.label, row.task, row.D) for row in impossible] == [("Random Search", "Sphere", 1000)]
    assert any("no ten values have all three" in sentence for sentence in sentences([]))


def test_the_largest_deviation_of_ten_values() -> None:
    values = np.array([3.0] * 9 + [13.0])
    row = replace(row_of("DSEBO"), mean=values.mean(), std=values.std(ddof=1), best=3.0)
    assert row.possible
    assert not replace(row, std=1.01 * row.std).possible


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.point)
def test_every_switch_is_a_setting_of_the_run_page(reading: object) -> None:
    switch = dict(reading.switch)
    if not switch:
        return
    settings = complete(switch)
    assert {name: settings[name] for name in switch} == switch
    again, refused = read_link(link_of(switch))
    assert refused == []
    assert to_config(again) == to_config(settings)
