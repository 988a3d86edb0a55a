"""What the README shows can be run as it stands."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import dsebo
from dsebo.cli import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, flags=re.S)


@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_python(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out


def test_commands_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", README, flags=re.M):
        assert re.search(rf"^{target}:", makefile, flags=re.M)
    listed = CliRunner().invoke(app, ["--help"])
    for command in set(re.findall(r"^dsebo (\w+)", README, flags=re.M)):
        assert f" {command} " in listed.stdout


def test_files_that_are_named_are_there() -> None:
    for path in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / path).exists(), path


def test_modules_that_are_named_are_there() -> None:
    for path in re.findall(r"`((?:dsebo|objectives|benchmarks)/[\w/.]*)`", README):
        assert (ROOT / path).exists(), path
    for module in re.findall(r"python -m (dsebo[\w.]*|benchmarks[\w.]*)", README):
        assert (ROOT / f"{module.replace('.', '/')}.py").exists() or (ROOT / module / "__main__.py").exists()


def test_the_version_is_the_same_wherever_it_is_said() -> None:
    assert f"\nversion: {dsebo.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+?),? ", changes + " ", flags=re.M)[0] == dsebo.__version__
