"""The examples: each is a problem that `dsebo app` can open, and does what its words say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from dsebo.cli import app
from objectives.own import Source, UserFunction

EXAMPLES = Path(__file__).parents[2] / "examples"
PROBLEMS = {
    "plain_function.py:f": Source(f"{EXAMPLES}/plain_function.py:f", (-5.0, 10.0), 200),
    "pipeline.py:problem": Source(f"{EXAMPLES}/pipeline.py:problem"),
    "simulator.py:problem": Source(f"{EXAMPLES}/simulator.py:problem"),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_an_example_has_a_value_at_its_centre(name: str) -> None:
    problem = PROBLEMS[name].load()
    objective = UserFunction(problem.f, *problem.limits)
    assert np.isfinite(objective.at_centre())
    assert f"examples/{name}" in (EXAMPLES / name.split(":")[0]).read_text()


def test_the_simulator_fails_sometimes() -> None:
    problem = PROBLEMS["simulator.py:problem"].load()
    lower, upper = problem.limits
    failed = 0
    for x in np.random.default_rng(0).uniform(lower, upper, (30, lower.size)):
        try:
            problem.f(x)
        except FloatingPointError:
            failed += 1
    assert 3 <= failed <= 27


def test_the_optuna_study_says_its_best_value() -> None:
    pytest.importorskip("optuna")
    script = EXAMPLES / "optuna_study.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=EXAMPLES.parent)
    assert re.fullmatch(r"best of 30 trials: \d\.\d{4}\n", done.stdout), done.stderr
    assert f"examples/{script.name}" in script.read_text()


def call(name: str, folder: Path, *words: str) -> str:
    """What an example prints, started in a folder of its own."""
    env = {**os.environ, "PYTHONPATH": str(EXAMPLES.parent)}
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *words], cwd=folder, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_by_itself_and_by_its_command(name: str, tmp_path: Path) -> None:
    script, _, _ = name.partition(":")
    assert "evaluations" in call(script, tmp_path)
    commands = re.findall(r"^ *dsebo (run .*)$", (EXAMPLES / script).read_text(), flags=re.M)
    for words in commands:
        shown = CliRunner().invoke(app, [*words.split(), "--budget", "4", "--no-store"])
        assert shown.exit_code == 0, shown.stderr


@pytest.mark.slow
def test_a_loop_of_ones_own_chooses_points_in_subspaces_that_grow(tmp_path: Path) -> None:
    said = call("own_loop.py", tmp_path)
    assert "stalled" in said
    (found,) = re.findall(r"best (\S+) after 24 evaluations; the first 5 had (\S+)$", said, flags=re.M)
    assert float(found[0]) < 0.2 * float(found[1])


@pytest.mark.slow
def test_a_sweep_from_python(tmp_path: Path) -> None:
    said = call("sweep.py", tmp_path)
    assert re.search(r"^16\.0 +3\.0", said, flags=re.M)
    assert "β" in said
    assert call("sweep.py", tmp_path) == said  # from the store


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_history(tmp_path: Path) -> None:
    said = call("resume.py", tmp_path)
    assert "it is interrupted" in said
    assert "60 values after it was resumed; all the same: True." in said


@pytest.mark.slow
@pytest.mark.postgres
def test_a_dask_cluster_on_loopback(tmp_path: Path, postgres_url: str) -> None:
    pytest.importorskip("distributed")
    assert call("dask_cluster.py", tmp_path, postgres_url).count("finished") == 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain_function.py", "pipeline.py", "simulator.py"])
def test_a_script_says_what_it_found(name: str, tmp_path: Path) -> None:
    assert re.search(r"\d", call(name, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["compare", "floors"])
def test_a_notebook(name: str) -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    book = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in book.cells), "kept without what it printed"
    nbclient.NotebookClient(
        book, timeout=280, resources={"metadata": {"path": str(EXAMPLES.parent)}}
    ).execute()
    outputs = [output for cell in book.cells for output in cell.get("outputs", ())]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert "application/vnd.jupyter.widget-view+json" in kinds
    assert "text/html" in kinds


def test_there_are_eight_scripts_and_two_notebooks() -> None:
    assert len(list(EXAMPLES.glob("*.py"))) == 8
    assert len(list(EXAMPLES.glob("*.ipynb"))) == 2
