"""`dsebo evaluate`: the values of an objective at given points."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from dsebo.cli import app
from objectives import EmbeddedFunction, names

SMALL = ["--D", "6", "--d-e", "3"]


def call(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["evaluate", *words])
    assert result.exit_code == code, result.output
    return result


@pytest.mark.parametrize("function", names())
def test_every_objective_has_a_value_at_its_centre(function: str) -> None:
    (row,) = json.loads(call("--function", function, "--constant", "0", "--json").stdout)
    assert list(row) == ["y"]
    assert isinstance(row["y"], float)


def test_points_of_a_file_with_and_without_names(tmp_path: Path) -> None:
    points = np.random.default_rng(0).uniform(-1, 1, (3, 6))
    values = EmbeddedFunction("levy", 6, 3)(points)
    file = tmp_path / "points.csv"
    np.savetxt(file, points, delimiter=",", fmt="%.17g")
    found = json.loads(call("--function", "levy", *SMALL, "--at", str(file), "--json").stdout)
    assert [row["y"] for row in found] == list(values)
    file.write_text("a,b,c,d,e,f\n" + file.read_text())
    shown = call("--function", "levy", *SMALL, "--at", str(file)).stdout.split()
    assert [float(line) for line in shown] == pytest.approx(values, rel=1e-11)


def test_an_objective_comes_from_a_file_too(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    objective = {"kind": "embedded", "name": "levy", "D": 6, "d_e": 3}
    for config in (objective, {"objective": objective, "optimizer": {"method": "dsebo", "d_h": 4}}):
        file.write_text(json.dumps(config))
        shown = call("--config", str(file), "--c", "1", "--constant", "0.5").stdout
        assert float(shown) == pytest.approx(EmbeddedFunction("levy", 6, 3, c=1.0)(np.full((1, 6), 0.5))[0])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0,0,0,0,0\n", "line 1: a point must have 6 columns, one for each variable (got 5)."),
        ("0,0,0,0,0,0\n0,0,0,0,0,1.5\n", "line 2: a coordinate must be a number from -1 to 1 (got '1.5')."),
        ("0,0,0,0,0,nan\n", "line 1: a coordinate must be a number from -1 to 1 (got 'nan')."),
        ("0,0,0,0,0,-inf\n", "line 1: a coordinate must be a number from -1 to 1 (got '-inf')."),
        ("0,0,0,zero,0,0\n", "line 1: a coordinate must be a number from -1 to 1 (got 'zero')."),
        ("a,b,c,d,e,f\n", "has no points."),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "points.csv"
    file.write_text(text)
    shown = " ".join(call(*SMALL, "--at", str(file), code=2).output.split())
    assert words in shown


def test_a_file_as_excel_writes_it(tmp_path: Path) -> None:
    file = tmp_path / "points.csv"
    file.write_bytes(b"\xef\xbb\xbf0.1\r\n0.2\r\n")
    given = ["--function", "sphere", "--D", "1", "--d-e", "1", "--at", str(file), "--json"]
    assert len(json.loads(call(*given).stdout)) == 2
    file.write_text("0.1;0.2\n")
    refused = call("--function", "sphere", "--D", "2", "--d-e", "1", "--at", str(file), code=2)
    assert "line 1: a point must have 2 columns" in " ".join(refused.output.split())


def test_a_value_that_is_not_finite_has_failed(tmp_path: Path) -> None:
    (tmp_path / "far.py").write_text("def f(x):\n    return float('inf')\n")
    given = [
        "--function",
        f"{tmp_path / 'far.py'}:f",
        "--bounds=0,1",
        "--D",
        "2",
        "--constant",
        "0",
        "--json",
    ]
    assert json.loads(call(*given, code=1).stdout) == [{"y": None, "error": "the value is inf"}]
