"""Each lesson from its link to its answer, and the floor, in a real browser."""

from __future__ import annotations

from typing import Any

import pytest

from dsebo.lessons import Lesson, load_lessons
from dsebo.ui.run.start import RUN_IT, TITLE
from tests.browser.looks import settle, shot

pytestmark = pytest.mark.browser

LESSONS = load_lessons()[0]
DRIVEN = ("2-expansion", "6-good-centre")  # a number and a choice; what each says is a test of its own
PATIENCE = 90_000  # ms: three runs at once on a busy machine


def predict(page: Any, lesson: Lesson) -> None:
    """An answer, whichever it is."""
    if lesson.kind == "number":
        page.get_by_label("Your prediction").fill("12")
    else:
        page.locator('[data-testid="stRadio"] label').filter(has_text=lesson.options[0]).click()
    page.get_by_role("button", name="Predict, then run").click()


@pytest.mark.parametrize("lesson", [LESSONS[key] for key in DRIVEN], ids=DRIVEN)
def test_from_link_to_answer(lesson: Lesson, server: str, page: Any) -> None:
    page.goto(f"{server}/?lesson={lesson.key}&hide=nav,room,list")
    page.get_by_text(lesson.title).first.wait_for()
    assert page.get_by_text("The answer").count() == 0  # the question comes first
    assert page.get_by_text("Compare", exact=True).count() == 0
    settle(page)
    predict(page, lesson)
    page.get_by_role("button", name="To the end").click()
    page.get_by_text("The answer:").wait_for(timeout=PATIENCE)
    mark = "lowest:" if lesson.measure == "winner" else "ends at"
    page.locator(".st-key-lesson .annotation-text").filter(has_text=mark).first.wait_for()
    shot(page, f"lesson-{lesson.key}")


def test_a_room_collects_predictions(server: str, page: Any) -> None:
    lesson = LESSONS["2-expansion"]
    page.goto(f"{server}/?lesson={lesson.key}&room=Hall")
    page.get_by_label("Nickname").fill("Ada")
    predict(page, lesson)
    page.get_by_text("What the room predicts (n = 1)").wait_for(timeout=PATIENCE)


def test_the_floor_under_a_run(server: str, page: Any, example: str) -> None:
    page.goto(f"{server}/?run={example}")
    settle(page)
    page.get_by_text("Reachable", exact=True).click()
    page.get_by_text("Expanding was right").first.wait_for(timeout=PATIENCE)
    names = "() => [...document.querySelector('.st-key-chart .live-chart').data].map(t => t.name)"
    page.wait_for_function(f"() => ({names})().includes('reachable')")
    shot(page, "run-with-floor")


def test_words_stand_before_the_code_and_a_picture_before_the_chart(server: str, page: Any) -> None:
    held: list[Any] = []
    page.route("**/static/js/index.*.js", lambda route: held.append(route))
    page.goto(f"{server}/learn", wait_until="commit")
    page.locator("#first").get_by_text(TITLE).wait_for()
    page.locator("#first").get_by_text("lower is better").wait_for()
    shot(page, "first-words")
    page.unroute("**/static/js/index.*.js")
    page.route("**/plotly-*.js", lambda route: held.append(route))
    page.goto(f"{server}/learn", wait_until="commit")
    page.get_by_role("button", name=RUN_IT).wait_for()  # it can be pressed, without plotly.js
    chart = page.locator(".st-key-opening .live-chart")
    chart.locator("#first-picture").wait_for()
    assert page.locator("#first").count() == 0
    held[-1].continue_()
    page.wait_for_selector(".st-key-opening .live-chart[data-ready=true]")
    assert page.locator("#first-picture").count() == 0


def test_a_symbol_is_explained_as_its_chapter_means_it_also_under_a_root(server: str, page: Any) -> None:
    page.goto(f"{server}/learn?show=theory")
    settle(page)
    for place in (
        page.locator(".sqrt .mord").get_by_text("T", exact=True).first,
        page.get_by_text("((D − d)"),
    ):
        tip = page.locator(".symbol-tip")
        for _ in range(20):  # until what is above it has come, and moves it no more
            box = place.bounding_box()
            page.mouse.move(2, 400)
            page.mouse.move(box["x"] + min(box["width"] / 2, 16), box["y"] + box["height"] / 2)
            page.wait_for_timeout(500)
            if tip.is_visible():
                break
        assert tip.inner_text().startswith(("Evaluations:", "Dimension:"))
        page.mouse.move(2, 400)
        tip.wait_for(state="hidden")
