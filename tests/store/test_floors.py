"""Floors in the store: computed once, never rising, for the right S."""

from __future__ import annotations

from typing import Any

import pytest

from dsebo.analysis.floor import NoFloor, floors_of_config
from dsebo.config import RunConfig
from dsebo.store import floors
from dsebo.store.floors import floor_key, floors_with_store
from dsebo.store.store import Store
from tests.small import small

CONFIG = small()
S = floors.embedding_of(CONFIG).checksum()


def values(found: list[Any]) -> list[float]:
    return [one.floor for one in found]


def test_the_store_keeps_what_was_computed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    first = floors_with_store(store, CONFIG, [3, 9])
    assert values(first) == values(floors_of_config(CONFIG, [3, 9]))
    searched: list[int] = []
    monkeypatch.setattr(floors, "floors_of_config", lambda _, dims, *rest: iter(searched.extend(dims) or ()))
    assert values(floors_with_store(store, CONFIG, [9, 3, 3])) == values(first)
    assert searched == []


def test_a_later_smaller_dimension_never_lifts_a_larger_one(store: Store) -> None:
    floors_with_store(store, CONFIG, [12])
    told: list[tuple[int, int]] = []
    found = floors_with_store(store, CONFIG, [2, 7, 12], progress=lambda done, of: told.append((done, of)))
    assert values(found) == sorted(values(found), reverse=True)
    assert told == [(2, 3), (3, 3)]


def test_the_key_is_all_that_a_floor_depends_on() -> None:
    def key(checksum: str = S, **changes: Any) -> str:
        config = CONFIG.model_dump(mode="json")
        for part, fields in changes.items():
            config[part] = {**config[part], **fields} if isinstance(fields, dict) else fields
        return floor_key(RunConfig.parse(config), checksum)

    assert key() == key(budget=99) == key(optimizer={"beta": 7.0})
    others = [key(seed=2), key(optimizer={"d_h": 21}), key(objective={"c": 2.0}), key("another")]
    assert len({key(), *others}) == 5


def test_another_s_is_refused(store: Store) -> None:
    with pytest.raises(NoFloor, match="not the one drawn here"):
        floors_with_store(store, CONFIG, [3], checksum="0" * 16)
