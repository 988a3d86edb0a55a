"""A run's chart, drawn once for all who watch."""

from __future__ import annotations

from typing import Any

from dsebo.charts.run import figure_of
from dsebo.charts.scales import Scale
from dsebo.runs.data import RunData
from dsebo.ui.cache import SHARED


def shared_figure(data: RunData, scale: Scale, chosen: int | None, **more: Any) -> bytes:
    """The same as JSON, drawn once for all who watch."""
    event = data.chosen(chosen)
    key = (
        data.row.id,
        data.t,
        len(data.events),
        data.row.budget,
        data.row.at_centre,
        scale,
        event["t"] if event else None,
        more.get("value_range"),
        more.get("axis_end"),
        data.evaluations["floor"].to_numpy().tobytes() if "floor" in data.evaluations else None,
    )
    return SHARED.figure(key, lambda: figure_of(data, scale, chosen, **more).to_json().encode())
