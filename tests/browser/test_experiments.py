"""Experiments in a browser: settings varied and methods raced, watched, paused, resumed, understood."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from dsebo.experiments.records import claim, create_experiment, delete_experiment, list_experiments
from dsebo.experiments.spec import ExperimentSpec
from dsebo.runs.worker import stored_run
from dsebo.store import leases, schema
from dsebo.store.store import Store
from dsebo.transfer import FORMATS
from tests.browser.looks import POOR_CONTRAST, SMALLEST_TEXT, press, settle, shot, wait_for_chart

pytestmark = pytest.mark.browser

GRID, RESPONSE = ".st-key-sweep_grid .live-chart", ".st-key-sweep_response .live-chart"
PANELS, OVERLAY = ".st-key-sweep_panels .live-chart", ".st-key-sweep_overlay .live-chart"
SMALLER = {"D": "50", "d_e": "5", "d_h": "20", "budget": "60"}
LONG = 120_000  # ms: a worker process alone takes seconds to start


def fill(page: Any, key: str, text: str, said: str = "") -> None:
    """One input of the form, by its key, until the address says it."""
    place = page.locator(f".st-key-sweep_{key} input").first
    place.fill(text)
    place.press("Enter")
    page.wait_for_url(lambda address: (said or f"{key}={text}&") in f"{unquote(address)}&")
    settle(page)


def finished_runs(page: Any) -> int:
    text = page.get_by_text(re.compile(r"\d+ of 12 runs finished")).first.inner_text()
    return int(text.split()[0])


def test_choose_start_watch_reload_pause_resume_and_see(
    server: str, page: Any, seed: int, folder: Path, tmp_path: Path
) -> None:
    _forget_experiments(folder)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{server}/experiments")
    settle(page)
    page.get_by_text("See what a setting does").wait_for()
    page.get_by_role("button", name=re.compile("^Choose")).first.click()
    page.wait_for_url(re.compile("vary=beta"))
    fill(page, "vary-numbers", "2,6", "vary=beta=2,6&")
    fill(page, "seeds", f"{seed}-{seed + 5}")
    for name, text in SMALLER.items():
        fill(page, name, text)
    page.get_by_text("2 × 6 seeds = 12").wait_for()
    page.get_by_text("cannot exclude chance").wait_for(state="detached")
    shot(page, "sweep-before")

    press(page, "Launch")
    page.wait_for_url(re.compile("experiment=[0-9a-f]{12}"))
    wait_for_chart(page, GRID)
    page.wait_for_function(  # the first bars: runs under way or finished
        "c => document.querySelector(c)?._fullData?.some(t => t.x && t.x.length)", arg=GRID, timeout=LONG
    )
    # curves of runs that have not ended
    page.wait_for_selector(f"{OVERLAY}[data-ready=true]", timeout=LONG)
    press(page, "Pause")
    page.get_by_text("Paused. The runs under way").wait_for(timeout=LONG)
    resting = finished_runs(page)
    address = page.url
    page.reload()
    settle(page)
    assert page.url == address
    page.get_by_text("Paused. The runs under way").wait_for()
    wait_for_chart(page, GRID)
    assert finished_runs(page) == resting
    shot(page, "sweep-paused")

    press(page, "Resume")
    page.get_by_text("Paused. The runs under way").wait_for(state="detached")
    wait_for_chart(page, RESPONSE)  # from the first finished seed on
    _watch_for_blanks(page)
    page.get_by_text("12 of 12 runs finished").first.wait_for(timeout=LONG)
    page.locator(GRID).wait_for(state="detached")
    # the runs end before the sweep's process does: until it has, the page goes on asking
    page.get_by_text(re.compile("12 of 12 runs finished .* of computing")).first.wait_for(timeout=LONG)
    settle(page)
    assert page.evaluate("window.blank") == []
    sentence = page.locator(".st-key-findings").inner_text()
    assert "β" in sentence
    assert "seeds" in sentence or "worse" in sentence
    n = page.evaluate("c => document.querySelector(c)._fullData.at(-1).x.length", RESPONSE)
    assert n == 2
    assert _refreshes(page, 3500) == 0  # nothing is polled any more
    shot(page, "sweep-finished")
    _curves_and_files(page, tmp_path)
    _choose_open_and_delete(page)


def _forget_experiments(folder: Path) -> None:
    """The page welcomes who has none: those of other tests, or of an earlier try, are taken off the list."""
    store = Store.open(f"sqlite:///{folder}/runs.db")
    for row in list_experiments(store):
        delete_experiment(store, row.id)
    store.close()


def _watch_for_blanks(page: Any) -> None:
    """Note the moments in which the response curve is not there, and what the page says then."""
    page.evaluate(
        """c => {
          const chart = document.querySelector(c);
          const said = () => document.querySelector('[data-testid=stMain]').innerText.slice(0, 600);
          window.blank = [];
          new MutationObserver(() => {
            if (!chart.querySelector('.main-svg')) window.blank.push([chart.isConnected, said()]);
          }).observe(chart, { childList: true, subtree: true });
        }""",
        RESPONSE,
    )


def _refreshes(page: Any, milliseconds: int) -> int:
    """How often the page's script runs within that time."""
    return int(
        page.evaluate(
            """async wait => {
              const app = document.querySelector('[data-testid=stApp]');
              let runs = 0;
              const watch = new MutationObserver(() => {
                if (app.dataset.testScriptState === 'running') runs++;
              });
              watch.observe(app, { attributes: true });
              await new Promise(done => setTimeout(done, wait));
              watch.disconnect();
              return runs;
            }""",
            milliseconds,
        )
    )


