"""What was at work when its process ended, such as by a crash of the server, and how it all goes on."""

from __future__ import annotations

from dataclasses import dataclass

from dsebo.experiments.child import start_child
from dsebo.experiments.limits import experiment_check
from dsebo.experiments.records import ExperimentRow, list_experiments
from dsebo.runs.manager import RunManager
from dsebo.store.errors import StoreError
from dsebo.store.rows import LOCAL_OWNER, RunFilter, owner_hash
from dsebo.store.schema import RUN
from dsebo.store.store import Store

LEFT = ("interrupted", "stalled")


@dataclass(frozen=True)
class LeftAtWork:
    """Runs, oldest first, that no experiment here takes care of, and experiments."""

    runs: list[str]
    experiments: list[ExperimentRow]

    def __len__(self) -> int:
        return len(self.runs) + len(self.experiments)


def left_at_work(store: Store, owner: str = LOCAL_OWNER) -> LeftAtWork:
    """What an owner (a token) had at work or in the queue; what was paused or cancelled stays so."""
    experiments = [row for row in list_experiments(store, owner) if row.state in LEFT and row.wanted == "run"]
    which = RunFilter(owner=owner_hash(owner), states=LEFT)
    columns = store.run_columns(("id", "group", "wanted", "source"), which)
    groups = {row.id for row in experiments}
    runs = [
        run_id
        for run_id, group, wanted, source in zip(*columns.values(), strict=True)
        if wanted == "run" and source == RUN and group not in groups
    ]
    return LeftAtWork(runs[::-1], experiments)


def resume_all(manager: RunManager, owner: str = LOCAL_OWNER) -> tuple[LeftAtWork, list[str]]:
    """Let all of it go on: runs here, experiments in processes of their own.

    Returns:
        What goes on, and a sentence for each that was refused.
    """
    left, refused = left_at_work(manager.store, owner), []
    runs, experiments = [], []
    for run_id in left.runs:
        try:
            manager.resume(run_id, owner)
            runs.append(run_id)
        except StoreError as error:
            refused.append(str(error))
    for row in left.experiments:
        try:
            start_child(manager.store, row.id, experiment_check(manager.settings, owner, row.spec))
            experiments.append(row)
        except (StoreError, OSError) as error:
            refused.append(str(error))
    return LeftAtWork(runs, experiments), refused
