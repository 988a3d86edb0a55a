"""Whether an experiment that is to be started is within the limits of its owner and of all."""

from __future__ import annotations

from sqlalchemy import Connection, select

from dsebo.experiments.progress import HELD, frame_of, plan_of, seconds_left
from dsebo.experiments.records import Check, state_of
from dsebo.experiments.spec import ExperimentSpec
from dsebo.objectives.fields import ConfigError
from dsebo.runs.limits import Load, check_can_run, check_run, check_sum, current_load
from dsebo.settings import Settings
from dsebo.store import schema
from dsebo.store.errors import LimitExceeded
from dsebo.store.rows import owner_hash
from dsebo.store.schema import ACTIVE

MAX_AT_WORK = 4  # experiments of all owners: each has its own processes, which take memory
MAX_OF_STUDENT = 1  # of each owner in a class

_table = schema.experiment


def experiment_check(settings: Settings, owner: str, spec: ExperimentSpec) -> Check:
    """What `create_experiment` calls in its transaction: LimitExceeded, with the figure, if too much."""
    asking = owner_hash(owner)

    def check(connection: Connection) -> None:
        check_can_run(settings, spec.first_configs())
        plan = plan_of(spec, frame_of(connection, spec, asking))
        new = Load(0, plan.seconds, plan.run_bytes)
        for limits, whose, who in (
            (settings.owner_limits, asking, "an owner"),
            (settings.all_limits, None, "all owners together"),
        ):
            for config in spec.first_configs():
                check_run(limits, config, config.budget)
            others = _at_work(connection, whose)
            most = MAX_OF_STUDENT if whose and settings.mode == "class" else MAX_AT_WORK
            if len(others) >= most:
                are = "experiment at work is" if len(others) == 1 else "experiments at work are"
                raise LimitExceeded(
                    f"{len(others)} {are} the limit for {who}: wait for one to end, or cancel one."
                )
            now = current_load(connection, whose, None) + _waiting(connection, others)
            check_sum(limits, now, new, who)

    return check


def _at_work(connection: Connection, owner: str | None) -> list[tuple[ExperimentSpec, str]]:
    """(spec, owner) of the experiments that some process works on, or soon will."""
    chosen = select(_table).where(_table.c.state.in_(ACTIVE))
    if owner is not None:
        chosen = chosen.where(_table.c.owner == owner)
    rows = connection.execute(chosen).all()
    return [
        (ExperimentSpec.model_validate_json(row.spec), row.owner) for row in rows if state_of(row) in ACTIVE
    ]


def _waiting(connection: Connection, experiments: list[tuple[ExperimentSpec, str]]) -> Load:
    """What these have not begun: the runs that they work on are counted as runs."""
    total = Load()
    for spec, owner in experiments:
        try:
            runs = frame_of(connection, spec, owner)
        except ConfigError:  # of a method that this version does not know
            continue
        waiting = runs[~runs["state"].isin(HELD)]
        total += Load(0, seconds_left(spec, waiting), 0)
    return total
