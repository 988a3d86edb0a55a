"""The wheel, installed outside any checkout: the terminal and the dashboard work from an empty folder."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

import dsebo
from tests.browser.looks import press, settle, wait_for_chart
from tests.copies import ROOT
from tests.processes import answers, free_port, start
from tests.small import wait_for
from tests.wheels import build_wheel, install_alone

SMALL = "D=40&d_e=4&d_h=12&budget=20&method=random"
CONFIG: dict[str, Any] = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


def test_it_holds_the_software_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert wheel.name == f"dsebo-{dsebo.__version__}-py3-none-any.whl"
    tops = {name.split("/")[0] for name in names}
    assert tops == {"dsebo", f"dsebo-{dsebo.__version__}.dist-info"}
    held = set(names)
    tracked = subprocess.run(
        ["git", "ls-files", "dsebo", "objectives", "pages", "app.py", ".streamlit"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    for file in tracked:
        path = ROOT / file
        if not path.is_symlink():
            homes = {"dsebo": "", "objectives": "dsebo/"}  # all else belongs to the dashboard
            assert homes.get(Path(file).parts[0], "dsebo/_app/") + file in held


@pytest.mark.browser
def test_it_is_used_from_an_empty_folder(wheel: Path, tmp_path: Path, page: Any) -> None:
    env = install_alone(wheel, tmp_path / "site") | {"DSEBO_DB": str(tmp_path / "runs.db")}
    empty = tmp_path / "empty"
    empty.mkdir()

    def call(*words: str) -> str:
        done = subprocess.run(words, cwd=empty, env=env, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert call("dsebo", "--version") == f"dsebo {dsebo.__version__}\n"
    assert str(tmp_path / "site") in call("python", "-c", "import dsebo; print(dsebo.__file__)")
    settings = ["--method", "random", "--D", "40", "--d-e", "4", "--budget", "5", "--name", "first"]
    call("dsebo", "run", *settings)
    assert "first" in call("dsebo", "runs")

    port = free_port()
    server = start(["dsebo", "app", "--port", str(port), "--no-browser"], cwd=empty, env=env)
    try:
        wait_for(lambda: answers(port), 90)
        with socket.socket() as elsewhere:  # this machine too, but not the address that it listens on
            assert elsewhere.connect_ex(("127.0.0.2", port)) != 0
        page.goto(f"http://127.0.0.1:{port}/?{SMALL}")
        settle(page)
        colour = page.get_by_role("button", name="Launch").evaluate(
            "b => getComputedStyle(b).backgroundColor"
        )
        assert colour == f"rgb{_parts(CONFIG['theme']['light']['primaryColor'])}"
        press(page, "Launch")
        page.wait_for_url(re.compile("run=[0-9a-f]+"))
        wait_for_chart(page)
        page.get_by_text("20 of 20 evaluations").first.wait_for()
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 0
    finally:
        server.kill()
        server.wait()
    assert call("dsebo", "runs").count("finished") == 2
    assert list(empty.iterdir()) == []


def _parts(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))
