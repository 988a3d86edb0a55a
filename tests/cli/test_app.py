"""`dsebo app` from a folder that has nothing of the checkout, and `dsebo --version`."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import dsebo
from dsebo.cli import app
from dsebo.cli.classroom import EVERYWHERE, describe_class, make_settings
from dsebo.cli.dashboard import KEPT_SECONDS, LOOPBACK, _options
from dsebo.qr import qr_blocks
from dsebo.settings import Settings
from tests.processes import ROOT, anywhere, free_port, start
from tests.processes import dsebo as command
from tests.small import wait_for


def health(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://{LOOPBACK}:{port}/_stcore/health", timeout=5) as answer:
            return bool(answer.read() == b"ok")
    except OSError:
        return False


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def server(tmp_path: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    """The dashboard, started in an empty folder."""
    folder = tmp_path / "empty"
    folder.mkdir()
    words = command("app", "--port", str(port), "--no-browser")
    process = start(
        words,
        cwd=folder,
        env=anywhere(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    yield process
    process.kill()
    process.wait()


def test_it_answers_on_loopback_and_ends_on_ctrl_c(
    server: subprocess.Popen[str], port: int, tmp_path: Path
) -> None:
    wait_for(lambda: health(port), 60)
    with socket.socket() as elsewhere:  # 127.0.0.2 is this machine too, but not the address it listens on
        assert elsewhere.connect_ex(("127.0.0.2", port)) != 0
    wait_for((tmp_path / "data" / "dsebo" / "runs.db").is_file, 60)  # it has opened its first page by itself
    os.killpg(server.pid, signal.SIGINT)  # as from a terminal: the web server gets it twice
    said, _ = server.communicate(timeout=60)
    assert server.returncode == 0, said
    assert f"http://{LOOPBACK}:{port}" in said
    assert "Traceback" not in said
    assert "Aborted" not in said
    wait_for(lambda: not health(port), 20)


def test_the_shipped_settings_are_handed_over() -> None:
    words = _options(Settings(), 8600)
    options = dict(zip(words[::2], words[1::2], strict=True))
    shipped: dict[str, Any] = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    assert options["--server.address"] == LOOPBACK
    assert shipped["server"]["address"] == LOOPBACK  # for `streamlit run app.py`
    assert options["--server.port"] == "8600"
    assert options["--server.maxUploadSize"] == str(shipped["server"]["maxUploadSize"])
    words = _options(Settings(mode="class"), 8600)
    assert words[words.index("--server.maxUploadSize") + 1] == "5"
    assert options["--theme.light.primaryColor"] == shipped["theme"]["light"]["primaryColor"]
    assert options["--theme.showSidebarBorder"] == "true"
    assert options["--browser.gatherUsageStats"] == "false"


def test_streamlit_takes_them_in_an_empty_folder(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "streamlit", "config", "show", *_options(Settings(), 8600)]
    shown = subprocess.run(words, cwd=tmp_path, env=anywhere(), capture_output=True, text=True, check=True)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown.stdout)
    config = tomllib.loads(plain[plain.index("[global]") :])  # after a line for people
    shipped: dict[str, Any] = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    assert config["server"]["maxUploadSize"] == shipped["server"]["maxUploadSize"]
    assert config["server"]["address"] == LOOPBACK
    assert config["theme"]["light"]["primaryColor"] == shipped["theme"]["light"]["primaryColor"]
    assert config["theme"]["dark"]["sidebar"] == shipped["theme"]["dark"]["sidebar"]


def test_where_few_files_may_be_open_sessions_without_a_browser_are_soon_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = "--server.disconnectedSessionTTL"
    assert kept not in _options(Settings(), 8600)
    monkeypatch.setattr(sys.modules[_options.__module__], "raise_open_files", lambda: 256)
    words = _options(Settings(), 8600)
    assert words[words.index(kept) + 1] == str(KEPT_SECONDS)


def test_a_port_that_is_taken_is_refused() -> None:
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        port = taken.getsockname()[1]
        shown = CliRunner().invoke(app, ["app", "--port", str(port), "--no-browser"])
    assert shown.exit_code == 2
    assert f"Port {port} cannot be used" in shown.stderr


def test_a_class_is_answered_from_the_network() -> None:
    words = _options(Settings(address=EVERYWHERE), 8600)
    assert words[words.index("--server.address") + 1] == EVERYWHERE


def test_version() -> None:
    shown = CliRunner().invoke(app, ["--version"])
    assert (shown.exit_code, shown.stdout) == (0, f"dsebo {dsebo.__version__}\n")


def test_class_mode_is_opened_on_purpose_and_finds_what_it_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "new" / "class.toml"
    monkeypatch.setenv("DSEBO_SETTINGS", str(file))
    made = make_settings()
    assert (made.mode, made.address) == ("class", EVERYWHERE)
    assert len(made.lecturer_token) >= 16
    assert file.stat().st_mode & 0o077 == 0
    assert make_settings() == made
    words = describe_class(made, 8600)
    link = re.search(r"http://\S+", words)
    assert link
    assert link[0].endswith(f":8600/?join={made.join_code}")
    assert qr_blocks(link[0]) in words
    assert made.lecturer_token in words
    assert "websocket upgrade" in words
    assert "X-Forwarded-For" in words


def test_what_a_settings_file_says_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "class.toml"
    monkeypatch.setenv("DSEBO_SETTINGS", str(file))
    file.write_text('address = "127.0.0.1"  # nginx\nslots = 3\n[limits.owner]\nactive = 2\n')
    made = make_settings()
    assert (made.address, made.slots, made.owner_limits.active) == ("127.0.0.1", 3, 2)
    assert "# nginx" in file.read_text()


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ('mode = "class"', [], "A class needs join_code and lecturer_token: dsebo app --class makes"),
        ('mode = "class"\njoin_code = "join-this-class"', [], "A class needs lecturer_token"),
        ('mode = "local"', ["--class"], 'says mode = "local": --class needs'),
        ('lecturer_token = "chalk"', ["--class"], "at least 16 characters; this makes one: python -c"),
        ('join_code = ""', ["--class"], "join_code is empty"),
    ],
)
def test_a_class_without_code_or_token_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, words: list[str], said: str
) -> None:
    (tmp_path / "class.toml").write_text(text)
    monkeypatch.setenv("DSEBO_SETTINGS", str(tmp_path / "class.toml"))
    shown = CliRunner().invoke(app, ["app", "--no-browser", *words])
    assert shown.exit_code != 0
    assert said in shown.stderr + str(shown.exception)


def test_systemd_takes_the_documented_service(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd is not installed: the service cannot be checked.")
    documented = re.search(r"```ini\n(.*?)```", (ROOT / "docs" / "teaching.md").read_text(), re.DOTALL)
    assert documented
    words = documented[1].replace("/srv/dsebo/.venv/bin/dsebo", f"{sys.executable} -m dsebo")
    assert CliRunner().invoke(app, ["app", "--class", "--no-browser", "--help"]).exit_code == 0
    assert "-m dsebo app --class --no-browser\n" in words
    unit = tmp_path / "dsebo.service"
    unit.write_text(words)
    done = subprocess.run([analyze, "verify", str(unit)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
