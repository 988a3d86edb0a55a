"""What all tests share: one torch thread, as every run has, and folders of their own."""

from functools import cache
from pathlib import Path

import pytest
import torch
import typer.testing

pytest_plugins = ["tests.small_run", "tests.stores"]
torch.set_num_threads(1)
# The terminal's commands are built once, with their hundreds of flags, not for every line that a test types.
typer.testing._get_command = cache(typer.testing._get_command)


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of a test is read from, or left in, the user's own folders."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("DSEBO_CORES", str(tmp_path / "cores"))
    for name in ("DSEBO_DB", "DSEBO_SETTINGS"):
        monkeypatch.delenv(name, raising=False)
