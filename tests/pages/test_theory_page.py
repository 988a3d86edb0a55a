"""The Theory page: the paper's example, the controls, and a stored run."""

from __future__ import annotations

from collections.abc import Callable

from dsebo.ui.cache import SHARED
from dsebo.ui.run import floors
from tests.pages.conftest import open_page, said
from tests.small import wait_for


def test_the_papers_example_and_what_it_gives_instead() -> None:
    at = open_page("theory")
    assert not at.exception
    assert [one.value for one in at.metric[:2]] == ["1.11", "68.9"]
    assert [one.delta for one in at.metric[:2]] == ["paper: 1.25", "paper: 100"]
    page = said(at)
    assert "every phase is charged the error of dimension 0" in page
    assert "What the O* hides" in page
    assert "10^{42}" in page
    assert "no run of DSEBO yet" in page


def test_the_controls_change_the_numbers() -> None:
    at = open_page("theory")
    at.number_input[1].set_value(1).run()
    assert at.metric[0].value == "1"  # one phase is the fixed subspace
    assert at.metric[1].value == "1"
    assert "The paper prints" not in said(at)
    at.number_input[3].set_value(1).run()
    assert not at.exception
    assert "here the bound is small" in said(at)


def test_a_stored_run_in_the_same_formula(finished: Callable[..., str]) -> None:
    run_id = finished()
    at = open_page("theory")
    assert not at.exception
    data = SHARED.data(floors.session.manager().store, run_id)
    wait_for(lambda: not floors.status(data).running)
    at.run()
    assert "phases; ε(d) is measured" in said(at)
    assert len(at.metric) == 4


def test_the_phases_of_a_run_under_its_charts(finished: Callable[..., str]) -> None:
    run_id, other = finished(), finished(seed=2)
    at = open_page("run", run=run_id, show="bound", reachable="yes", **{"with": other})
    assert not at.exception
    for one in (run_id, other):
        data = SHARED.data(floors.session.manager().store, one)
        wait_for(lambda data=data: not floors.status(data).running)  # type: ignore[misc]
    at.run()
    assert not at.exception
    assert said(at).count("phases; ε(d) is measured") == 2
