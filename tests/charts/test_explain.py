"""Algorithm 1 with its numbers, the feed, and a bandit's arms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dsebo.charts.explain import VERDICT, arms_figure, feed, steps
from dsebo.experiments.spec import ExperimentSpec
from dsebo.run import run

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


def test_a_step_by_hand_is_called_so() -> None:
    step = steps({**EVENT, "delta_after": 9, "d_to": 28, "ruled": 3}, PAPER, 500)[2]
    assert "by hand; the strategy's own would be 3" in step.words
    assert step.latex == r"\Delta d = 9"


def test_our_own_rules_are_explained_with_their_numbers() -> None:
    ours = {**PAPER, "variant": "adaptive", "beta": 23.0, "growth": "steady", "steps": "first", "stop": 0.1}
    steady = steps({**EVENT, "k": None, "delta_before": 4, "delta_after": 4, "d_to": 23}, ours, 500)
    assert [step.words for step in steady[1:]] == [
        "Steady growth: the step is from β alone",
        "Next dimension",
        "Evaluations in the next subspace",
    ]
    slopes = [8.0, 5.0, 0.3, 0.2]
    enough: dict[str, Any] = {**EVENT, "event": "converged", "slopes": slopes, "k": None, "enough": 0.06}
    lines = steps({**enough, "s_max": 8.0, "delta_after": 0, "T_after": 380, "d_to": 19}, ours, 500)
    assert r"0.3 < 0.1 \cdot 5 \Rightarrow \Delta d = 0" in lines[1].latex
    assert "500 - 120 = 380" in lines[3].latex
    patient = steps(EVENT, {**ours, "growth": "patience"}, 500)
    assert r"\lfloor 0.5 \cdot 4 \rfloor" in patient[2].latex


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


def test_the_feed_tells_first_and_counts_second() -> None:
    told = "Evaluation 35: stalled. Now d = 15."
    counted = {
        **EVENT,
        "text": f"{told} (s = 0.5, 0.363; k = 0.50; T 6 → 7)",
        VERDICT: "Expanding was right.",
    }
    entry, *_ = feed([counted])
    assert entry.in_words == f"{told} Expanding was right."
    assert entry.numbers == "s = 0.5, 0.363; k = 0.50; T 6 → 7"
    assert feed([{**EVENT, "text": "A sentence (of 0.1.0) in other words."}])[0].numbers == ""


TASK = {"function": "sphere", "D": 40, "d_e": 4, "budget": 12}


@pytest.mark.parametrize(
    ("method", "rows", "dots"), [("bandit-softmax", 3, 2), ("bandit-c-ucb", 2, 2), ("bandit-random", 2, 1)]
)
def test_a_bandits_arms(method: str, rows: int, dots: int) -> None:
    race = ExperimentSpec.race(method, TASK, "1")
    events = [e.to_json() for e in run(race.first_configs()[0]) if e.kind == "arm-pulled"]
    first, last = events[0], events[-1]
    figure = arms_figure(last, method)
    assert list(figure.data[0].x) == [f"d = {d}" for d in last["dims"]]
    assert sum(figure.data[0].y) == 12
    chosen = last["dims"].index(last["d_to"])
    assert len({*figure.data[0].marker.color}) == 2
    assert figure.data[0].marker.color.count(figure.data[0].marker.color[chosen]) == 1
    assert sum(key.startswith("yaxis") for key in figure.to_plotly_json()["layout"]) == rows
    assert len(figure.data) - 1 == dots
    assert arms_figure(first, method).data[0].y.sum() == 1


def test_an_arm_out_of_the_race_has_no_score() -> None:
    event = {"dims": [10, 20], "pulls": [3, 1], "means": [-4.0, None], "scores": [0.5, None], "d_to": 10}
    figure = arms_figure(event, "bandit-softmax")
    assert np.isnan(figure.data[2].y[1])
