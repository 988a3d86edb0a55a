"""A method is one file and one line: a toy one joins a copy of the tree and is seen everywhere."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.copies import ROOT, copied_software, insert_after, python_in

pytestmark = pytest.mark.slow  # eight processes, each with the imports of its own

TESTS = ("__init__.py", "conformance.py", "methods/__init__.py", "methods/test_conformance.py")

FILE = '''
"""Steps around the best point."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dsebo.methods.base import Candidate, MethodConfig, Optimizer, stream
from dsebo.objectives.fields import setting


class ToyConfig(MethodConfig):
    """A random walk."""

    label = "Toy walk"
    method: Literal["toy"] = "toy"
    stride: float = setting(0.1, "Stride of the toy", gt=0, le=1)
    """How far a step goes."""

    def build(self, D: int, budget: int, seed: int) -> Toy:
        """See `MethodConfig.build`."""
        return Toy(self, D, seed)


class Toy(Optimizer):
    """Normal steps from the best point so far."""

    def __init__(self, config: ToyConfig, D: int, seed: int) -> None:
        super().__init__(D, seed)
        self.stride = config.stride

    def next_point(self) -> Candidate:
        """A step away from the best point."""
        t = len(self.observed) + 1
        rng = stream(self.seed, t)
        if not self.observed.any_finite:
            x = rng.uniform(-1.0, 1.0, size=self.D)
        else:
            best = self.observed.points[int(np.nanargmin(self.observed.values))]
            x = np.clip(best + self.stride * rng.standard_normal(self.D), -1.0, 1.0)
        return Candidate(t, x, x)
'''
BEFORE = "from dsebo.methods.dcem import DcemConfig"
LINE = "from dsebo.methods.toy import ToyConfig"

FORM = """
from streamlit.testing.v1 import AppTest

at = AppTest.from_file("app.py", default_timeout=60)
at.query_params["method"] = "random"  # an empty store would open Learn
at.run()
assert not at.exception, at.exception
methods = next(box for box in at.selectbox if "Toy walk" in box.options)
at = methods.select("toy").run()
assert not at.exception, at.exception
labels = [widget.label for kind in ("number_input", "text_input", "slider") for widget in at.get(kind)]
assert any("Stride of the toy" in label for label in labels), labels
"""
PREDICTION_AND_STYLE = """
from dsebo.charts.theme import method_style, styles_of
from dsebo.config import METHODS, RunConfig, predict

config = RunConfig.parse({"optimizer": {"method": "toy", "stride": 0.2}})
cost, longer = predict(config), predict(config, 5000)
assert 0 < cost.seconds < longer.seconds
assert 0 < cost.memory_bytes < longer.memory_bytes
assert len({method_style(method) for method in METHODS}) == len(METHODS)
assert styles_of({"Toy walk": "toy"})["Toy walk"] == method_style("toy")
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with one file and one line more."""
    root = copied_software(tmp_path_factory.mktemp("tree"))
    shutil.copy(ROOT / "pyproject.toml", root)
    for name in TESTS:
        (root / "tests" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "tests" / name, root / "tests" / name)
    (root / "dsebo/methods/toy.py").write_text(FILE, encoding="utf-8")
    insert_after(root / "dsebo/methods/__init__.py", BEFORE, LINE)
    return root


def test_the_terminal_lists_it_where_its_line_stands(tree: Path) -> None:
    shown = python_in(tree, "-m", "dsebo", "methods")
    assert "toy: Toy walk" in shown
    assert "--stride" in shown
    assert shown.index("dcem: ") < shown.index("toy: ") < shown.index("bandit-extreme: ")


def test_the_form_offers_it_and_its_settings(tree: Path) -> None:
    python_in(tree, "-c", FORM)


def test_it_races(tree: Path) -> None:
    small = ("--D", "20", "--d-e", "3", "--budget", "5", "--seeds", "1-2", "--stride", "0.3")
    shown = python_in(tree, "-m", "dsebo", "race", "--methods", "toy,random", *small, "--json")
    assert json.loads(shown)
    assert "Toy walk, stride = 0.3" in shown


def test_it_is_in_the_conformance_suite(tree: Path) -> None:
    suite = "tests/methods/test_conformance.py"
    shown = python_in(tree, "-m", "pytest", "-q", "-k", "toy", "-p", "no:xdist", "-p", "no:randomly", suite)
    assert "100%" in shown


def test_its_cost_and_its_style_have_defaults(tree: Path) -> None:
    python_in(tree, "-c", PREDICTION_AND_STYLE)
