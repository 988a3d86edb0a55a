"""Runs that live in the background, are never lost, and can be paused, resumed and shared."""

from dsebo.runs.manager import RunManager
from dsebo.runs.predict import Prediction
from dsebo.settings import Limits, LimitSettings, Settings
from dsebo.store.errors import LeaseLost, LimitExceeded, NotAllowed, RunNotFound, StoreError, StoreFull
from dsebo.store.owners import owner_mark
from dsebo.store.rows import LOCAL_OWNER, STATES, RunRow
from dsebo.store.store import Store
from dsebo.transfer import export_csv, export_json, export_optuna, export_parquet, import_bytes, import_path

__all__ = [
    "LOCAL_OWNER",
    "STATES",
    "LeaseLost",
    "LimitExceeded",
    "LimitSettings",
    "Limits",
    "NotAllowed",
    "Prediction",
    "RunManager",
    "RunNotFound",
    "RunRow",
    "Settings",
    "Store",
    "StoreError",
    "StoreFull",
    "export_csv",
    "export_json",
    "export_optuna",
    "export_parquet",
    "import_bytes",
    "import_path",
    "owner_mark",
]
