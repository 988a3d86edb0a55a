"""A race in a real browser: launched, seen moving, reloaded, finished."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.looks import SMALLEST_TEXT, settle, shot

pytestmark = pytest.mark.browser

LINK = "/race?methods=dsebo,random,bandit-c-ucb&D=60&d_e=6&budget=60&seeds=1-2"
CHART = ".st-key-race_chart .live-chart"
FRONT = """c => {
  const chart = document.querySelector(c);
  if (!chart || !chart.calcdata) return 0;
  return Math.max(0, ...chart.calcdata.map(d => d[0].trace.showlegend === false ? 0 : d.length));
}"""
COUNT = """() => {
  window.reruns = 0;
  const what = { attributes: true, attributeFilter: ['data-test-script-state'] };
  const app = document.querySelector('[data-testid=stApp]');
  new MutationObserver(() => window.reruns++).observe(app, what);
}"""


def test_a_race_is_launched_watched_reloaded_and_finished(server: str, page: Any) -> None:
    page.goto(server + LINK)
    settle(page)
    page.get_by_text("3 methods from 2 seeds: 6 runs").wait_for()
    page.get_by_text("lose by construction").wait_for()
    page.get_by_role("button", name="Launch", exact=True).first.click()
    page.wait_for_url(re.compile("race=[0-9a-f]{12}"))
    page.wait_for_selector(f"{CHART}[data-ready=true]")
    page.wait_for_function(f"c => ({FRONT})(c) > 2", arg=CHART)
    before = page.evaluate(FRONT, CHART)
    page.evaluate(COUNT)
    page.wait_for_function(f"([c, n]) => ({FRONT})(c) > n", arg=[CHART, before])
    assert page.evaluate("window.reruns") > 0

    address = page.url
    page.reload()
    settle(page)
    page.wait_for_selector(f"{CHART}[data-ready=true]")
    assert page.url == address
    assert page.evaluate(FRONT, CHART) >= before
    page.get_by_text("6 of 6 runs ended").wait_for(timeout=180_000)
    page.get_by_role("button", name="Compare").wait_for()
    page.get_by_text("finished", exact=True).wait_for()
    legend = page.evaluate(
        "c => [...document.querySelectorAll(c + ' .legendtext')].map(e => e.textContent)", CHART
    )
    assert legend == ["DSEBO (n = 2)", "Random search (n = 2)", "Bandit: C-UCB (n = 2)"]
    page.evaluate(COUNT)
    page.wait_for_timeout(2500)
    assert page.evaluate("window.reruns") == 0  # nothing is polled any more
    assert page.evaluate(FRONT, CHART) == 60
    shot(page, "race")


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
@pytest.mark.parametrize(
    ("name", "words"), [("race", "Successive halving"), ("paper", "How the paper is read")]
)
def test_the_pages_fit(server: str, browser: Any, name: str, words: str, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{server}/{name}")
    settle(page)
    page.get_by_text(words).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(SMALLEST_TEXT) >= 14
    shot(page, f"{name}-{width}-{scheme}")
    context.close()
