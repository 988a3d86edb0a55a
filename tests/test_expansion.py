"""The expanding strategy: both hand-worked tables line by line, its edges, and its invariants."""

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsebo import expansion
from dsebo.events import Converged, Expanded
from dsebo.expansion import (
    Gain,
    Progress,
    Strategy,
    Variant,
    after_evaluation,
    blocks_that_matter,
    dimensions_for,
    factor,
    gain_threshold,
    moves_next,
    next_step,
    share_of_large,
    slopes,
    start,
    variables_that_matter,
)

# d converged, b_i, newest slope, k, step, next d, next T: d_l = 5, d_h = 100, beta = 12, budget 500
PAPER = [
    (5, 30.0, None, None, 7, 12, 20),
    (12, 25.0, 0.7143, None, 7, 19, 22),
    (19, 23.6, 0.2, 0.5, 3, 22, 23),
    (22, 20.6, 1.0, 1.5, 4, 26, 24),
    (26, 18.8, 0.45, 0.8125, 3, 29, 25),
    (29, 18.8, 0.0, 0.5, 1, 30, 26),
    (30, 18.7, 0.1, 0.6, 0, 30, 26),
]
AUTHORS = [
    (5, 30.0, None, None, 15, 20, 48),
    (20, 25.0, 0.3333, None, 15, 35, 54),
    (35, 23.6, 0.0933, None, 15, 50, 61),
    (50, 20.6, 0.2, 0.9444, 14, 64, 67),
    (64, 19.8, 0.0571, 0.5, 7, 71, 70),
    (71, 19.8, 0.0, 0.5, 3, 74, 71),
    (74, 19.7, 0.0333, 0.6, 1, 75, 72),
]


def converge(strategy: Strategy, now: Progress, b: float) -> tuple[Progress, Converged]:
    """Spend the patience of the current subspace at best value b."""
    now = replace(now, best=b, b_ref=b, count=now.T - 1)
    after, event = after_evaluation(strategy, now, t=1, y=b)
    assert event is not None
    return after, event


@pytest.mark.parametrize(("variant", "table"), [("paper", PAPER), ("authors", AUTHORS)])
def test_worked_table(variant: Variant, table: list[tuple[float, ...]]) -> None:
    strategy = Strategy(d_l=5, d_h=100, beta=12, budget=500, variant=variant)
    now = start(strategy)
    assert now.T == 20
    for d, b, slope, k, step, d_next, T_next in table:
        assert now.d == d
        now, event = converge(strategy, now, b)
        assert event.slopes[-1:] == (() if slope is None else (pytest.approx(slope, abs=5e-5),))
        assert event.k == (None if k is None else pytest.approx(k, abs=5e-5))
        assert (event.delta_after, event.d_to, event.T_after) == (step, d_next, T_next)
        assert (now.d, now.T) == (d_next, T_next)
        assert isinstance(event, Expanded) == (d_next > d)


def test_a_record_is_undone_where_the_dimension_stays() -> None:
    strategy = Strategy(d_l=5, d_h=100, beta=12, budget=500)
    now = start(strategy)
    for _, b, *_ in PAPER:
        before = now
        now, event = converge(strategy, now, b)
    assert event.dims[-1] == 30
    assert now.dims == before.dims
    assert now.count == 0


def test_a_step_of_zero_is_for_good_and_says_what_would_lift_it() -> None:
    strategy = Strategy(d_l=5, d_h=100, beta=12, budget=500)
    now = start(strategy)
    for _, b, *_ in PAPER:
        now, event = converge(strategy, now, b)
    assert "min_step" in event.text
    for b in (10.0, 5.0, 1.0):
        now, event = converge(strategy, now, b)
        assert (event.delta_after, now.d) == (0, 30)
    lifted = replace(strategy, min_step=2)
    now, event = converge(lifted, now, 0.5)
    assert (event.delta_after, now.d) == (2, 32)


def test_at_d_h_it_says_so() -> None:
    strategy = Strategy(d_l=5, d_h=10, beta=1, budget=100)
    now, event = converge(strategy, start(strategy), 9.0)
    assert now.d == 10
    now, event = converge(strategy, now, 8.0)
    assert event.kind == "converged"
    assert "larger d_h" in event.text


def test_authors_shrink_the_box_when_they_cannot_expand() -> None:
    strategy = Strategy(d_l=5, d_h=10, beta=1, budget=100, variant="authors")
    now, _ = converge(strategy, start(strategy), 9.0)
    assert now.box == 1.0
    now, event = converge(strategy, now, 8.0)
    assert "z now in ±0.8." in event.text
    now, event = converge(strategy, now, 8.0)
    assert now.box == pytest.approx(0.64)
    assert "z now in ±0.64." in event.text


