"""What is reachable, on Run and Compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dsebo.charts import theme
from dsebo.ui.cache import SHARED
from dsebo.ui.run import floors
from tests.pages.conftest import components, open_page, said
from tests.small import wait_for


def turn_on(at: AppTest) -> AppTest:
    """The switch, and then the page as it is once all floors are known."""
    at.toggle(key=floors.SWITCH).set_value(True).run()
    assert not at.exception
    return at


def computed(*run_ids: str) -> None:
    def known() -> bool:
        runs = [SHARED.data(floors.session.manager().store, run_id) for run_id in run_ids]
        return not any(floors.status(run).running for run in runs)

    wait_for(known)


def names(at: AppTest) -> list[str]:
    return [trace.get("name", "") for figure in components(at) for trace in figure.get("data", [])]


@pytest.mark.parametrize("page", ["run", "compare"])
def test_a_line_two_colours_and_sentences(page: str, finished: Callable[..., str]) -> None:
    run_id = finished()
    at = open_page(page, **{"runs" if page == "compare" else "run": run_id})
    assert "reachable" not in names(at)
    turn_on(at)
    computed(run_id)
    at.run()
    assert not at.exception
    assert "reachable" in names(at)
    legend = " ".join(str(one.proto.body) for one in at.get("html"))
    assert "only a larger d removes it" in legend
    assert "an upper bound of the true one" in legend
    if page != "compare":
        assert "the best possible was" in said(at)
        assert any(word in said(at) for word in ("was right", "was premature", "was in vain"))


def test_several_groups_have_a_line_each_and_one_of_them_its_errors(finished: Callable[..., str]) -> None:
    ids = [finished(), finished(beta=3.0)]
    at = turn_on(open_page("compare", runs=",".join(ids), by="beta"))
    computed(*ids)
    at.run()
    assert names(at).count("reachable") == 2
    first = purple(at)
    choice = next(box for box in at.selectbox if box.label == "Colour the two errors of")
    choice.select(choice.options[1]).run()
    assert names(at).count("reachable") == 2
    assert purple(at) != first


def purple(at: AppTest) -> list[float]:
    """The line between the two areas."""
    traces = [trace for figure in components(at) for trace in figure.get("data", [])]
    return next(t["y"] for t in traces if t.get("name") == "reachable" and t["line"]["color"] == theme.PURPLE)


@pytest.mark.parametrize("page", ["run", "compare"])
def test_where_it_does_not_apply_the_page_says_so(page: str, finished: Callable[..., str]) -> None:
    run_id = finished(method="random")
    at = turn_on(open_page(page, **{"runs" if page == "compare" else "run": run_id}))
    assert "only DSEBO has a shared embedding" in said(at).replace("\\", "")
    assert "reachable" not in names(at)


def test_while_it_is_computed_the_page_says_how_far(
    finished: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = finished()
    monkeypatch.setattr(floors.FloorService, "_start", lambda _: None)
    at = turn_on(open_page("run", run=run_id))
    assert "0 of" in said(at)
    assert "under way" in said(at)


def test_the_switch_is_kept_from_page_to_page(finished: Callable[..., str]) -> None:
    at = turn_on(open_page("run", run=finished()))
    state: Any = at.session_state
    assert state[floors.KEPT]
