"""Every method that there is can be stored, interrupted, resumed, exported and imported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dsebo.config import METHODS, RunConfig, predict
from dsebo.run import Runner
from dsebo.runs.worker import resumed_run, stored_run
from dsebo.store.store import Store
from dsebo.threads import one_thread
from dsebo.transfer import export_json, import_bytes
from tests.small import history, reference

CASES: list[dict[str, Any]] = [
    *({"method": method} for method in sorted(METHODS)),
    {"method": "dsebo", "batch": 3, "d_h": 10},  # cut in the middle of a batch
    {"method": "dsebo", "variant": "adaptive", "embeddings": 2, "d_h": 10, "d_l": 2},
    {"method": "dse-cma-es", "batch": 3, "d_l": 1},
    {"method": "turbo", "batch": 2, "n_init": 3},
]


@pytest.mark.parametrize("optimizer", CASES, ids=lambda case: "-".join(map(str, case.values())))
def test_interrupted_twice_and_moved_to_another_store(
    store: Store, tmp_path: Path, optimizer: dict[str, Any]
) -> None:
    config = RunConfig.parse(
        {"objective": {"name": "sphere", "D": 40, "d_e": 4}, "optimizer": optimizer, "budget": 9}
    )
    expected = reference(config)
    n = len(expected[0])
    ids: list[str] = []
    events = stored_run(config, store, on_id=ids.append)
    for event in events:
        if event.kind == "evaluated" and event.t >= min(4, n):
            break
    events.close()
    other = Store.open(str(tmp_path / "other.db"))
    assert import_bytes(other, export_json(store, ids), "b.json") == ids
    if other.get_run(ids[0]).state != "finished":
        again = resumed_run(other, ids[0])
        for event in again:
            if event.t >= min(7, n):
                break
        again.close()
        if other.get_run(ids[0]).state != "finished":
            list(resumed_run(other, ids[0]))
    assert history(other, ids[0]) == expected
    runner, t = Runner.from_config(config), 0
    while not runner.done:
        with one_thread():  # as a run does: with another number the last bits differ
            x, t = runner.optimizer.ask().x, t + 1
        np.testing.assert_allclose(other.point(ids[0], t), x, rtol=1e-6, atol=1e-6)
        runner.step()
    assert predict(config).seconds > 0
    other.close()