def _curves_and_files(page: Any, folder: Path) -> None:
    page.get_by_text("Small multiples").click()
    wait_for_chart(page, PANELS)
    page.get_by_text("β = 2 (n = 6)").first.wait_for()
    with page.expect_download() as picture:
        page.locator(".st-key-sweep_response").get_by_text("Save as PNG").click()
    assert Path(picture.value.path()).read_bytes().startswith(b"\x89PNG")
    press(page, "Export")
    with page.expect_download() as table:
        page.get_by_role("button", name=FORMATS["table"].label).click()
    assert Path(table.value.path()).read_text().count("\n") == 3
    with page.expect_download() as settings:
        page.get_by_role("button", name=FORMATS["yaml"].label).click()
    assert ExperimentSpec.from_yaml(Path(settings.value.path()).read_text()).total == 12
    with page.expect_download() as report:
        page.get_by_role("button", name=FORMATS["html"].label).click()
    assert "dseboFigure.draw(" in Path(report.value.path()).read_text()
    page.keyboard.press("Escape")


def _choose_open_and_delete(page: Any) -> None:
    """Choose it in the table (a canvas), open its runs, delete it, and think better of it."""
    press(page, "Choose nothing")
    page.wait_for_url(re.compile("^(?!.*experiment=)"))
    settle(page)
    click_row(page, 0)
    page.get_by_text("12 of 12 runs finished").wait_for()
    top = page.locator(".st-key-findings").bounding_box()["y"]
    assert top < 700  # the sentence is in view at a projector's height
    press(page, "Show its runs")
    settle(page)
    click_row(page, 0)  # the group is no longer chosen, but two of its runs
    click_row(page, 1)
    click_row(page, 2)
    page.get_by_text("2 of 12 runs of this group are drawn").wait_for()
    page.get_by_text("Their difference").wait_for()
    labels = page.locator(".st-key-compare-head [data-testid=stWidgetLabel]")
    tops = [labels.nth(i).bounding_box()["y"] for i in range(3)]  # Group by, Bands, Value axis
    assert max(tops) - min(tops) <= 1
    shot(page, "experiments-two-runs")
    press(page, "Choose nothing")
    page.get_by_text("2 runs chosen").wait_for(state="detached")
    click_row(page, 0)
    page.get_by_text("12 of 12 runs finished").wait_for()
    press(page, "Delete")
    page.get_by_text("1 experiment deleted").wait_for()
    page.wait_for_url(re.compile("^(?!.*experiment=)"))
    press(page, "Undo")
    page.get_by_text("12 of 12 runs finished").wait_for()
    page.wait_for_url(re.compile("experiment="))


def click_row(page: Any, row: int) -> None:
    """The box at the left edge of a line of the table."""
    page.wait_for_timeout(400)  # a table of other lines takes the place of this one
    settle(page)
    table = page.locator("[data-testid=stDataFrame]").first
    table.scroll_into_view_if_needed()
    page.wait_for_timeout(400)
    box = table.bounding_box()
    page.mouse.click(box["x"] + 16, box["y"] + 36 + 35 * row + 17)
    page.wait_for_timeout(400)
    settle(page)


# --- methods raced ---

RACE_LINK = "/race?methods=dsebo,random,bandit-c-ucb&D=60&d_e=6&budget=60"
ALL_DRAWN = 6 * 1000 + 3 * 60  # as DRAWN counts: runs, and points of curves
RACE = ".st-key-race_chart .live-chart"
FRONT = """c => {
  const chart = document.querySelector(c);
  if (!chart || !chart.calcdata) return 0;
  return Math.max(0, ...chart.calcdata.map(d => d[0].trace.showlegend === false ? 0 : d.length));
}"""
# How far the chart is: first the runs that are drawn, then their points. A method may have ended before the
# first look, and its mean goes back to where its next run is.
DRAWN = """c => {
  const traces = (document.querySelector(c)?.calcdata || []).filter(d => d[0].trace.showlegend !== false);
  const runs = traces.map(d => Number((d[0].trace.name.match(/n = (\\d+)/) || [0, 0])[1]));
  return traces.reduce((sum, d, i) => sum + 1000 * runs[i] + d.length, 0);
}"""
COUNT = """() => {
  window.reruns = 0;
  const what = { attributes: true, attributeFilter: ['data-test-script-state'] };
  const app = document.querySelector('[data-testid=stApp]');
  new MutationObserver(() => window.reruns++).observe(app, what);
}"""


