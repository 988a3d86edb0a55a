"""`dsebo sweep` in this process, its workers in threads."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import Result
from typer.testing import CliRunner

from dsebo.cli import app
from dsebo.experiments.records import (
    ExperimentRow,
    create_experiment,
    get_experiment,
    list_experiments,
    progress,
)
from dsebo.paper.presets import PRESETS
from dsebo.store.store import Store
from tests.experiments.helpers import ThreadEngine, hold, make, random_spec, spec

FLAGS = ["--D", "50", "--d-e", "5", "--method", "random", "--budget", "5", "--vary", "c=1,2"]

DATED = b"{base: {budget: 2020-01-01}, axes: {beta: [2, 4]}}"


@pytest.fixture(autouse=True)
def in_threads(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setattr("dsebo.experiments.engines.LocalEngine", ThreadEngine)
    monkeypatch.setenv("DSEBO_DB", url)


def dsebo(*words: Any) -> Result:
    return CliRunner().invoke(app, ["sweep", *map(str, words)])


def test_a_sweep_of_flags(store: Store) -> None:
    done = dsebo(*FLAGS, "--seeds", "1-2", "--name", "by flags", "--workers", "2")
    assert done.exit_code == 0, done.output
    row = list_experiments(store)[0]
    assert (row.name, row.state, row.spec.seeds) == ("by flags", "finished", (1, 2))
    assert row.spec.base == {"objective": {"D": 50, "d_e": 5}, "optimizer": {"method": "random"}, "budget": 5}
    runs = progress(store, row)
    assert runs["state"].eq("finished").all()
    assert f"Sweep {row.short_id}, by flags: 4 runs; about 4 s on" in done.stderr
    assert re.search(r"on \d+ workers?, \d{3,4} MB\.", done.stderr)
    assert "c = 1" in done.stdout
    assert "4 of 4 runs finished" in done.stdout
    assert f"{runs['best'][:2].mean():.4g}" in done.stdout


def test_what_is_short_starts_no_processes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dsebo.experiments.engines.LocalEngine", None)
    done = dsebo(*FLAGS, "--seeds", "1-2")
    assert done.exit_code == 0, done.output
    assert "4 runs; about 1 s on 1 worker" in done.stderr
    assert list_experiments(store)[0].state == "finished"


def test_a_whole_config_and_flags_over_it(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"objective": {"D": 60, "d_e": 5}, "budget": 9, "seed": 7}))
    flags = ["--config", file, "--method", "random", "--budget", 4, "--vary", "c=1,2"]
    assert dsebo(*flags, "--seeds", "3").exit_code == 0
    config = list_experiments(store)[0].spec.planned()[0].config
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
    assert len(list_experiments(store)) == 1
    third = dsebo(file)  # another sweep of the same runs
    assert third.exit_code == 0
    assert "4 runs, 4 of them in the store already; nothing left to run.\n" in third.stderr
    assert "If interrupted" not in third.stderr
    assert (len(list_experiments(store)), store.count_runs()) == (2, 4)


def test_json_lines(store: Store) -> None:
    done = dsebo(*FLAGS, "--seeds", "1-2", "--json")
    assert done.exit_code == 0, done.output
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["event"] for line in lines] == ["sweep-started", *["run-ended"] * 4, "sweep-ended"]
    assert (lines[0]["runs"], lines[0]["reused"]) == (4, 0)
    assert lines[0]["memory"] > 1e8
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
    assert dsebo(list_experiments(store)[0].id, "--export", other).exit_code == 0
    assert other.read_bytes() == file.read_bytes()


def test_a_stored_sweep_is_shown_and_goes_on(store: Store) -> None:
    sweep_id = create_experiment(store, random_spec(4))
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

    monkeypatch.setattr("dsebo.experiments.engines.LocalEngine", lambda workers: ThreadEngine(workers, dies))
    done = dsebo(*FLAGS, "--seeds", "1", "--workers", "2")
    assert done.exit_code == 1
    assert "2 of 2 runs did not finish" in done.stderr
    row = list_experiments(store)[0]
    assert f"dsebo sweep {row.short_id} --resume goes on." in done.stderr
    shown = dsebo(row.id)
    assert shown.exit_code == 1
    assert "–" in shown.stdout


def test_an_interrupted_sweep_ends_with_130(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def press(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dsebo.experiments.running.run_experiment", press)
    done = dsebo(*FLAGS)
    assert done.exit_code == 130
    assert "--resume goes on." in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "What to sweep is missing: a file, an id, --preset or --vary beta=4,8,12."),
        (["--preset", "x"], "preset must be one of beta, beta-small, d_h, d_h-small"),
        (["--preset", "beta", "--D", "50"], "beta has its own settings: leave the other flags out"),
        (["abc", "--preset", "beta"], "abc and --preset beta are two sweeps: give one."),
        (["--pause"], "What to sweep is missing"),
        (["--preset", "beta", "--pause"], "--pause needs the id of an experiment."),
        (["sweep.yaml", "--cancel"], "--cancel needs the id of an experiment."),
        (["abc", "--cancel", "--resume"], "--pause, --cancel and --resume contradict one another"),
        (["abcdef", "--pause"], "'abcdef' is not an experiment of this store."),
        (["--D", "50"], "vary is missing: such as --vary beta=4,8,12."),
        (["--vary", "beta"], "vary must be such as beta=4,8,12 (got 'beta')."),
        (["--vary", "beta=1"], "beta must have from 2 to 200 values, all different (got [1.0])"),
        (["--vary", "beta=1,2", "--seeds", "x"], "seeds must be numbers as 1-10 or 1,3,5"),
        (["--vary", "beta=1,2", "--seed", "3"], "A sweep has several seeds: --seeds 1-10, not --seed."),
        (["--vary", "beta=1,2", "--d-h", "2000"], "Cell β = 1: d_h must be a whole number"),
        (["--vary", "beta=1,2", "--workers", "0"], "workers must be a whole number from 1 to 1024 (got 0)."),
        (["--vary", "beta=1,2", "-o", "x.xls"], "export must be a file ending in .csv, .parquet"),
        (["--vary", "beta=1,2", "-o", "/no/where.csv"], "there is no folder /no"),
        (["--vary", "beta=1,2", "--cluster", "tcp://h:1"], "not SQLite"),
        (["--vary", "beta=1,2", "--cluster", "tcp://h:1", "--workers", "2"], "has its own workers"),
        (["nothing.yaml"], "nothing.yaml cannot be read: No such file"),
        (["abcdef"], "'abcdef' is not an experiment of this store."),
        (["abcdef", "--D", "50"], "abcdef has its own settings: leave the other flags out."),
    ],
)
def test_bad_input_ends_with_2_and_one_sentence(store: Store, words: list[str], said: str) -> None:
    done = dsebo(*words)
    assert done.exit_code == 2, done.output
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list_experiments(store) == []


def test_a_file_that_is_not_a_sweep(tmp_path: Path) -> None:
    for text in (b"axes: [", b"\xff\xfe", b"axes: {beta: [1]}", DATED):
        (tmp_path / "bad.yaml").write_bytes(text)
        done = dsebo(tmp_path / "bad.yaml")
        assert done.exit_code == 2
        assert len(done.stderr.splitlines()) == 1


def test_a_sweep_at_work_elsewhere_is_not_taken(store: Store) -> None:
    sweep_id = create_experiment(store, spec())
    hold(store, sweep_id)
    shown = dsebo(sweep_id)
    assert shown.exit_code == 0
    assert "running: 0 of 4 runs finished" in shown.stdout
    refused = dsebo(sweep_id, "--resume")
    assert refused.exit_code == 2
    assert "is at work in process" in refused.stderr


def test_a_preset_is_the_papers_sweep(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def at_once(opened: Store, sweep_id: str, *_: Any, **__: Any) -> ExperimentRow:
        return get_experiment(opened, sweep_id)

    monkeypatch.setattr("dsebo.experiments.running.run_experiment", at_once)
    done = dsebo("--preset", "c-small")
    assert done.exit_code == 0, done.output
    preset = next(preset for preset in PRESETS if preset.key == "c-small")
    assert list_experiments(store)[0].spec == preset.spec


def test_orders_are_passed_on(store: Store) -> None:
    sweep_id = create_experiment(store, spec())
    hold(store, sweep_id)
    paused = dsebo(sweep_id[:8], "--pause")
    assert (paused.exit_code, paused.stdout) == (0, f"Experiment {sweep_id[:8]} is told to pause.\n")
    assert get_experiment(store, sweep_id).wanted == "pause"
    hold(store, sweep_id, "paused")
    assert dsebo(sweep_id[:8], "--resume").stdout == f"Experiment {sweep_id[:8]} is told to run.\n"
    assert get_experiment(store, sweep_id).wanted == "run"
    assert dsebo(sweep_id[:8], "--cancel").exit_code == 0
    assert get_experiment(store, sweep_id).wanted == "cancel"
    hold(store, sweep_id, "cancelled")
    refused = dsebo(sweep_id[:8], "--pause")
    assert refused.exit_code == 2
    assert refused.stderr == f"Experiment {sweep_id[:8]} is cancelled: there is nothing to pause.\n"


def test_a_sweep_over_the_limits_is_refused_with_the_figure(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "strict.toml"
    file.write_text("[limits.owner]\nbudget = 4\n")
    monkeypatch.setenv("DSEBO_SETTINGS", str(file))
    done = dsebo(*FLAGS)
    assert done.exit_code == 2
    assert done.stderr == "budget must be within the limit of 4 evaluations (got 5).\n"
    assert list_experiments(store) == []
