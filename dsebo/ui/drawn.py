"""From a run to its drawn chart: what the charts need of a row, and the shared figures."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from dsebo.analysis import paper_value
from dsebo.runs import RunRow
from dsebo.ui.cache import SHARED
from dsebo.ui.charts import References, run_figure, value_span
from dsebo.ui.data import RunData
from dsebo.ui.scales import Scale


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


def figure_of(
    data: RunData,
    scale: Scale,
    chosen: int | None = None,
    whole: RunData | None = None,
    axis_end: int | None = None,
) -> go.Figure:
    """The chart of a run; `whole` fixes its axes to the finished run while it is replayed."""
    of = references(data.row)
    figure = run_figure(
        data.evaluations,
        data.changes,
        of,
        axis_end or max(data.row.budget, data.t),
        scale,
        chosen,
        value_span(whole.evaluations, of, scale) if whole else None,
        revision=f"{data.row.id} {scale}",
    )
    figure.layout.meta = {**figure.layout.meta, "file": f"dsebo-{data.row.id[:8]}"}
    return figure


def shared_figure(data: RunData, scale: Scale, chosen: int | None, **more: Any) -> bytes:
    """The same as JSON, drawn once for all who watch."""
    event = data.chosen(chosen)
    key = (
        data.row.id, data.t, len(data.events), data.row.budget, data.row.at_centre, scale,
        event["t"] if event else None, bool(more.get("whole")), more.get("axis_end"),
    )  # fmt: skip
    return SHARED.figure(key, lambda: figure_of(data, scale, chosen, **more).to_json().encode())
