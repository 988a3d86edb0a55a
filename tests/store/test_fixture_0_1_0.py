"""What version 0.1.0 stored and exported: it opens, counts as done, and goes on where it stopped."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from dsebo.cli import app
from dsebo.experiments.records import progress
from dsebo.experiments.spec import ExperimentSpec
from dsebo.store.store import Store
from tests.experiments.helpers import ThreadEngine
from tests.small import history

FIXTURES = Path(__file__).parents[1] / "fixtures"
FILES = FIXTURES / "files_0_1_0"
IDS: dict[str, Any] = json.loads((FILES / "ids.json").read_text())
END: dict[str, Any] = json.loads((FILES / "interrupted_to_its_end.json").read_text())
STATES = {"finished": 12, "interrupted": 1, "failed": 1}
SMALL = ["--function", "levy", "--D", "30", "--d-e", "3", "--budget", "12", "--seeds", "1-2"]


@pytest.fixture
def old(tmp_path: Path) -> str:
    """The path of a copy."""
    return copy(tmp_path / "old.db")


def copy(path: Path) -> str:
    shutil.copy(FIXTURES / "store_0_1_0.db", path)
    return str(path)


def dsebo(*words: Any, code: int = 0) -> Result:
    shown = CliRunner().invoke(app, list(map(str, words)))
    assert shown.exit_code == code, f"{shown.output} {shown.exception!r}"
    return shown


def evaluations(path: str) -> int:
    """How many the store holds."""
    return sum(row["n_done"] for row in json.loads(dsebo("runs", "--json", "--db", path).stdout))


def test_it_migrates_and_lists(old: str) -> None:
    rows = {row["id"]: row for row in json.loads(dsebo("runs", "--json", "--db", old).stdout)}
    assert Counter(row["state"] for row in rows.values()) == STATES
    assert set(IDS["race"]) | set(IDS["sweep_runs"]) <= set(rows)
    assert rows[IDS["finished"]]["tags"] == ["old", "for tests"]
    assert rows[IDS["interrupted"]]["n_done"] == END["stopped_after"]
    deleted = json.loads(dsebo("runs", "--deleted", "--json", "--db", old).stdout)
    assert [row["id"] for row in deleted] == [IDS["deleted"]]
    for run_id in rows:
        shown = json.loads(dsebo("show", run_id, "--json", "--db", old).stdout)
        assert shown["versions"]["dsebo"] == "0.1.0"
        assert shown["events"][0]["event"] == "started"


def test_its_race_is_listed(old: str) -> None:
    rows = json.loads(dsebo("runs", "--tag", "race", "--json", "--db", old).stdout)
    assert {row["id"] for row in rows} == set(IDS["race"])
    assert Counter(row["method"] for row in rows) == {"dsebo": 2, "random": 2, "rembo": 2}


def test_its_race_is_an_experiment_of_its_runs(old: str) -> None:
    """By its settings, as an old link has them."""
    store = Store.open(old)
    settings = {"function": "levy", "D": 30, "d_e": 3, "c": 0, "K": 10000, "budget": 12}
    race = ExperimentSpec.race("dsebo:beta=4,random,rembo:scale=dsebo:d=5", settings, "1-2")
    assert race.is_race
    assert race.axes[0].values == ("dsebo:beta=4", "random", "rembo:scale=dsebo:d=5")
    assert list(progress(store, race)["run_id"]) == IDS["race"]
    store.close()
    shown = dsebo("race", "--methods", "dsebo:beta=4,random", *SMALL, "--json", "--db", old)
    assert {run["id"] for run in json.loads(shown.stdout)["runs"]} == set(IDS["race"][:4])


def test_its_sweep_is_shown(old: str) -> None:
    shown = json.loads(dsebo("sweep", IDS["sweep"], "--json", "--db", old).stdout)
    assert shown["state"] == "finished"
    assert {run["run_id"] for run in shown["runs"]} == set(IDS["sweep_runs"])


@pytest.fixture
def in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dsebo.experiments.engines.LocalEngine", ThreadEngine)


@pytest.mark.usefixtures("in_threads")
def test_a_sweep_of_the_same_settings_reuses_its_runs(old: str) -> None:
    before = evaluations(old)
    shown = dsebo("sweep", FILES / "sweep.yaml", "--db", old)
    assert "4 runs, 4 of them in the store already; nothing left to run." in shown.stderr
    assert evaluations(old) == before


@pytest.mark.usefixtures("in_threads")
@pytest.mark.parametrize(
    ("words", "reused"),
    [
        (["--beta", "4", "--vary", "method=dsebo,random"], 4),
        (["--method", "rembo", "--scale", "dsebo", "--vary", "d=5,6"], 2),
    ],
)
def test_a_sweep_finds_the_runs_of_its_race(old: str, words: list[str], reused: int) -> None:
    before = evaluations(old)
    shown = dsebo("sweep", *SMALL, *words, "--db", old)
    assert f"4 runs, {reused} of them in the store already" in shown.stderr
    assert evaluations(old) == before + (4 - reused) * 12


def test_its_interrupted_run_goes_on_to_the_same_end_twice(tmp_path: Path) -> None:
    stored = pd.DataFrame(json.loads((FILES / "interrupted.json").read_text())["runs"][0]["evaluations"])
    ends = []
    for name in ("first.db", "second.db"):
        path = copy(tmp_path / name)
        store = Store.open(path)
        before = history(store, IDS["interrupted"])
        dsebo("resume", IDS["interrupted"][:8], "--db", path)
        after = history(store, IDS["interrupted"])
        values = store.evaluations(IDS["interrupted"])["y"]
        store.close()
        assert after[0][: END["stopped_after"]] == before[0]  # to the last bit
        assert [float(y).hex() for y in values[: len(stored)]] == END["y"][: END["stopped_after"]]
        assert len(values) == len(END["y"])  # whose values another processor's last bits lead elsewhere
        ends.append(after)
    assert ends[0] == ends[1]


@pytest.mark.parametrize("file", ["finished.json", "interrupted.json", "sweep_evaluations.json"])
def test_its_bundles_are_imported(file: str, url: str, store: Store) -> None:
    bundled = json.loads((FILES / file).read_text())["runs"]
    ids = dsebo("import", FILES / file, "--db", url).stdout.split()
    assert len(ids) == len(bundled)
    for run_id, run in zip(ids, bundled, strict=True):
        row = store.get_run(run_id)
        assert (row.config["objective"]["D"], row.seed) == (30, run["config"]["seed"])
        assert row.n_done == len(store.evaluations(run_id))


def test_a_bundle_of_its_interrupted_run_can_go_on(url: str) -> None:
    run_id = dsebo("import", FILES / "interrupted.json", "--db", url).stdout.split()[0]
    dsebo("resume", run_id, "--db", url)


@pytest.mark.parametrize("file", ["finished", "sweep_evaluations"])
def test_its_tables_are_as_an_export_writes_them_today(file: str, old: str, tmp_path: Path) -> None:
    """Who reads exported tables finds the same columns, and the same values in them."""
    ids = IDS["sweep_runs"] if file == "sweep_evaluations" else [IDS["finished"]]
    for form, read in (("csv", pd.read_csv), ("parquet", pd.read_parquet)):
        before = FILES / f"{file}.{form}"
        if before.exists():
            out = tmp_path / before.name
            dsebo("export", *ids, "--format", form, "-o", out, "--db", old)
            was, now = read(before), read(out)
            pd.testing.assert_frame_equal(now[list(was.columns)], was)
