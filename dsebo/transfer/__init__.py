"""Import and export of runs. What is uploaded is parsed, never unpickled or executed."""

from dsebo.transfer.bundle import export_json
from dsebo.transfer.loading import import_bytes, import_path
from dsebo.transfer.optuna import export_optuna
from dsebo.transfer.tables import export_csv, export_parquet, frame

__all__ = [
    "export_csv",
    "export_json",
    "export_optuna",
    "export_parquet",
    "frame",
    "import_bytes",
    "import_path",
]
