"""Compared runs: their groups, the chart of these, and the table beside what the paper prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import pandas as pd
import plotly.graph_objects as go

from dsebo.analysis.curves import SEEDS, BandKind, given_settings, group_runs, summary
from dsebo.charts.curves import band_words, curves_figure, curves_of
from dsebo.charts.scales import References, Scale, default_scale, task_lines
from dsebo.charts.theme import Style, captioned, styles_for
from dsebo.config import differing, flat_config
from dsebo.paper.tables import paper_rows
from dsebo.runs.data import RunData
from dsebo.store.rows import RunRow
from dsebo.store.schema import ACTIVE
from dsebo.text import setting_line

Number = TypeVar("Number", int, float)
OURS, PAPER, FILES = "this software", "the paper", "imported files"


def groups_of(runs: Sequence[RunData], by: str) -> dict[str, list[RunData]]:
    """The runs by group."""
    by_id = {run.row.id: run for run in runs}
    labels = group_runs({run.row.id: run.row.config for run in runs}, by)
    return {label: [by_id[run_id] for run_id in ids] for label, ids in labels.items()}


def figure_of_groups(
    groups: Mapping[str, Sequence[RunData]],
    kind: BandKind,
    scale: Scale,
    singles: bool,
    split: str | None = None,
) -> go.Figure:
    """The compared curves; grey lines only where they are the same for all."""
    rows = [run.row for group in groups.values() for run in group]
    lines = References(
        _common([row.minimum for row in rows]),
        _common([row.at_centre for row in rows]),
        d_e=_common([row.config["objective"].get("d_e") for row in rows]),
        of_task=task_lines([row.config["objective"] for row in rows]),
    )
    curves = {label: [curves_of(run) for run in group] for label, group in groups.items()}
    styles = _styles(groups)
    slopes = any(row.method == "dsebo" for row in rows)
    figure = curves_figure(
        curves,
        kind,
        scale,
        styles=styles,
        lines=lines,
        end=_end(groups),
        singles=singles,
        slopes=slopes,
        split=split,
    )
    return captioned(figure, _caption(groups, kind))


def _end(groups: Mapping[str, Sequence[RunData]]) -> int | None:
    """Where the iteration axis ends, also while runs are at work: the longest budget that is used up."""
    runs = [run for group in groups.values() for run in group]
    whole = (*ACTIVE, "finished")
    return max((run.row.budget if run.row.state in whole else run.t for run in runs), default=None)


def _caption(groups: Mapping[str, Sequence[RunData]], kind: BandKind) -> str:
    """What all runs share, and what lines and bands are."""
    told = [setting_line(run.row.config).split(" · ") for group in groups.values() for run in group]
    shared = [part for part in (told[0] if told else []) if all(part in other for other in told)]
    sizes = [len(group) for group in groups.values()]
    words = [band_words(kind, sizes)] if max(sizes, default=0) > 1 else []
    return " · ".join([*shared, *words])


def _styles(groups: Mapping[str, Sequence[RunData]]) -> dict[str, Style]:
    """By what tells the groups apart."""
    settings = {label: flat_config(group[0].row.config) for label, group in groups.items() if group}
    given = given_settings(group[0].row.config for group in groups.values() if group) | {"method"}
    fields = [name for name in differing(list(settings.values())) if name in given and name not in SEEDS]
    return styles_for({label: {name: flat.get(name) for name in fields} for label, flat in settings.items()})


def common_scale(rows: Sequence[RunRow]) -> Scale:
    """The value axis to begin with."""
    below = [row.minimum for row in rows if row.minimum is not None and row.minimum < 0]
    return default_scale(below[0] if below else None)


def table_of(groups: Mapping[str, Sequence[RunData]], all_methods: bool = False) -> pd.DataFrame:
    """Mean, std, best and seconds of each group, with the paper's rows for the same task."""
    ids = {label: [run.row.id for run in group] for label, group in groups.items()}
    final = {run.row.id: (run.best, run.row.seconds) for group in groups.values() for run in group}
    own = summary(ids, final).assign(source=[_source(group) for group in groups.values()])
    configs = [run.row.config for group in groups.values() for run in group]
    tasks = {(c["objective"]["name"], c["objective"].get("D")) for c in configs}
    if len(tasks) != 1 or not configs:
        return own
    methods = {run.row.method for group in groups.values() for run in group}
    printed = _printed(paper_rows(configs[0]), methods, all_methods)
    return pd.concat([own, printed], ignore_index=True) if len(printed) else own


def _source(group: Sequence[RunData]) -> str:
    """Who says so of a group's runs."""
    imported = sum(run.row.imported for run in group)
    if not imported:
        return OURS
    return FILES if imported == len(group) else f"{OURS}, {imported} from {FILES}"


def _printed(rows: pd.DataFrame, methods: set[str], all_methods: bool) -> pd.DataFrame:
    """The paper's rows in the table's columns."""
    if not all_methods:
        wanted = {"DSEBO"} | ({"Random Search"} if "random" in methods else set())
        rows = rows[rows["method"].isin(wanted)]
    pairs = zip(rows["method"], rows["subspace_d"], strict=True)
    label = [method if pd.isna(d) else f"{method}, d = {d:g}" for method, d in pairs]
    return pd.DataFrame(
        {
            "group": label,
            "runs": 10,
            "mean": rows["mean"],
            "std": rows["std"],
            "best": rows["best"],
            "seconds": rows["seconds"].astype(float),
            "source": PAPER,
        }
    ).sort_values("mean")


def _common(values: Sequence[Number | None]) -> Number | None:
    """The value that all share; None where they differ."""
    return values[0] if values and all(v == values[0] for v in values) else None
