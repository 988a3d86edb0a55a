"""The table of the field: what it marks, and that a benchmark goes on where it stopped."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks import field
from benchmarks.results_file import ResultsFile


def row(**changes: str) -> dict[str, str]:
    usual = {"best": "3", "best_60s": "5", "seconds": "100", "megabytes": "900", "n": "500", "ended": "all"}
    return {**usual, **changes}


def test_a_run_that_hit_the_limit_or_failed_is_marked() -> None:
    assert field._cell([row()]) == "3; 5 after 60 s"
    assert field._cell([row(best_60s="3")]) == "3"
    assert field._cell([row(n="40", ended="limit")]) == "3 (limit, after 40); 5 after 60 s"
    assert field._cell([row(n="7", best_60s="3", ended="failed: no memory")]) == "3 (failed after 7)"
    assert field._cell([]) == "not run"


def test_what_is_in_the_file_is_found_again(tmp_path: Path) -> None:
    results = ResultsFile("some", ["method", "seed", "best"], 2)
    results.path = tmp_path / "some.csv"
    assert results.find("a, b", 1) is None
    results.add("a, b", 1, "2.5")
    results.add("a, b", 2, "3.5")
    assert results.find("a, b", 2) == {"method": "a, b", "seed": "2", "best": "3.5"}
    assert len(results.rows()) == 2


def test_every_evaluation_is_told_and_the_last_one_ends_the_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(field, "D", 40)
    monkeypatch.setattr(field, "BUDGET", 3)
    field.one("sphere", "random search", 1)
    lines = [field.json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["n"] for line in lines] == [1, 2, 3, 3]
    bests = [line["best"] for line in lines]
    assert bests == sorted(bests, reverse=True)
    assert np.isfinite(bests).all()


def test_a_run_is_made_again_where_it_failed_or_our_arithmetic_is_another_one() -> None:
    now = str(field.version_of("DSEBO, adaptive"))
    assert field.is_kept(row(version=now), "DSEBO, adaptive")
    assert field.is_kept(row(version=f"dsebo 0.1.0, {now.split(', ')[1]}"), "DSEBO, adaptive")
    assert not field.is_kept(row(version="dsebo 0.2.0, arithmetic 1.2"), "DSEBO, adaptive")
    assert field.is_kept(row(version="cmaes 0.11"), "CMA-ES (cmaes)")
    assert not field.is_kept(row(version="cmaes 0.11", ended="failed: no memory"), "CMA-ES (cmaes)")
    assert not field.is_kept(None, "random search")


def test_a_method_whose_package_is_missing_is_left_out_and_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(field.FIELD, "Ax", (field.ax, "no-such-package"))
    field.run(["Ax"], ["sphere"])
    assert capsys.readouterr().out == "Ax is left out: the package no-such-package is not installed.\n"


def test_a_row_is_removed_alone(tmp_path: Path) -> None:
    results = ResultsFile("some", ["method", "seed", "best"], 2)
    results.path = tmp_path / "some.csv"
    results.remove("a, b", 1)
    for seed in (1, 2):
        results.add("a, b", seed, "2.5")
    results.remove("a, b", 1)
    results.add("a, b", 3, "4")
    assert [row["seed"] for row in results.rows()] == ["2", "3"]
