"""`RunRow`: one run as the list shows it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, NewType

import orjson
from sqlalchemy import ColumnElement

from dsebo.store import schema

OwnerHash = NewType("OwnerHash", str)
LOCAL_OWNER = OwnerHash("local")  # of all that is not a class's: token and hash in one


def owner_hash(token: str) -> OwnerHash:
    """What is stored of an owner's token: everyone may watch, and must not learn it."""
    if token == LOCAL_OWNER:
        return LOCAL_OWNER
    return OwnerHash(hashlib.sha256(f"dsebo owner {token}".encode()).hexdigest()[:32])


@dataclass(frozen=True)
class RunRow:
    """One row of the list. Fields are taken from the database's row when first asked for."""

    id: str
    name: str
    group: str
    owner: OwnerHash
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
        if name not in _PLACE or "_found" not in self.__dict__:
            raise AttributeError(name)
        values, rest, at = self.__dict__["_found"]
        if _PLACE[name] >= len(values):
            values = (*values, *rest(at))
            self.__dict__["_found"] = values, rest, at
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
_LATER = (
    "name",
    "tags",
    "method",
    "function",
    "seed",
    "error",
    "config",
    "group",
    "owner",
    "source",
    "started",
    "minimum",
    "at_centre",
)
_ORDER = [name for name in _NAMES if name not in _LATER] + list(_LATER)
_PLACE = {name: place for place, name in enumerate(_ORDER)}
_CHUNK = 500

# What a list reads at once: what changes while a run works. The rest, most of it text and never
# or seldom changed, is read when a row is asked for it: half of a long list's time otherwise.
COLUMNS: list[ColumnElement[Any]] = [schema.run.c[n] for n in _ORDER if n not in _LATER]
LATER_COLUMNS: list[ColumnElement[Any]] = [schema.run.c[n] for n in _LATER]

Load = Callable[[list[str]], dict[str, Sequence[Any]]]


def to_rows(found: Sequence[Sequence[Any]], shown: dict[str, str], load: Load) -> list[RunRow]:
    """Rows of a list, past the dataclass's own `__init__`, which would take most of the time.

    Args:
        found: What `COLUMNS` selects, with or without `LATER_COLUMNS`.
        shown: The states that differ from the stored ones.
        load: Gives what `LATER_COLUMNS` selects for some ids.
    """
    rest = _Rest([values[0] for values in found], load)
    new, put = object.__new__, object.__setattr__
    rows = []
    for place, values in enumerate(found):
        row = new(RunRow)
        put(row, "_found", (values, rest, place))
        if shown and values[0] in shown:
            put(row, "state", shown[values[0]])
        rows.append(row)
    return rows


class _Rest:
    """What a list has not read of its runs, read some hundred runs at a time."""

    def __init__(self, ids: list[str], load: Load) -> None:
        self._ids, self._load = ids, load
        self._known: dict[str, Sequence[Any]] = {}

    def __call__(self, place: int) -> Sequence[Any]:
        if self._ids[place] not in self._known:
            first = place - place % _CHUNK
            self._known.update(self._load(self._ids[first : first + _CHUNK]))
        return self._known[self._ids[place]]
