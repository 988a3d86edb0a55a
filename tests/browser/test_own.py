"""A function of one's own, from its file to a finished run with its failures, in a real browser."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import ROOT, _wait, chromium
from tests.browser.looks import CHART, press, settle, shot, wait_for_chart

pytestmark = pytest.mark.browser

FILE = """
def sometimes(x):
    if x[0] > 5.0:
        raise ValueError("too hot")
    return float((x[:4] ** 2).sum())
"""


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[str]:
    """The address that `dsebo app my_problem.py:sometimes` opens."""
    chromium()
    file, settings = tmp_path / "my_problem.py", tmp_path / "settings.toml"
    file.write_text(FILE)
    settings.touch()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {
        **os.environ,
        "DSEBO_DB": f"sqlite:///{tmp_path}/runs.db",
        "DSEBO_SETTINGS": str(settings),
        "PYTHONPATH": str(ROOT),
    }
    flags = ["--bounds=-5,10", "--D", "30", "--port", str(port), "--no-browser", "--workers", "1"]
    command = [sys.executable, "-m", "dsebo", "app", f"{file}:sometimes", *flags]
    process = subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True)
    try:
        _wait(f"http://127.0.0.1:{port}/_stcore/health", process)
        assert process.stdout is not None
        said = next(line for line in process.stdout if "The dashboard is at" in line)
        yield said.split()[4].rstrip(";")
    finally:
        process.terminate()
        process.wait(timeout=30)


def test_from_its_file_to_a_finished_run(own_server: str, page: Any) -> None:
    assert own_server.endswith("/?function=my_problem%3Asometimes")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{own_server}&method=random&budget=30")
    settle(page)
    page.get_by_text("my_problem:sometimes").first.wait_for()
    press(page, "Launch")
    page.get_by_text("finished", exact=True).first.wait_for(timeout=90_000)
    page.get_by_text(re.compile("30 of 30 evaluations")).first.wait_for()
    wait_for_chart(page)
    failed = "c => document.querySelector(c).data.filter(t => t.name === 'failed').map(t => t.x.length)"
    (marked,) = page.evaluate(failed, CHART)
    assert 3 <= marked < 27  # a third of the box raises
    page.get_by_text(f"{marked} evaluations failed.").first.wait_for()
    box = page.locator(CHART).bounding_box()
    assert box["y"] <= 200
    assert box["y"] + box["height"] <= 800
    shot(page, "own-function")