def test_paper_resets_the_reference_on_entering_and_authors_never() -> None:
    for variant, expected in (("paper", 29.8), ("authors", 30.0)):
        strategy = Strategy(5, 100, 12, 500, variant=variant)  # type: ignore[arg-type]
        now = replace(start(strategy), b_ref=30.0, best=29.8, worst=30.0, count=19)
        after, event = after_evaluation(strategy, now, 1, 29.9)
        assert event is not None
        assert after.b_ref == expected


def test_small_gains_add_up_against_the_reference() -> None:
    strategy = Strategy(5, 100, 12, 500)
    now, _ = after_evaluation(strategy, start(strategy), 1, 10.0)
    counts = []
    for t, y in enumerate([9.8, 9.6, 9.55, 9.4, 12.0], start=2):
        now, _ = after_evaluation(strategy, now, t, y)
        counts.append(now.count)
    assert counts == [1, 2, 3, 0, 1]
    assert now.b_ref == 9.4


def test_first_count_of_both_variants() -> None:
    for variant, count in (("paper", 0), ("authors", 1)):
        strategy = Strategy(5, 100, 12, 500, variant=variant)  # type: ignore[arg-type]
        now, _ = after_evaluation(strategy, start(strategy), 1, 10.0)
        assert now.count == count


def test_relative_gain_is_a_share_of_the_spread() -> None:
    strategy = Strategy(5, 100, 12, 500, alpha=0.1, alpha_mode="relative")
    now, _ = after_evaluation(strategy, start(strategy), 1, 1000.0)
    now, _ = after_evaluation(strategy, now, 2, 2000.0)
    now, _ = after_evaluation(strategy, now, 3, 950.0)  # gain 50, threshold 105
    assert now.count == 2
    now, _ = after_evaluation(strategy, now, 4, 880.0)  # gain 120 > 112
    assert now.count == 0


def test_edges() -> None:
    same = Strategy(d_l=5, d_h=5, beta=12, budget=500)
    now, event = converge(same, start(same), 1.0)
    assert (now.d, event.delta_after, now.T) == (5, 0, 20)
    hasty = Strategy(d_l=5, d_h=100, beta=1000, budget=10)
    assert start(hasty).T == 1
    wide = Strategy(d_l=5, d_h=10, beta=6, budget=100)
    now, event = converge(wide, start(wide), 1.0)
    assert event.delta_after == 0
    assert "β = 6 makes the first step 0" in event.text


def test_sentence() -> None:
    strategy = Strategy(d_l=5, d_h=100, beta=12, budget=500)
    now = replace(start(strategy), d=19, T=22, delta=7, dims=(5, 12), bests=(30.0, 25.87))
    now = replace(now, best=21.95, b_ref=21.95, count=21)
    _, event = after_evaluation(strategy, now, 148, 22.5)
    assert event is not None
    assert event.text == (
        "Evaluation 148: stalled. No gain above 0.5 in 22 evaluations at d = 19. The last dimensions gained "
        "0.56 each, the least so far, so the step halves, 7 → 3. Now d = 22. "
        "(s = 0.59, 0.56; k = 0.50; T 22 → 23)"
    )


def test_a_decision_taken_again_by_hand_or_by_another_strategy() -> None:
    strategy = Strategy(d_l=5, d_h=100, beta=12, budget=500)
    now = replace(start(strategy), d=19, T=22, delta=7, dims=(5, 12), bests=(30.0, 25.87))
    now = replace(now, best=21.95, b_ref=21.95, count=22)
    own, event = expansion.converge(strategy, now, 148)
    assert (own.d, own.delta, own.T, event.ruled) == (22, 3, 23, None)
    assert "ruled" not in event.to_json()

    seven, event = expansion.converge(strategy, now, 148, decide=7)
    assert (seven.d, seven.delta, seven.T) == (26, 7, 23)
    assert (event.kind, event.delta_after, event.to_json()["ruled"]) == ("expanded", 7, 3)
    assert event.text == (
        "Evaluation 148: stalled. No gain above 0.5 in 22 evaluations at d = 19. The last dimensions gained "
        "0.56 each, the least so far, so the step halves, 7 → 3. By hand it is 7. Now d = 26. "
        "(s = 0.59, 0.56; k = 0.50; T 22 → 23)"
    )
    stays, event = expansion.converge(strategy, now, 148, decide=0)
    assert (stays.d, stays.delta, stays.dims, event.kind) == (19, 0, now.dims, "converged")
    assert "By hand it is 0. It stays at d = 19." in event.text
    assert expansion.converge(strategy, now, 148, decide=90)[0].d == 100

    other = replace(strategy, beta=6, alpha=0.1, min_step=5)
    changed, event = expansion.converge(other, now, 148, waited=strategy)
    assert (changed.delta, changed.T) == (5, 47)  # the step goes on from 7, the patience by its formula
    assert "No gain above 0.5" in event.text  # it waited by the other one


