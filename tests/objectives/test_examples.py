"""The examples: each is a problem that `dsebo app` can open, and does what its words say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

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


@pytest.mark.slow
def test_the_loop_of_ones_own_says_what_its_model_thinks() -> None:
    script = EXAMPLES / "own_loop.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=EXAMPLES.parent)
    lines = done.stdout.splitlines()
    assert [int(line.split()[0]) for line in lines] == [12, 24], done.stderr
    assert all("the model thinks" in line for line in lines)
