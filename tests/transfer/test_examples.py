"""The runs that come with the package."""

from __future__ import annotations

import pytest

from dsebo.config import parse_flat
from dsebo.runs.manager import RunManager
from dsebo.store.store import Store
from dsebo.transfer import examples as bundle
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


def test_a_store_with_runs_is_left_alone(manager: RunManager) -> None:
    run_id = manager.launch(parse_flat(SMALL), paused=True)[0]
    manager.delete(run_id)
    assert bundle.import_bundled(manager.store) == []
    assert isinstance(manager.store, Store)
