"""The pictures of README and documents, and the animation, from the running app: so they never lie.

    python -m benchmarks.pictures [NAME…]   (needs Playwright and a Chromium)

All are of one run that comes with the package, mostly at its fourth expansion: there slopes decide the step.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from benchmarks.server import FLAGS, ROOT, Server
from dsebo.runs.data import read_run
from dsebo.store.rows import RunFilter
from dsebo.store.store import Store
from dsebo.transfer.examples import import_bundled
from dsebo.transfer.figures import browser

FOLDER = ROOT / "docs" / "pictures"
RUN, EXPANSION = "Sphere, the paper's setting", 3
WIDTH, HEIGHT, TALL = 1280, 800, 1600
FORMULA = ".st-key-beside .katex-display"
AIR = 8  # px below it
CHART = ".st-key-chart .live-chart"
AS_IN_A_WINDOW = ".live-chart.fills { height: 440px !important; }"  # of 800, with the formula below it
READY = '[data-testid="stApp"][data-test-script-state="notRunning"]'
PATIENCE = 120_000  # ms
# The animation: from the first evaluations to the last ones, each frame so long, the last one longer.
FRAMES, FRAME_MS, LAST_MS = 32, 220, 2500
MOST_BYTES = 2_000_000


@dataclass(frozen=True)
class Shown:
    """The app with the run, and one of its expansions."""

    page: Page
    address: str
    run: str
    t: int
    last: int

    def open(self, path: str = "", height: int = HEIGHT, **asked: object) -> None:
        """Open a page and wait until it has been drawn."""
        self.page.set_viewport_size({"width": WIDTH, "height": height})
        query = "&".join(f"{name}={value}" for name, value in asked.items())
        self.page.goto(f"{self.address}/{path}?{query}")
        self.page.wait_for_selector(READY, timeout=PATIENCE)

    def open_whole(self, reachable: str = "no") -> None:
        """Open the run in a window that has all of Algorithm 1, with the chart of a usual one."""
        self.open(height=TALL, run=self.run, t=self.t, reachable=reachable)
        self.page.add_style_tag(content=AS_IN_A_WINDOW)
        self.page.evaluate("window.dispatchEvent(new Event('resize'))")
        self.page.get_by_text("Algorithm 1 at evaluation").first.wait_for(timeout=PATIENCE)

    def wait_for_chart(self, reachable: bool = False) -> None:
        """Until the chart is drawn, with its areas where they are asked for."""
        self.page.wait_for_selector(f"{CHART}[data-ready=true]", timeout=PATIENCE)
        if reachable:
            self.page.get_by_text("out of reach", exact=True).first.wait_for(timeout=PATIENCE)
        self.page.wait_for_timeout(1500)  # what comes in late: fonts, formulas, a chart's last size

    def end_of_formulas(self) -> int:
        """Where Algorithm 1 ends on the page: with the patience, below the last of its formulas."""
        self.page.wait_for_selector(FORMULA, timeout=PATIENCE)
        last = self.page.locator(FORMULA).last.bounding_box()
        assert last is not None
        return round(last["y"] + last["height"]) + AIR


def screenshot(app: Shown, file: Path) -> None:
    """README's first: chart with what is reachable, feed, and the decision in words and numbers."""
    app.open_whole(reachable="yes")
    app.page.get_by_test_id("stSidebar").hover()
    app.page.get_by_test_id("stSidebarCollapseButton").locator("button").click()
    app.wait_for_chart(reachable=True)
    app.page.screenshot(path=file, clip={"x": 0, "y": 0, "width": WIDTH, "height": app.end_of_formulas()})


def run(app: Shown, file: Path) -> None:
    """The chart alone."""
    app.open(run=app.run, t=app.t)
    app.wait_for_chart()
    app.page.locator(CHART).first.screenshot(path=file)


def reachable(app: Shown, file: Path) -> None:
    """The chart with its two kinds of error."""
    app.open(run=app.run, t=app.t, reachable="yes")
    app.wait_for_chart(reachable=True)
    app.page.locator(CHART).first.screenshot(path=file)


def explained(app: Shown, file: Path) -> None:
    """The decision in words and numbers: what stands below the chart."""
    app.open_whole()
    app.wait_for_chart()
    beside = app.page.locator(".st-key-beside").first.bounding_box()
    assert beside is not None
    left, top, width = (round(beside[side]) for side in ("x", "y", "width"))
    app.page.screenshot(
        path=file, clip={"x": left, "y": top, "width": width, "height": app.end_of_formulas() - top}
    )


def theory(app: Shown, file: Path) -> None:
    """Section 5 with numbers."""
    app.open("learn", show="theory")
    app.page.locator(".live-chart[data-ready=true]").first.wait_for(timeout=PATIENCE)
    app.page.wait_for_timeout(1500)
    app.page.screenshot(path=file)


def replay(app: Shown, file: Path) -> None:
    """The run from its first evaluation to its last, as the timeline shows it."""
    frames = []
    for i in range(1, FRAMES + 1):
        app.open(run=app.run, t=round(app.last * i / FRAMES))
        app.wait_for_chart()
        taken = Image.open(io.BytesIO(app.page.locator(CHART).first.screenshot())).convert("RGB")
        frames.append(taken.resize((800, round(taken.height * 800 / taken.width))))
    durations = [FRAME_MS] * (FRAMES - 1) + [LAST_MS]
    # One palette for all, that of the fullest one: other colours would flicker.
    palette = frames[-1].quantize(64)
    quiet = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    quiet[0].save(file, save_all=True, append_images=quiet[1:], duration=durations, loop=0, optimize=True)
    assert file.stat().st_size < MOST_BYTES, f"{file} has {file.stat().st_size} bytes"


PICTURES: dict[str, Callable[[Shown, Path], None]] = {
    "screenshot.png": screenshot,
    "run.png": run,
    "reachable.png": reachable,
    "explained.png": explained,
    "theory.png": theory,
    "replay.gif": replay,
}


@contextmanager
def opened() -> Iterator[Callable[[], Shown]]:
    """The app on a store with the runs that come with the package, each time in a new light Chromium."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        store = Store.open(f"sqlite:///{folder}/runs.db")
        import_bundled(store)
        row = next(row for row in store.list_runs(RunFilter(search=RUN)) if row.seed == 1)
        grown = [c for c in read_run(store, row.id).changes if c["event"] == "expanded"]
        store.close()
        server = Server(folder)
        chromium = playwright.chromium.launch(executable_path=browser(), args=FLAGS)
        try:
            server.wait()
            address = f"http://127.0.0.1:{server.port}"

            def fresh() -> Shown:  # a sidebar that was folded stays so in a browser
                page = chromium.new_page(color_scheme="light")
                return Shown(page, address, row.id, grown[EXPANSION]["t"], row.n_done)

            yield fresh
        finally:
            chromium.close()
            server.close()


def main() -> None:
    """Those that are named, or all."""
    FOLDER.mkdir(exist_ok=True)
    with opened() as fresh:
        for name, take in PICTURES.items():
            if not sys.argv[1:] or name in sys.argv[1:]:
                take(fresh(), FOLDER / name)
                print(FOLDER / name, flush=True)


if __name__ == "__main__":
    main()
