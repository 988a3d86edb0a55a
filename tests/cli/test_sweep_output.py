"""What `dsebo sweep` prints while a sweep is at work."""

from __future__ import annotations

import json

import pytest

from dsebo.cli.experiment_output import SweepOutput
from dsebo.experiments.records import ExperimentRow, create_experiment, get_experiment, progress
from dsebo.store.store import Store
from tests.experiments.helpers import random_spec

WAITS = "1 run is paused; the experiment waits for it."


@pytest.fixture
def sweep(store: Store) -> ExperimentRow:
    return get_experiment(store, create_experiment(store, random_spec(4)))


@pytest.mark.parametrize("as_json", [False, True])
def test_a_run_that_is_paused_by_hand_is_said_once(
    store: Store, sweep: ExperimentRow, capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    output = SweepOutput(sweep, as_json)
    runs = progress(store, sweep).assign(state=["finished"] * 3 + ["paused"])
    for state in ("paused", "running", "running"):
        output.watch(runs, state)  # paused with the sweep, and not yet at work again
    runs["wanted"] = ["run"] * 3 + ["pause"]
    output.watch(runs, "paused")
    before = capsys.readouterr()
    assert "waits" not in before.out + before.err
    for _ in range(3):
        output.watch(runs, "running")
    said = capsys.readouterr()
    if as_json:
        assert json.loads(said.out) == {"event": "sweep-waiting", "text": WAITS}
    else:
        assert said.err == f"{WAITS}\n"
