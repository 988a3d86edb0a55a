"""`dsebo floor`: the floors of a setting or of a stored run."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner, Result

from dsebo.cli import app
from dsebo.parsing import read_dims
from dsebo.store.store import Store
from objectives.fields import ConfigError
from tests.small import small
from tests.transfer.files import finished


def call(url: str, *words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["floor", *words, "--db", url])
    assert result.exit_code == code, result.output
    return result


def test_in_the_terminal(store: Store, url: str) -> None:
    flags = ["--D", "40", "--d-e", "4", "--d-h", "12", "--seed", "3", "--dims", "2,6,12"]
    rows = json.loads(call(url, *flags, "--json").stdout)
    assert [row["d"] for row in rows] == [2, 6, 12]
    assert all(set(row) == {"d", "floor"} for row in rows)
    assert "upper bound" in call(url, *flags).stdout
    run_id = finished(store, small(budget=14))
    visited = sorted({int(d) for d in store.evaluations(run_id)["d"]})
    of_run = json.loads(call(url, "--run", run_id[:8], "--json").stdout)
    assert [row["d"] for row in of_run] == visited
    one = json.loads(call(url, "--run", run_id[:8], "--dims", "4", "--json").stdout)
    assert [row["d"] for row in one] == [4]


def test_what_the_terminal_refuses(url: str) -> None:
    assert "only DSEBO" in call(url, "--method", "random", code=2).output
    assert "dims must be whole numbers from 1 to d_h =" in call(url, "--dims", "101", code=2).output
    assert "from:to:step" in call(url, "--dims", "5,x", code=2).output
    assert "leave the other flags out" in call(url, "--run", "a", "--D", "9", code=2).output
    call(url, "--run", "nobody", code=2)


def test_dims_as_text() -> None:
    assert read_dims("5, 19,40:100:20") == [5, 19, 40, 60, 80, 100]
    for text in ("", "1:9:0", "-3", "5;6"):
        with pytest.raises(ConfigError, match="dims"):
            read_dims(text)
