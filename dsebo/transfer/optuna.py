"""Runs as Optuna studies, one trial per evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sqlalchemy import select

from dsebo.store import schema
from dsebo.store.errors import StoreError
from dsebo.store.rows import RunRow
from dsebo.store.store import Store

MAX_PARAMETERS = 200  # a study of thousands of parameters a trial is of no use


def export_optuna(
    store: Store, ids: Sequence[str], path: str, progress: Callable[[int], None] | None = None
) -> list[str]:
    """Write each run as a study of an Optuna storage; the studies' names.

    A trial's parameters are z of the subspace for DSEBO, and x for other methods where D is small. The
    path is a file (SQLite), or the address of an Optuna storage.
    """
    optuna = optuna_module()
    storage = path if "://" in str(path) else f"sqlite:///{path}"
    names, written = [], 0
    for run_id in ids:
        row = store.get_run(run_id)
        name = f"{row.name} [{row.short_id}]"
        try:
            study = optuna.create_study(storage=storage, study_name=name, direction="minimize")
        except optuna.exceptions.DuplicatedStudyError:
            raise StoreError(f"{path} already holds a study of run {row.short_id}.") from None
        for key, value in _about(row).items():
            study.set_user_attr(key, value)
        for trial in _trials(store, row, optuna):
            study.add_trial(trial)
            written += 1
            if progress is not None:
                progress(written)
        names.append(name)
    return names


def optuna_module() -> Any:
    """Optuna, quiet; StoreError with the extra's name where it is missing."""
    try:
        import optuna
    except ModuleNotFoundError:
        raise StoreError("An Optuna study needs Optuna: pip install 'dsebo[optuna]'.") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def _about(row: RunRow) -> dict[str, Any]:
    return {"run_id": row.id, "config": row.config, "state": row.state, "source": row.source}


def _trials(store: Store, row: RunRow, optuna: Any) -> list[Any]:
    frame = store.evaluations(row.id)
    points = _parameters(store, row)
    box = optuna.distributions.FloatDistribution(-1.0, 1.0)
    trials = []
    for evaluation, params in zip(frame.to_dict("records"), points, strict=True):
        attributes = {key: None if value != value else value for key, value in evaluation.items()}
        state = optuna.trial.TrialState
        trials.append(
            optuna.trial.create_trial(
                state=state.FAIL if evaluation["failed"] else state.COMPLETE,
                value=None if evaluation["failed"] else evaluation["y"],
                params=params,
                distributions=dict.fromkeys(params, box),
                user_attrs=attributes,
            )
        )
    return trials


def _parameters(store: Store, row: RunRow) -> list[dict[str, float]]:
    """z_1 … z_d, or x_1 … x_D, or none."""
    table = schema.evaluation
    with store.read() as connection:
        rows = connection.execute(
            select(table.c.t.label("n"), table.c.z, table.c.z_type)
            .where(table.c.run_id == row.id)
            .order_by(table.c.t)
        ).all()
    in_subspace = row.method == "dsebo"
    small = row.parsed.D <= MAX_PARAMETERS
    parameters: list[dict[str, float]] = []
    for evaluation in rows:
        if evaluation.z is None or not (in_subspace or small):
            parameters.append({})
        elif in_subspace:
            parameters.append(_named("z", np.frombuffer(evaluation.z, dtype=f"<{evaluation.z_type}")))
        else:
            parameters.append(_named("x", store.point(row.id, evaluation.n)))
    return parameters


def _named(letter: str, point: Any) -> dict[str, float]:
    return {f"{letter}_{i}": float(value) for i, value in enumerate(point, 1)}
