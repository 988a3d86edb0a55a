"""Compared runs: their curves, their groups and the table, without a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dsebo.analysis.curves import BandKind, group_runs, summary
from dsebo.charts.compare import Curves, compare_figure
from dsebo.charts.scales import Array, Scale, default_scale
from dsebo.experiments.curves import read_curves
from dsebo.experiments.findings import finished
from dsebo.paper.tables import paper_rows
from dsebo.runs.data import RunData
from dsebo.store.rows import RunRow
from dsebo.store.store import Store

OURS, PAPER = "this software", "the paper"


def curves_of(data: RunData) -> Curves:
    """What is drawn of a run."""
    best = data.evaluations["best"].to_numpy(dtype=float)
    return Curves(
        best=to_the_end(best, data.row.budget) if data.row.state == "finished" else best,
        d=data.evaluations["d"].to_numpy(dtype=float),
        slopes=[(c["t"], c["slopes"][-1]) for c in data.changes if c["slopes"] and c["event"] == "expanded"],
        floor=data.evaluations["floor"].to_numpy(float) if "floor" in data.evaluations else None,
    )


def finished_curves(store: Store, frame: pd.DataFrame) -> dict[str, Curves]:
    """What is drawn of the finished runs of an experiment, by their ids, from the frame of its runs."""
    done = finished(frame)
    budgets = dict(zip(done["run_id"], done["budget"].astype(int), strict=True))
    curves = read_curves(store, list(budgets)) if budgets else {}
    return {run: Curves(to_the_end(best, budgets[run]), d) for run, (best, d) in curves.items()}


def to_the_end(best: Array, budget: int) -> Array:
    """A finished run that had nothing more to ask keeps its best value to the end."""
    return np.append(best, np.full(budget - len(best), best[-1])) if 0 < len(best) < budget else best


def groups_of(runs: Sequence[RunData], by: str) -> dict[str, list[RunData]]:
    """The runs by group."""
    found = {run.row.id: run for run in runs}
    labels = group_runs({run.row.id: run.row.config for run in runs}, by)
    return {label: [found[run_id] for run_id in ids] for label, ids in labels.items()}


def figure_of_groups(
    groups: Mapping[str, Sequence[RunData]],
    kind: BandKind,
    scale: Scale,
    singles: bool,
    split: str | None = None,
) -> go.Figure:
    """The compared curves; grey lines only where they are the same for all."""
    rows = [run.row for group in groups.values() for run in group]
    return compare_figure(
        {label: [curves_of(run) for run in group] for label, group in groups.items()},
        kind,
        scale,
        singles,
        minimum=_common([row.minimum for row in rows]),
        at_centre=_common([row.at_centre for row in rows]),
        split=split,
    )


def common_scale(rows: Sequence[RunRow]) -> Scale:
    """The value axis to begin with."""
    below = [row.minimum for row in rows if row.minimum is not None and row.minimum < 0]
    return default_scale(below[0] if below else None)


def table_of(groups: Mapping[str, Sequence[RunData]], all_methods: bool = False) -> pd.DataFrame:
    """Mean, std, best and seconds of each group, with the paper's rows for the same task."""
    ids = {label: [run.row.id for run in group] for label, group in groups.items()}
    final = {run.row.id: (run.best, run.row.seconds) for group in groups.values() for run in group}
    own = summary(ids, final).assign(source=OURS)
    configs = [run.row.config for group in groups.values() for run in group]
    tasks = {(c["objective"]["name"], c["objective"].get("D")) for c in configs}
    if len(tasks) != 1 or not configs:
        return own
    methods = {run.row.method for group in groups.values() for run in group}
    printed = _printed(paper_rows(configs[0]), methods, all_methods)
    return pd.concat([own, printed], ignore_index=True) if len(printed) else own


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


def _common(values: Sequence[float | None]) -> float | None:
    """The value that all share; None where they differ."""
    return values[0] if values and all(v == values[0] for v in values) else None
