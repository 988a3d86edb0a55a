"""The Race page in each of its states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dsebo.experiments.entrants import FAMILIES
from dsebo.experiments.records import claim, list_experiments
from dsebo.runs.manager import RunManager
from dsebo.store import leases, schema
from dsebo.store.rows import RunFilter
from dsebo.ui import session
from tests.pages.conftest import figures, open_page, said
from tests.pages.sweeps import children, make_runs
from tests.races import start_race
from tests.small import wait_for

__all__ = ["children"]  # a fixture

SMALL = {"D": "40", "d_e": "4", "budget": "12", "seeds": "1-2"}
TASK = {"function": "sphere", "D": 40, "d_e": 4, "budget": 12}


def button(at: AppTest, label: str) -> Any:
    return next(b for b in at.button if b.label == label)


def groups(manager: RunManager, ids: list[str]) -> str:
    rows = manager.store.list_runs(RunFilter(ids=ids), descending=False)
    return ",".join(dict.fromkeys(row.group for row in rows))


def finish(manager: RunManager) -> None:
    wait_for(lambda: all(row.state == "finished" for row in manager.store.list_runs()))


def test_before_the_start_each_method_has_its_cost() -> None:
    at = open_page("race")
    assert not at.exception
    labels = {box.label for box in at.checkbox}
    assert len(labels) == sum(len(family) for family in FAMILIES.values())
    assert any(label.startswith("TuRBO") and " s, " in label and "MB" in label for label in labels)
    ticked = {box.label.split(" :")[0].replace("\\", "") for box in at.checkbox if box.value}
    assert ticked == {"DSEBO", "TuRBO-1", "Random search"}
    assert "3 methods × 3 seeds = **9**" in said(at)
    assert not button(at, "Launch").disabled
    assert at.query_params["methods"] == "dsebo,random,turbo"


def test_the_cost_follows_the_setting() -> None:
    at = open_page("race", D="100000", budget="500")
    large = next(box.label for box in at.checkbox if box.label.startswith("SIRBO"))
    at = open_page("race", D="100", d_e="10", budget="20")
    small = next(box.label for box in at.checkbox if box.label.startswith("SIRBO"))
    assert "GB" in large
    assert "under 1 s" in small


def test_who_loses_by_construction_is_said_where_it_is_chosen() -> None:
    assert "lose by construction" not in said(open_page("race", methods="rembo:scale=dsebo"))
    at = open_page("race", methods="dsebo")
    assert "lose by construction" not in said(at)
    next(box for box in at.checkbox if box.label.startswith("Softmax")).check().run()
    assert "lose by construction" in said(at)
    assert "bandit-softmax" in at.query_params["methods"]


def test_a_link_reproduces_the_settings() -> None:
    link = {
        "methods": "baxus,dsebo:beta=8",
        "function": "levy",
        "D": "60",
        "d_e": "5",
        "budget": "30",
        "seeds": "4,7",
        "set": "d_h=20",
    }
    at = open_page("race", **link)
    assert not at.exception
    assert not at.warning
    ticked = [box.label for box in at.checkbox if box.value]
    assert any("β \\= 8" in label for label in ticked)
    assert "2 methods × 2 seeds = **4**" in said(at)
    kept = dict(at.query_params)
    assert kept.items() >= {**link, "methods": "baxus,dsebo:beta=8"}.items()


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"methods": "dsebo,<b>x</b>"}, "one of dsebo"),
        ({"seeds": "9-1"}, "seeds"),
        ({"D": "many"}, "D"),
        ({"set": "beta"}, "name"),
        ({"color": "red"}, "color"),
        ({"groups": "feedbeef"}, "not in this store"),
        ({"groups": "x" * 5000}, "not in this store"),
    ],
)
def test_what_a_link_cannot_mean_is_said(link: dict[str, str], words: str) -> None:
    at = open_page("race", **link)
    assert not at.exception
    assert any(words in warning.value for warning in at.warning)
    assert not button(at, "Launch").disabled


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("text_input", "Seeds", "3 to 5"), "seeds"),
        (("text_input", "Settings of methods", "gamma=2"), "gamma is not a setting"),
        (("number_input", "$d_e$ effective dimension", 2000), "got 2000"),
    ],
)
def test_what_does_not_fit_cannot_be_launched(change: tuple[str, str, Any], words: str) -> None:
    at = open_page("race")
    kind, label, value = change
    next(one for one in at.get(kind) if one.label == label).set_value(value).run()
    assert not at.exception
    assert button(at, "Launch").disabled
    assert words in at.error[0].value.replace("\\", "")


def test_nobody_chosen() -> None:
    at = open_page("race", methods="")
    assert "methods is missing" in at.error[0].value
    assert button(at, "Launch").disabled


def test_over_the_limit_is_refused_with_the_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "limits.toml"
    file.write_text("[limits.owner]\nseconds = 15\n")
    monkeypatch.setenv("DSEBO_SETTINGS", str(file))
    session.forget()
    at = open_page("race", methods="vbo,random")
    assert "VBO: A predicted time of" in at.error[0].value.replace("\\", "")
    assert "over the limit of 15 s" in at.error[0].value.replace("\\", "")
    assert button(at, "Launch").disabled
    at = open_page("race", methods="random,dsebo", seeds="1-10")
    assert "All runs together" in at.error[0].value
    assert not button(open_page("race", methods="random"), "Launch").disabled


def test_launch_shows_the_race_and_its_address(manager: RunManager, children: list[str]) -> None:
    at = open_page("race", methods="dsebo,random", **SMALL)
    button(at, "Launch").click().run()
    assert not at.exception
    assert "Race on Sphere" in said(at)
    address = dict(at.query_params)
    row = list_experiments(manager.store)[0]
    assert children == [row.id]
    assert address == {"experiment": row.id[:12]}
    assert row.spec.total == 4
    make_runs(manager.store, row.spec)
    leases.release(manager.store, schema.experiment, claim(manager.store, row.id, 2), "finished")
    again = open_page("race", race=address["experiment"])
    assert not again.exception
    assert "4 of 4 runs finished" in said(again)
    assert "Centre of the box" in list(again.dataframe[1].value["Method"])
    button(again, "Change and run again").click().run()
    assert again.query_params["methods"] == "dsebo,random"
    assert again.query_params["seeds"] == "1-2"
    assert "Launched before" in said(again)  # the same again: the one that exists is offered
    button(again, "Open that one").click().run()
    assert dict(again.query_params) == address


def test_a_finished_race(manager: RunManager) -> None:
    ids = start_race(manager, "random,dsebo,bandit-c-ucb", TASK, "1-2")
    finish(manager)
    at = open_page("race", groups=groups(manager, ids))
    assert not at.exception
    chart, seconds, arms = figures(at)
    legend = [t["name"] for t in chart["data"] if t.get("showlegend", True) and "name" in t]
    assert sorted(legend) == ["Bandit: C-UCB (n = 2)", "DSEBO (n = 2)", "Random search (n = 2)"]
    notes = [note["text"] for note in chart["layout"]["annotations"]]
    assert "centre 4.004" in notes
    table = at.dataframe[1].value
    assert "Centre of the box" in list(table["Method"])
    assert len(table) == 4
    assert "±" in table["Mean ± std"][0]
    assert "Paper" not in table
    assert len(seconds["data"]) == 4
    assert arms["data"][0]["x"][0] == "d = 10"
    assert "F\\* = 0" in said(at) or "F* = 0" in said(at)
    assert "best value so far" not in said(at)
    assert not any(b.label in ("Pause all", "Cancel all") for b in at.button)


def test_pause_resume_and_cancel_all(manager: RunManager) -> None:
    slow = {**TASK, "budget": 2000, "D": 300}
    ids = start_race(manager, "dsebo,random", slow, "1")
    for run_id in ids:
        manager.set_speed(run_id, 20.0)
    wait_for(lambda: all(row.n_done for row in manager.store.list_runs()))
    at = open_page("race", groups=groups(manager, ids))
    button(at, "Pause all").click().run()
    wait_for(lambda: all(row.state == "paused" for row in manager.store.list_runs()))
    at = open_page("race", groups=groups(manager, ids))
    assert "Resume all" in {b.label for b in at.button}
    assert "Runs at work count with their best value so far" in said(at)
    button(at, "Resume all").click().run()
    wait_for(lambda: all(row.state == "running" for row in manager.store.list_runs()))
    at = open_page("race", groups=groups(manager, ids))
    button(at, "Cancel all").click().run()
    wait_for(lambda: all(row.state == "cancelled" for row in manager.store.list_runs()))
    at = open_page("race", groups=groups(manager, ids))
    assert not any(b.label.endswith(" all") for b in at.button)
    assert not at.exception


def test_a_race_of_someone_else_can_only_be_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "class.toml"
    file.write_text('mode = "class"\nlecturer_token = "chalk-on-a-blackboard"\n')
    monkeypatch.setenv("DSEBO_SETTINGS", str(file))
    session.forget()
    manager = session.manager()
    slow = {**TASK, "budget": 500}
    ids = start_race(manager, "random", slow, "1", owner="someone")
    manager.set_speed(ids[0], 5.0, owner="someone")
    at = open_page("race", groups=groups(manager, ids))
    assert "1 run chosen" in said(at)
    assert not any(b.label.endswith(" all") for b in at.button)


def test_runs_of_another_function_are_left_out(manager: RunManager) -> None:
    one = start_race(manager, "random", TASK, "1")
    other = start_race(manager, "random", {**TASK, "function": "levy"}, "1")
    finish(manager)
    at = open_page("race", groups=f"{groups(manager, one)},{groups(manager, other)}")
    assert "not all of one function" in at.warning[0].value
    assert list(at.dataframe[-1].value["runs"]) == [1]


def test_the_papers_value_where_the_setting_is_the_papers(manager: RunManager) -> None:
    ids = start_race(manager, "random,centre", {"function": "sphere"}, "1")
    finish(manager)
    table = open_page("race", groups=groups(manager, ids)).dataframe[1].value
    paper = dict(zip(table["Method"], table["Paper"], strict=True))
    assert paper["Random search"] == "46.31"
    assert paper["Centre of the box"] == "–"
