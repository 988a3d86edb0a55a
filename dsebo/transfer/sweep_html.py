"""A sweep as one self-contained HTML file, and its table for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape

import pandas as pd

from dsebo.charts.compare import Curves
from dsebo.charts.frames import blocks, cell_table, inner_axes
from dsebo.charts.heat import heat_figure
from dsebo.charts.panels import MOST_OVERLAID, MOST_PANELS, TOO_MANY, overlay_figure, panels_figure
from dsebo.charts.response import response_figure
from dsebo.experiments.findings import report
from dsebo.experiments.records import SweepRow
from dsebo.text import NAMED, is_number, symbol, value_label
from dsebo.transfer.html import embed, html_file, html_table
from dsebo.ui.experiments.sweep_status import progress_words, setting_line

COLUMNS = {
    "n": "Seeds",
    "planned": "of",
    "mean": "Mean",
    "std": "Std",
    "median": "Median",
    "best": "Best",
    "final_d": "Final d",
    "seconds": "Seconds",
    "at_centre": "Centre",
    "minimum": "F*",
}


def readable(table: pd.DataFrame, axes: Sequence[str]) -> pd.DataFrame:
    """The table of cells with the paper's symbols and names for people."""
    shown = table.drop(columns="cell")
    for axis in axes:
        if not all(is_number(value) for value in shown[axis]):
            shown[axis] = [value_label(axis, value) for value in shown[axis]]
    heads = {axis: axis.capitalize() if axis in NAMED else symbol(axis) for axis in axes}
    return shown.rename(columns={**COLUMNS, **heads})


def export_sweep_html(
    row: SweepRow, frame: pd.DataFrame, curves: Callable[[], Mapping[str, Curves]]
) -> bytes:
    """What is seen, the charts and the table, readable without a server or a network.

    Args:
        row: The sweep.
        frame: How its runs stand.
        curves: Gives what is drawn of each finished run.
    """
    axes = row.spec.fields
    found = report(frame, axes)
    said = "".join(f"<li>{escape(sentence)}</li>" for sentence in found.sentences)
    parts = [
        f"<h1>{escape(row.name)}</h1>",
        f"<p class='quiet'>{escape(setting_line(row.spec))}<br>{row.state}, "
        f"{escape(progress_words(row, frame))}; sweep {row.id}</p>",
        f"<section><h2>What is seen</h2><ul>{said}</ul><p class='quiet'>{escape(found.hint)}</p></section>",
        *(f"<section>{chart}</section>" for chart in _charts(frame, axes, curves())),
        f"<section><h2>In numbers</h2>{html_table(readable(cell_table(frame, axes), axes))}</section>",
    ]
    return html_file(parts)


def _charts(frame: pd.DataFrame, axes: Sequence[str], curves: Mapping[str, Curves]) -> list[str]:
    """Each as HTML; a sentence where there is too much to draw."""
    charts = [embed(response_figure(frame, axes))]
    if len(axes) == 2:
        charts.append(embed(heat_figure(frame, axes)))
    inner = inner_axes(axes) or list(axes)
    for block in blocks(frame, axes):
        cells = block.rows["cell"].nunique()
        if cells > MOST_PANELS:
            charts.append(escape(f"{block.name}: {TOO_MANY}" if block.name else TOO_MANY))
            continue
        build = overlay_figure if cells <= MOST_OVERLAID else panels_figure
        figure = build(block.rows, inner, curves)
        if block.name:
            figure.layout.title = {"text": block.name, "x": 0.5}
        charts.append(embed(figure))
    return charts
