"""The app by keys alone: each stop is seen, none is a trap, and the first card is not far."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.looks import CHART, settle, wait_for_chart

pytestmark = pytest.mark.browser

# How what has the focus looks, with all that is drawn for it: compared with how it looks without.
LOOK = """() => {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const around = element.closest('label') || element.parentElement;
  const parts = [element, around, around.parentElement, ...around.querySelectorAll('*')].slice(0, 60);
  const look = () => parts.map((part) => {
    const s = getComputedStyle(part);
    const drawn = [s.outlineStyle, s.outlineWidth, s.boxShadow, s.borderColor, s.backgroundColor];
    return [...drawn, s.color, s.opacity].join();
  }).join(';');
  window.stop = { element, look, was: look() };
  const named = element.cloneNode(true);
  named.querySelectorAll?.('[data-testid=stIconMaterial]').forEach((icon) => icon.remove());
  const label = element.getAttribute('aria-label') || named.textContent || element.value || element.tagName;
  return label.trim().replace(/\\s+/g, ' ').slice(0, 60);
}"""
# A table is a canvas: it draws its own mark around the cell that has the focus. The page's scrolled part is
# Streamlit's own stop, without a mark: nothing is done there but scrolling.
WAS_SEEN = """() => {
  const { element, look, was } = window.stop;
  return !element.isConnected || ['CANVAS', 'MAIN'].includes(element.tagName) || look() !== was;
}"""
SKIP = "Skip to main content"


class Keys:
    """Somebody who has no mouse."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.unseen: list[str] = []

    def begin(self, address: str) -> None:
        self.page.goto(address)
        settle(self.page)
        self.page.add_style_tag(content="* { transition: none !important; animation: none !important; }")

    def tab(self, back: bool = False) -> str | None:
        """One stop further; what it is called, None at the page's end."""
        before = self.page.evaluate(LOOK)
        self.page.keyboard.press("Shift+Tab" if back else "Tab")
        if before is not None and not self.page.evaluate(WAS_SEEN):
            self.unseen.append(before)
        name: str | None = self.page.evaluate(LOOK)
        return name

    def to(self, name: str, most: int, back: bool = False) -> int:
        """How many stops it is to the next thing of that name."""
        passed = []
        for n in range(1, most + 1):
            there = self.tab(back)
            passed.append(there)
            if there is not None and re.match(name, there):
                return n
        raise AssertionError(f"{name!r} is not among the next {most} stops: {passed}")

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)


@pytest.fixture
def keys(page: Any) -> Keys:
    page.set_viewport_size({"width": 1280, "height": 800})
    return Keys(page)


def test_from_the_first_screen_to_a_lesson_answered(server: str, keys: Keys, seed: int) -> None:
    page = keys.page
    keys.begin(f"{server}/learn")
    keys.to("Run it", 12)
    keys.press("Enter")
    page.wait_for_url(re.compile("run=[0-9a-f]+"))
    wait_for_chart(page)
    page.wait_for_function("c => document.querySelector(c).calcdata[1].length > 2", arg=CHART)

    keys.press("Space")
    page.get_by_text("Paused. Step").wait_for()
    before = int(page.get_by_text(re.compile(r"\d+ of 100 evaluations")).inner_text().split()[0])
    keys.press("ArrowRight")
    page.get_by_text(f"{before + 1} of 100 evaluations").wait_for()
    keys.press("f")
    page.wait_for_function("document.documentElement.classList.contains('presents')")
    keys.press("Escape")
    page.wait_for_function("!document.documentElement.classList.contains('presents')")
    keys.to("Resume", 60)  # by its button, too, from wherever one is
    keys.press("Enter")
    page.get_by_text("Paused. Step").wait_for(state="detached")
    keys.to("Cancel", 60, back=True)
    keys.press("Enter")
    page.get_by_text("Cancelled.").wait_for()
    around(keys)

    keys.begin(f"{server}/learn?lesson=2-expansion")
    keys.to("Your prediction", 12)
    page.keyboard.type("12")
    keys.to("Predict, then run", 6)
    keys.press("Enter")
    page.get_by_role("button", name="To the end").wait_for()
    keys.to("To the end", 20)
    keys.press("Enter")
    page.get_by_text("The answer:").wait_for(timeout=90_000)
    keys.to("Next: ", 30)
    keys.press("Enter")
    page.wait_for_url(re.compile("lesson=3-beta"))
    assert keys.unseen == []


def test_an_experiment_is_launched_and_the_first_card_is_near(server: str, keys: Keys, seed: int) -> None:
    page = keys.page
    keys.begin(server + "/?D=50")
    page.get_by_label("Run it: 20-second demonstration").wait_for()  # as it is read aloud
    keys.to(SKIP, 1)  # past the form
    keys.press("Enter")
    keys.to("Run it: 20-second demonstration", 4)
    keys.begin(f"{server}/sweep?vary=beta=2,6&seeds={seed}-{seed + 1}&D=50&d_e=5&d_h=20&budget=20")
    page.get_by_text("2 × 2 seeds = 4").wait_for()
    keys.to("Launch", 60)
    keys.press("Enter")
    page.wait_for_url(re.compile("experiment=[0-9a-f]{12}"))
    keys.to("Cancel", 60)
    keys.press("Enter")
    page.get_by_text(re.compile("Cancelled. What|of computing")).first.wait_for(timeout=120_000)
    around(keys)
    assert keys.unseen == []


def test_the_stops_of_a_run_come_in_the_order_in_which_they_are_seen(
    server: str, keys: Keys, example: str
) -> None:
    keys.begin(f"{server}/?run={example}&t=200")
    wait_for_chart(keys.page)
    for name in ("More", "Play", "Save as PDF", "Why"):  # buttons, timeline, charts, what is below them
        keys.to(name, 60)


def around(keys: Keys, most: int = 150) -> None:
    """From the page's beginning through all of it: nothing holds the focus."""
    stops: list[str | None] = []
    while len(stops) < most and (not stops or stops[-1] not in (None, SKIP)):
        stops.append(keys.tab())
    assert stops[-1] in (None, SKIP), stops[-5:]
