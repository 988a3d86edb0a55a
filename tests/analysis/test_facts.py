"""What follows from a setting before anything is run."""

from __future__ import annotations

import pytest

from dsebo.analysis.facts import facts
from dsebo.config import RunConfig, parse_flat


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


def test_the_facts_say_whether_there_are_gradients() -> None:
    assert facts(RunConfig()).gradient_note == "Has gradients."
    for name in ("lasso-hard", "limo", "mslr"):
        note = facts(parse_flat({"function": name})).gradient_note
        assert note == "No gradients: the floor does not apply."
