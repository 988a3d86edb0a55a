"""The cells of an experiment as charts and tables need them: by function, on axes, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from dsebo.charts.curves import Curves, abreast
from dsebo.charts.scales import Array, task_lines
from dsebo.experiments.findings import finished
from dsebo.experiments.spec import ExperimentSpec
from dsebo.text import NAMED, is_number, part, symbol, value_label

FUNCTION = "function"
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
OfTask = Mapping[int, Mapping[str, float]]  # by cell: what a real task is read against besides its centre
LOG_FROM = 10.0  # the ratio of the largest to the least value from which an axis is logarithmic


def labels(frame: pd.DataFrame, axes: Sequence[str]) -> dict[int, str]:
    """`β = 8, dₕ = 60` of each cell, in order."""
    cells = frame.drop_duplicates("cell")
    rows = zip(cells["cell"], *(cells[axis] for axis in axes), strict=True)
    return {
        int(cell): ", ".join(part(axis, value) for axis, value in zip(axes, values, strict=True))
        for cell, *values in rows
    }


def cell_table(frame: pd.DataFrame, axes: Sequence[str]) -> pd.DataFrame:
    """One row a cell: its axes' values, runs finished and planned, and what they came to.

    Columns: cell, the axes, n, planned, mean, std, median, best, final_d, seconds, minimum,
    at_centre. Final d is the median, seconds the mean of a run.
    """
    cells = frame.groupby("cell", sort=False)
    table = cells[list(axes)].first()
    done = finished(frame)
    runs = done.assign(d=pd.to_numeric(done["d"])).groupby("cell")
    best = runs["best"].agg(["mean", "std", "median", "min"]).rename(columns={"min": "best"})
    table = table.assign(n=runs.size(), planned=cells.size()).join(best)
    table["n"] = table["n"].fillna(0).astype(int)
    table = table.assign(final_d=runs["d"].median(), seconds=runs["seconds"].mean())
    # A cell has one minimum and one centre, which a run knows once it has begun.
    table = table.join(cells[["minimum", "at_centre"]].first().apply(pd.to_numeric))
    return table.reset_index()


def readable(table: pd.DataFrame, axes: Sequence[str]) -> pd.DataFrame:
    """The table of cells with the paper's symbols and names for people."""
    shown = table.drop(columns="cell")
    for axis in axes:
        if not all(is_number(value) for value in shown[axis]):
            shown[axis] = [value_label(axis, value) for value in shown[axis]]
    heads = {axis: axis.capitalize() if axis in NAMED else symbol(axis) for axis in axes}
    return shown.rename(columns={**COLUMNS, **heads})


def known(values: Any) -> float | None:
    """The one value that all rows share, where it is known; None where they differ or have none."""
    there = pd.to_numeric(values).dropna().unique()
    return float(there[0]) if len(there) == 1 else None


def lines_of_task(spec: ExperimentSpec) -> OfTask:
    """Of each cell, as the objective may differ between them."""
    objectives = [config.objective.model_dump(mode="json") for config in spec.first_configs()]
    return {cell: task_lines([objective]) for cell, objective in enumerate(objectives)}


@dataclass(frozen=True)
class Block:
    """The rows of one function: only they share a value axis."""

    name: str  # empty where the function is the same for all
    rows: pd.DataFrame


def blocks(frame: pd.DataFrame, axes: Sequence[str]) -> list[Block]:
    """By function, where that is an axis; else one block of all."""
    if FUNCTION not in axes:
        return [Block("", frame)]
    names = dict.fromkeys(frame[FUNCTION])
    return [Block(value_label(FUNCTION, name), frame[frame[FUNCTION] == name]) for name in names]


def inner_axes(axes: Sequence[str]) -> list[str]:
    """The axes along which values may be compared."""
    return [axis for axis in axes if axis != FUNCTION]


@dataclass(frozen=True)
class ValueAxis:
    """Where the values of a swept field stand: on a number axis, or side by side."""

    field: str
    values: list[Any]
    numeric: bool
    log: bool

    def place(self, values: Any) -> Array:
        """Positions as Plotly takes them (it takes the logarithm of a log axis itself)."""
        if self.numeric:
            return np.asarray(values, dtype=float)
        order = {value: index for index, value in enumerate(self.values)}
        return np.array([float(order[value]) for value in values])

    @property
    def ticks(self) -> dict[str, Any]:
        """Each value has its tick."""
        return {
            "type": "log" if self.log else "linear",
            "tickmode": "array",
            "tickvals": list(self.place(self.values)),
            "ticktext": [value_label(self.field, value) for value in self.values],
            "range": self._range(),
        }

    def _range(self) -> list[float]:
        places = self.place(self.values)
        spots = np.log10(places) if self.log else places
        low, high = float(spots.min()), float(spots.max())
        air = (high - low) * 0.07 or 0.5
        return [low - air, high + air]


def value_axis(frame: pd.DataFrame, field: str) -> ValueAxis:
    """The axis of a swept field; numbers in their order, names in the order given."""
    values = list(dict.fromkeys(frame[field]))
    if not all(is_number(value) for value in values):
        return ValueAxis(field, values, False, False)
    values = sorted(values)
    log = values[0] > 0 and values[-1] / values[0] >= LOG_FROM
    return ValueAxis(field, values, True, bool(log))


@dataclass(frozen=True)
class CellCurves:
    """One cell, with what is drawn of its finished runs."""

    label: str
    values: dict[str, Any]  # of the axes
    curves: Sequence[Curves]
    planned: int
    minimum: float | None
    at_centre: float | None
    of_task: Mapping[str, float] = field(default_factory=dict)

    @property
    def grey(self) -> dict[str, float]:
        """The values that its curves are read against, by their names: those that are known."""
        both = {"centre": self.at_centre, **self.of_task, "F*": self.minimum}
        return {name: value for name, value in both.items() if value is not None}

    @property
    def title(self) -> str:
        """`β = 8 (n = 6 of 10)`."""
        n = len(self.curves)
        planned = "" if n == self.planned else f" of {self.planned}"
        return f"<b>{self.label}</b> (n = {n}{planned})"


def cell_curves(
    frame: pd.DataFrame, axes: Sequence[str], curves: Mapping[str, Curves], of_task: OfTask | None = None
) -> list[CellCurves]:
    """The cells in their order; `curves` has those of each finished run, by its id."""
    named = labels(frame, axes)
    return [
        CellCurves(
            named[int(rows["cell"].iloc[0])],
            {axis: rows[axis].iloc[0] for axis in axes},
            abreast([curves[run] for run in rows["run_id"] if run in curves]),
            len(rows),
            known(rows["minimum"]),
            known(rows["at_centre"]),
            (of_task or {}).get(int(rows["cell"].iloc[0]), {}),
        )
        for _, rows in frame.groupby("cell", sort=False)
    ]
