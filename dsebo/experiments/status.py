"""Where an experiment stands: runs, evaluations and time left in words, and who leads in a race."""

from __future__ import annotations

from typing import Any

import pandas as pd

from dsebo.config import flat_config, predict
from dsebo.experiments.entrants import label_of
from dsebo.experiments.progress import MISSING, seconds_left, waiting_words
from dsebo.experiments.records import ExperimentRow
from dsebo.experiments.spec import ExperimentSpec
from dsebo.settings import core_count
from dsebo.store.schema import ENDED
from dsebo.text import NAMED, count, duration, part, seeds_text, symbol, value_label

SLOWEST, FASTEST = 10.0, 0.1  # how far measured times may be from the predicted ones
MOST_VALUES = 8  # of an axis that are written out
WORDS = {
    "queued": "The experiment's process is starting.",
    "paused": "Paused. The runs under way rest where they are; Resume lets them go on.",
    "interrupted": "The experiment's process ended before its runs did. Every evaluation is kept; "
    "Resume carries on as if nothing had happened.",
    "stalled": "No sign of life from the experiment's process. Resume takes it over.",
    "cancelled": "Cancelled. What had finished until then is below; Go on runs the rest.",
}
WANTED = {"pause": "Pausing after the evaluations under way.", "cancel": "Being cancelled."}


def words(row: ExperimentRow) -> str:
    """What a reader should know of its state; empty where that is clear."""
    if row.state == "running":
        return WANTED.get(row.wanted, "")
    sentence = WORDS.get(row.state, "")
    return f"{sentence} {row.error}" if row.error and row.state == "interrupted" else sentence


def share(frame: pd.DataFrame) -> float:
    """Of all evaluations, how many are done; a finished run counts as whole."""
    total = frame["budget"].sum()
    return float(min(1.0, evaluated(frame).sum() / total)) if total else 0.0


def evaluated(frame: pd.DataFrame) -> pd.Series[int]:
    """Evaluations of each run; one that had nothing more to ask has done all of its budget."""
    return frame["n_done"].where(frame["state"] != "finished", frame["budget"])


def progress_words(row: ExperimentRow, frame: pd.DataFrame) -> str:
    """`23 of 70 runs finished · 2 failed · about 1 min left on 2 cores`."""
    states = frame["state"].value_counts()
    parts = [f"{states.get('finished', 0)} of {count(len(frame), 'run')} finished"]
    parts += [f"{states['failed']} failed"] if states.get("failed", 0) else []
    if row.state == "running" and row.wanted == "run":
        workers = row.workers or core_count()
        left = duration(time_left(row.spec, frame, workers))
        parts.append(waiting_words(frame) or f"about {left} left on {count(workers, 'core')}")
    elif row.state == "finished":
        parts.append(f"{duration(float(frame['seconds'].sum()))} of computing")
    return " · ".join(parts)


def time_left(spec: ExperimentSpec, frame: pd.DataFrame, workers: int) -> float:
    """Seconds until all runs have finished: predicted, set right by what the finished ones took."""
    at_once = max(1, min(workers, int((frame["state"] != "finished").sum())))
    return seconds_left(spec, frame, _pace(spec, frame)) / at_once


def _pace(spec: ExperimentSpec, frame: pd.DataFrame) -> float:
    """Measured seconds for each predicted one."""
    done = frame[frame["state"] == "finished"]
    planned = spec.planned()
    predicted = sum(predict(planned[int(place)].of_cell).seconds for place in done.index)
    measured = float(done["seconds"].sum())
    if predicted <= 0 or measured <= 0:
        return 1.0
    return min(SLOWEST, max(FASTEST, measured / predicted))


def setting_line(spec: ExperimentSpec) -> str:
    """`β = 1, 4, 8 · seeds 1-10 · Sphere · DSEBO · D = 1000 · d_e = 30 · budget 200`."""
    config = spec.config(spec.cells()[0], spec.seeds[0])
    flat = flat_config(config)
    shared = {name: flat[name] for name in ("function", "method", *config.objective.brief, "budget")}
    parts = [_axis_words(axis.field, list(axis.values)) for axis in spec.axes]
    parts.append(f"seeds {seeds_text(spec.seeds)}")
    parts += [part(name, value) for name, value in shared.items() if name not in spec.fields]
    return " · ".join(parts)


def _axis_words(field: str, values: list[object]) -> str:
    names = [value_label(field, value) for value in values]
    if len(names) > MOST_VALUES:
        names = [*names[: MOST_VALUES - 1], f"… {names[-1]}"]
    return "; ".join(names) if field in NAMED else f"{symbol(field)} = {', '.join(names)}"


# --- who leads in a race ---

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
    return standings(runs, first_known(frame["at_centre"]))


def first_known(column: pd.Series[Any]) -> float | None:
    """The first value that is known."""
    known = column.dropna()
    return float(known.iloc[0]) if len(known) else None


def cell_labels(spec: ExperimentSpec) -> list[str]:
    """The method of each cell in words, with what differs from its usual settings."""
    return [label_of(config.model_dump(mode="json")) for config in spec.first_configs()]
