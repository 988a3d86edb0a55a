"""The Lessons page: question first, then the run, then the answer; rooms; hidden controls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dsebo.lessons import parse_lesson
from dsebo.lessons.glossary import GLOSSARY
from dsebo.runs.commands import change
from dsebo.runs.manager import RunManager
from dsebo.store.classroom import predictions
from dsebo.text import typeset
from dsebo.transfer import examples, export_json, import_bytes
from dsebo.ui.learn import lesson_view, opening
from dsebo.ui.learn.theory_view import TITLE
from tests.pages.conftest import ROOT, open_page, said
from tests.small import wait_for

TINY = """title: A <b>tiny</b> one
question: What will the dimension be?
measure: final d
run: DSEBO | ?D=50&d_e=8&d_h=20&budget=30&beta=6

Read **this** first.

## Answer

Because of the slopes.
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "lessons"
    folder.mkdir()
    (folder / "tiny.md").write_text(TINY)
    (folder / "broken.md").write_text("title: Broken\nquestion: ?\nmeasure: luck\nrun: a | ?D=9\n")
    monkeypatch.setenv("DSEBO_LESSONS", str(folder))
    monkeypatch.setattr(lesson_view, "REPLAY_SECONDS", 0.0)


def button(at: AppTest, label: str) -> Any:
    return next(one for one in at.button if one.label == label)


def predict(at: AppTest, guess: float, room: str = "", nickname: str = "") -> AppTest:
    at.number_input[0].set_value(guess)
    if room:
        at.text_input[0].set_value(room)
        at.text_input[1].set_value(nickname)
    return button(at, "Predict, then run").click().run()


def test_a_lesson_whose_extra_is_missing_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dsebo.objectives.lasso.find_spec", lambda name: None)
    needs = "lasso-simple needs celer: pip install 'dsebo[tasks]'."
    at = open_page("lessons", lesson="11-penalties")
    assert needs in [one.value.replace("\\", "") for one in at.warning]
    at.radio[0].set_value("Random search")
    at = button(at, "Predict, then run").click().run()
    assert not at.exception
    assert [one.value.replace("\\", "") for one in at.error] == [needs]


def test_the_list_with_a_teachers_own() -> None:
    at = open_page("lessons")
    assert not at.exception
    page = said(at).replace("\\", "")
    assert "Why embed at all?" in page
    assert r"\<b\>tiny" in said(at)
    assert "measure must be winner, final d" in page
    assert {f"Open lesson {i}" for i in range(1, 10)} <= {one.label for one in at.button}


def test_a_link_to_a_run_that_is_gone_shows_the_way_back() -> None:
    at = open_page("lessons", lesson="tiny", guess="9", runs="abcdef123456")
    assert "is not a run of this store" in at.error[0].value
    button(at, "Predict again").click().run()
    assert button(at, "Predict, then run")


def test_the_question_comes_before_the_run(manager: RunManager) -> None:
    at = open_page("lessons", lesson="tiny")
    assert not at.exception
    assert not manager.store.count_runs()
    assert "Because of the slopes" not in said(at)
    button(at, "Predict, then run").click().run()
    assert "A prediction comes first" in at.error[0].value
    assert not manager.store.count_runs()


def test_from_prediction_to_answer(manager: RunManager) -> None:
    at = predict(open_page("lessons", lesson="tiny"), 9)
    assert not at.exception
    wait_for(lambda: manager.store.list_runs()[0].state == "finished")
    at.run()
    row = manager.store.list_runs()[0]
    page = said(at).replace("\\", "")
    assert f"The answer: {row.d}" in page
    assert "You predict: 9" in page
    assert "Because of the slopes" in page
    assert ("Right." in page) != ("Not quite." in page)
    assert row.config["optimizer"]["d_l"] == 5
    assert "The subspace grew from 5 to" in page
    next(button for button in at.button if button.label == f"Next: {TITLE}").click().run()  # the last one
    assert "Section 5 bounds the simple regret" in said(at)
    assert "tiny one ✓ done" in said(open_page("lessons")).replace("\\", "").replace("<b>", "").replace(
        "</b>", ""
    )
    again = open_page("lessons", lesson="tiny")
    predict(again, float(row.d or 0))
    assert manager.store.count_runs() == 1  # the stored run is shown again
    assert "as predicted" in said(again)


def test_a_forged_run_is_no_answer(manager: RunManager) -> None:
    predict(open_page("lessons", lesson="tiny"), 9)
    wait_for(lambda: manager.store.list_runs()[0].state == "finished")
    true = manager.store.list_runs()[0]
    bundle = export_json(manager.store, [true.id])
    manager.delete(true.id)
    forged = import_bytes(manager.store, bundle, "run.json")[0]
    predict(open_page("lessons", lesson="tiny"), 9)
    assert manager.store.count_runs() == 2  # it was computed again
    at = open_page("lessons", lesson="tiny", guess="9", runs=forged[:12])
    assert "not those of this lesson" in said(at)
    assert "The answer" not in said(at)


