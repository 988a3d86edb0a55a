"""Lessons as text files: read, checked, measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dsebo.config import parse_flat
from dsebo.lessons import LessonError, load_lessons, parse_lesson, parting
from dsebo.runs.data import RunData, read_run
from dsebo.runs.manager import RunManager
from dsebo.store.classroom import MOST_NAMES, done_by, mark_done, predictions, record
from dsebo.store.errors import LimitExceeded, NotAllowed, StoreError
from dsebo.store.rows import owner_hash
from dsebo.transfer.examples import import_bundled
from tests.small import wait_for

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


def test_the_twelve_that_come_along() -> None:
    lessons, said = load_lessons()
    assert said == []
    assert len(lessons) == 12
    assert next(iter(lessons)) == "1-why-embed"
    assert list(lessons)[-3] == "10-real-task"  # after 9, not after 1
    for lesson in lessons.values():
        assert lesson.before
        assert lesson.explanation("none of them") == lesson.answers[""]
        for answer in filter(None, lesson.answers):
            assert lesson.checked(answer) == answer, f"{lesson.key} explains what cannot be the answer"


@pytest.mark.slow
@pytest.mark.parametrize("key", list(load_lessons()[0]))
def test_what_a_lesson_says_is_what_its_runs_show(key: str, manager: RunManager) -> None:
    lesson = load_lessons()[0][key]
    import_bundled(manager.store)
    bundled = {str(row.config): row.id for row in manager.store.list_runs()}
    ids = [
        bundled[str(run.config.model_dump(mode="json"))] if run.bundled else manager.launch(run.config)[0]
        for run in lesson.each
        if run.config is not None
    ]
    wait_for(lambda: all(manager.store.get_run(run_id).state == "finished" for run_id in ids), 120)
    runs = [read_run(manager.store, run_id) for run_id in ids]
    truth, best = lesson.truth(runs), [run.best or 0.0 for run in runs]
    if lesson.kind == "choice":
        assert truth in lesson.answers, "the winner that the text explains is the one that wins"
    if key == "4-dh-below-de":
        assert runs[0].d == 10
    if key == "2-expansion":
        assert float(truth) > 10
    if key == "5-far-shift":
        assert float(truth) > 0.1 * 250
    if key == "7-acquisition":
        assert runs[1].best is not None
        assert runs[1].best < 15
    if key == "9-wait-or-grow":
        assert "change places" not in lesson.results(runs)
    if key == "10-real-task":
        assert max(best[:6]) < -2.207  # the best of 500 random points
    if key == "11-penalties":
        ends, constant = lesson.ends(runs), 3.11  # the best single penalty
        assert "change places" not in lesson.results(runs)
        assert max(best[3:]) < constant < ends["One evaluation at the centre"]
        assert all(0.28 < value / constant < 0.4 for value in best[:3])
        assert all(random < ours for ours, random in zip(best[3:6], best[6:], strict=True))
    if key == "12-molecules":
        assert "first two change places" in lesson.results(runs)
        assert all(paper < random for paper, random in zip(best[:3], best[6:], strict=True))
        firsts = [float(run.evaluations["y"].iloc[0]) for run in runs]
        assert max(firsts[:3] + firsts[6:]) < min(firsts[3:6])  # where our rules begin: the centre
        ends = lesson.ends(runs).values()
        assert max(best[:3]) - min(best[:3]) > max(ends) - min(ends)
        assert_steps_and_no_worse_near_the_centre()
    if key == "8-same-seed":
        assert truth == "0" or 1 <= int(truth) <= 500


def assert_steps_and_no_worse_near_the_centre() -> None:
    """What the lesson on molecules says of F itself."""
    limo, rng = parse_flat({"function": "limo"}).objective.build(), np.random.default_rng(0)
    near, anywhere = (np.median(limo(rng.uniform(-r, r, (200, 1024)))) for r in (0.1, 1.0))
    assert near <= anywhere
    start, step = rng.uniform(-0.5, 0.5, 1024), rng.uniform(-0.004, 0.004, 1024)
    path = limo(start + np.arange(100)[:, None] * step)
    assert 1 < np.unique(path).size < 50


def test_a_lesson_says_which_extra_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    lessons = load_lessons()[0]
    assert not any(lesson.unavailable for lesson in lessons.values())
    for place in ("lasso", "limo"):
        monkeypatch.setattr(f"dsebo.objectives.{place}.find_spec", lambda name: None)
    said = {key: lesson.unavailable for key, lesson in lessons.items() if lesson.unavailable}
    assert said == {
        "11-penalties": "lasso-simple needs celer: pip install 'dsebo[tasks]'.",
        "12-molecules": "limo needs rdkit and selfies: pip install 'dsebo[molecules]'.",
    }


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


def test_a_winner_is_the_lowest_in_the_mean_over_seeds(events: list[dict[str, Any]]) -> None:
    text = GOOD.format("winner\nseeds: 4,5").replace("## Answer", "## Answer: A\n\nof A\n\n## Answer")
    lesson = parse_lesson("x", text)
    assert [run.config.seed for run in lesson.each if run.config] == [4, 5]
    low, high = [data(events, best) for best in (7.0, 8.5)], [data(events, best) for best in (6.0, 11.0)]
    assert (lesson.truth(low), lesson.truth(high)) == ("A", "B")  # 7.75 and 8.5 against 8 at the centre
    assert lesson.explanation("A") == "of A\n\nwhy"
    assert lesson.explanation("B") == "why"
    assert lesson.results(low) == "Final values, means of 2 seeds. A: 7.75; B: 8."


def test_seeds_that_disagree_about_the_winner_are_counted(events: list[dict[str, Any]]) -> None:
    lesson = parse_lesson("x", GOOD.format("winner\nseeds: 4,5").replace("centre", "?D=50&d_e=9"))
    runs = [data(events, best) for best in (1.0, 4.0, 2.0, 3.5)]  # A twice, then B twice
    assert lesson.results(runs).endswith("A: 2.5; B: 2.75. On 1 of the 2 seeds the first two change places.")
    runs[1] = data(events, 3.0)
    assert lesson.results(runs).endswith("A: 2; B: 2.75.")


def test_where_two_runs_part(events: list[dict[str, Any]]) -> None:
    one, same = data(events, best=3.0), data(events, best=3.0)
    other = data(events, best=3.0)
    other.evaluations.loc[6, "y"] += 1e-12
    assert (parting(one, same), parting(one, other)) == (0, 7)


@pytest.mark.parametrize(("guess", "right"), [("10", True), ("11.9", True), ("8", True), ("12.5", False)])
def test_a_number_near_enough_is_right(guess: str, right: bool) -> None:
    assert parse_lesson("x", GOOD.format("best")).right(guess, "10") is right


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
        ("## Answer", "## Answer: 3", "heading '## Answer' is missing"),
        ("measure: best", "measure: parts", "two runs are needed"),
        ("measure: best", "measure: best\nseeds: 1-3", "for the measure winner only"),
        ("measure: best", "measure: winner\nseeds: 1-9", "seeds must be at most 5"),
        ("measure: best", "measure: winner\nseeds: x", "seeds must be numbers as 1-10"),
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
    record(store, "T", "x", "Ada", "1", ada, 1)
    with pytest.raises(LimitExceeded, match="Room 'T' is full: 1 nickname"):
        record(store, "T", "x", "Eve", "1", eve, 1)


def test_a_lesson_is_done_once_its_answer_was_seen(manager: RunManager) -> None:
    ada, eve = owner_hash("ada"), owner_hash("eve")
    mark_done(manager.store, ada, "2-expansion")
    mark_done(manager.store, ada, "2-expansion")
    assert (done_by(manager.store, ada), done_by(manager.store, eve)) == ({"2-expansion"}, set())
