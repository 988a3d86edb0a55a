"""Numbers, sentences and formulas as people read them."""

from __future__ import annotations

from typing import Any

import pytest

from dsebo import text as words
from dsebo.charts.explain import feed, steps
from dsebo.config import RunConfig


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (1.54314, "1.543"),
        (30.097, "30.1"),
        (46409.2, "46\u202f409"),
        (-10.69, "−10.69"),
        (1e-7, "1e−7"),
        (None, "–"),
        (float("nan"), "–"),
        (3e12, "3e12"),
        (0.00123, "0.00123"),
    ],
)
def test_four_significant_digits(value: float | None, shown: str) -> None:
    assert words.number(value) == shown


def test_durations_and_sizes() -> None:
    said = [words.duration(s) for s in (0.2, 31, 75, 600, 3700, None)]
    assert said == ["under 1 s", "31 s", "1 min 15 s", "10 min", "1 h 1 min", "–"]
    assert [words.size(b) for b in (800, 800_000, 8e9)] == ["800 bytes", "800 kB", "8 GB"]


def test_what_a_user_wrote_is_never_markup() -> None:
    risky = "<b>x</b> **y** [z](javascript:1) :smile: $q$ `c`\n# h"
    shown = words.plain(risky)
    for mark in "<*[:$`#":
        assert f"\\{mark}" in shown
    assert "\n" not in shown


def test_a_setting_in_one_line() -> None:
    line = words.setting_line(RunConfig().model_dump(mode="json"))
    assert line == ("Sphere · D = 1000 · d_e = 30 · c = 1 · β = 12 · d from 5 to 100 · budget 500 · seed 1")


EVENT = {
    "event": "expanded",
    "t": 120,
    "d_from": 19,
    "d_to": 22,
    "dims": [5, 12, 19],
    "bests": [30.0, 25.0, 23.6],
    "slopes": [0.7142857, 0.2],
    "s_min": 0.2,
    "s_max": 0.7142857,
    "k": 0.5,
    "delta_before": 7,
    "delta_after": 3,
    "T_before": 22,
    "T_after": 23,
    "text": "…",
}
PAPER = {"variant": "paper", "beta": 12.0, "d_l": 5, "d_h": 100, "min_step": 0}


def test_algorithm_1_with_the_numbers_of_the_worked_example() -> None:
    lines = [step.latex for step in steps(EVENT, PAPER, 500)]
    assert len(lines) == 5
    assert r"-\frac{23.6 - 25}{19 - 12} = 0.2" in lines[0]
    assert r"\frac{0.2 - 0.2}{0.7143 - 0.2} + 0.5 = 0.5" in lines[1]
    assert r"\lfloor 0.5 \cdot 7 \rfloor = 3" in lines[2]
    assert r"\min(19 + 3,\ 100) = 22" in lines[3]
    assert r"\frac{19 - 5}{100 - 5}" in lines[4]
    assert "= 23" in lines[4]


def test_the_first_step_and_equal_slopes() -> None:
    first = {**EVENT, "dims": [5], "slopes": [], "k": None, "delta_before": None, "delta_after": 7}
    assert r"\frac{(100 - 5)}{12} \right\rfloor = 7" in steps(first, PAPER, 500)[0].latex
    equal = {**EVENT, "k": None, "delta_after": 7}
    assert "equal" in steps(equal, PAPER, 500)[1].words
    authors = {**PAPER, "variant": "authors", "min_step": 1}
    assert r"2\,(d_h - d_l)" in steps({**first, "delta_after": 15}, authors, 500)[0].latex
    assert r"\max(1,\ " in steps(EVENT, authors, 500)[2].latex
    flat = steps(EVENT, {**PAPER, "d_l": 100}, 500)[4].latex
    assert r"\frac{500}{2 \cdot 12}" in flat


def test_the_feed_is_newest_first_and_says_a_standstill_once() -> None:
    stuck: dict[str, Any] = {**EVENT, "event": "converged", "d_to": 22}
    happened = [
        {"event": "started", "t": 0},
        {**EVENT, "t": 120},
        {**stuck, "t": 140},
        {**stuck, "t": 160},
        {**stuck, "t": 180},
        {"event": "finished", "t": 200, "text": "done"},
    ]
    entries = feed(happened)
    assert [entry.t for entry in entries] == [200, 180, 120]
    assert entries[1].repeated == 2
