"""Who leads in a race."""

from __future__ import annotations

import pandas as pd

from dsebo.experiments.entrants import label_of
from dsebo.experiments.progress import MISSING
from dsebo.experiments.spec import ExperimentSpec
from dsebo.store.schema import ENDED

CENTRE = "Centre of the box"
RUN_COLUMNS = ("method", "best", "d", "seconds", "ended")


def standings(runs: pd.DataFrame, at_centre: float | None) -> pd.DataFrame:
    """A row for each method, the best mean first, the centre of the box among them.

    Columns: method, runs (begun), ended, mean, std (of two or more), best, d and seconds (means).

    Args:
        runs: A row for each run with `RUN_COLUMNS`; best and d may be missing.
        at_centre: The value at the centre of the box, if it is known.
    """
    table = (
        runs.astype({"best": float, "d": float, "seconds": float})
        .groupby("method", sort=False)
        .agg(
            runs=("best", "count"),
            ended=("ended", "sum"),
            mean=("best", "mean"),
            std=("best", "std"),
            best=("best", "min"),
            d=("d", "mean"),
            seconds=("seconds", "mean"),
        )
        .reset_index()
    )
    if at_centre is not None:
        centre = {"method": CENTRE, "runs": 1, "ended": 1, "mean": at_centre, "best": at_centre}
        table = pd.concat([table, pd.DataFrame([centre])], ignore_index=True)
    return table.sort_values("mean", kind="stable", na_position="last", ignore_index=True)


def race_standings(spec: ExperimentSpec, frame: pd.DataFrame) -> pd.DataFrame:
    """The same from the frame of a race's runs."""
    labels = cell_labels(spec)
    begun = frame[frame["state"] != MISSING]
    runs = begun.assign(method=[labels[cell] for cell in begun["cell"]], ended=begun["state"].isin(ENDED))
    centres = frame["at_centre"].dropna()
    return standings(runs, float(centres.iloc[0]) if len(centres) else None)


def cell_labels(spec: ExperimentSpec) -> list[str]:
    """The method of each cell in words, with what differs from its usual settings."""
    return [label_of(config.model_dump(mode="json")) for config in spec.first_configs()]