def test_progress_through_json() -> None:
    strategy = Strategy(5, 100, 12, 500)
    for now in (start(strategy), converge(strategy, start(strategy), 3.25)[0]):
        assert Progress.from_json(now.to_json()) == now


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12, unique=True))
def test_k_is_between_a_half_and_one_and_a_half(s: list[float]) -> None:
    k = factor(tuple(s))
    assert k is not None
    assert 0.5 <= k <= 1.5


@given(
    st.integers(1, 30),
    st.integers(0, 120),
    st.floats(0.5, 64),
    st.integers(2, 300),
    st.sampled_from(["paper", "authors"]),
    st.integers(0, 2),
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=300),
)
def test_invariants(
    d_l: int, more: int, beta: float, budget: int, variant: Variant, min_step: int, ys: list[float]
) -> None:
    strategy = Strategy(d_l, d_l + more, beta, budget, variant=variant, min_step=min_step)
    now = start(strategy)
    stuck_at_zero = False
    for t, y in enumerate(ys, start=1):
        before = now
        now, event = after_evaluation(strategy, before, t, y)
        assert before.d <= now.d <= strategy.d_h
        assert now.T >= 1
        assert now.best == min(ys[:t])
        if event is None:
            assert now.d == before.d
            continue
        assert len(event.slopes) == len(event.dims) - 1
        assert event.bests[-1] == now.best
        assert all(math.isfinite(s) for s in event.slopes)
        if stuck_at_zero and min_step == 0:
            assert now.d == before.d
        stuck_at_zero = event.delta_after == 0 and len(event.dims) > strategy.fixed_steps


def test_slopes() -> None:
    assert slopes((5,), (1.0,)) == ()
    assert slopes((5, 10, 12), (10.0, 5.0, 6.0)) == (1.0, -0.5)


# -- our own rules -----------------------------------------------------------------------------------


def adaptive(**changes: Any) -> Strategy:
    return Strategy(d_l=5, d_h=100, beta=23, budget=500, variant="adaptive", **changes)


def told(strategy: Strategy, values: Iterable[float]) -> tuple[Progress, list[Converged]]:
    now = start(strategy)
    events: list[Converged] = []
    for t, y in enumerate(values, start=1):
        now, event = after_evaluation(strategy, now, t, y)
        events += [event] if event else []
    return now, events


def test_steady_growth_asks_nothing_of_the_values() -> None:
    falling, flat = (told(adaptive(growth="steady"), values) for values in (range(500, 0, -1), [1.0] * 500))
    assert [event.t for event in falling[1]] == [event.t for event in flat[1]]
    assert [event.d_to for event in flat[1]] == [*range(9, 98, 4), 100]
    assert flat[1][0].text.startswith(
        "Evaluation 11: 10 evaluations at d = 5. It grows steadily, by 4. Now d = 9."
    )
    assert all(isinstance(event, Expanded) for event in flat[1])  # at d_h there is nothing left to decide


def test_a_step_scaled_from_the_first_never_dies_out() -> None:
    last, first = adaptive(), adaptive(steps="first")
    assert next_step(last, 1, (1.0, 0.5)) == (0.5, 0)
    assert next_step(first, 1, (1.0, 0.5)) == (0.5, 2)
    assert next_step(first, 2, (0.5, 1.0)) == (1.5, 6)
    assert next_step(Strategy(5, 100, 95, 500, steps="first"), 1, (1.0, 0.5)) == (0.5, 1)


def test_a_gain_is_a_share_of_what_the_subspace_has_gained() -> None:
    for scale in (1.0, 1e6):
        rule = adaptive(alpha_mode="gained", alpha=0.2)
        now, _ = told(rule, [10 * scale, 5 * scale])
        assert gain_threshold(rule, now) == pytest.approx(1.0 * scale)
        assert expansion.count(rule, now, 4.5 * scale).count == 1  # 0.5 of the 5.5 gained
        assert expansion.count(rule, now, 3.5 * scale).count == 0


