"""What an owner may tell a run. Commands are rows' columns, so any process can give them.

The process that works on the run reads them between two evaluations; a run that nobody works on
is changed here and now.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection, select, update

from dsebo.config import MAX_BUDGET, RunConfig
from dsebo.objectives.fields import must
from dsebo.parsing import LEAST_SPEED, MOST_SPEED
from dsebo.store import schema
from dsebo.store.errors import StoreError
from dsebo.store.leases import NO_LEASE, is_free, one_launch_at_a_time
from dsebo.store.schema import ACTIVE
from dsebo.store.store import Store
from dsebo.text import one_line, run_title

MAX_NAME, MAX_NOTE, MAX_TAG, MAX_TAGS = 200, 1000, 50, 20

_run = schema.run


def order(store: Store, run_id: str, wanted: str, steps: int = 0) -> str | None:
    """Tell a run that someone works on to "run", "pause" or "cancel".

    None where that was done; else the state of a run that nobody works on.
    """
    with store.write() as connection:
        row = connection.execute(select(_run).where(_run.c.id == run_id).with_for_update()).one()
        free = row.state not in ACTIVE or is_free(row, time.time())
        left_paused = row.state == "paused" and row.lease_token is None  # its thread was given up
        state = "interrupted" if free and row.state in ACTIVE and not left_paused else str(row.state)
        values: dict[str, Any] = {"wanted": wanted, "steps": row.steps + steps if steps else 0}
        if wanted == "pause" and not steps and left_paused:
            return None
        if wanted == "cancel" and (left_paused or state in ("queued", "interrupted")):  # nobody reads orders
            values |= {"state": "cancelled", "finished": time.time(), **NO_LEASE}
        elif free:
            return state
        connection.execute(update(_run).where(_run.c.id == run_id).values(**values))
    return None


def change(store: Store, run_id: str, **values: Any) -> None:
    """Change columns that no lease guards: name, tags, note, speed, deleted_at."""
    with store.write() as connection:
        connection.execute(update(_run).where(_run.c.id == run_id).values(**values))


def grow_budget(
    store: Store, run_id: str, more: int, check: Callable[[Connection], None] | None = None
) -> bool:
    """Add evaluations, unless `check` refuses; whether the run had ended, so that someone must take it up."""
    with store.write() as connection:
        one_launch_at_a_time(connection)
        if check is not None:
            check(connection)
        row = connection.execute(select(_run).where(_run.c.id == run_id).with_for_update()).one()
        connection.execute(update(_run).where(_run.c.id == run_id).values(budget=row.budget + more))
        return bool(row.state == "finished")


def checked_more(more: int, budget: int) -> int:
    """A number of further evaluations."""
    if isinstance(more, bool) or not isinstance(more, int) or more < 1:
        raise StoreError(must("more", "a whole number, 1 or more", more))
    if budget + more > MAX_BUDGET:
        raise StoreError(must("more", f"at most {MAX_BUDGET - budget}, so that the budget fits", more))
    return more


def checked_speed(speed: float | None) -> float | None:
    """Evaluations per second."""
    if speed is None:
        return None
    if not math.isfinite(speed) or not LEAST_SPEED <= speed <= MOST_SPEED:
        raise StoreError(must("speed", f"a number from {LEAST_SPEED:g} to {MOST_SPEED:g}", speed))
    return float(speed)


def checked_name(name: str) -> str:
    """One line, not too long."""
    return _at_most(MAX_NAME, "name", one_line(name))


def run_name(name: str, config: RunConfig) -> str:
    """The name that a run was given, or what one that begins now is called without."""
    return checked_name(name) or run_title(config, time.time())


def checked_note(note: str) -> str | None:
    """One line, not too long; None of an empty one."""
    return _at_most(MAX_NOTE, "note", one_line(note)) or None


def _at_most(most: int, what: str, line: str) -> str:
    if len(line) > most:
        raise StoreError(f"{what} must have at most {most} characters (got {len(line)}).")
    return line


def checked_tags(tags: Sequence[str]) -> list[str]:
    """Short words, each once."""
    unique = list(dict.fromkeys(filter(None, map(one_line, tags))))
    if len(unique) > MAX_TAGS:
        raise StoreError(f"A run must have at most {MAX_TAGS} tags (got {len(unique)}).")
    for tag in unique:
        if len(tag) > MAX_TAG:
            raise StoreError(f"tag must have at most {MAX_TAG} characters (got {tag[:20]!r}…).")
    return unique


def tags_json(tags: Sequence[str]) -> str:
    """As the store keeps them."""
    return json.dumps(checked_tags(tags), ensure_ascii=False)
