"""`RunRow`: one run as the list shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import orjson
from sqlalchemy import ColumnElement

from dsebo.runs import schema

STATES = (
    "queued", "running", "paused", "finished", "failed", "cancelled", "interrupted", "stalled",
)  # fmt: skip
ACTIVE = ("queued", "running", "paused")  # some process holds the run's lease
LOCAL_OWNER = "local"


@dataclass(frozen=True)
class RunRow:
    """One row of the list. Fields are taken from the database's row when first asked for."""

    id: str
    name: str
    group: str
    owner: str  # a mark of the owner's token, never the token itself
    tags: tuple[str, ...]
    config: dict[str, Any]
    method: str
    function: str
    state: str
    seed: int
    budget: int  # with its extensions
    created: float
    started: float | None
    finished: float | None
    n_done: int
    best: float | None
    d: int | None
    seconds: float
    speed: float | None
    minimum: float | None
    at_centre: float | None
    error: str | None
    source: str
    deleted_at: float | None

    def __getattr__(self, name: str) -> Any:
        """Only called for a field that has not been asked for: a long list needs few of them."""
        values = self.__dict__.get("_values")
        if values is None or name not in _PLACE:
            raise AttributeError(name)
        value = values[_PLACE[name]]
        if name in ("config", "tags"):
            value = orjson.loads(value)
        self.__dict__[name] = tuple(value) if name == "tags" else value
        return self.__dict__[name]

    def __reduce__(self) -> Any:
        """Copies and pickles are of the fields, all of them."""
        return RunRow, tuple(getattr(self, name) for name in _NAMES)

    @property
    def short_id(self) -> str:
        """The first eight characters, for people."""
        return self.id[:8]


_NAMES = [field.name for field in fields(RunRow)]
_PLACE = {name: place for place, name in enumerate(_NAMES)}
COLUMNS: list[ColumnElement[Any]] = [schema.run.c[name] for name in _NAMES]


def to_rows(found: Sequence[Sequence[Any]], shown: dict[str, str]) -> list[RunRow]:
    """Rows from what `COLUMNS` selects; `shown` has the states that differ from the stored ones.

    Past the dataclass's own `__init__`, which would take most of the time of a long list.
    """
    rows = []
    for values in found:
        row = object.__new__(RunRow)
        row.__dict__["_values"] = values
        if shown and values[0] in shown:
            row.__dict__["state"] = shown[values[0]]
        rows.append(row)
    return rows
