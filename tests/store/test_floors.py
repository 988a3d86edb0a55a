"""Floors in the store: computed once, in the background, never rising, for the right S."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from dsebo.analysis.floor import NoFloor, floors_of_config
from dsebo.cli import app
from dsebo.cli.floor import parse_dims
from dsebo.config import RunConfig
from dsebo.store import floors
from dsebo.store.floors import FloorService, floor_key, floors_with_store, stored_floors
from dsebo.store.store import Store
from objectives.fields import ConfigError
from tests.small import small, wait_for
from tests.transfer.files import finished

CONFIG = small()
S = floors.embedding_of(CONFIG).checksum()


def values(found: list[Any]) -> list[float]:
    return [one.floor for one in found]


def test_the_store_keeps_what_was_computed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    first = floors_with_store(store, CONFIG, [3, 9])
    assert values(first) == values(floors_of_config(CONFIG, [3, 9]))
    searched: list[int] = []
    monkeypatch.setattr(floors, "floors", lambda _f, _e, dims, *_: iter(searched.extend(dims) or ()))
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


def test_in_the_background_with_progress(store: Store) -> None:
    service = FloorService(store)
    first = service.want(CONFIG, [2, 5, 9], S)
    assert (first.total, first.running, first.error) == (3, True, None)
    wait_for(lambda: service.want(CONFIG, [2, 5, 9], S).done == 3)
    status = service.want(CONFIG, [2, 5, 9], S)
    assert not status.running
    assert list(status.floors.values()) == sorted(status.floors.values(), reverse=True)
    assert len(stored_floors(store, floor_key(CONFIG, S))) == 3
    service.want(CONFIG, [2, 5, 9, 14], S)  # a run that goes on visits more
    wait_for(lambda: service.want(CONFIG, [14], S).done == 1)
    assert FloorService(store).want(CONFIG, [2, 14], S).done == 2
    service.close()


def test_the_background_says_why_not(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    service = FloorService(store)
    with pytest.raises(NoFloor, match="only DSEBO"):
        service.want(small(method="random"), [3], S)
    service.want(CONFIG, [3], "0" * 16)
    wait_for(lambda: service.want(CONFIG, [3], "0" * 16).error is not None)
    assert "not the one drawn" in str(service.want(CONFIG, [3], "0" * 16).error)
    monkeypatch.setattr(floors, "MOST_ENTRIES", 10)
    with pytest.raises(NoFloor, match="too large for the background"):
        service.want(CONFIG, [3], S)
    service.close()


def call(url: str, *words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["floor", *words, "--db", url])
    assert result.exit_code == code, result.output
    return result


def test_in_the_terminal(store: Store, url: str) -> None:
    flags = ["--D", "40", "--d-e", "4", "--d-h", "12", "--seed", "3", "--dims", "2,6,12"]
    rows = json.loads(call(url, *flags, "--json").stdout)
    assert [row["d"] for row in rows] == [2, 6, 12]
    assert all(set(row) == {"d", "floor"} for row in rows)
    assert "upper bound" in call(url, *flags).stdout
    run_id = finished(store, small(budget=14))
    visited = sorted({int(d) for d in store.evaluations(run_id)["d"]})
    of_run = json.loads(call(url, "--run", run_id[:8], "--json").stdout)
    assert [row["d"] for row in of_run] == visited
    one = json.loads(call(url, "--run", run_id[:8], "--dims", "4", "--json").stdout)
    assert [row["d"] for row in one] == [4]


def test_what_the_terminal_refuses(url: str) -> None:
    assert "only DSEBO" in call(url, "--method", "random", code=2).output
    assert "dims = 101 is not allowed" in call(url, "--dims", "101", code=2).output
    assert "from:to:step" in call(url, "--dims", "5,x", code=2).output
    assert "leave the other flags out" in call(url, "--run", "a", "--D", "9", code=2).output
    call(url, "--run", "nobody", code=2)


def test_dims_as_text() -> None:
    assert parse_dims("5, 19,40:100:20") == [5, 19, 40, 60, 80, 100]
    for text in ("", "1:9:0", "-3", "5;6"):
        with pytest.raises(ConfigError, match="dims"):
            parse_dims(text)
