"""The README's picture, from the running app: an expansion, its sentence and formula, what was reachable.

Run: python -m benchmarks.picture [FILE]   (needs Playwright and a Chromium)
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from benchmarks.server import FLAGS, ROOT, Server
from dsebo.runs.data import read_run
from dsebo.store.rows import RunFilter
from dsebo.store.store import Store
from dsebo.transfer.examples import import_bundled
from dsebo.transfer.figures import browser

FILE = ROOT / "dsebo" / "data" / "screenshot.png"
RUN, EXPANSION = "Sphere, the paper's setting", 3  # the fourth: by then its slopes decide the step
WIDTH, HEIGHT = 1280, 1600  # cut below the formula
CHARTS = ".live-chart.fills { height: 440px !important; }"  # as in a window of 800, with the formula below
FORMULA = ".st-key-beside .katex-display"
AIR = 8  # px below it
READY = '[data-testid="stApp"][data-test-script-state="notRunning"]'


def main() -> None:
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(f"sqlite:///{folder}/runs.db")
        import_bundled(store)
        row = next(row for row in store.list_runs(RunFilter(search=RUN)) if row.seed == 1)
        grown = [c for c in read_run(store, row.id).changes if c["event"] == "expanded"]
        store.close()
        server = Server(folder)
        try:
            server.wait()
            t = grown[EXPANSION]["t"]
            _take(f"http://127.0.0.1:{server.port}/?run={row.id}&t={t}&reachable=yes", file)
        finally:
            server.close()
    print(file)


def _take(address: str, file: Path) -> None:
    """When the areas of what is reachable have been computed and drawn."""
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser(), args=FLAGS)
        page = opened.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.goto(address)
        page.wait_for_selector(READY, timeout=60_000)
        page.add_style_tag(content=CHARTS)
        page.evaluate("window.dispatchEvent(new Event('resize'))")
        page.get_by_test_id("stSidebar").hover()
        page.get_by_test_id("stSidebarCollapseButton").locator("button").click()
        page.get_by_text("Algorithm 1 at evaluation").first.wait_for(timeout=60_000)
        page.get_by_text("out of reach", exact=True).first.wait_for(timeout=120_000)
        page.wait_for_selector(".katex")
        page.wait_for_timeout(2000)
        last = page.locator(FORMULA).last.bounding_box()
        assert last is not None  # the patience, which ends Algorithm 1
        bottom = round(last["y"] + last["height"]) + AIR
        page.screenshot(path=file, clip={"x": 0, "y": 0, "width": WIDTH, "height": bottom})
        opened.close()


if __name__ == "__main__":
    main()
