"""Numbers, sentences and formulas as people read them."""

from __future__ import annotations

from datetime import datetime

import pytest

from dsebo import text as words
from dsebo.config import RunConfig, parse_flat


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
    said = [words.duration(s) for s in (0.2, 31, 75, 600, 3700, 90 * 86400, None)]
    assert said == ["under 1 s", "31 s", "1 min 15 s", "10 min", "1 h 1 min", "90 days", "–"]
    assert [words.about(s) for s in (0.2, 31)] == ["under 1 s", "about 31 s"]
    assert [words.size(b) for b in (800, 800_000, 8e9)] == ["800 bytes", "800 kB", "8 GB"]


def test_what_a_user_wrote_is_never_markup() -> None:
    risky = "<b>x</b> **y** [z](javascript:1) :smile: $q$ `c`\n# h"
    shown = words.plain(risky)
    for address in ("https://evil.example", "www.evil.example", "a@evil.example"):
        assert "\u2060" in words.plain(address)  # it reads the same, and is no link
    for mark in "<*[:$`#":
        assert f"\\{mark}" in shown
    assert "\n" not in shown


def test_a_setting_in_one_line() -> None:
    line = words.setting_line(RunConfig().model_dump(mode="json"))
    assert line == ("Sphere · D = 1000 · dₑ = 30 · c = 1 · β = 12 · d from 5 to 100 · budget 500 · seed 1")


def test_a_sentence_is_typeset_and_not_broken_inside_a_formula() -> None:
    shown = words.typeset("d = 10 is d_h; the step halves, 6 → 3.")
    assert shown == "d\u00a0=\u00a010 is dₕ; the step halves, 6\u00a0→\u00a03."
    assert words.plain(shown).replace("\\", "") == shown


def test_a_name_tells_runs_apart() -> None:
    at = datetime(2026, 11, 18, 17, 22).timestamp()
    assert words.run_title(parse_flat({"beta": 8}), at) == "Sphere 1000/30, β 8, 17:22"
    assert words.run_title(parse_flat({"beta": 8, "seed": 7}), at) == "Sphere 1000/30, seed 7, β 8, 17:22"
    assert words.run_title(parse_flat({"variant": "adaptive"})) == "Sphere 1000/30, our rules"  # no β waits
    other = {"function": "levy", "method": "turbo", "D": 50, "d_e": 4, "c": 3, "budget": 40}
    assert words.run_title(parse_flat(other)) == "Levy 50/4, TuRBO-1, c 3, budget 40"
