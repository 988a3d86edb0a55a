"""The paper's five tables, as printed, and which runs are of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

import pandas as pd

from objectives import get_function

PAPER_BUDGET, PAPER_D_E, PAPER_K = 500, 30, 10_000.0
PAPER_DIMENSIONS = (1000, 10_000)
PAPER_NAMES = {"dixon-price": "dixon"}  # where the tables' name is not ours
PAPER_DSEBO = {"beta": 12.0, "d_l": 5, "d_h": 100}


@lru_cache(maxsize=1)
def paper_results() -> pd.DataFrame:
    """The paper's tables 1 to 5, as printed: table, task, D, method, subspace_d, mean, std ..."""
    with (files("dsebo.data") / "paper_results.csv").open() as text:
        table: pd.DataFrame = pd.read_csv(text, comment="#")
    return table


def is_paper_task(config: Mapping[str, Any]) -> bool:
    """Whether a run's function and budget are those of the paper's tables."""
    objective = config["objective"]
    return bool(
        objective.get("kind", "embedded") == "embedded"
        and config["budget"] == PAPER_BUDGET
        and objective["D"] in PAPER_DIMENSIONS
        and objective["d_e"] == PAPER_D_E
        and objective["K"] == PAPER_K
        and objective["c"] == get_function(objective["name"]).default_c
    )


def paper_rows(config: Mapping[str, Any]) -> pd.DataFrame:
    """The paper's rows for a run's task; none where the setting is not the paper's."""
    table = paper_results()
    if not is_paper_task(config):
        return table.iloc[:0]
    objective = config["objective"]
    task = table["task"].str.lower() == PAPER_NAMES.get(objective["name"], objective["name"])
    rows: pd.DataFrame = table[task & (table["D"] == objective["D"]) & table["table"].isin([1, 3])]
    return rows


def paper_value(config: Mapping[str, Any]) -> float | None:
    """The paper's mean for DSEBO, where the setting is the paper's."""
    optimizer = config["optimizer"]
    if any(optimizer.get(name) != value for name, value in PAPER_DSEBO.items()):
        return None
    rows = paper_rows(config)
    own = rows[rows["method"] == "DSEBO"]
    return None if own.empty else float(own["mean"].iloc[0])
