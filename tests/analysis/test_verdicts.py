"""The two kinds of error add up, and the verdict says what the chart shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsebo.analysis.floor import floors_of_config
from dsebo.analysis.verdicts import floor_line, judge, lowered, verdicts
from dsebo.config import RunConfig
from dsebo.events import Evaluated
from dsebo.run import run

FLOORS = {5: 27.3, 12: 21.1, 19: 14.6, 26: 3.5, 33: 3.49}


def expansion(d_from: int, d_to: int, best: float, t: int = 40) -> dict[str, Any]:
    return {"event": "expanded", "t": t, "d_from": d_from, "d_to": d_to, "bests": [30.0, best]}


values = st.floats(-1e6, 1e6)


@given(
    st.lists(st.tuples(st.integers(1, 6), values), min_size=1, max_size=40),
    st.dictionaries(st.integers(1, 6), values, min_size=6, max_size=6),
)
def test_the_floor_of_a_run_never_rises_and_is_never_above_its_best(
    steps: list[tuple[int, float]], floors: dict[int, float]
) -> None:
    d = np.sort(np.array([one for one, _ in steps], dtype=float))
    best = np.minimum.accumulate([value for _, value in steps])
    floor = floor_line(d, best, floors)
    assert (best - floor >= 0).all()
    assert (np.diff(floor) <= 0).all()


def test_the_regret_of_a_real_run_has_two_parts_at_every_evaluation() -> None:
    config = RunConfig.parse(
        {"objective": {"D": 60, "d_e": 6}, "optimizer": {"d_h": 20, "beta": 4}, "budget": 40}
    )
    events = [event for event in run(config) if isinstance(event, Evaluated)]
    d = np.array([event.d for event in events], dtype=float)
    best = np.array([event.best for event in events])
    floors = {one.d: one.floor for one in floors_of_config(config, sorted({int(x) for x in d}))}
    floor = floor_line(d, best, floors)
    assert (floor >= 0).all()  # the approximation error, as F* = 0
    assert (best - floor >= 0).all()  # the optimization error


def test_a_run_below_the_floor_lowers_it() -> None:
    d, best = np.array([5.0, 5, 12, 12]), np.array([30.0, 26, 20, 15])
    assert lowered({5: 25.0, 12: 16.0}, d, best) == {5: 25.0, 12: 15.0}
    assert list(floor_line(d, best, {5: 25.0, 12: 16.0})) == [25, 25, 15, 15]
    assert np.isnan(floor_line(d, best, {5: 25.0})[2:]).all()


def test_the_sentence_of_the_feed() -> None:
    verdict = judge(expansion(19, 26, 15.6), FLOORS, 0.0)
    assert verdict.judgement == "right"
    expected = "At d = 19 the best possible was 14.6; the run had 15.6. Expanding was right."
    assert verdict.text == expected


@pytest.mark.parametrize(
    ("d_from", "d_to", "best", "minimum", "judgement"),
    [
        (5, 12, 40.0, 0.0, "right"),  # 12.7 above a floor of 27.3
        (19, 26, 40.0, 0.0, "premature"),  # 25.4 above a floor of 14.6
        (26, 33, 4.0, 0.0, "in vain"),  # the floor stays
        (19, 26, 15.6, None, "right"),
        (19, 26, 40.0, None, "premature"),
        (19, 29, 15.6, None, "right"),  # nothing to compare with
    ],
)
def test_right_or_premature(
    d_from: int, d_to: int, best: float, minimum: float | None, judgement: str
) -> None:
    verdict = judge(expansion(d_from, d_to, best), FLOORS, minimum)
    assert verdict.judgement == judgement
    assert judgement in verdict.text


def test_only_expansions_with_a_known_floor_are_judged() -> None:
    changes = [expansion(5, 12, 28.0, 20), expansion(7, 9, 25.0, 40), expansion(12, 19, 22.0, 60)]
    changes.append({**expansion(19, 19, 15.0, 80), "event": "converged"})
    assert [one.t for one in verdicts(changes, FLOORS, 0.0)] == [20, 60]
