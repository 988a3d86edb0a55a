"""One small run, and a store that holds it, for every test of charts and words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dsebo.config import parse_flat
from dsebo.run import run
from dsebo.runs import RunManager, Settings, Store

SMALL = {"D": 50, "d_e": 8, "d_h": 20, "budget": 40, "beta": 6.0}


@pytest.fixture(scope="session")
def events() -> list[dict[str, Any]]:
    return [event.to_json() for event in run(parse_flat(SMALL))]


@pytest.fixture(scope="session")
def evaluations(events: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame([event for event in events if event["event"] == "evaluated"])


@pytest.fixture(scope="session")
def changes(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event for event in events if event["event"] in ("expanded", "converged")]


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[RunManager]:
    manager = RunManager(Store.open(f"sqlite:///{tmp_path}/runs.db"), Settings())
    yield manager
    manager.close()
    manager.store.close()