def test_a_race_is_launched_watched_reloaded_and_finished(server: str, page: Any, seed: int) -> None:
    page.goto(f"{server}{RACE_LINK}&seeds={seed}-{seed + 1}")
    settle(page)
    page.get_by_text("3 methods × 2 seeds = 6").wait_for()
    page.get_by_text("lose by construction").wait_for()
    page.get_by_role("button", name="Launch", exact=True).first.click()
    page.wait_for_url(re.compile("experiment=[0-9a-f]{12}"))
    page.wait_for_selector(f"{RACE}[data-ready=true]")
    page.wait_for_function(f"c => ({DRAWN})(c) > 2", arg=RACE)
    before = page.evaluate(DRAWN, RACE)
    if before < ALL_DRAWN:
        page.wait_for_function(f"([c, n]) => ({DRAWN})(c) > n", arg=[RACE, before])

    address = page.url
    page.reload()
    settle(page)
    page.wait_for_selector(f"{RACE}[data-ready=true]")
    assert page.url == address
    page.wait_for_function(f"([c, n]) => ({DRAWN})(c) >= n", arg=[RACE, before])
    page.get_by_text("6 of 6 runs finished").first.wait_for(timeout=180_000)
    page.locator(".st-key-head").get_by_text("finished", exact=True).wait_for()
    page.wait_for_function(f"([c, n]) => ({DRAWN})(c) === n", arg=[RACE, ALL_DRAWN])  # it comes last
    legend = page.evaluate(
        "c => [...document.querySelectorAll(c + ' .legendtext')].map(e => e.textContent)", RACE
    )
    assert legend == ["DSEBO (n = 2)", "Random search (n = 2)", "Bandit: C-UCB (n = 2)"]
    settle(page)
    page.evaluate(COUNT)
    page.wait_for_timeout(2500)
    assert page.evaluate("window.reruns") == 0  # nothing is polled any more
    assert page.evaluate(FRONT, RACE) == 60
    assert page.evaluate(DRAWN, RACE) == ALL_DRAWN
    shot(page, "race")


@pytest.mark.slow
def test_cancel_and_go_on(server: str, page: Any, seed: int) -> None:
    page.goto(f"{server}/sweep?vary=K=100,{seed}&seeds=1-20&method=random&D=40&d_e=4&budget=300")
    settle(page)
    press(page, "Launch")
    page.wait_for_url(re.compile("experiment=[0-9a-f]{12}"))
    page.locator(".st-key-findings").wait_for(timeout=LONG)
    press(page, "Cancel")
    page.get_by_text("Cancelled. What had finished").wait_for(timeout=LONG)
    before = page.get_by_text(re.compile(r"\d+ of 40 runs finished")).inner_text()
    shot(page, "sweep-cancelled")
    press(page, "Go on")
    page.get_by_text("Cancelled. What had finished").wait_for(state="detached", timeout=LONG)
    page.wait_for_function("before => !document.body.innerText.includes(before)", arg=before, timeout=LONG)
    if page.get_by_role("button", name="Cancel", exact=True).count():
        press(page, "Cancel")
        page.get_by_text(re.compile("Cancelled. What|of computing")).first.wait_for(timeout=LONG)


@pytest.fixture(scope="module")
def two_axes(folder: Path, example: str) -> str:
    """The id of a finished sweep of two axes, in the server's store."""
    base = {"objective": {"D": 20, "d_e": 3}, "optimizer": {"method": "random"}, "budget": 12}
    axes = {"K": [10, 100, 1000], "function": ["sphere", "levy"]}
    spec = ExperimentSpec.parse({"base": base, "axes": axes, "seeds": "1-7"})
    store = Store.open(f"sqlite:///{folder}/runs.db")
    for one in spec.planned():
        list(stored_run(one.config, store, "two axes"))
    sweep_id = create_experiment(store, spec)
    leases.release(store, schema.experiment, claim(store, sweep_id, 2), "finished")
    store.close()
    return sweep_id


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "light"), (1920, "dark")])
def test_nothing_overflows_or_is_too_small(
    server: str, page: Any, two_axes: str, width: int, scheme: str
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    for name, path in (
        ("experiments", "experiments"),
        ("vary", "sweep"),
        ("race", "race"),
        ("sweep", f"sweep?sweep={two_axes}"),
        ("paper", "paper"),
    ):
        page.goto(f"{server}/{path}")
        settle(page)
        if name == "sweep":
            wait_for_chart(page, RESPONSE)
            page.get_by_text("Levy: ").first.wait_for()
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(SMALLEST_TEXT) >= 14
        assert page.evaluate(POOR_CONTRAST) == []
        shot(page, f"{name}-{width}-{scheme}")
