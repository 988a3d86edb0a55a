"""The first seconds of someone new: a server just started, a browser just opened. Linux only.

    python -m benchmarks.first_seconds

Cold: from the first request to a fresh server until something is drawn (the page's own words) and
until it can be used (its button and its chart). Warm: the same for the browser's next tab.
"""

from __future__ import annotations

import statistics
import tempfile
import time

from playwright.sync_api import BrowserContext, sync_playwright

from benchmarks.server import FLAGS, Server
from dsebo.transfer.figures import browser as chromium

TIMES = 3
WORDS, BUTTON = "See Bayesian optimization find its own dimension", "Run it"


def main() -> None:
    found: list[tuple[float, ...]] = []
    with sync_playwright() as playwright:
        for _ in range(TIMES):
            with tempfile.TemporaryDirectory() as folder:
                began = time.monotonic()
                server = Server(folder)
                opened = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
                try:
                    server.wait()
                    answers = time.monotonic() - began
                    window = opened.new_context(viewport={"width": 1280, "height": 800})
                    cold = _opened(window, server.port)
                    time.sleep(6)  # torch has been imported behind the page
                    found.append((answers, *cold, *_opened(window, server.port)))
                finally:
                    opened.close()
                    server.close()
    answers, drawn, usable, warm_drawn, warm_usable = (statistics.median(c) for c in zip(*found, strict=True))
    print(f"the server answers {answers:.1f} s after its start")
    print(f"cold: drawn after {drawn:.1f} s (limit 1.5), usable after {usable:.1f} s (limit 3)")
    print(f"warm: drawn after {warm_drawn:.1f} s, usable after {warm_usable:.1f} s (limit 1)")


def _opened(window: BrowserContext, port: int) -> tuple[float, float]:
    """Seconds until there are words, and until there is a chart to look at and a button to press."""
    page = window.new_page()
    began = time.monotonic()
    page.goto(f"http://127.0.0.1:{port}/", wait_until="commit")
    page.get_by_text(WORDS).first.wait_for(timeout=60_000)
    drawn = time.monotonic() - began
    page.get_by_role("button", name=BUTTON).first.wait_for()
    page.wait_for_selector(".live-chart[data-ready=true]")
    usable = time.monotonic() - began
    page.close()
    return drawn, usable


if __name__ == "__main__":
    main()
