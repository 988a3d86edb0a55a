"""One record for each format: what it says of itself is so."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest

from dsebo.experiments.records import ExperimentRow, create_experiment, get_experiment
from dsebo.experiments.spec import ExperimentSpec
from dsebo.runs.worker import stored_run
from dsebo.store.store import Store
from dsebo.transfer import FORMATS, import_bytes


@pytest.fixture
def experiment(store: Store) -> ExperimentRow:
    """Two cells of two seeds, of which one run is missing."""
    spec = ExperimentSpec.parse(
        {"base": {"budget": 4}, "axes": {"method": ["random", "centre"]}, "seeds": "1-2"}
    )
    for planned in spec.planned()[:3]:
        list(stored_run(planned.config, store))
    return get_experiment(store, create_experiment(store, spec))


@pytest.mark.parametrize("key", FORMATS)
def test_a_format_writes_what_it_says_it_holds(
    store: Store, two: list[str], experiment: ExperimentRow, key: str, tmp_path: Path
) -> None:
    form = FORMATS[key]
    assert form.key == key
    assert form.file.endswith(form.suffix)
    if form.add_runs is not None:
        pytest.importorskip("optuna")
        done: list[int] = []
        form.add_runs(store, two, str(tmp_path / form.file), done.append)
        assert done[-1] == sum(store.get_run(run_id).n_done for run_id in two)
        return
    files = [form.runs(store, two)] if form.runs else []
    files += [form.experiment(store, experiment)] if form.experiment else []
    assert files
    for data in files:
        assert len(data) > 50
        assert not form.is_text or data.decode()


def test_an_experiment_is_written_with_the_runs_that_there_are(
    store: Store, experiment: ExperimentRow
) -> None:
    def written(key: str) -> bytes:
        write = FORMATS[key].experiment
        assert write is not None
        return write(store, experiment)

    assert pd.read_csv(io.BytesIO(written("csv")))["run_id"].nunique() == 3
    assert len(import_bytes(store, written("json"), "b.json")) == 3
    table = pd.read_csv(io.BytesIO(written("table")))
    assert list(table["n"]) == [2, 1]
    assert ExperimentSpec.from_yaml(written("yaml").decode()) == experiment.spec
    assert len(json.loads(written("json"))["runs"]) == 3
