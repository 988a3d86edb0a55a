"""The first seconds of someone new: a server just started, a browser just opened. Linux only.

    python -m benchmarks.first_seconds

Cold: from the first request to a fresh server with an empty store until something is drawn (the page's own
words), until it can be used (Streamlit's page stands with its button), until the browser answers without
delay after that, and until the chart is live: plotly.js begins a moment after the page stands. Warm: the
same for the next tab. Beside it, in turns: an app of Streamlit's with the same words and a button and nothing
else, which is what this machine takes for any app.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, sync_playwright

from benchmarks.server import FLAGS, Server
from dsebo.transfer.figures import browser as chromium
from dsebo.ui.run.start import RUN_IT, TITLE

TIMES = 3
HELLO = f"import streamlit as st\nst.markdown('## {TITLE}')\nst.button('{RUN_IT}')\n"
ANSWERS = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
LIMITS = ("limits 1.5 and 3", "limit 1")

Seconds = tuple[float, ...]  # until it is drawn, usable, without delay, and its chart live


def main() -> None:
    found: dict[str, list[tuple[float, Seconds, Seconds]]] = {"hello": [], "explorer": []}
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        for _ in range(TIMES):
            for app, times in found.items():
                times.append(_measured(opened, app))
        opened.close()
    print(f"load {os.getloadavg()[0]:.1f}, median of {TIMES}")
    for app, times in found.items():
        answers, cold, warm = zip(*times, strict=True)
        print(f"{app}: the server answers {statistics.median(answers):.1f} s after its start")
        for name, seconds, limits in zip(("cold", "warm"), (cold, warm), LIMITS, strict=True):
            shown = (f"{statistics.median(column):.2f}" for column in zip(*seconds, strict=True))
            print(f"  {name}: drawn, usable, without delay, chart live after {', '.join(shown)} s ({limits})")


def _measured(opened: Browser, app: str) -> tuple[float, Seconds, Seconds]:
    with tempfile.TemporaryDirectory() as folder:
        hello = Path(folder) / "hello.py"
        hello.write_text(HELLO)
        began = time.monotonic()
        server = Server(folder, script=str(hello)) if app == "hello" else Server(folder)
        window = opened.new_context(viewport={"width": 1280, "height": 800})
        try:
            server.wait()
            answers = time.monotonic() - began
            cold = _opened(window, server.port, app)
            time.sleep(6)  # torch has been imported behind the page
            return answers, cold, _opened(window, server.port, app)
        finally:
            window.close()
            server.close()


def _opened(window: BrowserContext, port: int, app: str) -> Seconds:
    page = window.new_page()
    began = time.monotonic()
    page.goto(f"http://127.0.0.1:{port}/", wait_until="commit")
    page.get_by_text(TITLE).first.wait_for(timeout=60_000)
    drawn = time.monotonic() - began
    page.locator("#root").get_by_role("button", name=RUN_IT).first.wait_for(timeout=60_000)
    usable = time.monotonic() - began
    page.evaluate(ANSWERS)
    answers = time.monotonic() - began
    if app == "explorer":
        page.wait_for_selector(".live-chart[data-ready=true]", timeout=60_000)
    live = time.monotonic() - began
    page.close()
    return drawn, usable, answers, live


if __name__ == "__main__":
    main()
