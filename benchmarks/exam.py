"""Fifteen questions a student should answer after five minutes, each with the place and the sentence.

Run: python -m benchmarks.exam   (needs Playwright and a Chromium; prints the table of README.md)

Each question starts at the first screen of a fresh store, at 1280×800. An action is a click, a look under
the pointer or a scroll to what is below the window; waiting is none. `tests/benchmarks/test_exam.py` finds
each sentence where it should be, without a browser.
"""

from __future__ import annotations

import tempfile
from typing import Any, NamedTuple

from playwright.sync_api import Page, sync_playwright

from benchmarks.pictures import READY
from benchmarks.server import FLAGS, Server
from dsebo.transfer.figures import browser

PATIENCE = 60_000  # ms: the demonstration takes 20 s, on a busy machine more


class Question(NamedTuple):
    """What is asked, where it is answered, by which sentence, and the way there.

    A way is a list of `click NAME` and `point WORDS` (at the last of these words).
    """

    asked: str
    place: str  # learn, glossary, paper, run
    sentence: str
    way: tuple[str, ...] = ()


EXAM = (
    Question("When does the subspace grow?", "learn", "enlarges it whenever progress stalls"),
    Question("Is anything lost when it grows?", "learn", "no point is lost"),
    Question("What decides how far it grows next?", "learn", "The last dimensions gained"),
    Question("How far did the bundled run get?", "learn", "From 30.1 at the centre to"),
    Question(
        "What is d?", "glossary", "How many numbers z the search chooses at present.", ("point dimension d",)
    ),
    Question("Is d_e known to the method?", "glossary", "The method is never told.", ("point dₑ",)),
    Question("What is d_h, and what does it cost?", "glossary", "it also sets the memory", ("point dₕ",)),
    Question("What is F*?", "glossary", "The least value there is, where it is known.", ("point F*",)),
    Question(
        "What is a slope?", "glossary", "per dimension that the i-th expansion added", ("point slope sᵢ",)
    ),
    Question("What does β set?", "glossary", "and the patience, budget/2β.", ("point β",)),
    Question(
        "What restarts the patience?", "glossary", "starts the count of the patience again", ("point α",)
    ),
    Question("Between what does k lie?", "glossary", "k goes from 0.5 to 1.5", ("point so k",)),
    Question(
        "Why does a good run end above d_e?", "run", "a random subspace needs more than d", ("click Run it",)
    ),
    Question(
        "Does DSEBO reach the printed value?", "paper", "DSEBO ends at 3.8 here (10 runs).", ("click Paper",)
    ),
    Question(
        "How many seeds tell three methods apart?", "learn", "Three seeds cannot exclude chance; 7 can."
    ),
)
IN_VIEW = """words => [...document.querySelectorAll('p, td, div, span')].some(part => {
  if (!part.textContent.replace(/\\u00a0/g, ' ').replace('dₑ', 'd').includes(words)) return false;
  const box = part.getBoundingClientRect();
  return box.height > 0 && box.height < innerHeight && box.top >= 0 && box.bottom <= innerHeight;
})"""
# In a chart where a text begins with them, else in the page's own words.
END_OF = """words => {
  for (const text of document.querySelectorAll('.live-chart svg text')) {
    if (!text.textContent.startsWith(words)) continue;
    const last = text.getExtentOfChar(words.length - 1), m = text.getScreenCTM();
    return [m.a * (last.x + last.width / 2) + m.c * (last.y + last.height / 2) + m.e,
            m.b * (last.x + last.width / 2) + m.d * (last.y + last.height / 2) + m.f];
  }
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, from = node.data.indexOf(words);
    if (from < 0 || node.parentElement.closest('style, script')) continue;
    const range = document.createRange();
    range.setStart(node, from + words.length - 1);
    range.setEnd(node, from + words.length);
    const box = range.getBoundingClientRect();
    if (box.width && box.top >= 0 && box.bottom <= innerHeight) {
      return [box.left + box.width / 2, box.top + box.height / 2];
    }
  }
  return null;
}"""


def take(page: Page, address: str, question: Question) -> int:
    """The number of actions until the sentence is in the window."""
    page.goto(address)
    page.wait_for_selector(READY, timeout=PATIENCE)
    page.wait_for_selector(".live-chart[data-ready=true]", timeout=PATIENCE)
    actions = 0
    for step in question.way:
        what, _, words = step.partition(" ")
        if what == "point":
            _point(page, words)
        else:
            actions += _click(page, words)
        actions += 1
    wanted: Any = question.sentence
    found = page.get_by_text(wanted).last
    try:
        page.wait_for_function(IN_VIEW, arg=wanted, timeout=3000 if question.way else PATIENCE)
    except Exception:  # not in the window yet: the demonstration goes on, or it is below
        found.wait_for(timeout=PATIENCE)
        if not page.evaluate(IN_VIEW, wanted):
            found.scroll_into_view_if_needed()
            actions += 1
    return actions


def _point(page: Page, words: str) -> None:
    page.wait_for_function(END_OF, arg=words, timeout=PATIENCE)
    x, y = page.evaluate(END_OF, words)
    page.mouse.move(x - 3, y)
    page.mouse.move(x, y)
    page.locator(".symbol-tip").wait_for(timeout=5000)


def _click(page: Page, words: str) -> int:
    """How many scrolls it took to see it."""
    target = page.get_by_role("button", name=words).or_(page.get_by_role("link", name=words))
    target = target.or_(page.get_by_text(words, exact=True)).first
    target.wait_for(timeout=PATIENCE)
    box = target.bounding_box()
    target.click()
    return int(box is not None and box["y"] + box["height"] > 800)


def main() -> None:
    print("| question | where | sentence | actions |\n| --- | --- | --- | --- |")
    total = 0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server(folder)
        opened = playwright.chromium.launch(executable_path=browser(), args=FLAGS)
        try:
            server.wait()
            for question in EXAM:
                context = opened.new_context(viewport={"width": 1280, "height": 800})
                address = f"http://127.0.0.1:{server.port}/learn"
                actions = take(context.new_page(), address, question)
                context.close()
                total += actions
                print(
                    f"| {question.asked} | {question.place} | {question.sentence} | {actions} |", flush=True
                )
        finally:
            opened.close()
            server.close()
    print(f"\n{total} actions for {len(EXAM)} questions.")


if __name__ == "__main__":
    main()
