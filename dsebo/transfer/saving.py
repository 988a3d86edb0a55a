"""Imported runs into the store: all of a file, or nothing of it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import insert, select

from dsebo.store import schema
from dsebo.store.store import Store


@dataclass(frozen=True)
class Imported:
    """One run as rows, checked, without its id and owner in the parts."""

    run: dict[str, Any]
    evaluations: list[dict[str, Any]]
    events: list[dict[str, Any]]
    checkpoint: dict[str, Any] | None = field(default=None)


def save(store: Store, runs: Sequence[Imported], owner: str, source: str) -> list[str]:
    """Store these runs in one transaction; their ids, new where one is taken."""
    with store.write() as connection:
        ids = schema.run.c.id
        wanted = [run.run["id"] for run in runs if run.run.get("id")]
        taken = set(connection.execute(select(ids).where(ids.in_(wanted))).scalars())
        saved = []
        for imported in runs:
            run_id = imported.run.get("id")
            if not run_id or run_id in taken:
                run_id = secrets.token_hex(16)
            taken.add(run_id)
            saved.append(run_id)
            row = {**imported.run, "id": run_id, "owner": owner, "source": source}
            connection.execute(insert(schema.run), row)
            for table, rows in (
                (schema.evaluation, imported.evaluations),
                (schema.event, imported.events),
                (schema.checkpoint, [imported.checkpoint] if imported.checkpoint else []),
            ):
                if rows:
                    connection.execute(insert(table), [{"run_id": run_id, **one} for one in rows])
    return saved
