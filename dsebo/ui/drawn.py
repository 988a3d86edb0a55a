"""From a run to its drawn chart: what the charts need of a row, and the shared figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from dsebo.charts.run import References, run_figure, value_span
from dsebo.charts.scales import Scale
from dsebo.paper.tables import paper_value
from dsebo.store.rows import RunRow
from dsebo.ui.cache import SHARED
from dsebo.ui.data import RunData


def references(row: RunRow) -> References:
    """The grey lines of a run."""
    optimizer = row.config["optimizer"]
    return References(
        minimum=row.minimum,
        at_centre=row.at_centre,
        paper=paper_value(row.config),
        d_e=row.config["objective"]["d_e"],
        d_h=optimizer.get("d_h"),
    )


def common_span(runs: Sequence[RunData], scale: Scale) -> tuple[float, float]:
    """The value axis that holds all these runs."""
    spans = [value_span(run.evaluations, references(run.row), scale) for run in runs]
    return min(low for low, _ in spans), max(high for _, high in spans)


def figure_of(
    data: RunData,
    scale: Scale,
    chosen: int | None = None,
    value_range: tuple[float, float] | None = None,
    axis_end: int | None = None,
) -> go.Figure:
    """The chart of a run; a replay fixes its axes to those of the finished run."""
    figure = run_figure(
        data.evaluations,
        data.changes,
        references(data.row),
        axis_end or max(data.row.budget, data.t),
        scale,
        chosen,
        value_range,
        revision=f"{data.row.id} {scale}",
    )
    figure.layout.meta = {**figure.layout.meta, "file": f"dsebo-{data.row.id[:8]}"}
    return figure


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
