"""Lessons as text files: read, checked, measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dsebo.lessons import LessonError, load_lessons, parse_lesson
from dsebo.runs.data import RunData
from dsebo.runs.manager import RunManager
from dsebo.store.classroom import MOST_NAMES, predictions, record
from dsebo.store.errors import LimitExceeded, NotAllowed, StoreError
from dsebo.store.rows import owner_hash

GOOD = (
    "title: t\nquestion: q\nmeasure: {}\nrun: A | ?D=50&d_e=8\nrun: B | centre\n\nread\n\n## Answer\n\nwhy\n"
)


def data(events: list[dict[str, Any]], best: float, at_centre: float = 8.0) -> RunData:
    class Row:
        pass

    row: Any = Row()
    row.at_centre = at_centre
    frame = pd.DataFrame([e for e in events if e["event"] == "evaluated"])
    return RunData(row, frame.assign(best=best), events)


def test_the_six_that_come_along() -> None:
    lessons, said = load_lessons()
    assert said == []
    assert len(lessons) == 6
    for lesson in lessons.values():
        assert lesson.before
        assert lesson.answer.count(". ") + 1 == 2, f"{lesson.key}: two sentences"


def test_every_measure(events: list[dict[str, Any]]) -> None:
    run = data(events, best=3.25)
    grown = [e for e in events if e["event"] == "expanded"]
    for measure, truth in (
        ("final d", str(run.d)),
        ("expansions", str(len(grown))),
        ("best", "3.25"),
        ("winner", "A"),
        ("below centre", "Yes"),
        ("below 3.5", "Yes"),
        ("below 3", "No"),
    ):
        lesson = parse_lesson("x", GOOD.format(measure))
        assert lesson.truth([run]) == truth
        assert lesson.checked(truth) == truth
    assert parse_lesson("x", GOOD.format("winner")).truth([data(events, best=9.0)]) == "B"


@pytest.mark.parametrize("guess", ["", "many", "nan", "1e99", "<b>"])
def test_what_is_no_answer(guess: str) -> None:
    assert parse_lesson("x", GOOD.format("best")).checked(guess) is None
    assert parse_lesson("x", GOOD.format("winner")).checked(guess) is None


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("title: t\n", "", "title is missing"),
        ("measure: best", "measure: luck", "measure must be winner, final d"),
        ("## Answer", "Answer", "heading '## Answer' is missing"),
        ("?D=50&d_e=8", "?D=many", "(got 'many')"),
        ("?D=50&d_e=8", "?speed=0", "(got '0')"),
        ("?D=50&d_e=8", "?colour=red", "colour"),
        ("?D=50&d_e=8", "?D=5&d_e=8", "d_e must be a whole number from 1 to D = 5 (got 8)"),
        ("A | ?D=50&d_e=8", "A", "not a name, | and a link"),
        ("?D=50&d_e=8", "centre", "may not be the centre"),
    ],
)
def test_a_lesson_that_cannot_be_used_says_why(old: str, new: str, words: str) -> None:
    with pytest.raises(LessonError) as refused:
        parse_lesson("x", GOOD.format("best").replace(old, new))
    assert words in str(refused.value)


def test_a_teachers_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own.md").write_text(GOOD.format("best"))
    (tmp_path / "bytes.md").write_bytes(b"\xff\xfe\x00")
    lessons, said = load_lessons(str(tmp_path))
    assert "own" in lessons
    assert said == ["Lesson bytes cannot be read."]
    monkeypatch.setenv("DSEBO_LESSONS", str(tmp_path / "nowhere"))
    assert "cannot be read" in load_lessons()[1][0]


def test_predictions_of_a_room(manager: RunManager) -> None:
    store = manager.store
    record(store, " Room  5 ", "x", "Ada", "9")
    record(store, "Room 5", "x", "Bob", "12")
    record(store, "Room 5", "x", "Ada", "10")  # she thinks again
    record(store, "Room 6", "x", "Ada", "1")
    assert sorted(predictions(store, "Room 5", "x")) == ["10", "12"]
    for room, name, value in (("<b>", "A", "1"), ("R", "", "1"), ("R", "x" * 41, "1"), ("R", "A", "")):
        with pytest.raises(StoreError, match=r"^(room|nickname|prediction) must be 1 to"):
            record(store, room, "x", name, value)
    with pytest.raises(LimitExceeded, match="full"):
        record(store, "Room 5", "x", "Cem", "3", room_size=2)
    record(store, "Room 5", "x", "Bob", "13", room_size=2)  # one who is in stays in


def test_a_nickname_belongs_to_whoever_took_it(manager: RunManager) -> None:
    store, ada, eve = manager.store, owner_hash("ada"), owner_hash("eve")
    record(store, "R", "x", "Ada", "9", ada)
    with pytest.raises(NotAllowed, match="someone else's in room 'R'"):
        record(store, "R", "x", "Ada", "1", eve)
    with pytest.raises(NotAllowed, match="someone else's"):
        record(store, "R", "y", "Ada", "1", eve)  # in no lesson
    assert predictions(store, "R", "x") == ["9"]
    record(store, "S", "x", "Ada", "1", eve)  # another room
    for i in range(MOST_NAMES):
        record(store, "R", "x", f"Eve {i}", "1", eve)
    with pytest.raises(LimitExceeded, match="You have 3 nicknames"):
        record(store, "R", "x", "Eve 9", "1", eve)  # one browser does not fill a room
