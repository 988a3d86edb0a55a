"""`dsebo race`: progress, the table with the centre and F*, JSON, and refusals in one sentence."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from dsebo.cli import app
from dsebo.config import parse_flat
from dsebo.experiments.records import list_experiments
from dsebo.parsing import config_flags
from dsebo.run import run
from dsebo.store.rows import RunFilter
from dsebo.store.store import Store
from objectives.fields import must
from tests.processes import dsebo, start

SMALL = ["--D", "40", "--d-e", "4", "--budget", "12"]


def race(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["race", *arguments])


@pytest.mark.parametrize(
    "words", [["race", "--methods", "random", "--seeds", "1-2"], ["run", "--method", "random"]]
)
def test_over_the_limits_is_refused_with_the_figure(
    words: list[str], url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("[limits.owner]\nbudget = 5\n")
    monkeypatch.setenv("DSEBO_SETTINGS", str(file))
    shown = CliRunner().invoke(app, [*words, *SMALL, "--db", url])
    assert shown.exit_code == 2
    assert "budget must be within the limit of 5 evaluations (got 12)." in shown.stderr
    store = Store.open(url)
    assert store.count_runs() == 0
    store.close()


def test_a_race_without_a_known_centre_says_nothing_of_it(url: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def f(x):\n    return float((x**2).sum())\n")
    options = ["--D", "4", "--bounds", "-5,10", "--budget", "4", "--seeds", "1-2", "--db", url]
    shown = race("--methods", "random", "--function", f"{file}:f", *options)
    assert shown.exit_code == 0, shown.stderr
    assert "\nF* is not known. Means over 2 seeds." in shown.stdout
    assert "centre of the box has" not in shown.stdout


def test_a_race_ends_with_a_table_and_is_stored(url: str) -> None:
    shown = race("--methods", "dsebo,random", *SMALL, "--d-h", "10", "--seeds", "1-2", "--db", url)
    assert shown.exit_code == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert lines[0].split() == ["method", "runs", "mean", "std", "best", "d", "seconds"]
    methods = {line[3:23].strip() for line in lines[1:4]}
    assert methods == {"DSEBO, dₕ = 10", "Random search", "Centre of the box"}
    assert "The centre of the box has 4.004; F* = 0. Means over 2 seeds." in shown.stdout
    assert "2 methods from 2 seeds: 4 runs; about 1 s on 1 worker" in shown.stderr
    assert "Random search: about" in shown.stderr
    store = Store.open(url)
    rows = store.list_runs(RunFilter(tags=["race"]), descending=False)
    assert [(row.method, row.seed, row.state) for row in rows] == [
        ("dsebo", 1, "finished"),
        ("random", 1, "finished"),
        ("dsebo", 2, "finished"),
        ("random", 2, "finished"),
    ]
    assert rows[0].config["optimizer"]["d_h"] == 10
    store.close()


def test_a_race_is_an_experiment_whose_runs_are_reused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    flags = ["--methods", "random,centre", *SMALL, "--seeds", "1-2", "--db", url, "--json"]
    first = json.loads(race(*flags).stdout)
    longer = json.loads(race(*flags[:-3], "--seeds", "1-3", *flags[-3:]).stdout)
    assert [run["id"] for run in longer["runs"][:4]] == [run["id"] for run in first["runs"]]
    assert [run["seed"] for run in longer["runs"]] == [1, 1, 2, 2, 3, 3]
    monkeypatch.setenv("DSEBO_DB", url)
    again = race(first["id"][:8], "--json")
    assert json.loads(again.stdout) == first
    shown = race(first["id"], "--resume")
    assert "4 runs, 4 of them in the store already; nothing left to run." in shown.stderr
    swept = CliRunner().invoke(app, ["sweep", first["id"]])
    assert "Random search" in swept.stdout
    store = Store.open(url)
    assert store.count_runs() == 6
    assert [row.name for row in list_experiments(store)] == ["Race on Sphere, D = 40"] * 2
    store.close()


def test_json_without_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DSEBO_DB", str(tmp_path / "none.db"))
    shown = race("--methods", "random,rembo", *SMALL, "--seeds", "3", "--no-store", "--json")
    assert shown.exit_code == 0, shown.stderr
    found = json.loads(shown.stdout)
    assert (found["at_centre"], found["minimum"], found["seeds"]) == (pytest.approx(4.0036), 0, [3])
    assert found["standings"][0]["method"] == "Centre of the box"
    config = parse_flat({"method": "random", "D": 40, "d_e": 4, "budget": 12, "seed": 3})
    last = list(run(config))[-1].to_json()
    assert found["runs"][0]["best"] == last["best"]
    assert found["runs"][0]["id"] is None
    assert "lose by construction" in shown.stderr
    assert not (tmp_path / "none.db").exists()


def test_the_papers_value_stands_beside_ours() -> None:
    shown = race("--methods", "random", "--seeds", "1", "--no-store", "--json")
    row = next(r for r in json.loads(shown.stdout)["standings"] if r["method"] == "Random search")
    assert row["paper"] == 46.3139


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--methods", "dsebo,simplex"], "method must be one of dsebo"),
        (["--seeds", "3-1"], "seeds must be from the least to the largest"),
        (["--D", "many"], must("D", config_flags()["D"].allowed, "many")),
        (["--seed", "4"], "A race has several seeds: give seeds, not seed."),
        (["--methods", "random", "--beta", "8"], "beta is not a setting of any of the methods."),
        (["--d-e", "2000"], must("d_e", "a whole number from 1 to D = 1000", 2000)),
    ],
)
def test_bad_input_exits_with_2_and_one_sentence(flags: list[str], sentence: str) -> None:
    shown = race(*flags)
    assert shown.exit_code == 2
    assert sentence in shown.stderr
    assert len(shown.stderr.splitlines()) == 1
    assert shown.stdout == ""


def test_an_interrupted_race_says_how_to_go_on(url: str) -> None:
    words = ["--methods", "random,dsebo", "--budget", "400", "--seeds", "1", "--db", url]
    process = start(dsebo("race", *words), stderr=subprocess.PIPE, text=True)
    store = Store.open(url)
    for _ in range(600):
        if any(row.method == "dsebo" and row.n_done > 2 for row in store.list_runs()):
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    row = next(row for row in store.list_runs() if row.method == "dsebo")
    assert row.state == "interrupted"
    experiment = list_experiments(store)[0]
    assert experiment.state == "interrupted"
    assert f"Interrupted after 1 of 2 runs; dsebo race {experiment.short_id} --resume goes on." in errors
    assert "Traceback" not in errors
    store.close()
