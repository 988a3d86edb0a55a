"""What the tests of the Sweep page share: small sweeps, their runs, ways to look at the page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection
from streamlit.testing.v1 import AppTest

from dsebo.experiments.records import claim, create_experiment
from dsebo.experiments.spec import ExperimentSpec
from dsebo.runs.manager import RunManager
from dsebo.runs.worker import stored_run
from dsebo.store import leases, schema
from dsebo.store.leases import Heartbeat
from dsebo.store.store import Store
from dsebo.transfer import export_json, import_bytes
from dsebo.ui import controls, session
from dsebo.ui.experiments import actions, setup, view
from tests.pages.conftest import figures

SMALL = {"objective": {"D": 20, "d_e": 3}, "optimizer": {"d_l": 2, "d_h": 10}, "budget": 8}
RANDOM = {"objective": {"D": 20, "d_e": 3}, "optimizer": {"method": "random"}, "budget": 6}
LINK = {"vary": "beta=2,6", "seeds": "1-2", "D": "20", "d_e": "3", "d_l": "2", "d_h": "10", "budget": "8"}

Stored = Callable[..., str]


def one_axis(seeds: str = "1-2", **more: Any) -> ExperimentSpec:
    given = {"base": SMALL, "axes": {"beta": [2, 6]}, "seeds": seeds, **more}
    return ExperimentSpec.parse(given)


def of_functions(seeds: str = "1-6") -> ExperimentSpec:
    axes = {"K": [100, 10_000], "function": ["sphere", "levy"]}
    return ExperimentSpec.parse({"base": RANDOM, "axes": axes, "seeds": seeds})


_made: dict[str, bytes] = {}  # the runs of a sweep are made once in a test session


def make_runs(store: Store, spec: ExperimentSpec, most: int | None = None) -> None:
    """The first runs of a sweep, or all of them, in the store."""
    key = f"{spec.to_json()} {most}"
    if key in _made:
        import_bytes(store, _made[key], "runs.json", source="run")
        return
    ids: list[str] = []
    for one in spec.planned()[:most]:
        list(stored_run(one.config, store, "made", on_id=ids.append))
    _made[key] = export_json(store, ids)


@pytest.fixture
def stored(manager: RunManager) -> Iterator[Stored]:
    """Makes a sweep in a state; what is at work is held by this process until the test ends."""
    heartbeat = Heartbeat(manager.store)

    def make(spec: ExperimentSpec, state: str, error: str | None = None, owner: str = "local") -> str:
        sweep_id = create_experiment(manager.store, spec, owner)
        if state == "queued":
            return sweep_id
        lease = claim(manager.store, sweep_id, 2)
        heartbeat.hold([lease])
        if state == "paused":
            leases.set_state(manager.store, schema.experiment, lease, "paused")
        elif state != "running":
            leases.release(manager.store, schema.experiment, lease, state, error)
        return sweep_id

    yield make
    heartbeat.close()


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sweeps for which a process would have been started."""
    begun: list[str] = []

    def begin(store: Store, sweep_id: str, check: Callable[[Connection], None] | None = None) -> None:
        if check is not None:
            with store.read() as connection:
                check(connection)
        begun.append(sweep_id)

    for module in (actions, controls, setup, view):
        monkeypatch.setattr(module, "start_child", begin)
    return begun


def button(at: AppTest, label: str) -> Any:
    return next(b for b in at.button if b.label == label)


def labels(at: AppTest) -> set[str]:
    return {b.label for b in at.button}


def box(at: AppTest, label: str) -> Any:
    return next(b for b in [*at.text_input, *at.selectbox, *at.number_input] if b.label == label)


def titles(at: AppTest) -> str:
    return " ".join(note["text"] for figure in figures(at) for note in figure["layout"]["annotations"])


def class_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on each browser has an owner of its own."""
    file = tmp_path / "class.toml"
    file.write_text('mode = "class"\nlecturer_token = "chalk-on-a-blackboard"\n')
    monkeypatch.setenv("DSEBO_SETTINGS", str(file))
    session.forget()
