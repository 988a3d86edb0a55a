"""Whether a sweep that is to be started is within the limits of its owner and of all."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, select

from dsebo.experiments.plan import plan_of, seconds_left
from dsebo.experiments.progress import HELD, frame_of
from dsebo.experiments.records import sweep_state
from dsebo.experiments.spec import SweepSpec
from dsebo.runs.limits import Load, check_run, check_sum, current_load
from dsebo.settings import Settings
from dsebo.store import schema
from dsebo.store.errors import LimitExceeded
from dsebo.store.rows import owner_hash
from dsebo.store.schema import ACTIVE
from objectives.fields import ConfigError

MAX_AT_WORK = 4  # sweeps of all owners: each has its own processes, which take memory
MAX_OF_STUDENT = 1  # of each owner in a class

_sweep = schema.sweep


def sweep_check(settings: Settings, owner: str, spec: SweepSpec) -> Callable[[Connection], None]:
    """What `create_sweep` calls in its transaction: LimitExceeded, with the figure, if too much.

    Args:
        settings: With the limits.
        owner: The token of who asks.
        spec: What is asked for.
    """
    mark = owner_hash(owner)

    def check(connection: Connection) -> None:
        plan = plan_of(spec, frame_of(connection, spec, mark))
        new = Load(0, plan.seconds, plan.run_bytes)
        for limits, whose, who in (
            (settings.owner_limits, mark, "an owner"),
            (settings.limits.all, None, "all owners together"),
        ):
            for one in spec.planned()[:: len(spec.seeds)]:
                check_run(limits, one.config, one.config.budget)
            sweeps = _at_work(connection, whose)
            most = MAX_OF_STUDENT if whose and settings.mode == "class" else MAX_AT_WORK
            if len(sweeps) >= most:
                are = "sweep at work is" if len(sweeps) == 1 else "sweeps at work are"
                raise LimitExceeded(
                    f"{len(sweeps)} {are} the limit for {who}: wait for it to end, or cancel it."
                )
            now = current_load(connection, whose, None) + _waiting(connection, sweeps)
            check_sum(limits, now, new, who)

    return check


def _at_work(connection: Connection, owner: str | None) -> list[tuple[SweepSpec, str]]:
    """(spec, owner) of the sweeps that some process works on, or soon will."""
    chosen = select(_sweep).where(_sweep.c.state.in_(ACTIVE))
    if owner is not None:
        chosen = chosen.where(_sweep.c.owner == owner)
    rows = connection.execute(chosen).all()
    return [
        (SweepSpec.model_validate_json(row.spec), row.owner) for row in rows if sweep_state(row) in ACTIVE
    ]


def _waiting(connection: Connection, sweeps: list[tuple[SweepSpec, str]]) -> Load:
    """What these sweeps have not begun: the runs that they work on are counted as runs."""
    total = Load()
    for spec, owner in sweeps:
        try:
            runs = frame_of(connection, spec, owner)
        except ConfigError:  # of a method that this version does not know
            continue
        waiting = runs[~runs["state"].isin(HELD)]
        total += Load(0, seconds_left(spec, waiting), 0)
    return total
