"""Replay, Runs and Compare in each of their states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import insert, select
from streamlit.testing.v1 import AppTest

from dsebo.config import parse_flat
from dsebo.runs.manager import RunManager
from dsebo.store import schema
from dsebo.transfer import FORMATS
from tests.pages.conftest import components, figures, open_page, said, shown_best
from tests.pages.presses import choose, press, shown_timeline, timeline_buttons
from tests.small import wait_for
from tests.small_run import SMALL


def figure(at: AppTest) -> dict[str, Any]:
    """The chart of several rows."""
    return next(data for data in components(at) if "yaxis2" in data.get("layout", {}))


@pytest.mark.parametrize(
    ("page", "words"),
    [("replay", "See Bayesian optimization"), ("runs", "No run yet"), ("compare", "No run yet")],
)
def test_an_empty_store_is_explained(page: str, words: str) -> None:
    at = open_page(page)
    assert not at.exception
    assert words in said(at)


@pytest.mark.parametrize("page", ["replay", "compare"])
@pytest.mark.parametrize("bad", ["no-such-run", "<script>", "x" * 5000])
def test_a_bad_link_shows_a_sentence(page: str, bad: str, finished: Callable[..., str]) -> None:
    finished()
    at = open_page(page, **{"run" if page == "replay" else "runs": bad})
    assert not at.exception
    assert len(at.warning) + len(at.error) == 1


def test_a_run_is_shown_as_it_stood(finished: Callable[..., str], manager: RunManager) -> None:
    run_id = finished()
    at = open_page("replay", run=run_id, t="10")
    assert not at.exception
    y = manager.store.evaluations(run_id)["y"]
    assert shown_best(at).replace("−", "-").startswith(f"{y[:10].min():.4g}"[:4])
    assert shown_timeline(at)["t"] == 10
    assert "of 40 evaluations" in said(at)
    expansions = [e["t"] for e in manager.store.events(run_id) if e["event"] == "expanded"]
    assert [mark["t"] for mark in shown_timeline(at)["marks"]] == expansions
    following = next(t for t in expansions if t > 10)
    press(at, "Next expansion")
    assert shown_timeline(at)["t"] == following
    assert at.query_params["t"] in (str(following), [str(following)])
    assert f"Algorithm 1 at evaluation {following}" in said(at)
    press(at, "Back")
    assert shown_timeline(at)["t"] == following - 1
    choose(at, 1)
    assert "Algorithm 1" not in said(at)
    assert figure(at)["layout"]["xaxis"]["range"] == [0, 40.4]
    choose(at, 40)  # the right end
    assert "t" not in at.query_params
    assert "Patience T" not in said(at)  # it has ended


def test_it_plays_and_pauses(finished: Callable[..., str]) -> None:
    at = open_page("replay", run=finished(), t="5")
    press(at, "Play")
    assert "Pause" in timeline_buttons(at)
    press(at, "Pause")
    assert "Play" in timeline_buttons(at)
    assert shown_timeline(at)["t"] >= 5


def test_at_the_right_end_of_a_run_at_work_pause_is_its_own(manager: RunManager) -> None:
    run_id = manager.launch(parse_flat(SMALL), paused=True)[0]
    for n in (1, 2, 3):
        manager.step(run_id)
        wait_for(lambda n=n: manager.store.get_run(run_id).n_done == n)  # type: ignore[misc]
    at = open_page("run", run=run_id)
    assert shown_timeline(at)["live"]
    assert "Resume" in timeline_buttons(at)
    press(at, "Back")
    assert not shown_timeline(at)["live"]
    assert {"Play", "Step"} <= timeline_buttons(at)
    press(at, "Step")
    assert shown_timeline(at)["live"]
    assert manager.store.get_run(run_id).n_done == 3


def test_two_runs_in_lockstep(finished: Callable[..., str]) -> None:
    first, second = finished(), finished(seed=2)
    at = open_page("replay", run=first, **{"with": second}, t="20")
    assert not at.exception
    shown = [data for data in components(at) if "yaxis3" in data.get("layout", {})]
    assert len(shown) == 2
    assert shown[0]["layout"]["yaxis"]["range"] == shown[1]["layout"]["yaxis"]["range"]
    status = next(data for data in components(at) if "numbers" in data)
    assert status["numbers"][0]["value"].count(" | ") == 1  # the best value of each
    assert status["progress"]["text"] == "20 of 40 evaluations"


def filter_by(at: AppTest, label: str) -> Any:
    return next(m for m in at.multiselect if m.label == label)


def test_the_table_of_runs(finished: Callable[..., str], manager: RunManager) -> None:
    run_id = finished()
    manager.tag(run_id, ["lesson"])
    manager.launch(parse_flat({**SMALL, "function": "levy"}), paused=True, name="<b>Levy</b>")
    at = open_page("runs")
    assert not at.exception
    table = at.dataframe[0].value
    assert list(table["Name"]) == ["<b>Levy</b>", manager.store.get_run(run_id).name]
    row = manager.store.get_run(run_id)
    assert table["Best"][1] == row.best
    assert table["Final d"][1] == row.d
    filter_by(at, "Function").select("levy").run()
    assert list(at.dataframe[0].value["Function"]) == ["Levy"]
    filter_by(at, "Function").unselect("levy").run()
    filter_by(at, "Tag").select("lesson").run()
    assert len(at.dataframe[0].value) == 1
    at.text_input(key="search runs").set_value("no such name").run()
    assert "No run passes these filters" in said(at)


def test_a_thousand_runs_are_listed_and_counted(finished: Callable[..., str], manager: RunManager) -> None:
    row = manager.store.get_run(finished())
    with manager.store.write() as connection:
        kept = dict(connection.execute(select(schema.run)).mappings().one())
        copies = [{**kept, "id": f"{i:032x}", "group": f"{i}", "name": f"copy {i}"} for i in range(1200)]
        connection.execute(insert(schema.run), copies)
    at = open_page("runs")
    assert not at.exception
    assert len(at.dataframe[0].value) == 1201
    assert "1\u202f201 runs" in said(at)
    at.text_input(key="search runs").set_value("copy 1199").run()
    assert list(at.dataframe[0].value["Name"]) == ["copy 1199"]
    assert at.dataframe[0].value["Best"][0] == row.best


def test_deleted_runs_have_a_place(finished: Callable[..., str], manager: RunManager) -> None:
    run_id = finished()
    manager.delete(run_id)
    at = open_page("runs")
    assert "No run yet" in said(at)
    at.toggle[0].set_value(True).run()
    assert len(at.dataframe[0].value) == 1


def test_compare_groups_and_tables(finished: Callable[..., str]) -> None:
    ids = [finished(), finished(seed=2), finished(beta=3.0)]
    at = open_page("compare", runs=",".join(run_id[:12] for run_id in ids), by="beta")
    assert not at.exception
    table = at.dataframe[-1].value
    assert list(table["group"]) == ["β = 6", "β = 3"]
    assert list(table["runs"]) == [2, 1]
    legend = [t["name"] for t in figures(at)[-1]["data"] if t.get("showlegend", True) and "name" in t]
    assert legend == ["β = 6 (n = 2)", "β = 3 (n = 1)"]
    assert str(at.query_params["runs"]).count(",") == 2
    labels = [button.proto.label for button in at.get("download_button")]
    assert labels == [form.label for form in FORMATS.values() if form.runs]


def test_compare_begins_with_runs_that_compare_well(finished: Callable[..., str]) -> None:
    ids = {finished(), finished(seed=2)}
    finished(function="levy")
    at = open_page("compare")
    assert set(at.session_state["chosen lines"]) == ids
    assert set(str(at.query_params["runs"]).split(",")) == {run_id[:12] for run_id in ids}


def test_the_papers_row_stands_beside_ours(manager: RunManager) -> None:
    run_id = manager.launch(parse_flat({}), paused=True)[0]
    manager.step(run_id)
    wait_for(lambda: manager.store.get_run(run_id).n_done == 1)
    at = open_page("compare", runs=run_id)
    table = at.dataframe[-1].value
    assert list(table["source"]) == ["this software", "the paper"]
    assert table["mean"][1] == 3.9387
    next(t for t in at.toggle if t.label.startswith("All of")).set_value(True).run()
    assert len(at.dataframe[-1].value) == 20


def test_who_comes_first_to_an_empty_store_is_led_to_learn(finished: Callable[..., str]) -> None:
    at = open_page("run", new=True)
    assert not at.exception
    assert "Lessons: predict" in said(at)
    finished()
    assert "Lessons: predict" not in said(open_page("run", new=True))
