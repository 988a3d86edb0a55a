"""What CONTRIBUTING.md tells to add can be added by following it to the letter."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.copies import copied_software, insert_after

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^### (.*?)\n(.*?)(?=^##)", TEXT, flags=re.S | re.M))
STEP = re.compile(
    r"^(?:New file `(.+?)`|In `(.+?)`, after `(.+?)`):\n\n```(?:python)?\n(.*?)```", re.S | re.M
)
COMMANDS = re.compile(r"^```sh\n(.*?)```", re.S | re.M)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe(recipe: str, tmp_path: Path) -> None:
    copied = copied_software(tmp_path / "copy")
    steps = STEP.findall(RECIPES[recipe])
    assert steps
    for new, old, line, code in steps:
        if new:
            (copied / new).write_text(code, encoding="utf-8")
        else:
            insert_after(copied / old, line, code.rstrip("\n"))
    env = {**os.environ, "PYTHONPATH": str(copied), "DSEBO_DB": str(tmp_path / "own.db")}
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    for commands in COMMANDS.findall(RECIPES[recipe]):
        done = subprocess.run(
            ["bash", "-ec", commands], cwd=copied, env=env, capture_output=True, text=True, timeout=200
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_recipe_is_there() -> None:
    wanted = ["A method", "An objective", "A config field", "A chart", "An export format", "A subcommand"]
    assert list(RECIPES) == wanted


def test_files_that_are_named_are_there() -> None:
    before = TEXT[: TEXT.index("## How to add")]
    for path in re.findall(r"`((?:dsebo|tests|objectives)/[\w/]+\.py)`", before):
        assert (ROOT / path).exists(), path
