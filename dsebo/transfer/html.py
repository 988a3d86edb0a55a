"""Runs or an experiment as one self-contained HTML file: figures, tables and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

import pandas as pd
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from dsebo.analysis.curves import EVERYTHING
from dsebo.charts import theme
from dsebo.charts.cells import blocks, cell_table, inner_axes, lines_of_task, readable
from dsebo.charts.compare import common_scale, figure_of_groups, groups_of, table_of
from dsebo.charts.curves import Curves, finished_curves
from dsebo.charts.experiment import MOST_OVERLAID, heat_figure, overlay_figure, response_figure
from dsebo.charts.explain import feed
from dsebo.charts.panels import MOST_PANELS, TOO_MANY, panels_figure
from dsebo.charts.parallel import FROM_AXES, parallel_figure
from dsebo.charts.run import figure_of
from dsebo.charts.scales import default_scale
from dsebo.experiments.findings import finished, report
from dsebo.experiments.records import ExperimentRow, progress
from dsebo.experiments.spec import ExperimentSpec
from dsebo.experiments.status import progress_words, setting_line
from dsebo.runs.data import RunData, read_ghost, read_run
from dsebo.store.store import Store
from dsebo.text import count, duration, number
from dsebo.text import setting_line as run_setting_line

STYLE = f"""
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 {theme.FONT}; color: {theme.TEXT}; background: #FFFFFF; max-width: 1100px;
  margin: 2rem auto; padding: 0 1rem; }}
