"""Single rows of the store, as the events of a run become them."""

from __future__ import annotations

import json
import math
import platform
from functools import cache
from importlib import metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, insert, update

from dsebo.events import Evaluated, Event
from dsebo.run import Runner
from dsebo.store import schema


@cache
def versions() -> dict[str, str]:
    """The software that a run depends on."""
    found = {"python": platform.python_version()}
    for package in ("dsebo", "numpy", "scipy", "torch", "botorch", "gpytorch"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "unknown"
    return found


def add_evaluation(connection: Connection, run_id: str, event: Evaluated) -> None:
    """One evaluation's row."""
    z, z_type = point_bytes(event.z)
    row = {
        "run_id": run_id,
        "t": event.t,
        "y": finite(event.y),
        "best": finite(event.best),
        "d": event.d,
        "z": z,
        "z_type": z_type,
        "seconds": event.seconds,
        "seconds_fit": event.seconds_fit,
        "seconds_acq": event.seconds_acq,
        "seconds_eval": event.seconds_eval,
        "failed": event.failed,
        "T": event.T,
        "since_gain": event.since_gain,
        "error": event.error,
    }
    connection.execute(insert(schema.evaluation), row)


def add_event(connection: Connection, run_id: str, event: Event) -> None:
    """Any other event's row."""
    payload = json.dumps(event.to_json(), ensure_ascii=False, allow_nan=False)
    row = {"run_id": run_id, "t": event.t, "kind": event.kind, "payload": payload}
    connection.execute(insert(schema.event), row)


def save_checkpoint(connection: Connection, run_id: str, runner: Runner) -> None:
    """Replace the checkpoint: the optimizer's state without what the evaluations give."""
    state = {name: part for name, part in runner.state_dict().items() if name != "data"}
    values = {"t": runner.t, "state": json.dumps(state)}
    changed = connection.execute(
        update(schema.checkpoint).where(schema.checkpoint.c.run_id == run_id).values(**values)
    )
    if changed.rowcount == 0:
        connection.execute(insert(schema.checkpoint), {"run_id": run_id, **values})


def point_bytes(z: NDArray[Any]) -> tuple[bytes, str]:
    """z as raw little-endian bytes and their type: nothing is rounded."""
    z_type = "f4" if z.dtype == np.float32 else "f8"
    return z.astype(f"<{z_type}").tobytes(), z_type


def finite(value: float) -> float | None:
    """NaN and infinity, which not every database keeps, as NULL."""
    return value if math.isfinite(value) else None
