"""Experiments that look often at what is wanted of them."""

import pytest

from dsebo.experiments import running, worker


@pytest.fixture
def quick_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for an experiment to see what is wanted, or that a run is free."""
    for module in (worker, running):
        monkeypatch.setattr(module, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(running, "_AGAIN_SECONDS", 0.05)