figure {{ margin: 1rem 0; }} figcaption {{ font-size: .9rem; }}
@media (prefers-color-scheme: dark) {{
  body {{ color: #E8EAED; background: #12161B; }} body .quiet {{ color: #A3ABB5; }}
}}
table {{ border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }}
th, td {{ padding: .25rem .9rem; border-bottom: 1px solid #ddd; text-align: right; }}
th:first-child, td:first-child {{ text-align: left; }}
section {{ margin-top: 3rem; }} .quiet {{ color: #59636E; }} li {{ margin: .3rem 0; }}
"""


def export_html(store: Store, ids: Sequence[str]) -> bytes:
    """The figures, tables and sentences of these runs, readable without a server or a network."""
    runs = [read_run(store, run_id) for run_id in ids]
    sections = [_comparison(runs)] if len(runs) > 1 else []
    return _page(
        count(len(runs), "run"), "", [*sections, *(_run(run, read_ghost(store, run.row)) for run in runs)]
    )


def export_experiment_html(store: Store, row: ExperimentRow) -> bytes:
    """What an experiment shows, its charts and its table, in the same kind of file."""
    return experiment_page(row, progress(store, row), finished_curves(store, progress(store, row)))


def experiment_page(row: ExperimentRow, frame: pd.DataFrame, curves: Mapping[str, Curves]) -> bytes:
    """The file, from how the runs stand and the curves of the finished ones by their ids."""
    axes = row.spec.fields
    findings = report(frame, axes)
    about = (
        f"{escape(setting_line(row.spec))}<br>{row.state}, {escape(progress_words(row, frame))}; "
        f"experiment {row.id}"
    )
    sections = [
        _section("What is seen", _list(findings.texts), _quiet(escape(findings.hint))),
        *(_section("", chart) for chart in _charts(row.spec, frame, curves)),
        _section("In numbers", _table(readable(cell_table(frame, axes), axes))),
    ]
    return _page(row.name, about, sections)


# --- the parts of runs ---


def _comparison(runs: Sequence[RunData]) -> str:
    groups = groups_of(runs, EVERYTHING)
    figure = figure_of_groups(groups, "mean", common_scale([run.row for run in runs]), False)
    return _section("Compared", _figure(figure), _table(table_of(groups)))


def _run(run: RunData, ghost: RunData | None) -> str:
    row = run.row
    about = (
        f"{escape(run_setting_line(row.config))}<br>{row.state_words}, {count(run.t, 'evaluation')}, "
        f"best value {number(run.best)}, {duration(row.seconds)}; run {row.id}"
    )
    if row.note:
        about += f"<br>{escape(row.note)}"
    if ghost is not None:
        about += f"<br>In grey: {escape(ghost.row.name)}, {escape(run_setting_line(ghost.row.config))}"
    figure = figure_of(run, default_scale(row.minimum), ghost=ghost)
    texts = [f"{entry.in_words} {entry.numbers}".strip() for entry in feed(run.events)]
    ending = f"<p>{escape(run.conclusion)}</p>"
    return _section(row.name, _quiet(about), ending, _figure(figure), _list(texts))


# --- the charts of an experiment ---


def _charts(spec: ExperimentSpec, frame: pd.DataFrame, curves: Mapping[str, Curves]) -> Iterator[str]:
    """Each as HTML, as on the page; a sentence where there is too much to draw."""
    axes, of_task = spec.fields, lines_of_task(spec)
    if spec.is_race:
        yield _figure(overlay_figure(frame, axes, curves, "mean", of_task=of_task))
        return
    if len(inner_axes(axes)) >= FROM_AXES:
        done = finished(frame)
        yield _figure(parallel_figure(done[list(axes)].to_dict("records"), axes, done["best"].to_list()))
    else:
        yield _figure(response_figure(frame, axes, of_task=of_task))
    if len(axes) == 2:
        yield _figure(heat_figure(frame, axes))
    inner = inner_axes(axes) or list(axes)
    for block in blocks(frame, axes):
        cells = block.rows["cell"].nunique()
        if cells > MOST_PANELS:
            yield escape(f"{block.name}: {TOO_MANY}" if block.name else TOO_MANY)
            continue
        draw = overlay_figure if cells <= MOST_OVERLAID else panels_figure
        figure = draw(block.rows, inner, curves, of_task=of_task)
        if block.name:
            figure.layout.title = {"text": block.name, "x": 0.5}
        yield _figure(figure)


# --- HTML ---


def _page(title: str, about: str, sections: Sequence[str]) -> bytes:
    """A whole file that needs no server and no network. `about` is HTML, the title is text."""
    parts = (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width'><title>DSEBO report</title>",
        f"<style>{STYLE}</style><script>{get_plotlyjs()}</script><script>{theme.script()}</script></head><body>",
        f"<h1>{escape(title)}</h1>" if title else "",
        _quiet(about) if about else "",
        *sections,
        "</body></html>",
    )
    return "\n".join(parts).encode()


def figure_page(figure: go.Figure) -> bytes:
    """A file with one figure."""
    return _page("", "", [_figure(figure)])


def _section(title: str, *parts: str) -> str:
    heading = f"<h2>{escape(title)}</h2>" if title else ""
    return f"<section>{heading}{''.join(parts)}</section>"


def _quiet(html: str) -> str:
    return f"<p class='quiet'>{html}</p>"


def _list(texts: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</ul>"


def _figure(figure: go.Figure) -> str:
    """A figure as a page shows it, with its caption under it."""
    caption = (figure.layout.meta or {}).get("caption", "")
    # "</" would end the script wherever it stands in a name
    data = str(figure.to_json()).replace("</", "<\\/")
    return (
        "<figure><div class='chart'></div>"
        f"<script>dseboFigure.draw(document.currentScript.previousElementSibling, {data})</script>"
        f"<figcaption class='quiet'>{escape(caption)}</figcaption></figure>"
    )


def _table(table: pd.DataFrame) -> str:
    """Everything in it is text."""
    head = "".join(f"<th>{escape(str(column))}</th>" for column in table.columns)
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in table.itertuples(index=False))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cells(row: Sequence[object]) -> str:
    shown = (number(cell) if isinstance(cell, float) else escape(str(cell)) for cell in row)
    return "".join(f"<td>{cell}</td>" for cell in shown)
