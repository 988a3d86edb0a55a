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
    """One row of the list. Its config is parsed when first asked for."""

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
        """Only called for what is not there yet: the config, of which a list needs little."""
        if name == "config" and "_config" in self.__dict__:
            self.__dict__["config"] = orjson.loads(self.__dict__["_config"])
            return self.__dict__["config"]
        raise AttributeError(name)

    @property
    def short_id(self) -> str:
        """The first eight characters, for people."""
        return self.id[:8]


_NAMES = [field.name for field in fields(RunRow)]
_KEPT = ["_config" if name == "config" else name for name in _NAMES]
_TAGS = _NAMES.index("tags")
_STATE = _NAMES.index("state")
COLUMNS: list[ColumnElement[Any]] = [schema.run.c[name] for name in _NAMES]


def to_rows(found: Sequence[Sequence[Any]], shown: dict[str, str]) -> list[RunRow]:
    """Rows from what `COLUMNS` selects; `shown` has the states that differ from the stored ones.

    Past the dataclass's own `__init__`, which takes most of the time of a long list.
    """
    rows = []
    for values in found:
        row = object.__new__(RunRow)
        kept = row.__dict__
        kept.update(zip(_KEPT, values, strict=True))
        tags = values[_TAGS]
        kept["tags"] = () if tags == "[]" else tuple(orjson.loads(tags))
        if shown and values[0] in shown:
            kept["state"] = shown[values[0]]
        rows.append(row)
    return rows
