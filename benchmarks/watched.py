"""What a run loses by being watched: the terminal's time against the page's, with 0, 1, 30 and 60 browsers.

    python -m benchmarks.watched

The same runs each time, from their first to their last evaluation, as the store sees them. One browser
is a real Chromium; the crowd speaks Streamlit's protocol, on the same machine: its pages are opened one
after the other while the run is at work, and then it watches. In brackets: 2026-11-16.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Container, Iterator
from concurrent.futures import ThreadPoolExecutor
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

Trace = list[tuple[float, int]]  # (time, evaluations that are done)
Look = Callable[[], None]  # what those who watch do, again and again
Watch = Callable[[int, str], AbstractContextManager[Look]]  # port, link of what to launch


def main() -> None:
    ways: dict[str, Watch] = {"the tab closed": _closed, "one browser": _one}
    ways |= {f"{n} browsers": partial(_crowd, n) for n in (30, 60)}
    terminal = {seed: _in_terminal(seed) for seed in SEEDS}
    whole = statistics.median(map(_seconds, terminal.values()))
    print(f"terminal: {whole:.1f} s for {BUDGET} evaluations", flush=True)
    one: dict[int, Trace] = {}
    for name, watch in ways.items():
        runs = {seed: _on_page(seed, watch) for seed in SEEDS}
        taken = statistics.median(_seconds(trace) for trace, _ in runs.values())
        line = f"{name}: {taken:.1f} s, {taken / whole:.2f} of the terminal"
        if name == "one browser":
            one = {seed: trace for seed, (trace, _) in runs.items()}
        elif one:
            since = [_seconds(trace, n) / _seconds(one[seed], n) for seed, (trace, n) in runs.items()]
            line += f"; once all are there {statistics.median(since):.2f} of one browser"
        print(line + (f" [{BEFORE[name]}]" if name in BEFORE else ""), flush=True)


def _in_terminal(seed: int) -> Trace:
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(f"sqlite:///{folder}/runs.db")
        command = [sys.executable, "-m", "dsebo", "run", "--D", "1000", "--budget", str(BUDGET)]
        env = {**os.environ, "DSEBO_DB": f"sqlite:///{folder}/runs.db"}
        process = subprocess.Popen(
            [*command, "--seed", str(seed)], cwd=ROOT, env=env, stdout=subprocess.DEVNULL
        )
        trace = _trace(store)
        process.wait()
        store.close()
    return trace


def _on_page(seed: int, watch: Watch) -> tuple[Trace, int]:
    """(the run's trace, how many evaluations were done when all who watch were there)."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(f"sqlite:///{folder}/runs.db")
        server = Server(folder)
        try:
            server.wait()
            Browser(server.port).open()
            time.sleep(4)  # torch is imported behind the first page
            bundled = {row.id for row in store.list_runs()}
            with ThreadPoolExecutor(1) as clock:
                trace = clock.submit(_trace, store, bundled)
                with watch(server.port, f"D=1000&budget={BUDGET}&seed={seed}") as look:
                    there = max((row.n_done for row in store.list_runs() if row.id not in bundled), default=0)
                    while not trace.done():
                        look()
                        time.sleep(POLL)
        finally:
            server.close()
            store.close()
    return trace.result(), there


def _trace(store: Store, others: Container[str] = ()) -> Trace:
    """Of the run that is none of `others`, from its first evaluation to its last."""
    trace: Trace = []
    while not trace or trace[-1][1] < BUDGET:
        row = next((row for row in store.list_runs() if row.id not in others), None)
        if row is not None and row.n_done:
            trace.append((time.monotonic(), row.n_done))
        time.sleep(POLL)
    return trace


def _seconds(trace: Trace, since: int = 0) -> float:
    """From when that many evaluations were done to the end."""
    return trace[-1][0] - next(at for at, n_done in trace if n_done >= since)


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
