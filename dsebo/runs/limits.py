"""Whether a launch is within the limits of its owner and of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection, select

from dsebo.config import RunConfig, predict
from dsebo.objectives import OwnConfig
from dsebo.objectives.fields import ConfigError, must
from dsebo.settings import Limits, Settings, machine_megabytes
from dsebo.store import schema
from dsebo.store.errors import LimitExceeded
from dsebo.store.rows import OwnerHash
from dsebo.store.schema import ACTIVE
from dsebo.text import duration, size

ASK_SECONDS, ASK_MEMORY = 3600.0, 0.5  # predicted time, and part of the machine's memory


def why_ask(seconds: float, memory_bytes: float = 0) -> str:
    """Why to ask before a launch that is predicted to take so much; empty where it need not be asked."""
    if seconds > ASK_SECONDS:
        return f"This is predicted to take {duration(seconds)}."
    if memory_bytes > ASK_MEMORY * 1e6 * machine_megabytes():
        return f"This is predicted to need {size(memory_bytes)}, over half of this machine's memory."
    return ""


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
    check_can_run(settings, [config for config, _, _ in asked])
    new = sum((replace(_load(*run), memory_bytes=0) for run in asked), Load())  # memory waits for its turn
    own = current_load(connection, owner, but)
    for limits, who in ((settings.owner_limits, "an owner"), (settings.all_limits, "all owners together")):
        for config, budget, _ in asked:
            check_run(limits, config, budget)
            _check_memory(limits, predict(config, budget).memory_bytes, who)
    check_sum(settings.owner_limits, own, new, "an owner")
    try:
        check_sum(settings.all_limits, current_load(connection, None, but), new, "all owners together")
    except LimitExceeded:
        # Whoever fills what there is for all must not keep out those who have asked for little.
        if not _is_below_share(settings.all_limits, own + new, _owners(connection, owner)):
            raise


def _is_below_share(limits: Limits, load: Load, owners: int) -> bool:
    """Whether an owner has less than an equal part of what there is for all."""
    runs = None if limits.queued is None else (limits.active or 0) + limits.queued
    return owners > 1 and all(
        most is None or owners * asked <= most
        for asked, most in ((load.runs, runs), (load.seconds, limits.seconds))
    )


def _owners(connection: Connection, asking: OwnerHash) -> int:
    """How many have unfinished runs, with the one who asks."""
    run = schema.run.c
    owners = connection.execute(select(run.owner).where(run.state.in_(ACTIVE)).distinct()).scalars()
    return len({asking, *owners})


def check_can_run(settings: Settings, configs: Sequence[RunConfig]) -> None:
    """Refuse what cannot be run here, and to a class what only the one who started the server may call."""
    if why := next((why for config in configs if (why := config.unavailable())), ""):
        raise ConfigError(why)
    if settings.mode == "class" and any(isinstance(config.objective, OwnConfig) for config in configs):
        raise ConfigError("A function of one's own is for local mode only.")


def check_run(limits: Limits, config: RunConfig, budget: int) -> None:
    """Refuse a single run that is too long or too large."""
    if limits.budget is not None and budget > limits.budget:
        raise LimitExceeded(must("budget", f"within the limit of {limits.budget} evaluations", budget))
    if limits.D is not None and config.objective.D > limits.D:
        raise LimitExceeded(must("D", f"within the limit of {limits.D}", config.objective.D))


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
    if new.memory_bytes:
        _check_memory(limits, total.memory_bytes, who)
    if limits.seconds is not None and total.seconds > limits.seconds:
        raise LimitExceeded(
            f"A predicted time of {_span(total.seconds, '.0f')} is over the limit of "
            f"{_span(limits.seconds, 'g')} for {who}."
        )


def _span(seconds: float, digits: str) -> str:
    """As exact as it matters for a limit."""
    return f"{seconds:{digits}} s" if seconds < 3600 else duration(seconds)


def _check_memory(limits: Limits, memory_bytes: int, who: str) -> None:
    if limits.memory_mb is not None and memory_bytes > limits.memory_mb * 1e6:
        raise LimitExceeded(
            f"A predicted memory of {memory_bytes / 1e6:.0f} MB is over the limit of "
            f"{limits.memory_mb:.0f} MB for {who}."
        )


def _load(config: RunConfig, budget: int, n_done: int) -> Load:
    """What is left: the time of the whole run less that of what it has done."""
    whole = predict(config, budget)
    done = predict(config, n_done).seconds if n_done else 0.0
    return Load(1, max(0.0, whole.seconds - done), whole.memory_bytes)


def current_load(connection: Connection, owner: str | None, but: str | None) -> Load:
    """The unfinished runs of an owner, or of all."""
    run = schema.run.c
    chosen = select(run.config, run.budget, run.n_done, run.state).where(run.state.in_(ACTIVE))
    if owner is not None:
        chosen = chosen.where(run.owner == owner)
    if but is not None:
        chosen = chosen.where(run.id != but)
    total = Load()
    for text, budget, n_done, state in connection.execute(chosen):
        try:
            load = _load(RunConfig.from_json(text), budget, n_done)
            total += load if state == "running" else replace(load, memory_bytes=0)  # it is given back
        except ConfigError:  # of a method that this version does not know: it still counts
            total += Load(1)
    return total
