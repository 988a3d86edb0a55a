"""A race in the store: launched all at once or not at all, and who leads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dsebo.config import RunConfig
from dsebo.experiments.race import Race, label_of
from dsebo.runs.limits import check_limits
from dsebo.runs.manager import RunManager
from dsebo.store.errors import LimitExceeded
from dsebo.store.rows import LOCAL_OWNER, owner_hash

TAG = "race"
CENTRE = "Centre of the box"


def refusal(manager: RunManager, configs: Sequence[RunConfig], owner: str = LOCAL_OWNER) -> str:
    """Why these runs would be over the limits, with the figure; empty where they are not."""
    asked = [(config, config.budget, 0) for config in configs]
    try:
        with manager.store.read() as connection:
            check_limits(connection, manager.settings, owner_hash(owner), asked)
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
    """Start a config from each of these seeds, or from none if that is over a limit; the ids."""
    return manager.launch([config.with_seed(s) for s in seeds], owner=owner, tags=tags, name=name)


def launch(manager: RunManager, race: Race, owner: str = LOCAL_OWNER) -> list[str]:
    """Start all runs of a race, or none if that is over a limit; the ids."""
    configs = [config for _, config in race.configs()]
    names = [
        f"{label_of(config.model_dump(mode='json'))} on {config.objective.name}, D = {config.objective.D}"
        for config in configs
    ]
    return manager.launch(configs, owner=owner, tags=[TAG], name=names)


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
