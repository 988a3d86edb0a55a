"""How the tests of the browser look at a page, and press its buttons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

ARTEFACTS = Path(__file__).parents[1] / "artefacts"
READY = '[data-testid="stApp"][data-test-script-state="notRunning"]'
CHART = ".st-key-chart .live-chart"
SMALLEST_TEXT = """() => {
  let least = 99;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || element.closest('.katex, style, script')) continue;
    const box = element.getBoundingClientRect();
    const size = parseFloat(getComputedStyle(element).fontSize);
    if (box.width && box.height) least = Math.min(least, size);
  }
  return least;
}"""


def settle(page: Any) -> None:
    """Until the page has been drawn."""
    page.wait_for_selector(READY)


def shot(page: Any, name: str) -> None:
    """Keep a screenshot as an artefact."""
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"{name}.png")


def wait_for_chart(page: Any, chart: str = CHART) -> None:
    page.wait_for_selector(f"{chart}[data-ready=true]")


def press(page: Any, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).first.click()
