"""The runs that come with the package."""

from __future__ import annotations

import gzip
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from dsebo.config import RunConfig, parse_flat
from dsebo.runs.data import read_run
from dsebo.runs.manager import RunManager
from dsebo.store.floors import floor_key, stored_floors
from dsebo.store.store import Store
from dsebo.transfer import examples as bundle
from dsebo.transfer.bundle import parse_bundle
from tests.small_run import SMALL


def test_a_bundle_is_made_and_imported_once(
    manager: RunManager, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = bundle.make([("Small", dict(SMALL), 2)])
    assert isinstance(packed, bytes)
    ids = bundle.import_bundled(manager.store)
    assert len(ids) == 10
    assert {row.source for row in manager.store.list_runs()} == {"bundled"}
    assert all(row.n_done == row.budget for row in manager.store.list_runs())
    assert bundle.import_bundled(manager.store) == []


def test_what_was_reachable_comes_along(manager: RunManager) -> None:
    for run_id in bundle.import_bundled(manager.store):
        run = read_run(manager.store, run_id)
        if run.changes and run.started is not None:
            config = RunConfig.parse(run.row.config)
            known = stored_floors(manager.store, floor_key(config, run.started["checksum"]))
            assert {floor.d for floor in known} >= set(run.visited)


def test_a_store_with_runs_is_left_alone(manager: RunManager) -> None:
    run_id = manager.launch(parse_flat(SMALL), paused=True)[0]
    manager.delete(run_id)
    assert bundle.import_bundled(manager.store) == []
    assert isinstance(manager.store, Store)


FIRST_PAGE = """
import sys
from dsebo.store.floors import floor_key, stored_floors
from dsebo.store.store import Store
from dsebo.transfer.examples import import_bundled
import_bundled(Store.open(f"sqlite:///{sys.argv[1]}/runs.db"))
assert not {"torch", "scipy.optimize"} & set(sys.modules), "the first page would wait for them"
"""


def test_what_is_not_tried_at_the_first_start_holds() -> None:
    data = gzip.decompress((files("dsebo.data") / bundle.NAME).read_bytes())
    tried, taken = parse_bundle(data, "bundled"), parse_bundle(data, "bundled", ours=True)
    assert [run.run["minimum"] for run in taken] == pytest.approx([run.run["minimum"] for run in tried])
    assert len(taken) == 10


def test_the_first_start_imports_no_torch(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FIRST_PAGE, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
