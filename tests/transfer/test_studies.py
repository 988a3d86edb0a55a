"""Studies of Optuna become runs to look at; whatever is no study is a sentence."""

from __future__ import annotations

import contextlib
import json
import math
import sqlite3
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dsebo.runs.manager import RunManager
from dsebo.settings import Settings
from dsebo.store.errors import StoreError
from dsebo.store.rows import RunFilter
from dsebo.store.store import Store
from dsebo.transfer import export_json, import_bytes, import_path
from objectives.fields import ConfigError

optuna = pytest.importorskip("optuna")
optuna.logging.set_verbosity(optuna.logging.WARNING)


def objective(trial: Any) -> float:
    x = trial.suggest_float("x", -5.0, 5.0)
    rate = trial.suggest_float("rate", 1e-4, 1.0, log=True)
    layers = trial.suggest_int("layers", 1, 9)
    trial.suggest_categorical("kind", ["a", "b"])
    if trial.number == 2:
        raise RuntimeError("the simulator broke")
    if trial.number == 3:
        trial.report(7.0, 4)
        raise optuna.TrialPruned
    return float((x - 1) ** 2 + rate + layers)


def make_study(storage: Any, name: str = "tuned", n: int = 8, **more: Any) -> Any:
    sampler = optuna.samplers.RandomSampler(seed=3)
    study = optuna.create_study(storage=storage, study_name=name, sampler=sampler, **more)
    study.optimize(objective, n_trials=n, catch=(RuntimeError,))
    return study


def errors(store: Store, run_id: str) -> list[str | None]:
    run = json.loads(export_json(store, [run_id]))["runs"][0]
    return [evaluation["error"] for evaluation in run["evaluations"]]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "study.db"


def test_a_study_of_a_database(store: Store, file: Path) -> None:
    study = make_study(f"sqlite:///{file}")
    before = file.read_bytes()
    saved = import_path(store, file)
    assert file.read_bytes() == before  # Optuna writes to what it opens
    row = store.get_run(saved.ids[0])
    assert (row.name, row.function, row.method) == ("Optuna study tuned", "tuned", "optuna")
    assert (row.state, row.state_words, row.n_done) == ("finished", "finished, imported", 8)
    assert row.best == study.best_value
    frame = store.evaluations(row.id)
    values = [trial.value if trial.state.name == "COMPLETE" else None for trial in study.trials]
    assert [None if math.isnan(y) else y for y in frame["y"]] == values
    assert list(frame["failed"]) == [value is None for value in values]
    assert errors(store, row.id)[2:4] == ["The trial failed.", "The trial was pruned at step 4."]
    x = store.point(row.id, 1)
    params = study.trials[0].params
    rate = 2 * (math.log(params["rate"]) - math.log(1e-4)) / -math.log(1e-4) - 1
    assert x == pytest.approx([params["x"] / 5, rate, (params["layers"] - 5) / 4])
    started = store.events(row.id)[0]
    assert started["warnings"] == ["Left out: 1 parameter, no number or not in every trial."]


def test_a_study_that_maximises_is_negated_and_says_so(store: Store, file: Path) -> None:
    study = make_study(f"sqlite:///{file}", direction="maximize")
    row = store.get_run(import_path(store, file).ids[0])
    assert row.best == -study.best_value
    assert store.events(row.id)[0]["warnings"][0] == "The study maximises: its values are shown negated."


def test_a_journal(store: Store, tmp_path: Path) -> None:
    journal = tmp_path / "journal.log"
    backend = optuna.storages.journal.JournalFileBackend(str(journal))
    study = make_study(optuna.storages.JournalStorage(backend))
    row = store.get_run(import_path(store, journal).ids[0])
    assert (row.best, row.n_done) == (study.best_value, 8)
    assert [one.name for one in tmp_path.glob("*journal*")] == ["journal.log"]  # no lock beside it


def test_several_studies_and_those_that_are_named(store: Store, file: Path) -> None:
    address = f"sqlite:///{file}"
    for name in ("one", "two"):
        make_study(address, name, 3)
    optuna.create_study(storage=address, study_name="empty")
    optuna.create_study(storage=address, study_name="both", directions=["minimize", "maximize"])
    rows = [store.get_run(run_id) for run_id in import_path(store, file).ids]
    assert [row.function for row in rows] == ["one", "two"]
    assert rows[0].group == rows[1].group
    again = import_path(store, address, studies=["two"])
    assert again.ids == again.known == [rows[1].id]
    with pytest.raises(StoreError, match="has no study 'three'; it has one, two, empty, both"):
        import_path(store, file, studies=["three"])
    with pytest.raises(StoreError, match=r"must have 1 to \d+ finished trials \(got 0\)"):
        import_path(store, file, studies=["empty"])
    with pytest.raises(StoreError, match="'both' has 2 objectives; a run has one"):
        import_path(store, file, studies=["both"])
    assert store.count_runs() == 2


