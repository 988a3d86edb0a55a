"""The wheel with all its dependencies, in a new environment outside any checkout."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import dsebo
from tests.processes import ROOT, answers, free_port, start
from tests.small import wait_for
from tests.wheels import build_wheel

MINIMIZE = "from dsebo import minimize; print(minimize(lambda x: float(x[0]), [(0, 1)] * 9, budget=4).nfev)"
RUN = ["--method", "dsebo", "--D", "40", "--d-e", "4", "--d-h", "12", "--budget", "8", "--name", "first"]


@pytest.mark.slow
@pytest.mark.packaging
@pytest.mark.timeout(1500)
def test_it_is_installed_whole_and_used(tmp_path: Path) -> None:
    environment, empty = tmp_path / "environment", tmp_path / "empty"
    empty.mkdir()
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    env |= {"PATH": f"{environment / 'bin'}:/usr/bin:/bin", "DSEBO_DB": str(tmp_path / "runs.db")}

    def call(*words: str, code: int = 0) -> str:
        done = subprocess.run(words, cwd=empty, env=env, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    pip = ("python", "-m", "pip", "install", "-q", "--disable-pip-version-check")
    pinned = ("-c", str(ROOT / "constraints.txt"))
    if subprocess.run([*pip, "--dry-run", "numpy"], cwd=empty, env=env, capture_output=True).returncode:
        pytest.skip("No package index is reachable from here.")
    wheel = build_wheel(tmp_path)
    call(*pip, *pinned, str(wheel))
    assert call("dsebo", "--version") == f"dsebo {dsebo.__version__}\n"
    assert str(environment) in call("python", "-c", "import dsebo; print(dsebo.__file__)")
    assert call("python", "-c", MINIMIZE) == "4\n"
    call("dsebo", "run", *RUN)
    assert "first" in call("dsebo", "runs")
    assert "pip install 'dsebo[app]'" in call("dsebo", "app", code=2)
    assert "streamlit" not in call("python", "-m", "pip", "list")

    call(*pip, *pinned, f"{wheel}[app]")
    port = free_port()
    server = start(["dsebo", "app", "--port", str(port), "--no-browser"], cwd=empty, env=env)
    try:
        wait_for(lambda: answers(port), 120)
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 0
    finally:
        server.kill()
        server.wait()
