"""Only what is new is sent, and it leads to the same as the whole."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dsebo.ui.wire import Frame

STATES: list[dict[str, Any]] = [
    {"data": [{"y": np.array([], dtype=np.float32), "name": "value"}], "layout": {"title": "a"}},
    {"data": [{"y": np.array([1.5, np.nan], dtype=np.float32), "name": "value"}], "layout": {}},
    {"data": [{"y": np.array([1.5, np.nan, 2.0], dtype=np.float32), "name": "value"}], "layout": {"x": None}},
    {"data": [{"y": np.array([9.0, np.nan, 2.0], dtype=np.float32)}, {"y": ["a"]}], "layout": {"x": [0, 1]}},
    {"data": [{"y": [9.0, 2.0]}], "layout": {"x": [0, 2], "notes": [{"t": 1}]}},
    {"data": [{"y": [9.0, 2.0]}], "layout": {"x": [0, 2], "notes": [{"t": 2}, {"t": 3, "z": np.eye(2)}]}},
    {"data": [], "layout": {"x": [0, 2], "notes": [{"t": 2}, {"t": 3, "z": np.ones((2, 2))}]}},
]


def received(state: Any, message: bytes) -> Any:
    """What live/wire.js does."""
    content = json.loads(message)
    if "whole" in content:
        return content["whole"]
    for change in content["changes"]:
        state = changed(state, *change)
    return state


def changed(value: Any, what: str, path: list[Any], *given: Any) -> Any:
    if path:
        copy = value.copy()
        old = value[path[0]] if isinstance(value, list) or path[0] in value else None
        copy[path[0]] = changed(old, what, path[1:], *given)
        return copy
    if what == "set":
        return given[0]
    if what == "keep":
        return value[: given[0]]
    if what == "add":
        assert len(value) == given[0]
        return value + given[1]
    assert what == "drop"
    return {name: item for name, item in value.items() if name != given[0]}


@pytest.mark.parametrize("one", range(len(STATES)))
@pytest.mark.parametrize("other", range(len(STATES)))
def test_what_is_new_leads_from_any_state_to_any_other(one: int, other: int) -> None:
    before, after = Frame(STATES[one]), Frame(STATES[other])
    message = json.loads(after.since(before))
    assert (message["from"], message["to"]) == (before.number, after.number)
    assert received(received(None, before.whole()), after.since(before)) == received(None, after.whole())


def test_a_series_that_grows_is_sent_from_its_last_value_on() -> None:
    values = np.arange(500, dtype=np.float32)
    before, after = (Frame({"data": [{"y": values[:n]}, {"y": values[:9]}]}) for n in (490, 492))
    assert json.loads(after.since(before))["changes"] == [["add", ["data", 0, "y"], 490, [490.0, 491.0]]]
    assert json.loads(after.since(after))["changes"] == []


def test_messages_are_made_once_for_all_and_old_ones_forgotten() -> None:
    frames = [Frame({"t": t}) for t in range(20)]
    assert frames[-1].since(frames[0]) is frames[-1].since(frames[0])
    for frame in frames:
        frames[-1].since(frame)
    assert len(frames[-1]._messages) < 8
