"""What the documents show can be run as it stands, and what they link to is there."""

from __future__ import annotations

import os
import re
import runpy
import signal
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import dsebo
from dsebo.cli import app
from dsebo.experiments.spec import ExperimentSpec
from dsebo.lessons import parse_lesson
from dsebo.paper.presets import PRESETS
from dsebo.settings import ImportLimits, Limits, LimitSettings, Settings
from tests.processes import ROOT, free_port, start

DOCS = sorted((ROOT / "docs").glob("*.md"))
FILES = [ROOT / "README.md", *(file for file in DOCS if file.name != "README.md")]
BLOCK = re.compile(r"^(?:<!-- (slow) -->\n)?( *)```(\w+)\n(.*?)^ *```$", flags=re.S | re.M)
QUICK = {"README", "quick-start"}  # whose commands and code the suite runs; the others' are proofs


@dataclass(frozen=True)
class Block:
    """One piece of code of a document."""

    file: str
    when: str  # "" or "slow"
    language: str
    code: str


def blocks(file: Path) -> list[Block]:
    found = BLOCK.findall(file.read_text(encoding="utf-8"))
    return [
        Block(file.stem, when, language, re.sub(f"^{indent}", "", code, flags=re.M))
        for when, indent, language, code in found
    ]


ALL = [block for file in FILES for block in blocks(file)]


def environment(folder: Path) -> dict[str, str]:
    """`dsebo` and `python` are this checkout's, and runs are kept in that folder."""
    tools = folder / "tools"
    tools.mkdir()
    (tools / "dsebo").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dsebo "$@"\n')
    (tools / "dsebo").chmod(0o755)
    (tools / "python").symlink_to(sys.executable)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "DSEBO_DB": str(folder / "own.db")}


