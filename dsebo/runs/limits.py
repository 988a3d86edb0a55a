"""Whether a launch is within the limits of its owner and of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from dsebo.config import RunConfig, predict
from dsebo.settings import Limits, Settings
from dsebo.store import schema
from dsebo.store.errors import LimitExceeded
from dsebo.store.rows import OwnerHash
from dsebo.store.schema import ACTIVE
from objectives.fields import ConfigError


@dataclass(frozen=True)
class Load:
    """Unfinished runs: how many, and what is still predicted for them."""

    runs: int = 0
    seconds: float = 0.0
    memory_bytes: int = 0

    def __add__(self, other: Load) -> Load:
        return Load(
            self.runs + other.runs, self.seconds + other.seconds, self.memory_bytes + other.memory_bytes
        )


def check_limits(
    connection: Connection,
    settings: Settings,
    owner: OwnerHash,
    asked: Sequence[tuple[RunConfig, int, int]],
    but: str | None = None,
) -> None:
    """Refuse, with the figure and the limit, what is too much.

    `asked`: config, budget and evaluations already done of each run; `but`: a run among them that may
    be at work already, which counts once.
    """
    new = sum((_load(*run) for run in asked), Load())
    for limits, whose, who in (
        (settings.owner_limits, owner, "an owner"),
        (settings.limits.all, None, "all owners together"),
    ):
        for config, budget, _ in asked:
            check_run(limits, config, budget)
        check_sum(limits, current_load(connection, whose, but), new, who)


def check_run(limits: Limits, config: RunConfig, budget: int) -> None:
    """Refuse a single run that is too long or too large."""
    if limits.budget is not None and budget > limits.budget:
        raise LimitExceeded(f"budget = {budget} is over the limit of {limits.budget} evaluations.")
    if limits.D is not None and config.objective.D > limits.D:
        raise LimitExceeded(f"D = {config.objective.D} is over the limit of {limits.D}.")


def check_sum(limits: Limits, now: Load, new: Load, who: str) -> None:
    """Refuse what would be too much together with what there is."""
    total = now + new
    if limits.queued is not None:
        room = (limits.active or 0) + limits.queued
        if total.runs > room:
            raise LimitExceeded(
                f"{total.runs} unfinished runs are over the limit of {room} for {who} "
                f"({limits.active or 0} active, {limits.queued} queued)."
            )
    if limits.memory_mb is not None and total.memory_bytes > limits.memory_mb * 1e6:
        raise LimitExceeded(
            f"A predicted memory of {total.memory_bytes / 1e6:.0f} MB is over the limit of "
            f"{limits.memory_mb:g} MB for {who}."
        )
    if limits.seconds is not None and total.seconds > limits.seconds:
        raise LimitExceeded(
            f"A predicted time of {total.seconds:.0f} s is over the limit of {limits.seconds:g} s for {who}."
        )


def _load(config: RunConfig, budget: int, n_done: int) -> Load:
    """What is left: the time of the whole run less that of what it has done."""
    whole = predict(config, budget)
    done = predict(config, n_done).seconds if n_done else 0.0
    return Load(1, max(0.0, whole.seconds - done), whole.memory_bytes)


def current_load(connection: Connection, owner: str | None, but: str | None) -> Load:
    """The unfinished runs of an owner, or of all."""
    run = schema.run.c
    chosen = select(run.config, run.budget, run.n_done).where(run.state.in_(ACTIVE))
    if owner is not None:
        chosen = chosen.where(run.owner == owner)
    if but is not None:
        chosen = chosen.where(run.id != but)
    total = Load()
    for text, budget, n_done in connection.execute(chosen):
        try:
            total += _load(RunConfig.from_json(text), budget, n_done)
        except ConfigError:  # of a method that this version does not know: it still counts
            total += Load(1)
    return total
