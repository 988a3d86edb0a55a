"""What all tests share: one torch thread, as every run has, and folders of their own."""

from collections.abc import Iterator
from contextlib import nullcontext
from functools import cache
from pathlib import Path

import pytest
import torch
import typer.testing

from dsebo.threads import one_thread
from objectives import own

pytest_plugins = ["tests.small_run", "tests.stores"]
torch.set_num_threads(1)
# The terminal's commands are built once, with their hundreds of flags, not for every line that a test types.
typer.testing._get_command = cache(typer.testing._get_command)


@pytest.fixture(autouse=True)
def _threads_of_a_run(request: pytest.FixtureRequest) -> Iterator[None]:
    """Models and methods are asked in one thread, as a run asks them: those of BLAS wait for one another."""
    with one_thread() if request.path.parent.name in ("gp", "methods") else nullcontext():
        yield


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of a test is read from, or left in, the user's own folders."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("DSEBO_CORES", str(tmp_path / "cores"))
    for name in ("DSEBO_DB", "DSEBO_SETTINGS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _own_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function of one's own that a test has named is not there for the next one."""
    monkeypatch.setenv(own.VARIABLE, "[]")
    monkeypatch.setattr(own, "_offered", None)
