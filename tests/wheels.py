"""The package as a user gets it: a wheel, and a folder that it is installed into."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.copies import ROOT, copied_software


def build_wheel(folder: Path) -> Path:
    """The wheel of this tree, built from a copy; with the setuptools that are here, so without a network."""
    source = copied_software(folder / "source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    _pip("wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(folder), str(source))
    (wheel,) = folder.glob("dsebo-*.whl")
    return wheel


def install_alone(wheel: Path, folder: Path) -> dict[str, str]:
    """Install it without its dependencies; an environment in which it is found beside those of the tests."""
    _pip("install", "--no-deps", "--no-index", "--target", str(folder), str(wheel))
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PYTHONPATH": str(folder), "PATH": path}


def _pip(*words: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *words]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