def test_a_classmates_unfinished_run_is_not_waited_for(manager: RunManager) -> None:
    config = parse_lesson("tiny", TINY).runs[0].config
    assert config is not None
    slow = manager.launch(config, tags=[lesson_view.TAG], speed=0.5, owner="a" * 32)[0]
    predict(open_page("lessons", lesson="tiny"), 9)
    assert manager.store.count_runs() == 2
    manager.cancel(slow, owner="a" * 32)


def test_a_room_sees_its_distribution(manager: RunManager) -> None:
    at = open_page("lessons", lesson="tiny", room="Room 5")
    assert "no prediction yet" in said(at)
    predict(at, 9, "Room 5", "Ada")
    assert not at.exception
    wait_for(lambda: manager.store.list_runs()[0].state == "finished")
    at.run()
    assert "Room Room 5" in said(at)
    assert "Ada" not in said(at)
    assert predictions(manager.store, "Room 5", "tiny") == ["9"]


def test_whoever_projects_a_room_is_not_counted_in_it_and_all_others_say_who_they_are(
    manager: RunManager,
) -> None:
    at = predict(open_page("lessons", lesson="tiny", room="Hall"), 9)
    assert at.error[0].value == "A nickname is missing: a room counts one prediction for each."
    at = open_page("lessons", lesson="tiny")
    at.text_input(key="room name").set_value("Hall")
    predict(button(at, "Open the room").click().run(), 9)
    assert not at.error
    assert manager.store.count_runs() == 1
    assert predictions(manager.store, "Hall", "tiny") == []


def test_a_bad_nickname_is_refused_in_a_sentence(manager: RunManager) -> None:
    at = predict(open_page("lessons", lesson="tiny"), 9, "Room 5", "<script>")
    assert "nickname must be 1 to 40 letters" in at.error[0].value.replace("\\", "")
    assert not manager.store.count_runs()


def test_a_run_that_did_not_finish_gives_no_answer(manager: RunManager) -> None:
    at = predict(open_page("lessons", lesson="tiny"), 9)
    run_id = manager.store.list_runs()[0].id
    wait_for(lambda: manager.store.get_run(run_id).state == "finished")
    change(manager.store, run_id, state="cancelled")
    at.run()
    assert not at.exception
    assert "did not finish" in said(at)
    assert "The answer" not in said(at)


def test_controls_can_be_hidden() -> None:
    at = open_page("lessons", lesson="tiny", hide="nav,room,list,nonsense")
    assert not at.exception
    assert not at.text_input
    assert "All lessons" not in {one.label for one in at.button}


def test_a_link_to_the_app_opens_the_lesson() -> None:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
    at.query_params["lesson"] = "tiny"
    at.query_params["hide"] = "room"
    at.run()
    assert not at.exception
    assert "What will the dimension be" in said(at)
    assert not at.text_input


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"lesson": "nothing"}, "There is no lesson 'nothing'"),
        ({"lesson": "tiny", "runs": "feedbeef", "guess": "9"}, "is not a run of this store"),
        ({"lesson": "1-why-embed", "runs": "feed", "guess": "DSEBO"}, "is not a run"),
        ({"lesson": "tiny", "runs": "<x>", "guess": "many"}, "What will the dimension be"),
    ],
)
def test_a_bad_link_shows_a_sentence(link: dict[str, str], words: str) -> None:
    at = open_page("lessons", **link)
    assert not at.exception
    assert words in said(at).replace("\\", "")


def test_learn_opens_with_a_run_that_plays(manager: RunManager, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no point is lost" not in said(open_page("learn"))  # a store without the bundled runs
    monkeypatch.setattr(examples, "NAME", "bundled_runs.json.gz")
    examples.import_bundled(manager.store)
    monkeypatch.setattr(opening, "PLAYS", 1e9)  # it has just begun, however long the page takes
    at = open_page("learn")
    assert not at.exception
    assert opening.BEFORE["Stall"] in said(at).replace("\\", "")
    monkeypatch.setattr(opening, "PLAYS", 1e-9)
    at = open_page("learn")
    assert not at.exception
    page = said(at).replace("\\", "")
    assert "no gain above α = 0.5 in" in page.replace("\u00a0", " ")
    assert "β = 12" in page  # which run it is, in symbols to point at
    assert opening.POINT in page
    assert "From 30.1 at the centre to" in page
    assert "Play it again" in {one.label for one in at.button}
    for term in GLOSSARY:
        assert typeset(term.meaning) in page
