"""The app in a real Chromium, on a free loopback port and a store of its own."""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from _pytest.runner import runtestprotocol

from dsebo.store.rows import RunFilter
from dsebo.store.store import Store
from dsebo.transfer.examples import import_bundled

ROOT = Path(__file__).parents[2]
MORE_TRIES = 3
_seeds = itertools.count(1001, 10)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


def chromium() -> str:
    """The browser's path. Without one these tests skip, but not where CI promises to run them."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    found = found or shutil.which("google-chrome")
    if found is None:
        why = "No Chromium on this machine: the browser tests cannot run."
        if os.environ.get("CI") == "true":
            pytest.fail(why)
        pytest.skip(why)
    return found


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Further tries, with a warning: on a busy machine a browser may be late for what a test waits for."""
    if "browser" not in item.keywords:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, log=False, nextitem=nextitem)
    for _ in range(MORE_TRIES):
        if not any(report.failed for report in reports):
            break
        why = next(report.longreprtext for report in reports if report.failed)
        item.warn(pytest.PytestWarning(f"{item.nodeid} failed once:\n{why[-1500:]}"))
        item._initrequest()  # type: ignore[attr-defined]
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server keeps its runs."""
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="session")
def example(folder: Path) -> str:
    """The id of a bundled run with expansions; the store holds them all before the server does."""
    store = Store.open(f"sqlite:///{folder}/runs.db")
    import_bundled(store)
    rows = store.list_runs(RunFilter(search="Sphere, the paper's setting"))
    store.close()
    return next(row.id for row in rows if row.seed == 1)


@pytest.fixture(scope="session")
def server(folder: Path, example: str) -> Iterator[str]:
    """The app's address."""
    chromium()
    settings = folder / "settings.toml"
    settings.touch()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {**os.environ, "DSEBO_DB": f"sqlite:///{folder}/runs.db", "DSEBO_SETTINGS": str(settings)}
    command = [
        sys.executable,
        "-m",
        "dsebo.ui.serve",
        "run",
        "app.py",
        "--server.port",
        str(port),
        "--server.address",
        "127.0.0.1",
    ]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=log, stderr=log)
        try:
            _wait(f"http://127.0.0.1:{port}/_stcore/health", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=20)
    assert "Traceback" not in (folder / "log").read_text()


def _wait(address: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        if process.poll() is not None:
            raise RuntimeError("The server ended before it was ready.")
        try:
            urllib.request.urlopen(address, timeout=1)
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError("The server was not ready within a minute.")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One Chromium for all tests."""
    path = chromium()
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def seed() -> int:
    """The first of ten that no other test, and no earlier try of this one, has launched a run with."""
    return next(_seeds)


@pytest.fixture(scope="session")
def window(browser: Any) -> Iterator[Any]:
    """One for all tests: in a new one Chromium compiles plotly.js again, seconds of CPU each."""
    opened = browser.new_context(
        viewport={"width": 1280, "height": 900}, accept_downloads=True, color_scheme="light"
    )
    yield opened
    opened.close()


@pytest.fixture
def page(window: Any) -> Iterator[Any]:
    """A new tab of somebody who was never here. An error of the page fails the test."""
    opened = window.new_page()
    opened.set_default_timeout(30_000)
    errors: list[str] = []
    elsewhere: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("request", lambda request: elsewhere.append(request.url))
    yield opened
    at = urlsplit(opened.url)
    if at.scheme == "http":
        left = {"origin": f"http://{at.netloc}", "storageTypes": "cookies,local_storage"}
        window.new_cdp_session(opened).send("Storage.clearDataForOrigin", left)
    opened.close()
    assert errors == []
    away = [u for u in elsewhere if not u.startswith(("http://127.0.0.1", "data:", "blob:"))]
    assert away == []  # nothing is fetched from elsewhere
