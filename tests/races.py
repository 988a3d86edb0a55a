"""Races whose runs are started by the manager, as the Race page does it."""

from __future__ import annotations

from typing import Any

from dsebo.experiments.spec import ExperimentSpec
from dsebo.runs.manager import RunManager


def start_race(
    manager: RunManager, methods: str, settings: dict[str, Any], seeds: str, **launch: Any
) -> list[str]:
    """The ids of its runs."""
    race = ExperimentSpec.race(methods, settings, seeds)
    planned = race.planned()
    names = [race.run_name(run) for run in planned]
    return manager.launch([run.config for run in planned], name=names, tags=["race"], **launch)
