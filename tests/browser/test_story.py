"""The story that matters, in a real browser: open, launch, watch, pause, reload, compare …"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from dsebo.config import parse_flat
from dsebo.runs.worker import stored_run
from dsebo.store.rows import RunFilter
from dsebo.store.store import Store
from dsebo.transfer import FORMATS
from tests.browser.looks import CHART, POOR_CONTRAST, SMALLEST_TEXT, press, settle, shot, wait_for_chart

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
    wait_for_chart(page, ".st-key-chart .live-chart")
    assert drawn(page, ".st-key-chart .live-chart") == 50
    assert "t=50" in page.url
    page.get_by_role("dialog").wait_for(state="detached")  # nothing says that there is no such page


OLD = (
    ("embedding?run={}", "/?", "x = S z uses the first"),
    ("run?D=50", "/?", "effective dimension"),
    ("runs", "/experiments", "Deleted ones"),
    ("compare?runs={}", "/experiments?", "Group by"),
    ("race?methods=dsebo,random", "/experiments?", "2 methods × 3 seeds = 6"),
    ("sweep?vary=beta=2,6", "/experiments?", "What varies"),
    ("theory", "/learn?", "What the O* hides"),
    ("lessons?lesson=2-expansion", "/learn?", "What an expansion is"),
)


def test_old_addresses_lead_on(server: str, page: Any, example: str) -> None:
    for old, place, words in OLD:
        page.goto(f"{server}/{old.format(example)}")
        page.get_by_text(words).first.wait_for()
        assert page.url.startswith(server + place), old
        page.get_by_test_id("stTopNavLink").nth(3).wait_for()
        assert page.get_by_test_id("stTopNavLink").count() == 4


def test_an_old_link_fills_the_form(server: str, page: Any) -> None:
    page.goto(f"{server}/race?methods=dsebo,random&seeds=1-2&D=60")
    page.get_by_text("2 methods × 2 seeds = 4").wait_for()
    settle(page)
    ticked = page.locator(".st-key-new").get_by_role("checkbox", checked=True)
    ticked.nth(1).wait_for(state="attached")
    names = ticked.evaluate_all("boxes => boxes.map(box => box.closest('label').innerText.split(' ')[0])")
    assert names == ["DSEBO", "Random"]
    page.locator(".st-key-race_seeds input[value='1-2']").wait_for()
    page.locator(".st-key-race_D input[value='60']").wait_for()

    page.goto(f"{server}/sweep?vary=beta=2,6&seeds=1-4")
    page.get_by_text("2 × 4 seeds = 8").wait_for()
    settle(page)
    page.locator("input[aria-label='Values of β'][value='2,6']").wait_for()


PLACES = """() => Object.fromEntries(
  ['.st-key-chart .live-chart', '.timeline', '.st-key-sentence', '.st-key-look', '.st-key-run-head',
   '[data-testid=stTopNav]'].map(c => {
    const box = document.querySelector(c).getBoundingClientRect();
    return [c, [box.x, box.y, box.width, box.height].map(Math.round)];
  }))"""


NAME_IS_WHOLE = """() => {
  const name = document.querySelector('.st-key-run-head h4 strong');
  return name.scrollWidth <= name.clientWidth;
}"""


def test_open_launch_watch_pause_step_resume_reload_cancel(server: str, page: Any, seed: int) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})  # a projector
    page.goto(f"{server}/learn")  # what an empty store opens with: this one may have runs of other tests
    settle(page)
    page.get_by_text("See Bayesian optimization find its own dimension").wait_for()
    shot(page, "learn-first-screen")
    page.get_by_role("button", name="Run it").first.click()
    page.wait_for_url(re.compile("run=[0-9a-f]+.*reachable=yes.*budget=100.*speed=5"))
    wait_for_chart(page)
    page.get_by_text("out of reach").wait_for()  # in the chart
    shot(page, "run-demonstration")

    page.goto(f"{server}{SMALL}&seed={seed}")
    settle(page)
    press(page, "Launch")
    page.wait_for_url(re.compile("run=[0-9a-f]+"))
    wait_for_chart(page)
    more_drawn(page, 3)
    more_drawn(page, drawn(page))  # and it goes on
    assert page.evaluate(NAME_IS_WHOLE)  # with all that tells it from its neighbours
    places = page.evaluate(PLACES)
    _, top, _, height = places[CHART]
    assert top <= 200
    assert top + height <= 800  # all three rows
    assert page.evaluate("c => document.querySelectorAll(c + ' .nsewdrag').length", CHART) == 3
    assert sum(places[".st-key-look"][1::2]) <= 800

    press(page, "Pause")
    page.get_by_text("Paused. Step").wait_for()
    before = done(page)
    assert page.evaluate(PLACES) == places
    press(page, "Step")
    page.get_by_text(f"{before + 1} of 400 evaluations").wait_for()
    assert page.evaluate(PLACES) == places
    press(page, "Resume")
    page.get_by_text("Paused. Step").wait_for(state="detached")
    page.get_by_text(re.compile("Evaluation [0-9]+: stalled")).first.wait_for()  # a new sentence
    assert page.evaluate(PLACES) == places

    address = page.url
    page.reload()
    settle(page)
    wait_for_chart(page)
    assert page.url == address
    assert drawn(page) >= before
    shot(page, "run-live")
    press(page, "Back")  # a look at what was, while it goes on
    page.wait_for_url(re.compile("[?&]t=[0-9]+"))
    page.locator(".timeline-where").click()
    page.get_by_text("● Live").wait_for()
    page.wait_for_url(re.compile(r"^(?!.*[?&]t=)"))  # the page has gone back to the run, too
    page.wait_for_timeout(1000)
    press(page, "Cancel")
    page.get_by_text("Cancelled.").wait_for()
    assert page.evaluate(PLACES) == places
    shot(page, "run-cancelled")
    page.get_by_role("button", name="Run again with").click()  # drawn often before it is opened
    page.locator("[data-testid=stPopoverBody] input[value='40']").wait_for()


@pytest.fixture(scope="module")
def unlike(folder: Path, example: str) -> list[str]:
    """The ids of runs whose pages have little in common, in the server's store."""
    small = {"D": 20, "d_e": 3, "budget": 12}
    store = Store.open(f"sqlite:///{folder}/runs.db")
    ids: list[str] = []
    for name, settings in (
        ("A name as long as somebody likes " * 6, {"function": "styblinski-tang"}),
        ("Our rules", {"variant": "adaptive", "d_h": 10}),
        ("Without slopes", {"method": "random"}),
    ):
        list(stored_run(parse_flat({**small, **settings}), store, name[:200], on_id=ids.append))
    store.close()
    return ids


