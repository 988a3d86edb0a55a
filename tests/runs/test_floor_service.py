"""Floors computed in the background, for all pages."""

from __future__ import annotations

import pytest

from dsebo.analysis.floor import NoFloor, embedding_of
from dsebo.runs import floor_service
from dsebo.runs.floor_service import FloorService
from dsebo.store.floors import floor_key, stored_floors
from dsebo.store.store import Store
from tests.small import small, wait_for

CONFIG = small()
S = embedding_of(CONFIG).checksum()


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
    monkeypatch.setattr(floor_service, "MOST_ENTRIES", 10)
    with pytest.raises(NoFloor, match="too large for the background"):
        service.want(CONFIG, [3], S)
    service.close()
