"""Import and export of runs. What is uploaded is parsed, never unpickled or executed."""

from dsebo.runs.transfer.bundle import export_json
from dsebo.runs.transfer.loading import import_bytes, import_path
from dsebo.runs.transfer.optuna_study import export_optuna
from dsebo.runs.transfer.tables import export_csv, export_parquet, frame

__all__ = [
    "export_csv",
    "export_json",
    "export_optuna",
    "export_parquet",
    "frame",
    "import_bytes",
    "import_path",
]
