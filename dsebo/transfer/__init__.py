"""Import and export of runs and experiments. What is uploaded is parsed, never unpickled or executed.

`FORMATS` has one record for each kind of file that is written: terminal and pages offer what is in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from dsebo.experiments.records import ExperimentRow, progress
from dsebo.store.store import Store
from dsebo.transfer.bundle import export_json
from dsebo.transfer.loading import ImportDesk, import_bytes, import_path
from dsebo.transfer.optuna import export_optuna
from dsebo.transfer.tables import export_csv, export_parquet

__all__ = [
    "FORMATS",
    "Format",
    "ImportDesk",
    "export_csv",
    "export_json",
    "export_optuna",
    "export_parquet",
    "import_bytes",
    "import_path",
]

RunsWriter = Callable[[Store, Sequence[str]], bytes]
ExperimentWriter = Callable[[Store, ExperimentRow], bytes]


@dataclass(frozen=True)
class Format:
    """One kind of file, and what it can hold: a writer is None where it cannot."""

    key: str  # its name in the terminal
    label: str  # its name for people
    file: str  # what a file of it is called, with its suffix
    media_type: str
    runs: RunsWriter | None = None
    experiment: ExperimentWriter | None = None
    # Where runs are added to a file that may exist: the runs, the path, and what is to be called with the
    # number of evaluations written so far.
    add_runs: Callable[[Store, Sequence[str], str, Callable[[int], None]], object] | None = None
    is_text: bool = False  # a terminal can show it

    @property
    def suffix(self) -> str:
        """`.csv`."""
        return PurePath(self.file).suffix


def _of_runs(
    key: str, label: str, file: str, media_type: str, write: RunsWriter, is_text: bool = False
) -> Format:
    """A file of runs; of an experiment, of all runs that there are of it."""

    def of_experiment(store: Store, row: ExperimentRow) -> bytes:
        return write(store, list(progress(store, row)["run_id"].dropna()))

    return Format(key, label, file, media_type, write, of_experiment, is_text=is_text)


# Charts and what draws them are imported only where they are needed: a terminal starts without them.


def _runs_report(store: Store, ids: Sequence[str]) -> bytes:
    from dsebo.transfer.html import export_html

    return export_html(store, ids)


def _experiment_report(store: Store, row: ExperimentRow) -> bytes:
    from dsebo.transfer.html import export_experiment_html

    return export_experiment_html(store, row)


def _table(store: Store, row: ExperimentRow) -> bytes:
    from dsebo.charts.cells import cell_table

    return cell_table(progress(store, row), row.spec.fields).to_csv(index=False).encode()


def _yaml(store: Store, row: ExperimentRow) -> bytes:
    return row.spec.to_yaml().encode()


_ALL = (
    _of_runs("csv", "Evaluations, CSV", "evaluations.csv", "text/csv", export_csv, is_text=True),
    _of_runs(
        "parquet",
        "Evaluations, Parquet",
        "evaluations.parquet",
        "application/vnd.apache.parquet",
        export_parquet,
    ),
    _of_runs("json", "JSON bundle", "bundle.json", "application/json", export_json, is_text=True),
    Format("html", "HTML report", "report.html", "text/html", _runs_report, _experiment_report),
    Format("optuna", "Optuna study", "study.db", "application/vnd.sqlite3", add_runs=export_optuna),
    Format("table", "Table, CSV", "table.csv", "text/csv", experiment=_table, is_text=True),
    Format("yaml", "Experiment, YAML", "experiment.yaml", "application/yaml", experiment=_yaml, is_text=True),
)
FORMATS: dict[str, Format] = {form.key: form for form in _ALL}
