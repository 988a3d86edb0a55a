"""What the README names is there; test_docs.py runs its code."""

import re
from pathlib import Path

from typer.testing import CliRunner

import dsebo
from dsebo.cli import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_commands_exist() -> None:
    listed = CliRunner().invoke(app, ["--help"])
    for command in set(re.findall(r"^dsebo (\w+)", README, flags=re.M)):
        assert f" {command} " in listed.stdout


def test_modules_that_are_named_are_there() -> None:
    for path in re.findall(r"`((?:dsebo|objectives|benchmarks)/[\w/.]*)`", README):
        assert (ROOT / path).exists(), path
    for module in re.findall(r"python -m (dsebo[\w.]*|benchmarks[\w.]*)", README):
        assert (ROOT / f"{module.replace('.', '/')}.py").exists() or (ROOT / module / "__main__.py").exists()


def test_the_version_is_the_same_wherever_it_is_said() -> None:
    assert f"\nversion: {dsebo.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+?),? ", changes + " ", flags=re.M)[0] == dsebo.__version__
