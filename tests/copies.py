"""A copy of the software in a folder of its own, to be changed and tried in another process."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def copied_software(folder: Path) -> Path:
    """The packages and the dashboard, copied into a new folder; what is a link there is one here."""
    ignore = shutil.ignore_patterns("__pycache__")
    for package in ("dsebo", "objectives", "pages", ".streamlit"):
        shutil.copytree(ROOT / package, folder / package, ignore=ignore, symlinks=True)
    shutil.copy(ROOT / "app.py", folder)
    return folder


def insert_after(path: Path, line: str, added: str) -> None:
    """One more line after a line of a file."""
    text = path.read_text(encoding="utf-8")
    assert line in text, f"{path} has no line {line!r}"
    path.write_text(text.replace(line, f"{line}\n{added}", 1), encoding="utf-8")


def python_in(folder: Path, *arguments: str) -> str:
    """What a process of the copied software prints; it must end well."""
    command = [sys.executable, *arguments]
    environment = {"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    environment["DSEBO_DB"] = f"sqlite:///{folder}/own.db"
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout
