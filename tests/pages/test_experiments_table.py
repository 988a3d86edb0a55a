"""The table of Experiments: groups, what is chosen of them, what can be done with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager as Kept
from streamlit.testing.v1 import AppTest

from dsebo.config import parse_flat
from dsebo.runs.manager import RunManager
from dsebo.store.rows import RunFilter
from dsebo.transfer import export_json, import_bytes
from dsebo.ui.learn.lesson_view import TAG
from tests.pages.conftest import figures, open_page, said
from tests.pages.sweeps import LINK, box, button, children, make_runs, one_axis, stored

__all__ = ["children", "stored"]  # fixtures
RANDOM = {"method": "random", "D": 50, "d_e": 8}


def test_a_group_is_a_line_that_opens_and_is_never_split_silently(manager: RunManager) -> None:
    ids = manager.launch(parse_flat({**RANDOM, "budget": 4}).seeds(3), paused=True)
    at = open_page("experiments")
    table = at.dataframe[0].value
    assert list(table["Runs"]) == ["▸ 3"]
    assert list(table["Varies"]) == ["seed"]
    at.session_state["opened groups"] = [manager.store.get_run(ids[0]).group]
    at.run()
    table = at.dataframe[0].value
    assert len(table) == 4
    assert list(table["Seed"])[1:] == [3, 2, 1]
    at = open_page("experiments", runs=",".join(ids[:2]))
    assert "2 of 3 runs of this group are drawn" in said(at)
    button(at, "Draw all 3").click().run()
    assert not at.exception
    assert "of this group are drawn" not in said(at)
    assert "3 runs chosen" in said(at)
    for run_id in ids:
        manager.cancel(run_id)


def test_runs_of_a_lesson_are_one_line(finished: Callable[..., str], manager: RunManager) -> None:
    for run_id in (finished(), finished(seed=2)):
        manager.tag(run_id, [TAG])
        manager.rename(run_id, "A lesson of old")
    table = open_page("experiments").dataframe[0].value
    assert list(table["Name"]) == ["A lesson of old"]
    assert list(table["Runs"]) == ["▸ 2"]


def test_one_run_is_counted_for_each_seed(finished: Callable[..., str], manager: RunManager) -> None:
    one, other = finished(), finished(beta=3.0)
    twin = json.loads(export_json(manager.store, [one]))
    twin["runs"][0]["events"] = []
    again = import_bytes(manager.store, json.dumps(twin).encode(), "twin.json")[0]
    at = open_page("experiments", runs=f"{one},{again},{other}")
    assert not at.exception
    text = said(at).replace("\\", "")
    assert "1 run left out, as the same run is there twice: β = 6, seed 1." in text
    assert list(at.dataframe[-1].value["runs"]) == [1, 1]
    assert "Lowest final value: " in text


def test_two_runs_show_their_difference(finished: Callable[..., str]) -> None:
    at = open_page("experiments", runs=f"{finished()},{finished(beta=3.0)}")
    difference = at.dataframe[1].value
    assert list(difference["Setting"]) == ["β"]
    assert sorted(difference.iloc[0, 1:]) == ["3", "6"]


def test_more_than_two_settings_are_lines_over_axes(finished: Callable[..., str]) -> None:
    ids = [finished(), finished(beta=3.0), finished(function="levy"), finished(d_h=10)]
    at = open_page("experiments", runs=",".join(ids))
    assert not at.exception
    parallel = next(f for f in figures(at) if f["data"][0]["type"] == "parcoords")
    assert parallel["data"][0]["dimensions"][-1]["label"].startswith("best value")
    assert len(parallel["data"][0]["dimensions"][0]["values"]) == 4
    assert "not compared with one another" in said(at)
    apart = [finished(), finished(beta=3.0), finished(method="turbo"), finished(method="random")]
    at = open_page("experiments", runs=",".join(apart))
    assert "parcoords" not in {f["data"][0]["type"] for f in figures(at)}  # TuRBO's own settings are no axes


def test_buttons_are_off_with_the_reason_until_something_is_chosen(finished: Callable[..., str]) -> None:
    run_id = finished()
    at = open_page("experiments")
    assert button(at, "Open in Run").disabled
    assert "Choose one run" in button(at, "Open in Run").help
    assert button(at, "Delete").disabled
    at = open_page("experiments", runs=run_id)
    assert not button(at, "Open in Run").disabled
    assert button(at, "Resume chosen").disabled
    names = [b.label for b in at.button]
    assert len(names) == len(set(names))  # each button has a name of its own


def test_a_note_is_written_searched_and_shown(finished: Callable[..., str], manager: RunManager) -> None:
    at = open_page("experiments", runs=finished())
    box(at, "Name").set_value("mine")
    next(area for area in at.text_area if area.label == "Note").set_value("stalls at d = 13")
    button(at, "Save").click().run()
    assert not at.exception
    row = manager.store.list_runs()[0]
    assert (row.name, row.note) == ("mine", "stalls at d = 13")
    assert list(at.dataframe[0].value["Note"]) == ["stalls at d = 13"]
    at.text_input(key="search runs").set_value("stalls").run()
    assert len(at.dataframe[0].value) == 1


def test_a_deletion_can_be_undone(finished: Callable[..., str], manager: RunManager) -> None:
    at = open_page("experiments", runs=finished())
    button(at, "Delete").click().run()
    assert manager.store.count_runs() == 0
    assert "1 run deleted" in said(at)
    button(at, "Undo").click().run()
    assert not at.exception
    assert manager.store.count_runs(RunFilter()) == 1
    assert "1 run chosen" in said(at)


# --- the form ---


def test_an_emptied_field_is_missing_not_filled_in(children: list[str]) -> None:
    at = open_page("sweep", **LINK)
    field = next(n for n in at.number_input if n.key == "sweep_d_e")
    field.set_value(None).run()
    assert not at.exception
    text = said(at).replace("\\", "")
    assert text.count("dₑ must be a whole number") == 2  # below the field and below Launch
    assert button(at, "Launch").disabled


@pytest.mark.parametrize("press", ["Launch it", "Not now"])
def test_a_long_launch_is_asked_about(press: str, children: list[str]) -> None:
    at = open_page("sweep", vary="beta=1:40:1", seeds="1-50")
    button(at, "Launch").click().run()
    assert "predicted to take" in said(at)
    assert children == []
    button(at, press).click().run()
    assert not at.exception
    assert len(children) == (press == "Launch it")


def test_seeds_are_added_until_chance_can_be_excluded(
    manager: RunManager, stored: Any, children: list[str]
) -> None:
    make_runs(manager.store, one_axis())
    experiment = stored(one_axis(), "finished")
    at: AppTest = open_page("experiments", experiment=experiment)
    assert "Two seeds cannot exclude chance; 6 can." in said(at).replace("\\", "")
    button(at, "Add 4 seeds").click().run()
    assert not at.exception
    assert children == [experiment]
    assert "4 of 12 runs finished" in said(at) or "4 of 12" in at.get("progress")[0].proto.text


def test_what_was_uploaded_is_not_kept(
    finished: Callable[..., str], manager: RunManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, left = json.loads(export_json(manager.store, [finished()])), []
    whole["runs"][0]["config"]["seed"] += 1
    forget = Kept.remove_session_files

    def forget_and_look(kept: Kept, session_id: str) -> None:
        forget(kept, session_id)
        left.append(dict(kept.file_storage))

    monkeypatch.setattr(Kept, "remove_session_files", forget_and_look)
    at = open_page("experiments")
    at.file_uploader[0].upload("runs.json", json.dumps(whole).encode()).run()
    button(at, "Import it").click().run()
    assert not at.exception
    assert manager.store.count_runs() == 2
    assert left == [{}]