def run_shell(code: str, folder: Path) -> None:
    """Every line but those that install; a dashboard is ended as soon as it says where it is."""
    env = environment(folder)
    lines = [line for line in code.splitlines(keepends=True) if not line.startswith(("pip ", "make ", ". "))]
    apps = [line for line in lines if line.startswith("dsebo app")]
    rest = "".join(line for line in lines if line not in apps)
    rest = re.sub(r" \| head -\d+", "", rest)  # it ends a command that would write more
    done = subprocess.run(
        ["bash", "-euc", f"set -o pipefail\n{rest}"], cwd=folder, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for line in apps:
        words = [*line.split(), "--port", str(free_port()), "--no-browser"]
        own = {"DSEBO_SETTINGS": str(folder / "class.toml")} if "--class" in line else {}
        server = start(words, cwd=folder, env=env | own, stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            assert "The dashboard is at http://" in server.stdout.readline()
            server.send_signal(signal.SIGINT)
            assert server.wait(60) == 0
        finally:
            server.kill()
            server.wait()


def check(block: Block, folder: Path) -> None:
    if block.language == "sh":
        run_shell(block.code, folder)
    elif block.language == "python":
        env = environment(folder)
        done = subprocess.run(
            [sys.executable, "-c", block.code], cwd=folder, env=env, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout
    elif block.language == "toml":
        shown = tomllib.loads(block.code)
        settings = Settings.parse(shown)
        of_limits = shown.pop("limits")
        assert {*shown, "limits"} == set(Settings.model_fields), "every key is explained"
        assert set(of_limits) == set(LimitSettings.model_fields)
        assert set(of_limits["owner"]) == set(Limits.model_fields)
        assert set(of_limits["imports"]) == set(ImportLimits.model_fields)
        plain = Settings(mode="class")
        assert settings.owner_limits == plain.owner_limits, "a class's defaults, as the page says"
        assert settings.import_limits == plain.import_limits
        for name in ("active", "queued"):
            assert getattr(settings.all_limits, name) == getattr(plain.all_limits, name)
        assert settings.room_size == plain.room_size
    elif block.language == "yaml":
        spec = ExperimentSpec.from_yaml(block.code)
        assert (spec.name, spec.total) == ("Expansion scale", 4 * 4 * 10)
    elif block.language == "lesson":
        assert parse_lesson("own", block.code).runs
    elif block.language == "ini":
        words = re.search(r"^ExecStart=\S+/dsebo (.+)$", block.code, flags=re.M)
        assert words is not None
        subprocess.run([sys.executable, "-m", "dsebo", *words[1].split(), "--help"], check=True, cwd=ROOT)
    else:
        assert block.language == "nginx"  # tests/cli/test_proxy.py runs it


def named(kept: list[Block]) -> Any:
    ids = [f"{block.file}-{block.language}-{i}" for i, block in enumerate(kept)]
    return pytest.mark.parametrize("block", kept, ids=ids)


def is_quick(block: Block) -> bool:
    heavy = block.language in ("sh", "python", "ini")
    return not block.when and (not heavy or (block.file in QUICK and "dsebo app" not in block.code))


@named([block for block in ALL if is_quick(block)])
def test_a_block(block: Block, tmp_path: Path) -> None:
    check(block, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(900)  # many processes, one after another
@named([block for block in ALL if not is_quick(block)])
def test_a_block_that_takes_longer(block: Block, tmp_path: Path) -> None:
    check(block, tmp_path)


def test_modules_files_and_presets_that_are_named_are_there() -> None:
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        for path in re.findall(r"`((?:dsebo|objectives|benchmarks)/[\w/.]*)`", text):
            assert (ROOT / path).exists(), path
        for module in re.findall(r"python -m (dsebo[\w.]*|benchmarks[\w.]*)", text):
            path = ROOT / module.replace(".", "/")
            assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module
        assert set(re.findall(r"--preset ([\w-]+)", text)) <= {"KEY", *(preset.key for preset in PRESETS)}


def test_commands_that_are_named_are_there() -> None:
    listed = CliRunner().invoke(app, ["--help"]).stdout
    for file in FILES:
        for command in re.findall(r"(?:^|`)dsebo ([a-z]+)", file.read_text(encoding="utf-8"), flags=re.M):
            assert f" {command} " in listed, file.name


def test_the_version_is_the_same_wherever_it_is_said() -> None:
    assert f"\nversion: {dsebo.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+?),? ", changes + " ", flags=re.M)[0] == dsebo.__version__


def test_what_is_installed_or_made_is_there() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    makefile = (ROOT / "Makefile").read_text()
    for block in ALL:
        for extras in re.findall(r"^pip install 'dsebo\[(.*)\]'", block.code, flags=re.M):
            assert set(extras.split(",")) <= set(project["optional-dependencies"])
        for target in re.findall(r"^make (\w+)", block.code, flags=re.M):
            assert re.search(rf"^{target}:", makefile, flags=re.M)
        for version in re.findall(r"dsebo-([\d.]+)-py3", block.code):
            assert version == dsebo.__version__


def test_links_lead_somewhere() -> None:
    broken_links = runpy.run_path(str(ROOT / "docs" / "build.py"))["broken_links"]
    others = [
        ROOT / name for name in ("CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md", "docs/README.md")
    ]
    wrong = [link for file in [*FILES, *others] for link in broken_links(file, file.read_text())]
    assert wrong == []
    index = (ROOT / "docs" / "README.md").read_text()
    assert all(file.name in index for file in DOCS if file.name != "README.md")


@pytest.mark.slow
def test_the_pages_are_built_with_every_command_and_the_api(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "docs/build.py", str(tmp_path / "pages")],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    pages = list((tmp_path / "pages").glob("*.html"))
    assert {page.stem for page in pages} == {file.stem for file in DOCS}
    for page in pages:
        links = re.findall(r"""(?:href|src)=["'](?!\w+:|#)([^"'#]+)""", page.read_text())
        assert [link for link in links if not (page.parent / link).exists()] == [], page.name
    terminal = (tmp_path / "pages" / "terminal.html").read_text()
    for words in ("dsebo sweep", "--d-h", "dsebo figure", "--points"):
        assert words in terminal
    api = tmp_path / "pages" / "api"
    whole = (api / "dsebo.html").read_text()
    assert all(
        f'id="{name}"' in whole for name in ("DSEBO", "Problem", "Result", "RunConfig", "show", "watch")
    )
    for name in ("minimize", "run"):  # functions of the same name as their modules, which have a page each
        assert f'id="{name}"' in (api / "dsebo" / f"{name}.html").read_text()
