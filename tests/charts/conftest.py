"""A manager whose runs charts and words are made from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dsebo.runs.manager import RunManager
from dsebo.settings import Settings
from dsebo.store.store import Store


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[RunManager]:
    manager = RunManager(Store.open(f"sqlite:///{tmp_path}/runs.db"), Settings())
    yield manager
    manager.close()
    manager.store.close()
