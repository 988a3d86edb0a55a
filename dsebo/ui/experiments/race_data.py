"""A race as it stands, read from the store: its runs by method, only what is new each time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from dsebo.experiments.entrants import label_of
from dsebo.experiments.standings import RUN_COLUMNS, standings
from dsebo.paper.comparison import printed_mean
from dsebo.runs.data import RunData

Lanes = dict[str, list[RunData]]


def lanes_of(runs: Sequence[RunData]) -> Lanes:
    """The runs by method."""
    lanes: Lanes = {}
    for run in runs:
        lanes.setdefault(label_of(run.row.config), []).append(run)
    return lanes


def methods_of(lanes: Mapping[str, Sequence[RunData]]) -> dict[str, str]:
    """The method of each label."""
    return {label: runs[0].row.method for label, runs in lanes.items()}


def table_of(lanes: Mapping[str, Sequence[RunData]]) -> pd.DataFrame:
    """The standings, with how many runs there are and what the paper prints."""
    rows = [
        (label, run.best, run.d, run.row.seconds, run.ended) for label, runs in lanes.items() for run in runs
    ]
    table = standings(pd.DataFrame(rows, columns=list(RUN_COLUMNS)), common(lanes, "at_centre"))
    printed = [_printed(lanes.get(label)) for label in table["method"]]
    of = [len(lanes.get(label, [None])) for label in table["method"]]
    return table.assign(of=of, paper=pd.Series(printed, dtype=float))


def _printed(runs: Sequence[RunData] | None) -> float | None:
    return printed_mean(runs[0].row.config) if runs else None


def common(lanes: Mapping[str, Sequence[RunData]], field: str) -> float | None:
    """The centre's value or F*: that of the first run that has begun, as all have one function."""
    rows = (run.row for runs in lanes.values() for run in runs)
    return next((v for row in rows if (v := getattr(row, field)) is not None), None)
