"""Conclusions of a run, on hand-made data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import dsebo
from dsebo.analysis.conclusions import Ending, advice, conclude_run
from dsebo.runs.data import read_run
from dsebo.runs.worker import stored_run
from dsebo.store.store import Store
from dsebo.text import number
from tests.small import small


def change(t: int, d_from: int, d_to: int, delta_before: int | None = 7) -> dict[str, Any]:
    event = "expanded" if d_to > d_from else "converged"
    return {"event": event, "t": t, "d_from": d_from, "d_to": d_to, "delta_before": delta_before}


GROWN = (change(20, 5, 12, None), change(60, 12, 19), change(120, 19, 28), change(200, 28, 28, 1))
RUN = Ending(
    t=500,
    budget=500,
    best=3.62,
    at_centre=30.097,
    minimum=0.0,
    d=28,
    d_e=30,
    d_h=100,
    changes=GROWN,
    reachable={28: 3.53},
)


def test_a_finished_run() -> None:
    assert conclude_run(RUN) == (
        "From 30.1 at the centre to 3.62. The subspace grew from 5 to 28 in three expansions (30 variables "
        "matter) and stopped because the step became 0. Of the 3.62 left, 3.53 is out of reach at d = 28."
    )


def test_what_is_not_known_is_not_said() -> None:
    bare = replace(RUN, at_centre=None, minimum=None, d_e=None, reachable={})
    assert conclude_run(bare) == (
        "3.62 after 500 evaluations. The subspace grew from 5 to 28 in three expansions and stopped because "
        "the step became 0."
    )
    assert conclude_run(replace(RUN, d=None, d_h=None, reachable={})) == "From 30.1 at the centre to 3.62."


def test_failed_evaluations_are_counted() -> None:
    failing = replace(RUN, at_centre=None, d=None, d_h=None, reachable={}, failed=9)
    assert conclude_run(failing) == "3.62 after 500 evaluations. 9 evaluations failed."


def test_an_expansion_at_the_last_evaluation_is_not_judged() -> None:
    last = (*GROWN[:2], change(500, 19, 28))
    text = conclude_run(replace(RUN, d=19, changes=last, reachable={19: 3.5, 28: 1.0}))
    assert "nothing was tried at d = 28" in text
    assert "out of reach at d = 19" in text  # where the evaluations were made
    assert "stopped" not in text


def test_where_it_ended() -> None:
    reached = replace(RUN, d=100, changes=(change(20, 5, 100, None),), reachable={})
    assert "from 5 to 100 in one expansion (30 variables matter) and reached d_h" in conclude_run(reached)
    stayed = replace(RUN, d=5, changes=(), reachable={})
    assert "stayed at d = 5 (30 variables matter): it never stalled" in conclude_run(stayed)
    first = replace(RUN, d=5, changes=(change(20, 5, 5, None),), reachable={})
    assert "the first step is 0" in conclude_run(first)
    full = replace(RUN, d=100, changes=(*GROWN[:1], change(90, 100, 100)), reachable={})
    assert "d = 100 is d_h, the largest it may have" in conclude_run(full)


def test_a_step_set_to_0_by_hand_is_not_the_strategys() -> None:
    by_hand = {**change(200, 28, 28, 1), "ruled": 1, "delta_after": 0}
    text = conclude_run(replace(RUN, changes=(*GROWN[:3], by_hand)))
    assert "stopped because the step was set to 0 by hand" in text


def test_probes_that_found_fewer_dimensions_to_be_enough_are_told(tmp_path: Path) -> None:
    text = conclude_run(replace(RUN, changes=GROWN[:3], probed=28))
    assert "matter) and stopped because probes found 28 dimensions to be enough." in text
    assert "probes" not in conclude_run(replace(RUN, changes=GROWN[:3], probed=40))  # still on the way
    store = Store.open(f"sqlite:///{tmp_path}/runs.db")
    config = small(variant="adaptive", probes=20, d_l=15, d_h=30, budget=60)
    text = dsebo.conclude(stored_run(config, store))
    assert "because probes found" in text
    assert text == read_run(store, store.list_runs()[0].id).conclusion
    store.close()


def test_what_would_have_let_it_grow() -> None:
    paper = {"d_h": 100, "min_step": 0}
    assert advice(change(200, 28, 28, 1), paper, 1000) == {"min_step": 1}
    assert advice(change(200, 28, 28, 1), {**paper, "min_step": 1}, 1000) == {}
    assert advice(change(200, 100, 100, 1), paper, 1000) == {"d_h": 200}
    assert advice(change(200, 100, 100, 1), paper, 100) == {}
    assert advice(change(200, 28, 31, 3), paper, 1000) == {}
    assert advice({**change(200, 28, 28, 1), "ruled": 1}, paper, 1000) == {}


def test_bad_and_short_runs() -> None:
    assert "no better than the 30.1 at the centre" in conclude_run(replace(RUN, best=31.0))
    assert conclude_run(replace(RUN, t=120)).startswith(
        "From 30.1 at the centre to 3.62 after 120 evaluations."
    )
    assert conclude_run(replace(RUN, best=None)) == "None of the 500 evaluations gave a value."
    assert conclude_run(Ending(t=0, budget=10, best=None)) == ""


def test_no_more_is_out_of_reach_than_is_left() -> None:
    below = conclude_run(replace(RUN, best=3.0))  # a floor is what a search found: a run may get below
    assert "Of the 3 left, 3 is out of reach" in below
    assert "Nothing is left" in conclude_run(replace(RUN, best=0.0))


def test_a_notebook_concludes_from_the_events_what_the_page_says(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/runs.db")
    text = dsebo.conclude(stored_run(small(), store))
    assert text.startswith("From ")
    assert text == read_run(store, store.list_runs()[0].id).conclusion == dsebo.conclude(dsebo.run(small()))
    store.close()
    result = dsebo.minimize(lambda x: float(abs(x).sum()), [(-1.0, 1.0)] * 12, budget=12, method="random")
    assert dsebo.conclude(result.events).startswith(f"{number(result.fun, 3)} after 12 evaluations")
    assert dsebo.conclude([]) == ""
