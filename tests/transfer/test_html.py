"""What a report holds: one file, in which everything is text."""

from __future__ import annotations

import pytest

from dsebo.charts.panels import TOO_MANY
from dsebo.experiments.records import ExperimentRow, create_experiment, get_experiment
from dsebo.experiments.spec import ExperimentSpec
from dsebo.runs.worker import stored_run
from dsebo.store.store import Store
from dsebo.transfer import FORMATS
from dsebo.transfer.html import experiment_page, export_html
from tests.experiments.frames import progress
from tests.small import small
from tests.transfer.files import finished

SCRIPT, SHOWN = "<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"


@pytest.fixture
def experiment(store: Store) -> ExperimentRow:
    """An experiment whose runs have all been made, of a name that must not be markup."""
    base = {"objective": {"D": 20, "d_e": 3}, "optimizer": {"d_l": 2, "d_h": 10}, "budget": 8}
    spec = ExperimentSpec.parse({"name": SCRIPT, "base": base, "axes": {"beta": [2, 6]}, "seeds": "1-2"})
    for planned in spec.planned():
        list(stored_run(planned.config, store))
    return get_experiment(store, create_experiment(store, spec))


def test_the_report_of_runs_is_one_file_and_escapes_names(store: Store) -> None:
    ids = [
        finished(store, small(12), name="<img src=x onerror=alert(1)>"),
        finished(store, small(12, seed=2)),
    ]
    html = export_html(store, ids).decode()
    assert "<img src=x" not in html
    assert "&lt;img src=x" in html
    assert html.count("<figure>") == 3
    assert 'src="http' not in html
    assert "Compared" in html


def test_the_report_of_an_experiment_is_one_file_and_everything_in_it_is_text(
    store: Store, experiment: ExperimentRow
) -> None:
    write = FORMATS["html"].experiment
    assert write is not None
    html = write(store, experiment).decode()
    assert SCRIPT not in html
    assert SHOWN in html
    assert html.count("<figure>") >= 2
    assert "http://" not in html.split("</script>")[-1]
    assert "cannot exclude chance" in html


def test_a_report_without_the_curves_of_many_cells_says_so() -> None:
    spec = ExperimentSpec.parse({"axes": {"beta": list(range(1, 50))}, "seeds": "1"})
    frame = progress({(beta,): [float(beta)] for beta in range(1, 50)})
    row = ExperimentRow("a" * 32, "", spec, "finished", "run", 0.0, 0.0, None, None, "local", 2)
    assert TOO_MANY in experiment_page(row, frame, {}).decode()
    assert TOO_MANY not in experiment_page(row, frame[frame["cell"] < 48], {}).decode()