def test_the_charts_stand_at_the_same_place_whatever_the_run(
    server: str, page: Any, example: str, unlike: list[str]
) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    places = []
    for run_id in (example, *unlike):
        page.goto(f"{server}/?run={run_id}")
        settle(page)
        wait_for_chart(page)
        page.locator(".feed-newest").first.wait_for()
        page.wait_for_timeout(500)
        badge = page.locator(".st-key-run-head .stMarkdownBadge").bounding_box()
        controls = page.locator(".st-key-run-head .st-key-controls").bounding_box()
        head = page.locator(".st-key-run-head").bounding_box()
        assert badge["x"] + badge["width"] <= head["x"] + head["width"]  # a long name does not hide the state
        assert badge["y"] + badge["height"] <= controls["y"] + 2  # nor do the buttons
        assert page.evaluate(
            "(b => b.scrollWidth <= b.clientWidth)(document.querySelector('.stMarkdownBadge'))"
        )
        places.append({name: box[1:] for name, box in page.evaluate(PLACES).items()})
    for place in places:
        assert place == places[0]
    _, top, _, height = page.evaluate(PLACES)[CHART]
    assert top <= 200
    assert top + height <= 800


def test_the_time_left_is_not_cut_by_the_numbers_beside_it(server: str, page: Any, example: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{server}/?run={example}&t=200")
    wait_for_chart(page)
    bar = page.locator(".status-bar")
    assert bar.bounding_box()["width"] > 60
    progress = page.locator(".status-progress")
    words = "14290 of 20 000 evaluations · 0.24 per second · 12 h 23 min left"
    progress.evaluate("(element, words) => { element.textContent = words; }", words)
    line, box = page.locator(".status-numbers").bounding_box(), progress.bounding_box()
    assert box["x"] + box["width"] <= line["x"] + line["width"] + 1
    assert 0 < bar.bounding_box()["width"] < box["x"] - bar.bounding_box()["x"]


def test_the_zoom_survives_and_nothing_flickers(server: str, page: Any, seed: int) -> None:
    page.goto(f"{server}{SMALL}&seed={seed}".replace("beta=40", "beta=10"))  # it soon stalls
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
    # at the first expansion the whole page is drawn again
    page.wait_for_function("c => document.querySelector(c).layout.meta.changes.length > 0", arg=CHART)
    more_drawn(page, drawn(page) + 2)
    assert page.evaluate("c => document.querySelector(c)._fullLayout.xaxis.range", CHART) == zoomed
    assert page.evaluate("c => document.querySelector(c) === window.sameChart", CHART)
    assert page.evaluate("window.blank") == 0
    press(page, "Cancel")
    page.get_by_text("Cancelled.").wait_for()


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


def test_a_stored_run_is_played_stepped_and_presented(server: str, page: Any, example: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{server}/replay?run={example}&t=20")
    settle(page)
    wait_for_chart(page)
    assert drawn(page) == 20
    press(page, "Next expansion")
    more_drawn(page, 20)
    before = drawn(page)
    page.keyboard.press("f")
    page.wait_for_function("getComputedStyle(document.documentElement).fontSize === '24px'")
    assert not page.get_by_test_id("stSidebar").is_visible()
    assert not page.get_by_test_id("stHeader").is_visible()
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile(f"t={before + 1}"))
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(re.compile(f"t={before}$|t={before}&"))
    page.keyboard.press("Space")
    more_drawn(page, before + 3)
    page.keyboard.press("Space")
    page.get_by_role("button", name="Play", exact=True).wait_for()
    shot(page, "run-presented")
    page.keyboard.press("f")
    page.get_by_test_id("stSidebar").wait_for()
    names = page.evaluate("[...document.querySelectorAll('.timeline-button')].map(b => b.ariaLabel)")
    assert len(set(names)) == 5


def test_compare_export_delete_and_import(
    server: str, page: Any, folder: Path, example: str, tmp_path: Path
) -> None:
    store = Store.open(f"sqlite:///{folder}/runs.db")
    other = store.list_runs(RunFilter(search="Sphere, random search"))[0].id
    store.close()
    compared = ".st-key-compare .live-chart"
    page.goto(f"{server}/compare")
    settle(page)
    wait_for_chart(page, compared)  # some that compare well
    page.goto(f"{server}/compare?runs={example},{other}")
    settle(page)
    wait_for_chart(page, compared)
    page.get_by_text("Random search (n = 1)").first.wait_for()
    files = page.locator(".st-key-compare .live-chart-files")
    files.get_by_text("Save as SVG").wait_for()
    with page.expect_download() as png:
        files.get_by_text("Save as PNG").click()
    assert Path(png.value.path()).read_bytes().startswith(b"\x89PNG")
    shot(page, "compare")
    press(page, "Export")
    with page.expect_download() as html:
        page.get_by_role("button", name=FORMATS["html"].label).click()
    assert "dseboFigure.draw(" in Path(html.value.path()).read_text()
    with page.expect_download() as bundle:
        page.get_by_role("button", name=FORMATS["json"].label).click()
    saved = tmp_path / "bundle.json"
    bundle.value.save_as(saved)

    page.goto(f"{server}/runs")
    settle(page)
    total = _count(page)
    _import(page, saved, "2 runs are here already.")
    assert _count(page) == total

    _search(page, other)
    _select_first_row(page)
    press(page, "Edit")
    page.get_by_label("Name", exact=True).fill("renamed in class")
    page.get_by_label("Name", exact=True).press("Enter")
    press(page, "Save")
    page.get_by_text("1 saved.").wait_for()
    page.locator("td", has_text="renamed in class").first.wait_for(state="attached")  # drawn in a canvas
    shot(page, "runs")
    press(page, "Delete")
    page.get_by_text("1 run deleted").wait_for()
    _search(page, "")
    assert _count(page) == total - 1
    _import(page, saved, "1 run imported; 1 run is here already.")
    assert _count(page) == total

    page.get_by_text("Deleted ones").click()
    page.get_by_role("button", name="Restore", exact=True).wait_for()
    settle(page)
    _select_first_row(page, said=False)
    press(page, "Restore")
    page.get_by_text("1 restored.").wait_for()
    page.get_by_text("Deleted ones").click()
    page.get_by_role("button", name="Delete", exact=True).wait_for()
    assert _count(page) == total + 1


def _count(page: Any) -> int:
    settle(page)
    text = page.get_by_text(re.compile(r"\d+ runs\. Choose")).inner_text()
    return int(text.split()[0])


def _search(page: Any, words: str) -> None:
    place = page.get_by_placeholder("Search name")
    place.fill(words)
    place.press("Enter")
    page.wait_for_timeout(400)
    settle(page)


def _import(page: Any, file: Path, said: str) -> None:
    """Upload it, and choose nothing of what it held."""
    press(page, "Import")
    page.get_by_text("A JSON bundle, or a zip").wait_for()
    page.wait_for_timeout(1500)
    settle(page)
    page.locator("input[type=file]").set_input_files(file)
    press(page, "Import it")  # the menu stays open
    page.get_by_text(said).wait_for()
    page.get_by_text("2 runs chosen").wait_for()
    page.keyboard.press("Escape")
    press(page, "Choose nothing")
    page.get_by_text("2 runs chosen").wait_for(state="detached")


def _select_first_row(page: Any, said: bool = True) -> None:
    """The table is a canvas: its rows are found by place."""
    table = page.locator("[data-testid=stDataFrame]").first
    page.wait_for_timeout(600)
    box = table.bounding_box()
    page.mouse.click(box["x"] + 16, box["y"] + 36 + 17)
    if said:
        page.get_by_text("1 run chosen").wait_for()


BAD = ("?D=many", "replay?run=zz", "sweep?sweep=zz", "sweep?vary=beta=a,b,c&seeds=none")


def test_a_bad_link_shows_a_sentence(server: str, page: Any) -> None:
    for link in BAD:
        page.goto(f"{server}/{link}")
        settle(page)
        page.get_by_test_id("stAlert").first.wait_for()
        assert "Traceback" not in page.content(), link


def test_a_phone_that_hides_the_form_is_asked_too(server: str, page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server}/?D=10000&budget=10000")
    settle(page)
    here = page.locator(".st-key-launch-small")
    here.get_by_text("D = 10000").wait_for()  # what Launch would launch
    here.get_by_role("button", name="Launch").click()
    here.get_by_text("This is predicted to take").wait_for()
    here.get_by_role("button", name="Not now").click()
    here.get_by_text("This is predicted to take").wait_for(state="detached")


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "light"), (1920, "dark")])
def test_nothing_overflows_or_is_too_small(
    server: str, page: Any, example: str, width: int, scheme: str
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    for name in ("", "runs", "compare", "RUN", "LESSON") if width == 390 else ("RUN", "compare", "LESSON"):
        links = {"RUN": f"?run={example}", "LESSON": "learn?lesson=9-wait-or-grow"}
        page.goto(f"{server}/{links.get(name, name)}")
        settle(page)
        if name == "RUN":
            wait_for_chart(page)
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(SMALLEST_TEXT) >= 14
        assert page.evaluate(POOR_CONTRAST) == []
        shot(page, f"{name.lower() or 'first'}-{width}-{scheme}")
