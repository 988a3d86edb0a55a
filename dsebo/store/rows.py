"""Runs as a list shows them: one row, which rows, in which order."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, NewType, TypeVar

import orjson
from sqlalchemy import ColumnElement, Connection, Select, case, func, or_, select

from dsebo.config import RunConfig
from dsebo.objectives.fields import must
from dsebo.store import schema
from dsebo.store.errors import StoreError
from dsebo.store.leases import NO_LEASE, Holder, shown_state
from dsebo.store.schema import ACTIVE, IMPORTED, STATES
from dsebo.text import html_table, number, setting_line

OwnerHash = NewType("OwnerHash", str)
LOCAL_OWNER = OwnerHash("local")  # of all that is not a class's: token and hash in one

_Chosen = TypeVar("_Chosen", bound=Select[Any])
_run = schema.run.c


def owner_hash(token: str) -> OwnerHash:
    """What is stored of an owner's token: everyone may watch, and must not learn it."""
    if token == LOCAL_OWNER:
        return LOCAL_OWNER
    return OwnerHash(hashlib.sha256(f"dsebo owner {token}".encode()).hexdigest()[:32])


class RunRow(NamedTuple):
    """One run. A tuple, as the database gives it: ten thousand are listed in some 50 ms."""

    id: str
    name: str
    group: str
    owner: OwnerHash
    tags_json: str
    config_json: str
    method: str
    function: str
    state: str  # as it is, not as it was last written
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
    ghost: str | None = None
    note: str | None = None
    wanted: str = "run"  # by its owner: run, pause or cancel

    @property
    def waits_to_pause(self) -> bool:
        """Whether it will pause as soon as there is a place for it."""
        return self.state == "queued" and self.wanted == "pause"

    @property
    def imported(self) -> bool:
        """Whether somebody's file says so, instead of this software having computed it."""
        return self.source == IMPORTED

    @property
    def state_words(self) -> str:
        """`finished`, `finished, imported`."""
        return f"{self.state}, {IMPORTED}" if self.imported else self.state

    @property
    def short_id(self) -> str:
        """The first eight characters, for people."""
        return self.id[:8]

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags."""
        return tuple(orjson.loads(self.tags_json))

    @property
    def config(self) -> dict[str, Any]:
        """Its config as nested dicts."""
        config: dict[str, Any] = orjson.loads(self.config_json)
        return config

    @property
    def parsed(self) -> RunConfig:
        """Its config, checked; ConfigError where its method or function is unknown here."""
        return RunConfig.from_json(self.config_json)

    def _repr_html_(self) -> str:
        """As a notebook shows it."""
        done = f"{self.n_done} of {self.budget} evaluations"
        rows = {"run": self.short_id, "name": self.name, "state": f"{self.state_words}, {done}"}
        rows |= {"setting": setting_line(self.config), "best": number(self.best), "d": number(self.d)}
        return html_table(rows | ({"error": self.error} if self.error else {}))


ORDERS = tuple(name for name in RunRow._fields if not name.endswith("_json"))
COLUMNS = [_run[name.removesuffix("_json")] for name in RunRow._fields]


def to_rows(tuples: Sequence[Sequence[Any]], shown: dict[str, str]) -> list[RunRow]:
    """What `COLUMNS` select, with the states that differ from the stored ones."""
    rows = list(map(RunRow._make, tuples))
    if not shown:
        return rows
    return [row._replace(state=shown[row.id]) if row.id in shown else row for row in rows]


def shown_states(connection: Connection, run_id: str | None = None) -> dict[str, str]:
    """The states that are no longer what the row says (interrupted, stalled), by id."""
    chosen = select(*(_run[name] for name in ("id", "state", *NO_LEASE))).where(_run.state.in_(ACTIVE))
    if run_id is not None:
        chosen = chosen.where(_run.id == run_id)
    now, alive = time.time(), cache(Holder.alive)  # a process with many runs is looked at once
    rows = connection.execute(chosen)
    seen = {row.id: (row.state, shown_state(row, now, alive)) for row in rows}
    return {run: shown for run, (stored, shown) in seen.items() if shown != stored}


def state_column(shown: dict[str, str]) -> ColumnElement[str]:
    """The state as it is shown, for the database to filter and sort by."""
    if not shown:
        return _run.state
    return case(shown, value=_run.id, else_=_run.state)


@dataclass(frozen=True)
class RunFilter:
    """A run passes when it passes every filter that is set; a list passes any of its values."""

    deleted: bool = False
    owner: OwnerHash | None = None
    states: Sequence[str] = ()
    functions: Sequence[str] = ()
    methods: Sequence[str] = ()
    tags: Sequence[str] = ()
    group: str | None = None
    search: str = ""
    ids: Sequence[str] = ()
    computed: bool = False  # by this software; a file that was imported may say anything
    hash: str = ""  # of the config: the same run

    def apply(self, chosen: _Chosen, shown: dict[str, str]) -> _Chosen:
        """The same selection, of the runs that pass."""
        return chosen.where(*self._conditions(shown))

    def _conditions(self, shown: dict[str, str]) -> list[ColumnElement[bool]]:
        conditions: list[ColumnElement[bool]] = [
            _run.deleted_at.is_not(None) if self.deleted else _run.deleted_at.is_(None)
        ]
        if self.owner is not None:
            conditions.append(_run.owner == self.owner)
        if self.states:
            conditions.append(state_column(shown).in_(_known_states(self.states)))
        if self.functions:
            conditions.append(_run.function.in_(self.functions))
        if self.methods:
            conditions.append(_run.method.in_(self.methods))
        if self.tags:
            conditions.append(or_(*(_tagged(tag) for tag in self.tags)))
        if self.group is not None:
            conditions.append(_run.group == self.group)
        if self.ids:
            conditions.append(_run.id.in_(self.ids))
        if self.computed:
            conditions.append(_run.source != IMPORTED)
        if self.hash:
            conditions.append(_run.hash == self.hash)
        if self.search.strip():
            conditions.append(_mentions(self.search.strip().lower()))
        return conditions


ALL_RUNS = RunFilter()  # but the deleted ones


def _known_states(states: Sequence[str]) -> Sequence[str]:
    for state in states:
        if state not in STATES:
            raise StoreError(must("state", f"one of {', '.join(STATES)}", state))
    return states


def _tagged(tag: str) -> ColumnElement[bool]:
    """The JSON list holds it: taking the quoted word away changes the text (LIKE ignores case)."""
    return func.replace(_run.tags, json.dumps(tag, ensure_ascii=False), "") != _run.tags


def _mentions(words: str) -> ColumnElement[bool]:
    places = (_run.name, _run.tags, _run.function, _run.method, _run.note)
    inside = [func.lower(place).contains(words, autoescape=True) for place in places]
    return or_(_run.id.startswith(words, autoescape=True), *inside)


def ordered(chosen: Select[Any], order_by: str, descending: bool, shown: dict[str, str]) -> Select[Any]:
    """Sorted by a column, runs without a value last."""
    if order_by not in ORDERS:
        raise StoreError(must("order_by", f"one of {', '.join(ORDERS)}", order_by))
    column: ColumnElement[Any] = state_column(shown) if order_by == "state" else _run[order_by]
    keys: list[ColumnElement[Any]] = [column.desc() if descending else column.asc()]
    if schema.run.c[order_by].nullable:
        keys.insert(0, column.is_(None))
    last = _run.id.desc() if descending else _run.id.asc()  # an index has both in one direction
    return chosen.order_by(*keys, last)
