"""One small run of DSEBO, made once: its events for tests of charts, words and lessons."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from dsebo.config import parse_flat
from dsebo.run import run

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
