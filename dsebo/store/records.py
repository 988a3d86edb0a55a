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

from dsebo import __version__
from dsebo.events import Evaluated, Event


@cache
def versions() -> dict[str, str]:
    """The software that a run depends on."""
    installed = {"python": platform.python_version(), "dsebo": __version__}
    for package in ("numpy", "scipy", "torch", "botorch", "gpytorch"):
        try:
            installed[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            installed[package] = "unknown"
    return installed


def evaluation_row(run_id: str, event: Evaluated) -> dict[str, Any]:
    """What is kept of an evaluation."""
    z, z_type = point_bytes(event.z)
    values = {"y": finite(event.y), "best": finite(event.best), "z": z, "z_type": z_type}
    return {"run_id": run_id, **vars(event), **values}


def event_row(run_id: str, event: Event) -> dict[str, Any]:
    """What is kept of any other event."""
    payload = json.dumps(event.to_json(), ensure_ascii=False, allow_nan=False)
    return {"run_id": run_id, "t": event.t, "kind": event.kind, "payload": payload}


def fork_point_row(run_id: str, t: int, point: dict[str, Any]) -> dict[str, Any]:
    """What is kept at a convergence."""
    return {"run_id": run_id, "t": t, "state": json.dumps(point)}


def point_bytes(z: NDArray[Any]) -> tuple[bytes, str]:
    """z as raw little-endian bytes and their type: nothing is rounded."""
    z_type = "f4" if z.dtype == np.float32 else "f8"
    return z.astype(f"<{z_type}").tobytes(), z_type


def finite(value: float) -> float | None:
    """NaN and infinity, which not every database keeps, as NULL."""
    return value if math.isfinite(value) else None