def test_odd_trials(store: Store, file: Path) -> None:
    """No numbers at all, a range of one value, parameters that change, an infinite value, one that runs."""
    address = f"sqlite:///{file}"
    study = optuna.create_study(storage=address, study_name="odd \x1b[31m " + 300 * "n")
    floats = optuna.distributions.FloatDistribution
    for high, value in ((1.0, 3.0), (3.0, float("inf")), (2.0, -2.0)):
        study.add_trial(
            optuna.trial.create_trial(
                params={"x": 0.5, "fixed": 2.0},
                distributions={"x": floats(0.0, high), "fixed": floats(2.0, 2.0)},
                value=value,
            )
        )
    study.ask()
    bare = optuna.create_study(storage=address, study_name="bare")
    bare.add_trial(optuna.trial.create_trial(value=1.0))
    rows = [store.get_run(run_id) for run_id in import_path(store, file).ids]
    assert rows[0].best == -2.0
    assert len(rows[0].function) == 64
    assert "\x1b" not in rows[0].name
    assert errors(store, rows[0].id)[1] == "The value was inf."
    assert store.events(rows[0].id)[0]["warnings"] == ["Left out: 1 trial without an end."]
    assert np.allclose(store.point(rows[0].id, 1), [2 * 0.5 / 3 - 1, 0.0])
    assert rows[1].parsed.D == 1
    with pytest.raises(StoreError, match="imported without its points"):
        store.point(rows[1].id, 1)


def test_it_is_only_looked_at(store: Store, file: Path) -> None:
    make_study(f"sqlite:///{file}")
    run_id = import_path(store, file).ids[0]
    assert store.list_runs(RunFilter(computed=True)) == []
    manager = RunManager(store, Settings(slots=1))
    for attempt in (lambda: manager.extend(run_id, 5), lambda: manager.launch(store.get_run(run_id).parsed)):
        with pytest.raises((StoreError, ConfigError), match="imported from an Optuna study, to be looked at"):
            attempt()
    manager.close()
    copy = import_bytes(store, export_json(store, [run_id]), "run.json")[0]
    assert copy == run_id  # a bundle of it is the same run


def hostile(path: Path, statements: list[str]) -> None:
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (["CREATE TABLE other (a)"], "has no studies of Optuna"),
        (["CREATE VIEW studies AS SELECT 1"], "has no studies of Optuna"),
        (["CREATE TABLE studies (a)"], "cannot be read as a study of Optuna"),
        (["CREATE TABLE studies (a)", "CREATE VIEW trials AS SELECT 1"], "has a view in it"),
        (["CREATE TABLE dsebo_schema (version_num)"], "is a store of dsebo: open it with --db"),
    ],
)
def test_a_database_that_is_no_study(store: Store, file: Path, statements: list[str], words: str) -> None:
    hostile(file, statements)
    with pytest.raises(StoreError, match=words) as refused:
        import_path(store, file)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        '{"op_code": 0}\n',
        '{"op_code": 99, "worker_id": "a"}\n',
        '{"op_code"\n',
        '{"op_code": 0, "worker_id": "a", "study_name": "s", "directions": [7]}\n',
        '{"op_code": 4, "worker_id": "a", "study_id": 5, "datetime_start": "x"}\n{"op_code": 1}\n',
    ],
)
def test_a_journal_that_is_none(store: Store, tmp_path: Path, text: str) -> None:
    journal = tmp_path / "journal.log"
    journal.write_text(text)
    with pytest.raises(
        StoreError, match=r"cannot be read as a study of Optuna|no study with a finished trial"
    ):
        import_path(store, journal)


def test_a_torn_database(store: Store, file: Path) -> None:
    make_study(f"sqlite:///{file}", n=2)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 3])
    with pytest.raises(StoreError):
        import_path(store, file)
    for at in range(0, len(whole), len(whole) // 12):
        file.write_bytes(whole[:at] + bytes(200) + whole[at + 200 :])
        with contextlib.suppress(StoreError):  # a hole may lie where nothing is
            import_path(store, file)


def test_an_address_that_leads_nowhere_keeps_its_password(store: Store) -> None:
    with pytest.raises(StoreError) as refused:
        import_path(store, "postgresql://someone:secret@127.0.0.1:1/none")
    assert "secret" not in str(refused.value)
    with pytest.raises(StoreError, match="cannot be read"):
        import_path(store, "nonsense://")
    with pytest.raises(StoreError, match="it has no studies to choose from"):
        import_path(store, __file__, studies=["a"])


def test_optuna_is_optional(store: Store, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hostile(file, ["CREATE TABLE studies (a)"])
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(StoreError, match=r"pip install 'dsebo\[optuna\]'"):
        import_path(store, file)


def test_clocks_that_run_backwards(store: Store, file: Path) -> None:
    study = optuna.create_study(storage=f"sqlite:///{file}", study_name="clock")
    trial = optuna.trial.create_trial(value=1.0)
    trial.datetime_start, trial.datetime_complete = datetime(2026, 1, 2), datetime(2026, 1, 1)
    study.add_trial(trial)
    assert store.get_run(import_path(store, file).ids[0]).seconds == 0.0
