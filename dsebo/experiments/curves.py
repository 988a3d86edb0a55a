"""The curves of many runs at once: best value and dimension at every evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from dsebo.store import schema
from dsebo.store.store import Store

Array = NDArray[np.float64]

_CHUNK = 500  # ids in a query
_table = schema.evaluation.c


def read_curves(store: Store, ids: Sequence[str]) -> dict[str, tuple[Array, Array]]:
    """(best, d) at t = 1, 2, … of each run; NaN where a method has no d, or before a first value.

    A run that was stored with some of its evaluations only keeps their values until the next.
    """
    found: dict[str, list[Any]] = {}
    chosen = select(_table.run_id, _table.t, _table.best, _table.d).order_by(_table.run_id, _table.t)
    with store.read() as connection:
        for first in range(0, len(ids), _CHUNK):
            part = list(ids[first : first + _CHUNK])
            for run_id, *row in connection.execute(chosen.where(_table.run_id.in_(part))):
                found.setdefault(run_id, []).append(row)
    return {run_id: _curve(rows) for run_id, rows in found.items()}


def _curve(rows: list[Any]) -> tuple[Array, Array]:
    known = np.array(rows, dtype=float)
    t = known[:, 0].astype(int)
    at = np.searchsorted(t, np.arange(1, t[-1] + 1), side="right") - 1
    best, d = np.where(at < 0, np.nan, known[at, 1]), np.where(at < 0, np.nan, known[at, 2])
    return best, d
