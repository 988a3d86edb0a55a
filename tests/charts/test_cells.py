"""The cells of an experiment as tables and on axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dsebo.charts.cells import cell_table, labels, readable, value_axis
from tests.experiments.frames import progress


def test_the_table_of_cells_by_hand() -> None:
    frame = progress({(1,): [1.0, 3.0, "failed", None], (8,): [None] * 4})
    frame.loc[frame["seed"] == 2, "d"] = 20.0
    table = cell_table(frame, ["beta"])
    row = table.iloc[0]
    assert (row["n"], row["planned"], row["mean"], row["best"]) == (2, 4, 2.0, 1.0)
    assert row["std"] == pytest.approx(np.sqrt(2))
    assert (row["median"], row["final_d"], row["seconds"]) == (2.0, 15.0, 2.0)
    empty = table.iloc[1]
    assert (empty["n"], empty["planned"]) == (0, 4)
    assert empty[["mean", "std", "median", "best", "final_d"]].isna().all()
    assert list(labels(frame, ["beta"]).values()) == ["β = 1", "β = 8"]


@pytest.mark.parametrize(
    ("values", "numeric", "log"),
    [
        ((1.0, 32.0, 8.0), True, True),
        ((60, 80, 120), True, False),
        ((0.0, 5.0), True, False),
        ((-1.0, 100.0), True, False),
        (("dsebo", "random"), False, False),
        ((True, False), False, False),
    ],
)
def test_an_axis_is_logarithmic_where_it_fits(values: tuple[Any, ...], numeric: bool, log: bool) -> None:
    axis = value_axis(progress({(v,): [1.0] for v in values}, ("x",)), "x")
    assert (axis.numeric, axis.log) == (numeric, log)
    assert axis.values == (sorted(values) if numeric else list(values))
    assert len(axis.ticks["tickvals"]) == len(values)


def test_the_table_for_people() -> None:
    frame = progress({("dsebo",): [None], ("random",): [None]}, ("method",))
    table = readable(cell_table(frame, ["method"]), ["method"])
    assert list(table["Method"]) == ["DSEBO", "Random search"]
    assert list(table.columns[:4]) == ["Method", "Seeds", "of", "Mean"]
