"""What a run loses by being watched: the terminal's time against the page's, with 0, 1, 30 and 60 browsers.

    python -m benchmarks.watched

The same runs each time, from their first to their last evaluation, as the store sees them. One browser
is a real Chromium; the crowd speaks Streamlit's protocol, on the same machine. In brackets: 2026-11-16.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from playwright.sync_api import sync_playwright

from benchmarks.browsers import Browser
from benchmarks.server import FLAGS, ROOT, Server
from dsebo.store.store import Store
from dsebo.transfer.figures import browser as chromium

SEEDS = (31, 32, 33)  # not those of the bundled runs, which the page would offer instead
BUDGET = 500
POLL = 0.02  # seconds between two looks into the store
BEFORE = {"the tab closed": "1.3 to 1.7", "one browser": "2.4", "30 browsers": "1.78 to 2.4 of one browser"}

Look = Callable[[], None]  # what those who watch do, again and again
Watch = Callable[[int, str], AbstractContextManager[Look]]  # port, link of what to launch


def main() -> None:
    ways: dict[str, Watch] = {"the tab closed": _closed, "one browser": _one}
    ways |= {f"{n} browsers": partial(_crowd, n) for n in (30, 60)}
    terminal = statistics.median(_in_terminal(seed) for seed in SEEDS)
    print(f"terminal: {terminal:.1f} s for {BUDGET} evaluations", flush=True)
    taken: dict[str, float] = {}
    for name, watch in ways.items():
        taken[name] = statistics.median(_on_page(seed, watch) for seed in SEEDS)
        of_one = f", {taken[name] / taken['one browser']:.2f} of one browser" if "browsers" in name else ""
        before = f" [{BEFORE[name]}]" if name in BEFORE else ""
        ratio = taken[name] / terminal
        print(f"{name}: {taken[name]:.1f} s, {ratio:.2f} of the terminal{of_one}{before}", flush=True)


def _in_terminal(seed: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(f"sqlite:///{folder}/runs.db")
        command = [sys.executable, "-m", "dsebo", "run", "--D", "1000", "--budget", str(BUDGET)]
        env = {**os.environ, "DSEBO_DB": f"sqlite:///{folder}/runs.db"}
        process = subprocess.Popen(
            [*command, "--seed", str(seed)], cwd=ROOT, env=env, stdout=subprocess.DEVNULL
        )
        seconds = _timed(store, lambda: None)
        process.wait()
        store.close()
    return seconds


def _on_page(seed: int, watch: Watch) -> float:
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(f"sqlite:///{folder}/runs.db")
        server = Server(folder)
        try:
            server.wait()
            Browser(server.port).open()
            time.sleep(4)  # torch is imported behind the first page
            with watch(server.port, f"D=1000&budget={BUDGET}&seed={seed}") as look:
                seconds = _timed(store, look)
        finally:
            server.close()
            store.close()
    return seconds


def _timed(store: Store, look: Look) -> float:
    """Seconds from the first evaluation that is seen to the last, for the whole budget."""
    began, first = 0.0, 0
    while True:
        row = next(iter(store.list_runs()), None)
        if row is not None and row.n_done and not first:
            began, first = time.monotonic(), row.n_done
        if row is not None and row.n_done == BUDGET:
            return (time.monotonic() - began) * BUDGET / (BUDGET - first)
        look()
        time.sleep(POLL)


def _launch(port: int, link: str) -> Browser:
    browser = Browser(port, link)
    browser.open()
    browser.press("Launch")
    return browser


@contextmanager
def _closed(port: int, link: str) -> Iterator[Look]:
    _launch(port, link).close()
    yield lambda: None


@contextmanager
def _one(port: int, link: str) -> Iterator[Look]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = opened.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"http://127.0.0.1:{port}/?{link}")
        page.get_by_role("button", name="Launch", exact=True).first.click()
        page.wait_for_selector(".st-key-chart .live-chart[data-ready=true]")
        yield lambda: None
        opened.close()


@contextmanager
def _crowd(count: int, port: int, link: str) -> Iterator[Look]:
    """All of them still there at the end, and served."""
    first = _launch(port, link)
    run_id = first.query.split("run=")[1].split("&")[0]
    crowd = [first, *(Browser(port, f"run={run_id}") for _ in range(count - 1))]
    for browser in crowd[1:]:
        browser.open()
    due = {browser: time.monotonic() + browser.every for browser in crowd}

    def look() -> None:
        now = time.monotonic()
        for browser in [one for one, at in due.items() if at <= now]:
            browser.refresh()
            due[browser] = time.monotonic() + (browser.every or 60)

    yield look
    for browser in crowd:
        browser.refresh()
        browser.close()


if __name__ == "__main__":
    main()
