"""A race in the store: launched all at once or not at all, and who leads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dsebo.config import RunConfig
from dsebo.experiments.race import Race, blocks, label_of
from dsebo.runs import LOCAL_OWNER, LimitExceeded, RunManager, owner_mark
from dsebo.runs.limits import check_limits

TAG = "race"
CENTRE = "Centre of the box"


def refusal(manager: RunManager, configs: Sequence[RunConfig], owner: str = LOCAL_OWNER) -> str:
    """Why these runs would be over the limits, with the figure; empty where they are not."""
    asked = [(config, config.budget, 0) for config in configs]
    try:
        with manager.store.read() as connection:
            check_limits(connection, manager.settings, owner_mark(owner), asked)
    except LimitExceeded as error:
        return str(error)
    return ""


def launch_seeds(
    manager: RunManager,
    config: RunConfig,
    seeds: Sequence[int],
    owner: str = LOCAL_OWNER,
    tags: Sequence[str] = (),
    name: str = "",
) -> list[str]:
    """Put a config on from each of these seeds, or from none if that is over a limit; the ids."""
    _check(manager, [config.with_seed(seed) for seed in seeds], owner)
    return _put_on(manager, config, seeds, owner, tags, name)


def _check(manager: RunManager, configs: Sequence[RunConfig], owner: str) -> None:
    """All runs together, before the first of them starts."""
    if why := refusal(manager, configs, owner):
        raise LimitExceeded(why)


def _put_on(
    manager: RunManager, config: RunConfig, seeds: Sequence[int], owner: str, tags: Sequence[str], name: str
) -> list[str]:
    ids: list[str] = []
    for first, count in blocks(seeds):
        started = config.with_seed(first)
        ids += manager.launch(started, repeats=count, owner=owner, tags=tags, name=name)
    return ids


def launch(manager: RunManager, race: Race, owner: str = LOCAL_OWNER) -> list[str]:
    """Put all runs of a race on, or none: limits are checked for all of them first; the ids."""
    _check(manager, [config for _, config in race.configs()], owner)
    ids: list[str] = []
    for entrant in race.entrants:
        config = race.config(entrant)
        of = config.objective
        label = label_of(config.model_dump(mode="json"))
        name = f"{label} on {of.name}, D = {of.D}"
        ids += _put_on(manager, config, race.seeds, owner, [TAG], name)
    return ids


@dataclass(frozen=True)
class Result:
    """Where one run stands."""

    label: str
    best: float | None
    d: float | None
    seconds: float
    ended: bool


def standings(results: Sequence[Result], at_centre: float | None) -> pd.DataFrame:
    """A row a method, the best mean first, the centre of the box among them.

    Columns: method, runs (begun), ended, mean, std (of two or more), best, d and seconds (means).
    """
    rows = []
    for label in dict.fromkeys(result.label for result in results):
        own = [result for result in results if result.label == label]
        best = np.array([result.best for result in own if result.best is not None])
        d = [result.d for result in own if result.d is not None]
        rows.append(
            {
                "method": label,
                "runs": len(best),
                "ended": sum(result.ended for result in own),
                "mean": best.mean() if best.size else np.nan,
                "std": best.std(ddof=1) if best.size > 1 else np.nan,
                "best": best.min() if best.size else np.nan,
                "d": float(np.mean(d)) if d else np.nan,
                "seconds": float(np.mean([result.seconds for result in own])),
            }
        )
    if at_centre is not None:
        rows.append({"method": CENTRE, "runs": 1, "ended": 1, "mean": at_centre, "best": at_centre})
    columns = ["method", "runs", "ended", "mean", "std", "best", "d", "seconds"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.sort_values("mean", kind="stable", na_position="last", ignore_index=True)
