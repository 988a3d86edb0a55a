"""What all tests share: one torch thread, as every run has, and a store of their own."""

import os
from pathlib import Path

import pytest
import torch

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the user's own runs or settings."""
    if "DSEBO_DB" not in os.environ:
        monkeypatch.setenv("DSEBO_DB", f"sqlite:///{tmp_path / 'runs.db'}")
    settings = tmp_path / "settings.toml"
    settings.touch()
    monkeypatch.setenv("DSEBO_SETTINGS", str(settings))
    monkeypatch.setenv("DSEBO_CORES", str(tmp_path / "cores"))
