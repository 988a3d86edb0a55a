"""The wheel with all its dependencies, in new environments outside any checkout."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import dsebo
from tests.processes import ROOT, answers, free_port, start
from tests.small import wait_for
from tests.wheels import build_wheel

MINIMIZE = "from dsebo import minimize; print(minimize(lambda x: float(x[0]), [(0, 1)] * 9, budget=4).nfev)"
RUN = ["--method", "dsebo", "--D", "40", "--d-e", "4", "--d-h", "12", "--budget", "8", "--name", "first"]
PINNED = ROOT / "constraints.txt"
OTHERS = [f"python3.{minor}" for minor in range(11, 20) if minor != sys.version_info.minor]

pytestmark = [pytest.mark.slow, pytest.mark.packaging, pytest.mark.timeout(3000)]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that is gone afterwards: an environment takes gigabytes."""
    yield tmp_path
    shutil.rmtree(tmp_path)


def test_it_is_installed_whole_and_used(folder: Path) -> None:
    install_and_use(sys.executable, PINNED, folder)


@pytest.mark.parametrize("python", OTHERS)
def test_it_is_installed_and_used_by_other_pythons_that_are_there(python: str, folder: Path) -> None:
    if subprocess.run(["sh", "-c", f"{python} --version"], capture_output=True).returncode:
        pytest.skip(f"{python} is not there.")
    if os.environ.get("CI"):
        pytest.skip("Torch for another Python comes with CUDA: 3 GB and half an hour.")
    install_and_use(python, PINNED, folder)


def test_it_is_used_with_the_least_versions_that_it_names(folder: Path) -> None:
    """But for torch, which stays the one that histories were made with."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [*project["dependencies"], *project["optional-dependencies"]["app"]]
    least = [each.replace(">=", "==") for each in named if not each.startswith("torch>")]
    torch = [line for line in PINNED.read_text().splitlines() if line.startswith("torch==")]
    file = folder / "least.txt"
    file.write_text("\n".join(least + torch))
    install_and_use(sys.executable, file, folder)


def install_and_use(python: str, constraints: Path, folder: Path) -> None:
    """First the library alone, then with the dashboard."""
    environment, empty = folder / "environment", folder / "empty"
    empty.mkdir()
    subprocess.run([python, "-m", "venv", str(environment)], check=True)
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    env |= {"PATH": f"{environment / 'bin'}:/usr/bin:/bin", "DSEBO_DB": str(folder / "runs.db")}

    def call(*words: str, code: int = 0) -> str:
        done = subprocess.run(words, cwd=empty, env=env, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    pip = ("python", "-m", "pip", "install", "-q", "--disable-pip-version-check")
    pinned = ("-c", str(constraints))
    if subprocess.run([*pip, "--dry-run", "numpy"], cwd=empty, env=env, capture_output=True).returncode:
        pytest.skip("No package index is reachable from here.")
    wheel = build_wheel(folder)
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
