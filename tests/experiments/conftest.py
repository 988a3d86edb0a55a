"""Stores as the tests of runs have them, and sweeps that look often."""

import pytest

from dsebo.experiments import orders, running


@pytest.fixture
def quick_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a sweep to see an order, or that a run is free."""
    for module in (orders, running):
        monkeypatch.setattr(module, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(running, "_AGAIN_SECONDS", 0.05)
