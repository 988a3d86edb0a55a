"""`dsebo sweep` in this process, its workers in threads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import Result
from typer.testing import CliRunner

from dsebo.cli import app
from dsebo.runs import Store
from dsebo.sweeps.records import create_sweep, list_sweeps, progress
from tests.sweeps.helpers import ThreadEngine, make, random_spec, spec

FLAGS = ["--D", "50", "--d-e", "5", "--method", "random", "--budget", "5", "--vary", "c=1,2"]


@pytest.fixture(autouse=True)
def in_threads(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setattr("dsebo.sweeps.engines.LocalEngine", ThreadEngine)
    monkeypatch.setenv("DSEBO_DB", url)


def dsebo(*words: Any) -> Result:
    return CliRunner().invoke(app, ["sweep", *map(str, words)])


def test_a_sweep_of_flags(store: Store) -> None:
    done = dsebo(*FLAGS, "--seeds", "1-2", "--name", "by flags")
    assert done.exit_code == 0, done.output
    row = list_sweeps(store)[0]
    assert (row.name, row.state, row.spec.seeds) == ("by flags", "finished", (1, 2))
    assert row.spec.base == {
        "objective": {"D": 50, "d_e": 5}, "optimizer": {"method": "random"}, "budget": 5,
    }  # fmt: skip
    runs = progress(store, row)
    assert runs["state"].eq("finished").all()
    assert f"Sweep {row.short_id}, by flags: 4 runs; about 1 s on" in done.stderr
    assert "c = 1" in done.stdout
    assert "4 of 4 runs finished" in done.stdout
    assert f"{runs['best'][:2].mean():.4g}" in done.stdout


def test_a_whole_config_and_flags_over_it(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"objective": {"D": 60, "d_e": 5}, "budget": 9, "seed": 7}))
    flags = ["--config", file, "--method", "random", "--budget", 4, "--vary", "c=1,2"]
    assert dsebo(*flags, "--seeds", "3").exit_code == 0
    config = list_sweeps(store)[0].spec.planned()[0].config
    assert (config.objective.D, config.budget, config.seed) == (60, 4, 3)


def test_a_file_is_reused_and_resumed(store: Store, tmp_path: Path) -> None:
    sweep = random_spec(4)
    file = tmp_path / "sweep.yaml"
    file.write_text(sweep.to_yaml())
    make(store, sweep.planned()[0].config)
    make(store, sweep.planned()[1].config, stop=2)
    done = dsebo(file)
    assert done.exit_code == 0, done.output
    assert "4 runs, 1 of them in the store already" in done.stderr
    assert store.count_runs() == 4
    again = dsebo(file, "--resume")
    assert again.exit_code == 0, again.output
    assert len(list_sweeps(store)) == 1
    assert dsebo(file).exit_code == 0  # another sweep of the same runs
    assert (len(list_sweeps(store)), store.count_runs()) == (2, 4)


def test_json_lines(store: Store) -> None:
    done = dsebo(*FLAGS, "--seeds", "1-2", "--json")
    assert done.exit_code == 0, done.output
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["event"] for line in lines] == [
        "sweep-started", *["run-ended"] * 4, "sweep-ended",
    ]  # fmt: skip
    assert (lines[0]["runs"], lines[0]["reused"]) == (4, 0)
    assert {(line["c"], line["seed"]) for line in lines[1:5]} == {(1, 1), (1, 2), (2, 1), (2, 2)}
    assert all(line["state"] == "finished" and line["best"] for line in lines[1:5])
    assert (lines[5]["state"], lines[5]["runs"]) == ("finished", {"finished": 4})


@pytest.mark.parametrize("suffix", ["csv", "parquet", "json"])
def test_everything_is_exported(store: Store, tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"runs.{suffix}"
    done = dsebo(*FLAGS, "--seeds", "1-2", "-o", file)
    assert done.exit_code == 0, done.output
    if suffix == "json":
        assert len(json.loads(file.read_text())["runs"]) == 4
    else:
        frame = pd.read_csv(file) if suffix == "csv" else pd.read_parquet(file)
        assert len(frame) == 4 * 5
    other = tmp_path / f"again.{suffix}"
    assert dsebo(list_sweeps(store)[0].id, "--export", other).exit_code == 0
    assert other.read_bytes() == file.read_bytes()


def test_a_stored_sweep_is_shown_and_goes_on(store: Store) -> None:
    sweep_id = create_sweep(store, random_spec(4))
    assert dsebo(sweep_id[:8]).exit_code == 0  # nobody had begun it
    shown = dsebo(sweep_id[:8])
    assert "finished: 4 of 4 runs finished" in shown.stdout
    plain = json.loads(dsebo(sweep_id[:8], "--json").stdout)
    assert (plain["id"], plain["state"], len(plain["runs"])) == (sweep_id, "finished", 4)
    assert dsebo(sweep_id[:8], "--resume").exit_code == 0
    assert store.count_runs() == 4


def test_failed_sweeps_end_with_1(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(
        "dsebo.sweeps.engines.LocalEngine", lambda workers: ThreadEngine(workers, dies)
    )
    done = dsebo(*FLAGS, "--seeds", "1")
    assert done.exit_code == 1
    assert "2 of 2 runs did not finish" in done.stderr
    row = list_sweeps(store)[0]
    assert f"dsebo sweep {row.short_id} --resume goes on." in done.stderr
    shown = dsebo(row.id)
    assert shown.exit_code == 1
    assert "–" in shown.stdout


def test_an_interrupted_sweep_ends_with_130(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def press(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dsebo.sweeps.running.run_sweep", press)
    done = dsebo(*FLAGS)
    assert done.exit_code == 130
    assert "--resume goes on." in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "What to sweep is missing: a file, an id, or --vary beta=4,8,12."),
        (["--D", "50"], "vary is missing: such as --vary beta=4,8,12."),
        (["--vary", "beta"], "vary = 'beta' is not allowed: such as beta=4,8,12."),
        (["--vary", "beta=1"], "beta = [1.0] is not allowed: from two to 200 values"),
        (["--vary", "beta=1,2", "--seeds", "x"], "seeds = 'x' is not allowed"),
        (["--vary", "beta=1,2", "--seed", "3"], "--seed is not allowed in a sweep: --seeds 1-10."),
        (["--vary", "beta=1,2", "--d-h", "2000"], "Cell β = 1: d_h = 2000 is not allowed"),
        (["--vary", "beta=1,2", "--workers", "0"], "workers = 0 is not allowed"),
        (["--vary", "beta=1,2", "-o", "x.xls"], "export = 'x.xls' is not allowed"),
        (["--vary", "beta=1,2", "-o", "/no/where.csv"], "there is no folder /no"),
        (["--vary", "beta=1,2", "--cluster", "tcp://h:1"], "is not allowed with SQLite"),
        (["--vary", "beta=1,2", "--cluster", "tcp://h:1", "--workers", "2"], "has its own workers"),
        (["nothing.yaml"], "FILE = 'nothing.yaml' cannot be read: No such file"),
        (["abcdef"], "id = 'abcdef' is not a sweep of this store."),
        (["abcdef", "--D", "50"], "abcdef has its own settings: leave the other flags out."),
    ],
)
def test_bad_input_ends_with_2_and_one_sentence(store: Store, words: list[str], said: str) -> None:
    done = dsebo(*words)
    assert done.exit_code == 2, done.output
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list_sweeps(store) == []


def test_a_file_that_is_not_a_sweep(tmp_path: Path) -> None:
    for text in (b"axes: [", b"\xff\xfe", b"axes: {beta: [1]}"):
        (tmp_path / "bad.yaml").write_bytes(text)
        done = dsebo(tmp_path / "bad.yaml")
        assert done.exit_code == 2
        assert len(done.stderr.splitlines()) == 1


def test_a_sweep_at_work_elsewhere_is_not_taken(store: Store) -> None:
    from tests.sweeps.test_records import hold

    sweep_id = create_sweep(store, spec())
    hold(store, sweep_id)
    shown = dsebo(sweep_id)
    assert shown.exit_code == 0
    assert "running: 0 of 4 runs finished" in shown.stdout
    refused = dsebo(sweep_id, "--resume")
    assert refused.exit_code == 1
    assert "is at work in process" in refused.stderr
