"""The story that matters, in a real browser: open, launch, watch, pause, reload, compare …"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from dsebo.transfer import FORMATS
from tests.browser.looks import CHART, SMALLEST_TEXT, press, settle, shot, wait_for_chart

pytestmark = pytest.mark.browser

SMALL = "?D=50&d_e=8&d_h=20&budget=400&beta=40&speed=6"


def drawn(page: Any, chart: str = CHART) -> int:
    """How many evaluations the chart shows."""
    return int(page.evaluate("c => document.querySelector(c).calcdata[1].length", chart))


def more_drawn(page: Any, than: int) -> None:
    page.wait_for_function("([c, n]) => document.querySelector(c).calcdata[1].length > n", arg=[CHART, than])


def done(page: Any) -> int:
    text = page.get_by_text(re.compile(r"\d+ of 400 evaluations")).inner_text()
    return int(text.split()[0])


def test_a_deep_link_may_be_the_first_request(server: str, page: Any, example: str) -> None:
    """First in this file: Streamlit then comes past the router."""
    page.goto(f"{server}/replay?run={example}&t=50")
    settle(page)
    wait_for_chart(page, ".st-key-charta .live-chart")
    assert drawn(page, ".st-key-charta .live-chart") == 50
    assert "t=50" in page.url
    page.get_by_role("dialog").wait_for(state="detached")  # nothing says that there is no such page


@pytest.mark.parametrize(
    ("old", "place", "words"),
    [
        ("embedding?run={}", "/?", "The embedding, seen"),
        ("runs", "/experiments?", "Deleted ones"),
        ("compare?runs={}", "/experiments?", "Group by"),
        ("race?methods=dsebo,random", "/experiments?", "2 methods from"),
        ("sweep?vary=beta=2,6", "/experiments?", "See what a setting does"),
        ("theory", "/learn?", "What the O* hides"),
        ("lessons?lesson=2-expansion", "/learn?", "What an expansion is"),
    ],
)
def test_an_old_address_leads_on(
    old: str, place: str, words: str, server: str, page: Any, example: str
) -> None:
    page.goto(f"{server}/{old.format(example)}")
    page.get_by_text(words).first.wait_for()
    assert page.url.startswith(server + place)
    assert page.get_by_test_id("stTopNavLink").count() == 4


def test_open_choose_launch_watch_pause_step_resume_reload_cancel(server: str, page: Any) -> None:
    page.goto(server)
    settle(page)
    page.get_by_text("See Bayesian optimization find its own dimension").wait_for()
    page.wait_for_url(re.compile("/learn"))  # nothing has been run here yet
    shot(page, "learn-first-screen")
    press(page, "Run it")
    page.wait_for_url(re.compile("run=[0-9a-f]+.*budget=100.*speed=5"))
    wait_for_chart(page)

    page.goto(server + SMALL)
    settle(page)
    press(page, "Launch")
    page.wait_for_url(re.compile("run=[0-9a-f]+"))
    wait_for_chart(page)
    more_drawn(page, 3)
    more_drawn(page, drawn(page))  # and it goes on

    press(page, "Pause")
    page.get_by_text("Paused. Step makes").wait_for()
    before = done(page)
    press(page, "Step")
    page.get_by_text(f"{before + 1} of 400 evaluations").wait_for()
    press(page, "Resume")
    page.get_by_text("Paused. Step makes").wait_for(state="detached")

    address = page.url
    page.reload()
    settle(page)
    wait_for_chart(page)
    assert page.url == address
    assert drawn(page) >= before
    shot(page, "run-live")
    press(page, "Cancel")
    page.get_by_text("Cancelled. What it found").wait_for()
    shot(page, "run-cancelled")


def test_the_zoom_survives_and_nothing_flickers(server: str, page: Any) -> None:
    page.goto(server + SMALL)
    settle(page)
    press(page, "Launch")
    wait_for_chart(page)
    more_drawn(page, 3)
    page.evaluate(
        """c => {
          const chart = document.querySelector(c);
          window.blank = 0;
          window.sameChart = chart;
          new MutationObserver(() => { if (!chart.querySelector('.main-svg')) window.blank++; })
            .observe(chart, { childList: true, subtree: true });
        }""",
        CHART,
    )
    page.locator(CHART).scroll_into_view_if_needed()
    area = page.locator(f"{CHART} .nsewdrag").first.bounding_box()
    x, y = area["x"], area["y"] + 40
    page.mouse.move(x + 40, y)
    page.mouse.down()
    page.mouse.move(x + 200, y + 1, steps=4)
    page.wait_for_timeout(700)  # a refresh comes while the mouse is held
    page.mouse.move(x + 400, y + 1, steps=4)
    page.mouse.up()
    page.wait_for_function("c => document.querySelector(c)._fullLayout.xaxis.range[0] > 1", arg=CHART)
    zoomed = page.evaluate("c => document.querySelector(c)._fullLayout.xaxis.range", CHART)
    more_drawn(page, drawn(page) + 2)
    assert page.evaluate("c => document.querySelector(c)._fullLayout.xaxis.range", CHART) == zoomed
    assert page.evaluate("c => document.querySelector(c) === window.sameChart", CHART)
    assert page.evaluate("window.blank") == 0
    press(page, "Cancel")
    page.get_by_text("Cancelled. What it found").wait_for()


def test_a_click_on_an_expansion_explains_it_everywhere(server: str, page: Any, example: str) -> None:
    page.goto(f"{server}/?run={example}")
    settle(page)
    wait_for_chart(page)
    ts = page.evaluate("c => document.querySelector(c).layout.meta.changes", CHART)
    place = page.evaluate(
        """([c, t]) => {
          const chart = document.querySelector(c), layout = chart._fullLayout;
          const box = chart.getBoundingClientRect();
          const d = chart.data.find(one => one.name === 'expands to');
          const y = d.y._inputArray ? d.y._inputArray[0] : d.y[0];
          return [box.x + layout._size.l + layout.xaxis.d2p(t),
                  box.y + layout.yaxis2._offset + layout.yaxis2.d2p(y)];
        }""",
        [CHART, ts[0]],
    )
    page.mouse.move(*place)
    page.mouse.click(*place)
    page.get_by_text(f"Algorithm 1 at evaluation {ts[0]}", exact=False).first.wait_for()
    shot(page, "run-explained")


def test_replay_plays_and_jumps(server: str, page: Any, example: str) -> None:
    page.goto(f"{server}/replay?run={example}&t=20")
    settle(page)
    chart = ".st-key-charta .live-chart"
    wait_for_chart(page, chart)
    assert drawn(page, chart) == 20
    page.get_by_role("button", name=re.compile("Next expansion")).click()
    page.wait_for_function("c => document.querySelector(c).calcdata[1].length > 20", arg=chart)
    before = drawn(page, chart)
    page.get_by_role("button", name=re.compile("^Play")).click()
    page.wait_for_function(
        "([c, n]) => document.querySelector(c).calcdata[1].length > n + 3", arg=[chart, before]
    )
    page.get_by_role("button", name=re.compile("^Pause")).click()
    shot(page, "replay")


def test_compare_export_delete_and_import(server: str, page: Any, tmp_path: Path) -> None:
    page.goto(f"{server}/compare")
    settle(page)
    wait_for_chart(page, ".st-key-compare .live-chart")
    page.get_by_text("Random search (n = 1)").first.wait_for()
    page.locator(".live-chart-files").get_by_text("Save as SVG").wait_for()
    with page.expect_download() as png:
        page.locator(".live-chart-files").get_by_text("Save as PNG").click()
    assert Path(png.value.path()).read_bytes().startswith(b"\x89PNG")
    shot(page, "compare")
    with page.expect_download() as html:
        page.get_by_role("button", name=FORMATS["html"].label).click()
    report = Path(html.value.path()).read_text()
    assert "plotly-graph-div" in report
    with page.expect_download() as bundle:
        page.get_by_role("button", name=FORMATS["json"].label).click()
    saved = tmp_path / "bundle.json"
    bundle.value.save_as(saved)

    page.goto(f"{server}/runs")
    settle(page)
    total = _count(page)
    page.get_by_role("button", name="Import").click()
    page.locator("input[type=file]").set_input_files(saved)
    page.get_by_role("button", name="Import it").click()
    page.get_by_text("runs imported").wait_for()
    page.wait_for_function(
        "n => Number((document.body.innerText.match(/(\\d+) runs\\. Select/) || [])[1]) > n", arg=total
    )
    shot(page, "runs")
    _select_first_row(page)
    page.get_by_role("button", name="Rename").click()
    page.get_by_label("New name").fill("renamed in class")
    page.get_by_label("New name").press("Enter")
    page.locator(".st-key-rename-now button").click()
    page.get_by_text("1 run renamed").wait_for()
    _select_first_row(page)
    page.get_by_role("button", name="Delete").click()
    page.get_by_text("1 run deleted").wait_for()
    page.get_by_text("Deleted ones").click()
    _select_first_row(page)
    page.get_by_role("button", name="Restore").click()
    page.get_by_text("1 run restored").wait_for()


def _count(page: Any) -> int:
    text = page.get_by_text(re.compile(r"\d+ runs\. Select")).inner_text()
    return int(text.split()[0])


def _select_first_row(page: Any) -> None:
    """The table is a canvas: its rows are found by place."""
    table = page.locator("[data-testid=stDataFrame]").first
    box = table.bounding_box()
    page.mouse.click(box["x"] + 16, box["y"] + 36 + 17)
    page.get_by_text("1 run selected").wait_for()


@pytest.mark.parametrize("link", ["/?D=many", "/replay?run=zz"])
def test_a_bad_link_shows_a_sentence(server: str, page: Any, link: str) -> None:
    page.goto(server + link)
    settle(page)
    alert = page.get_by_test_id("stAlert").first
    alert.wait_for()
    assert "Traceback" not in page.content()


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1920, "dark")])
def test_nothing_overflows_or_is_too_small(server: str, browser: Any, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    for name in ("", "replay", "runs", "compare") if width == 390 else ("", "compare"):
        page.goto(f"{server}/{name}")
        settle(page)
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(SMALLEST_TEXT) >= 14
        shot(page, f"{name or 'run'}-{width}-{scheme}")
    context.close()
