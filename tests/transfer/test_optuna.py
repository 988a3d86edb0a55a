from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from dsebo.store.errors import StoreError
from dsebo.store.store import Store
from dsebo.transfer import export_optuna


def test_optuna_study(store: Store, two: list[str], tmp_path: Path) -> None:
    optuna = pytest.importorskip("optuna")
    file = tmp_path / "study.db"
    names = export_optuna(store, two, str(file))
    study = optuna.load_study(study_name=names[0], storage=f"sqlite:///{file}")
    frame = store.evaluations(two[0])
    assert study.best_value == store.get_run(two[0]).best
    assert [trial.value for trial in study.trials] == list(frame["y"])
    assert [len(trial.params) for trial in study.trials] == list(frame["d"])
    other = optuna.load_study(study_name=names[1], storage=f"sqlite:///{file}")
    assert other.trials[2].params["x_7"] == store.point(two[1], 3)[6]
    with pytest.raises(StoreError, match="already holds a study"):
        export_optuna(store, two, str(file))


def test_optuna_is_optional(store: Store, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(StoreError, match=r"pip install 'dsebo\[optuna\]'"):
        export_optuna(store, [], str(tmp_path / "x.db"))
