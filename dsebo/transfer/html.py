"""One self-contained HTML file with the figures of a selection of runs."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import pandas as pd
import plotly.graph_objects as go

from dsebo.analysis.curves import EVERYTHING
from dsebo.charts import theme
from dsebo.charts.explain import feed
from dsebo.charts.groups import common_scale, figure_of_groups, groups_of, table_of
from dsebo.charts.scales import default_scale
from dsebo.store.store import Store
from dsebo.text import count, duration, number, setting_line
from dsebo.ui.data import RunData, read_run
from dsebo.ui.drawn import figure_of
from dsebo.ui.live import plotly_js

STYLE = f"""
body {{ font: 16px/1.5 {theme.FONT}; color: {theme.TEXT}; max-width: 1100px; margin: 2rem auto;
  padding: 0 1rem; }}
table {{ border-collapse: collapse; margin: 1rem 0; }}
th, td {{ padding: .25rem .9rem; border-bottom: 1px solid #ddd; text-align: right; }}
th:first-child, td:first-child {{ text-align: left; }}
section {{ margin-top: 3rem; }} .quiet {{ color: #59636E; }} li {{ margin: .3rem 0; }}
"""


def export_html(store: Store, ids: Sequence[str]) -> bytes:
    """The figures, tables and sentences of these runs, readable without a server or a network."""
    runs = [read_run(store, run_id) for run_id in ids]
    parts = [
        f"<h1>{count(len(runs), 'run')}</h1>",
        *([_comparison(runs)] if len(runs) > 1 else []),
        *(_section(run) for run in runs),
    ]
    return html_file(parts)


def html_file(parts: Sequence[str]) -> bytes:
    """A whole file that needs no server and no network."""
    head = (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width'><title>DSEBO report</title>",
        f"<style>{STYLE}</style><script>{plotly_js()}</script></head><body>",
    )
    return "\n".join([*head, *parts, "</body></html>"]).encode()


def _comparison(runs: Sequence[RunData]) -> str:
    groups = groups_of(runs, EVERYTHING)
    figure = figure_of_groups(groups, "mean", common_scale([run.row for run in runs]), False)
    return f"<section><h2>Compared</h2>{embed(figure)}{html_table(table_of(groups))}</section>"


def _section(run: RunData) -> str:
    row = run.row
    figure = figure_of(run, default_scale(row.minimum))
    said = "".join(f"<li>{escape(entry.text)}</li>" for entry in feed(run.events))
    return (
        f"<section><h2>{escape(row.name)}</h2>"
        f"<p class='quiet'>{escape(setting_line(row.config))}<br>{row.state}, "
        f"{count(run.t, 'evaluation')}, best value {number(run.best)}, {duration(row.seconds)}; "
        f"run {row.id}</p>{embed(figure)}<ul>{said}</ul></section>"
    )


def embed(figure: go.Figure) -> str:
    """A figure as a part of such a file."""
    return str(figure.to_html(full_html=False, include_plotlyjs=False, config={"displaylogo": False}))


def html_table(table: pd.DataFrame) -> str:
    """A table as a part of such a file; everything in it is text."""
    head = "".join(f"<th>{escape(str(column))}</th>" for column in table.columns)
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in table.itertuples(index=False))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cells(row: Sequence[object]) -> str:
    shown = (number(cell) if isinstance(cell, float) else escape(str(cell)) for cell in row)
    return "".join(f"<td>{cell}</td>" for cell in shown)