def test_it_stops_when_two_slopes_are_small_beside_the_others_and_says_so() -> None:
    rule = adaptive(growth="steady", stop=0.1)
    gains = [40.0, 40.0, 40.0, 1.0, 0.5, 40.0]  # of each subspace
    values, best = [200.0], 200.0
    for gain, T in zip(gains, (10, 10, 11, 12, 12, 13), strict=True):
        best -= gain
        values += [best] * T
    now, events = told(rule, values)
    *grown, stopped = events
    assert [event.d_to for event in grown] == [9, 13, 17, 21]
    assert (stopped.kind, stopped.d_to, stopped.delta_after) == ("converged", 21, 0)
    assert stopped.enough == pytest.approx(1.0 / 40.0)
    assert stopped.T_after == 500 - stopped.t
    assert (
        "The last two expansions gained at most 2.5 % of the second largest slope. 21 dimensions are "
        f"enough; the remaining {500 - stopped.t} evaluations go into this subspace." in stopped.text
    )
    assert now.enough
    assert Progress.from_json(now.to_json()) == now


def test_one_huge_slope_at_the_start_stops_nothing() -> None:
    rule = adaptive(stop=0.1)
    assert share_of_large(rule, (1e6, 10.0, 9.0, 8.0, 9.0)) is None
    assert share_of_large(rule, (10.0, 9.0, 0.5, 0.1)) == pytest.approx(0.5 / 9.0)
    assert share_of_large(rule, (10.0, 0.5, 0.1)) is None  # too few to compare with


@pytest.mark.parametrize("matter", [5, 10, 30, 60])
def test_blocks_that_stand_out_tell_how_many_variables_matter(matter: int) -> None:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(40):
        effects = rng.uniform(0.5, 2.0, 1000) * 1e-4
        effects[:matter] = rng.uniform(0.2, 2.0, matter)
        blocks = rng.permutation(1000).reshape(100, 10)
        found.append(variables_that_matter(blocks_that_matter(effects[blocks].sum(axis=1)), 100))
    assert float(np.mean(found)) == pytest.approx(matter, rel=0.1)
    assert float(np.std(found)) < 0.15 * matter


def test_blocks_of_which_none_or_all_stand_out_leave_the_way_to_d_h_open() -> None:
    rule = adaptive(probes=4)
    assert blocks_that_matter([]) == blocks_that_matter([math.nan] * 5) == blocks_that_matter([2.0] * 5) == 0
    assert blocks_that_matter([0.0, -1.0, 0.0, math.nan, 0.0]) == 1
    assert variables_that_matter(0, 100) is variables_that_matter(100, 100) is None
    assert variables_that_matter(1, 100) == pytest.approx(1.0)
    assert dimensions_for(rule, None) == 100
    assert dimensions_for(rule, 10.0) == 15
    assert dimensions_for(rule, 90.0) == 100


def test_what_gains_more_goes_on_and_the_other_has_its_turn() -> None:
    poor, rich = Gain().after(1.0).after(0.0), Gain().after(0.0).after(1.0)
    assert (poor.mean, rich.mean) == (pytest.approx(0.9 / 1.9), pytest.approx(1.0 / 1.9))
    assert Gain().mean == 0.0
    assert moves_next(200, True, poor, rich, moved_last=True, in_a_row=4)
    assert not moves_next(200, True, poor, rich, moved_last=True, in_a_row=5)
    assert not moves_next(200, True, rich, poor, moved_last=False, in_a_row=4)
    assert moves_next(200, True, rich, poor, moved_last=False, in_a_row=5)
    assert not moves_next(200, True, Gain(), Gain(), moved_last=False, in_a_row=1)


def test_at_first_every_third_evaluation_moves_a_block() -> None:
    asked = [t for t in range(40, 50) if moves_next(t, False, Gain(), Gain(), t % 3 == 1, 1)]
    assert asked == [42, 45, 48]


def test_it_grows_to_what_the_probes_call_enough_and_a_hand_may_go_on() -> None:
    rule = adaptive(growth="steady", probes=4)
    now = replace(start(rule), d=17, T=12, count=12, best=3.0, b_ref=3.0, most=19)
    grown, event = expansion.converge(rule, now, 90)
    assert (grown.d, event.d_to, event.most) == (19, 19, 19)
    assert "Now d = 19. 19 dimensions are enough; the remaining 410 evaluations go into this" in event.text
    assert told_next(rule, grown) is None
    by_hand, event = expansion.converge(rule, now, 90, decide=6)
    assert (by_hand.d, event.most) == (23, None)


def told_next(rule: Strategy, now: Progress) -> Converged | None:
    """What the last evaluation of a patience leads to."""
    return after_evaluation(rule, replace(now, count=now.T), 200, 2.0)[1]
