"""Runs that live in the background, are never lost, and can be paused, resumed and shared."""

from dsebo.runs.errors import (
    LeaseLost,
    LimitExceeded,
    NotAllowed,
    RunNotFound,
    StoreError,
    StoreFull,
)
from dsebo.runs.manager import RunManager
from dsebo.runs.owners import owner_mark
from dsebo.runs.predict import Prediction
from dsebo.runs.rows import LOCAL_OWNER, STATES, RunRow
from dsebo.runs.settings import Limits, LimitSettings, Settings
from dsebo.runs.store import Store
from dsebo.runs.transfer import (
    export_csv,
    export_json,
    export_optuna,
    export_parquet,
    import_bytes,
    import_path,
)

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
