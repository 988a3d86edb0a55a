"""A run in the foreground: the same lease, commits and commands as in the background."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

from dsebo.config import RunConfig
from dsebo.events import Event
from dsebo.runs import commands
from dsebo.runs.cores import CoreTokens
from dsebo.runs.manager import default_name
from dsebo.runs.slots import FairSlots
from dsebo.runs.worker import Session
from dsebo.store.errors import StoreError
from dsebo.store.leases import Heartbeat, Lease
from dsebo.store.owners import owner_mark
from dsebo.store.restoring import check_can_go_on
from dsebo.store.rows import LOCAL_OWNER
from dsebo.store.store import Store
from dsebo.store.writing import NewRuns, claim, create


def stored_run(
    config: RunConfig,
    store: Store,
    name: str = "",
    *,
    tags: Sequence[str] = (),
    owner: str = LOCAL_OWNER,
    on_id: Callable[[str], None] | None = None,
) -> Generator[Event, None, None]:
    """The events of a new run, each committed before it is given out.

    Stopping early, by Ctrl-C or by no longer asking, leaves the run interrupted, to be resumed.

    Args:
        config: What to run.
        store: Where it is kept.
        name: What it is called; empty for the default.
        tags: Its tags.
        owner: Whose it is.
        on_id: Called with the run's id before the first event.
    """
    plain = commands.checked_name(name) or default_name(config)
    new = NewRuns([config], plain, commands.checked_tags(tags), owner_mark(owner))
    lease = create(store, new)[0]
    if on_id is not None:
        on_id(lease.run_id)
    yield from _events(store, lease)


def resumed_run(store: Store, run_id: str) -> Generator[Event, None, None]:
    """The further events of a run that nobody works on, from its last committed evaluation."""
    row = store.get_run(run_id)
    if row.deleted_at is not None:
        raise StoreError(f"Run {row.short_id} is deleted: restore it first.")
    if row.state == "finished" and row.n_done >= row.budget:
        raise StoreError(f"Run {row.short_id} has finished its {row.budget} evaluations.")
    check_can_go_on(store, row)
    yield from _events(store, claim(store, row.id))


def _events(store: Store, lease: Lease) -> Generator[Event, None, None]:
    heartbeat = Heartbeat(store)
    heartbeat.hold([lease])
    slots = FairSlots(1, CoreTokens(live=True))
    try:
        yield from Session(store, lease, heartbeat, slots).events()
    finally:
        heartbeat.close()
